import { boolOf } from '../../../http/input/query.ts'
import {
  codeParameter,
  flagParameter,
  textParameter,
  wordParameter,
} from '../../../http/input/typed.ts'
import { invalidParameter, nameNotFound } from '../../../http/problem/problem.ts'
import {
  type Grade,
  gradeOf,
  grades,
  type Port,
  portNames,
  portOf,
  portRegions,
  type RegionChoice,
  regionGroupNames,
  regionOf,
} from '../math/marine.ts'

const aliases = ['MGO', 'IFO380', 'HSFO', 'HFO380', 'IFO180', 'VLSFO_05S']
export const gradeNames = [...grades, ...aliases]

export const priceQuery = {
  port_code: codeParameter(
    'UN/LOCODE, short code, slug or name of a port, in any case; absent: all.',
    'SGSIN',
  ),
  port: codeParameter('Another name of `port_code`.', 'SINGAPORE'),
  fuel_type: wordParameter(
    gradeNames,
    `${grades.join(', ')}, or an alias: ${aliases.join(', ')}; absent: all.`,
    'VLSFO',
  ),
  grade: wordParameter(gradeNames, 'Another name of `fuel_type`.', 'VLSFO'),
  region: wordParameter(
    [...portRegions, ...regionGroupNames],
    `${portRegions.join(', ')}, or ${regionGroupNames.join(', ')}; absent: all.`,
    'Asia',
  ),
}

export const portQuery = {
  region: wordParameter(
    portRegions,
    `${portRegions.join(', ')}, in any case; absent: all.`,
    'Asia',
  ),
  country: textParameter('Two letters (ISO 3166-1).', 'SG', { pattern: '^[A-Za-z]{2}$' }),
  major_ports: flagParameter('Major ports only; `false` (default): all.', true, { default: false }),
}

type Query<T> = { [name in keyof T]?: string }

/** The marine prices that a query selects; undefined: all. */
export interface MarineFilter {
  port: Port | undefined
  grade: Grade | undefined
  region: RegionChoice | undefined
}

/** Throws a Problem for an unknown grade, region or port. */
export function marineFilter(
  query: Query<typeof priceQuery>,
  ports: readonly Port[],
): MarineFilter {
  const grade = gradeIn(query)
  const region = regionIn(query.region, true)
  const place = query.port_code || query.port
  return { port: place ? portIn(ports, place) : undefined, grade, region }
}

/** Throws 404 for an unknown port. */
export function portIn(ports: readonly Port[], text: string): Port {
  const port = portOf(ports, text)
  if (!port) throw nameNotFound('port', text, portNames(ports))
  return port
}

/** The grade of the query; undefined where it names none. */
export function gradeIn(query: { grade?: string; fuel_type?: string }): Grade | undefined {
  const [parameter, gradeText] = query.fuel_type
    ? (['fuel_type', query.fuel_type] as const)
    : (['grade', query.grade] as const)
  const grade = gradeText ? gradeOf(gradeText) : undefined
  if (gradeText && !grade) throw invalidParameter(parameter, gradeText, grades)
  return grade
}

/** The ports that a filter selects, the largest first. */
export const placesOf = (ports: readonly Port[], { port, region }: MarineFilter): Port[] =>
  ports.filter(
    place => (!port || place === port) && (!region || region.regions.includes(place.region)),
  )

export const filterRow = ({ port, grade, region }: MarineFilter) => ({
  port_code: port?.code ?? null,
  fuel_type: grade ?? null,
  region: region?.name ?? null,
})

export interface PortFilter {
  region: RegionChoice | undefined
  country: string | undefined
  majorOnly: boolean
}

export function portFilter(query: Query<typeof portQuery>): PortFilter {
  const country = query.country?.trim().toUpperCase() || undefined
  if (country && !/^[A-Z]{2}$/.test(country))
    throw invalidParameter('country', query.country, 'a two-letter country code')
  return {
    region: regionIn(query.region, false),
    country,
    majorOnly: boolOf('major_ports', query.major_ports, false),
  }
}

export const within = ({ region, country, majorOnly }: PortFilter, port: Port): boolean =>
  (!region || region.regions.includes(port.region)) &&
  (!country || port.country === country) &&
  (!majorOnly || port.major)

function regionIn(text: string | undefined, groups: boolean): RegionChoice | undefined {
  if (!text?.trim()) return undefined
  const region = regionOf(text, groups)
  if (!region)
    throw invalidParameter(
      'region',
      text,
      groups ? [...portRegions, ...regionGroupNames] : portRegions,
    )
  return region
}
