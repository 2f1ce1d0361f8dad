import { type Grade, gradeOf, type Port, portOf, regionGroupNames, regionOf } from './marine.ts'

/** The names of the grades in data connectors. */
const fuelNames: Readonly<Record<Grade, string>> = {
  VLSFO: 'VLSFO',
  HFO_380: 'IFO380',
  HFO_180: 'IFO180',
  MGO_05S: 'MGO',
}

export const connectorFuels: readonly string[] = Object.values(fuelNames)

export const gradeFuel = (grade: Grade): string => fuelNames[grade]

const charactersMax = 60

/** Upper-case letters, digits and underscores; undefined for a text without any or too long. */
function plain(text: string): string | undefined {
  const name = text
    .normalize('NFC')
    .toUpperCase()
    .replaceAll(/[^\p{L}\p{N}.%+]+/gu, '_')
    .replaceAll(/^_+|_+$/g, '')
  return name === '' || name.length > charactersMax ? undefined : name
}

/**
 * The name of a fuel: of a grade or alias the connectors' own, of anything else what was written,
 * in capitals.
 */
export function fuelOf(text: string): string | undefined {
  const grade = gradeOf(text)
  return grade ? fuelNames[grade] : plain(text)
}

/** A port's slug; of one that is not listed what was written, in capitals. */
export const portNameOf = (ports: readonly Port[], text: string): string | undefined =>
  portOf(ports, text)?.slug ?? plain(text)

/** AMERICAS, EMEA or APAC, from its own name or that of a port region. */
export function connectorRegion(text: string): string | undefined {
  const region = regionOf(text, true)?.regions[0]
  return regionGroupNames.find(
    name => region !== undefined && regionOf(name, true)?.regions.includes(region),
  )
}

/** Names of the metric ton. A ton alone may be a short one. */
const tonNames = new Set([
  'mt',
  't',
  'tonne',
  'tonnes',
  'metricton',
  'metrictons',
  'metrictonne',
  'metrictonnes',
])

export const isMetricTon = (unit: string): boolean =>
  tonNames.has(unit.toLowerCase().replaceAll(/[\s_-]+/g, ''))
