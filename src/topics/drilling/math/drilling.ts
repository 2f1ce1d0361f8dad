/** A producing basin as the drilling families name it. */
export interface Basin {
  /** Lower snake case, as it is stored and answered. */
  key: string
  name: string
  /** The prefix of its codes in the catalogue; undefined where the catalogue has none. */
  codePrefix: string | undefined
  aliases: readonly string[]
}

/**
 * The basins of every answer that is keyed by basin, largest first. Marcellus and the rest of
 * Appalachia, mostly Utica, are counted apart; `other` is whatever is in none of them.
 */
export const basins: readonly Basin[] = [
  { key: 'permian', name: 'Permian', codePrefix: 'PERMIAN', aliases: ['permian_basin'] },
  {
    key: 'eagle_ford',
    name: 'Eagle Ford',
    codePrefix: 'EAGLE_FORD',
    aliases: ['eagleford', 'eagle_ford_region'],
  },
  {
    key: 'bakken',
    name: 'Bakken',
    codePrefix: 'BAKKEN',
    aliases: ['williston', 'williston_basin'],
  },
  { key: 'haynesville', name: 'Haynesville', codePrefix: 'HAYNESVILLE', aliases: [] },
  { key: 'marcellus', name: 'Marcellus', codePrefix: 'MARCELLUS', aliases: [] },
  {
    key: 'dj_niobrara',
    name: 'DJ-Niobrara',
    codePrefix: 'DJ_NIOBRARA',
    aliases: ['niobrara', 'dj', 'dj_basin'],
  },
  { key: 'anadarko', name: 'Anadarko', codePrefix: 'ANADARKO', aliases: ['anadarko_basin'] },
  {
    key: 'appalachia_other',
    name: 'Appalachia Other',
    codePrefix: 'UTICA',
    aliases: ['utica', 'other_appalachia'],
  },
  { key: 'other', name: 'Other', codePrefix: undefined, aliases: ['others', 'other_basins'] },
]

/**
 * Marcellus and the rest of Appalachia in one figure, as the Energy Information Administration
 * publishes them. It is stored apart from its parts.
 */
const appalachia: Basin = {
  key: 'appalachia',
  name: 'Appalachia',
  codePrefix: undefined,
  aliases: ['appalachian_basin'],
}

export const basinKeys: readonly string[] = basins.map(basin => basin.key)
/** Every basin that rows may be of. */
export const storedBasins: readonly Basin[] = [...basins, appalachia]

const snake = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')

const bySpelling = new Map(
  storedBasins.flatMap(basin => [basin.key, ...basin.aliases].map(name => [name, basin])),
)

/**
 * A basin by its key, title or alias, in any case, with spaces or dashes and with or without
 * "basin" or "region" after it.
 */
export const basinOf = (text: string): Basin | undefined =>
  bySpelling.get(snake(text)) ??
  bySpelling.get(snake(text).replace(/_(basin|region|play|shale)$/, ''))

/**
 * The country as a whole. Regions are this, a basin in lower case, a state in upper case, or
 * `OTHER` for the states that a source adds up.
 */
export const country = 'US'
/** The states that a source reports only as a group. */
export const otherStates = 'OTHER'

export const isBasin = (region: string): boolean => /^[a-z]/.test(region)
export const isState = (region: string): boolean => region !== country && !isBasin(region)

const basinByKey = new Map(storedBasins.map(basin => [basin.key, basin]))

const codeWith = (region: string, suffix: string): string | undefined => {
  if (region === otherStates) return undefined
  if (!isBasin(region)) return `${region}_${suffix}`
  const prefix = basinByKey.get(region)?.codePrefix
  return prefix && `${prefix}_${suffix}`
}

/**
 * The code of the catalogue whose price-like series holds the same number; it may not be in the
 * catalogue for every state.
 */
export const rigCountCode = (region: string): string | undefined => codeWith(region, 'RIG_COUNT')
export const fracSpreadCode = (region: string): string | undefined =>
  codeWith(region, 'FRAC_SPREADS')
export const ducWellCode = (region: string): string | undefined => codeWith(region, 'DUC_WELLS')

/** Codes of the national counts by what is drilled for. */
export const rigTypeCodes = {
  oil: 'US_OIL_RIG_COUNT',
  gas: 'US_GAS_RIG_COUNT',
  misc: 'US_MISC_RIG_COUNT',
} as const
