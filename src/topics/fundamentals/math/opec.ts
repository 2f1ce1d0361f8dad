/** The members of the organization, the largest producers first: their order within a month. */
export const opecMembers = [
  'Saudi Arabia',
  'Iraq',
  'United Arab Emirates',
  'Iran',
  'Kuwait',
  'Nigeria',
  'Libya',
  'Algeria',
  'Venezuela',
  'Congo',
  'Gabon',
  'Equatorial Guinea',
] as const

const otherNames: ReadonlyMap<string, string> = new Map([
  ['saudi arabia', 'Saudi Arabia'],
  ['saudi', 'Saudi Arabia'],
  ['uae', 'United Arab Emirates'],
  ['ir iran', 'Iran'],
  ['iran, islamic republic of', 'Iran'],
  ['congo-brazzaville', 'Congo'],
  ['republic of the congo', 'Congo'],
  ['eq. guinea', 'Equatorial Guinea'],
])

/** The stored name of a country: one spelling for each member, any other country as written. */
export function opecCountry(text: string): string {
  const name = text.trim().replaceAll(/[\s_]+/g, ' ')
  const plain = name.toLowerCase()
  return opecMembers.find(member => member.toLowerCase() === plain) ?? otherNames.get(plain) ?? name
}

/** The production of a country, or of several together, in one month. */
export interface Produced {
  country: string
  /** Barrels a day. */
  bpd: number
}

export interface Producer extends Produced {
  /** From 1; countries that produced the same keep the order of their names. */
  rank: number
  /** The share of all countries in the month; undefined when they produced nothing. */
  percentage: number | undefined
}

export const totalProduced = (month: readonly Produced[]): number =>
  month.reduce((sum, producer) => sum + producer.bpd, 0)

/** The producers of one month, largest first. */
export function rankedProducers<T extends Produced>(month: readonly T[]): (T & Producer)[] {
  const total = totalProduced(month)
  return month
    .toSorted((a, b) => b.bpd - a.bpd || (a.country < b.country ? -1 : 1))
    .map((producer, i) => ({
      ...producer,
      rank: i + 1,
      percentage: total === 0 ? undefined : (100 * producer.bpd) / total,
    }))
}

/**
 * Whole barrels a day that add up to `total`, in proportion to `weights` (not negative, not all 0)
 * and in steps of `step` barrels but for the largest, which takes what rounding leaves.
 */
export function shareOut(total: number, weights: readonly number[], step: number): number[] {
  const sum = weights.reduce((total, weight) => total + weight, 0)
  const parts = weights.map(weight => Math.round((total * weight) / sum / step) * step)
  const largest = weights.indexOf(Math.max(...weights))
  parts[largest]! += total - parts.reduce((allParts, part) => allParts + part, 0)
  return parts
}
