/**
 * Marine fuels in the order of answers: what most ships burn, then the heavy ones, then distillate.
 */
export const grades = ['VLSFO', 'HFO_380', 'HFO_180', 'MGO_05S'] as const
export type Grade = (typeof grades)[number]

export const gradeNames: Readonly<Record<Grade, string>> = {
  VLSFO: 'Very Low Sulphur Fuel Oil 0.5% S',
  HFO_380: 'Heavy Fuel Oil 380 cSt',
  HFO_180: 'Heavy Fuel Oil 180 cSt',
  MGO_05S: 'Marine Gas Oil 0.5% S',
}

export const portRegions = ['Asia', 'Europe', 'Americas', 'Middle East'] as const
export type PortRegion = (typeof portRegions)[number]

/** A place where ships are supplied with fuel. */
export interface Port {
  /** UN/LOCODE. */
  code: string
  /** The part of the codes of its series that names the port. */
  shortCode: string
  slug: string
  name: string
  /** ISO 3166-1 alpha-2. */
  country: string
  region: PortRegion
  /** IANA name. */
  timezone: string
  /** 1 sells most. */
  volumeRank: number
  latitude: number
  longitude: number
  major: boolean
  tradingHours: string
  /** Grades that are sold there. */
  fuels: readonly Grade[]
}

/** Letters and digits alone, so that `new york`, `NEW_YORK` and `New-York` are one. */
const bare = (text: string): string => text.toUpperCase().replace(/[^A-Z0-9]/g, '')

const gradeByName = new Map<string, Grade>([
  ...grades.map(grade => [bare(grade), grade] as const),
  ...([
    ['MGO', 'MGO_05S'],
    ['IFO380', 'HFO_380'],
    ['HSFO', 'HFO_380'],
    ['IFO180', 'HFO_180'],
    ['VLSFO05S', 'VLSFO'],
  ] as const),
])

/** The grade of a name or alias, in any case. */
export const gradeOf = (text: string): Grade | undefined => gradeByName.get(bare(text))

/** The names that a port of the list goes by. */
export const portNames = (ports: readonly Port[]): string[] =>
  ports.flatMap(port => [port.slug, port.code])

/** The port of a code, short code, slug or name, in any case. */
export function portOf(ports: readonly Port[], text: string): Port | undefined {
  const name = bare(text)
  return name === ''
    ? undefined
    : ports.find(port =>
        [port.code, port.shortCode, port.slug, port.name].some(spelling => bare(spelling) === name),
      )
}

/** Names of several regions together. */
const regionGroups: Readonly<Record<string, readonly PortRegion[]>> = {
  AMERICAS: ['Americas'],
  EMEA: ['Europe', 'Middle East'],
  APAC: ['Asia'],
}
export const regionGroupNames: readonly string[] = Object.keys(regionGroups)

export interface RegionChoice {
  /** As it is answered. */
  name: string
  regions: readonly PortRegion[]
}

/** A region by its name in any case; with `groups` also one of their names. */
export function regionOf(text: string, groups: boolean): RegionChoice | undefined {
  const name = bare(text)
  const region = portRegions.find(candidate => bare(candidate) === name)
  if (region) return { name: region, regions: [region] }
  const group = groups ? regionGroups[name] : undefined
  return group && { name, regions: group }
}

/** The series of a grade at a port, or of its average over the ports. */
export const marineCode = (grade: Grade, port: Port | undefined): string =>
  port ? `${grade}_${port.shortCode}_USD` : `${grade}_USD`
