import { listOf } from '../../../http/input/query.ts'
import { numberParameter, refusedQuery, textParameter } from '../../../http/input/typed.ts'
import {
  invalidParameter,
  missingParameter,
  refusedParameter,
} from '../../../http/problem/problem.ts'
import { withoutAbsent } from '../../../lib/text/json.ts'
import { daysOf } from '../../energy/operations/answer.ts'
import { rangeQuery } from '../../energy/operations/list.ts'
import type { Circle } from '../../geography/math/geography.ts'
import { permitStateOf, permitStates } from '../../geography/math/us-states.ts'
import type { PermitFilter } from '../store/permit-search.ts'
import { partCharactersMin } from '../store/permit-words.ts'

export const statesQuery = {
  states: textParameter('Two-letter codes, comma-separated; absent: every state.', 'TX,NM', {
    pattern: '^[A-Za-z]{2}(,[A-Za-z]{2})*$',
  }),
}
export const circleQuery = {
  latitude: numberParameter('Centre of a circle, degrees north, with `longitude`.', 31.9973, {
    minimum: -90,
    maximum: 90,
  }),
  longitude: numberParameter('Degrees east: west is negative.', -102.0779, {
    minimum: -180,
    maximum: 180,
  }),
  radius_miles: numberParameter('Great-circle distance, 1 to 100; default: 10.', 10, {
    default: 10,
    minimum: 1,
    maximum: 100,
  }),
}

export const permitQuery = {
  ...statesQuery,
  county: textParameter(
    'Name of a county without the word "County", in any letter case; matches in every state.',
    'Midland',
  ),
  operator: textParameter('Part of the name of the operator.', 'Juniper Ridge'),
  well_name: textParameter('Part of the name of the well.', 'Bradford'),
  formation: textParameter('Part of the name of the target formation.', 'Wolfcamp'),
  permit_type: textParameter(
    '`new_drill`, `recompletion`, `reentry`, `sidetrack` or another type that the states list.',
    'new_drill',
  ),
  well_type: textParameter(
    '`oil`, `gas`, `injection` or another type that the states list.',
    'oil',
  ),
  address: refusedQuery,
  ...circleQuery,
  ...rangeQuery,
  query: textParameter(
    'Free text: each of its words of three characters or more, at most eight, is part of the name of the operator, county, formation or well, or is a whole permit or API number.',
    'bradford midland',
  ),
}

type Query = { [name in keyof typeof permitQuery]?: string }

const wordsMax = 8
const charactersMax = 200
export const radius = { min: 1, max: 100, fallback: 10 }

/** Upper-case codes of served states; undefined where the query names none. */
export function statesOf(text: string | undefined): string[] | undefined {
  const states = [...new Set(listOf(text).map(code => code.toUpperCase()))]
  const unknown = states.find(code => !permitStateOf(code))
  if (unknown === undefined) return states.length === 0 ? undefined : states
  const allowed = permitStates.map(state => state.code)
  throw invalidParameter('states', unknown.slice(0, 100), allowed)
}

/** A plain decimal number of `[min, max]`. */
export function numberOf(parameter: string, text: string, min: number, max: number): number {
  const value = /^[+-]?\d{1,15}(\.\d{1,15})?$/.test(text.trim()) ? Number(text) : Number.NaN
  if (!(value >= min && value <= max))
    throw invalidParameter(parameter, text.slice(0, 100), `a number from ${min} to ${max}`)
  return value
}

/** The circle of a query, whose centre is in the parameters of these names. */
export function circleOf<Latitude extends string, Longitude extends string>(
  query: { [name in Latitude | Longitude | 'radius_miles']?: string },
  latitudeName: Latitude,
  longitudeName: Longitude,
): Circle | undefined {
  const { radius_miles: radiusText } = query
  const [latitude, longitude] = [query[latitudeName], query[longitudeName]]
  // The radius is checked even where no centre is given.
  const radiusMiles = radiusText
    ? numberOf('radius_miles', radiusText, radius.min, radius.max)
    : radius.fallback
  if (!latitude && !longitude) return undefined
  if (!latitude) throw missingParameter(latitudeName, 'a circle has a latitude and a longitude.')
  if (!longitude) throw missingParameter(longitudeName, 'a circle has a latitude and a longitude.')
  return {
    latitude: numberOf(latitudeName, latitude, -90, 90),
    longitude: numberOf(longitudeName, longitude, -180, 180),
    radiusMiles,
  }
}

/** The trimmed text of a parameter; undefined where it is empty. */
export function typedText(parameter: string, text: string | undefined): string | undefined {
  const trimmed = text?.trim()
  if (!trimmed) return undefined
  if (trimmed.length > charactersMax || !trimmed.isWellFormed()) {
    throw invalidParameter(
      parameter,
      trimmed.slice(0, 100),
      `at most ${charactersMax} printable characters long`,
    )
  }
  return trimmed
}

/** A part of names that is long enough to search for. */
function partOf(parameter: string, text: string | undefined): string | undefined {
  const part = typedText(parameter, text)
  if (part === undefined || part.length >= partCharactersMin) return part
  throw invalidParameter(parameter, part, `at least ${partCharactersMin} characters long`)
}

/**
 * The words of free text that are long enough to search for: shorter ones match nearly every well.
 */
export function wordsOf(parameter: string, text: string | undefined): string | undefined {
  const trimmed = typedText(parameter, text)
  if (trimmed === undefined) return undefined
  const words = trimmed.split(/\s+/).filter(word => word.length >= partCharactersMin)
  if (words.length === 0)
    throw invalidParameter(
      parameter,
      trimmed,
      `text with a word of at least ${partCharactersMin} characters`,
    )
  if (words.length > wordsMax)
    throw invalidParameter(parameter, trimmed, `at most ${wordsMax} words`)
  return words.join(' ')
}

/** The days of a query; undefined where it is open. */
export function daySpanOf(query: { start_date?: string; end_date?: string }): {
  from?: string
  to?: string
} {
  const { fromOn, toOn } = daysOf(query)
  return {
    ...(query.start_date && { from: fromOn }),
    ...(query.end_date && /^\d{4}-/.test(toOn) && { to: toOn }),
  }
}

export function permitFilterOf(query: Query): PermitFilter {
  if (query.address?.trim()) {
    throw refusedParameter(
      'address',
      query.address.slice(0, 100),
      'address is not supported: send latitude and longitude.',
    )
  }
  return withoutAbsent({
    states: statesOf(query.states),
    county: typedText('county', query.county),
    operator: typedText('operator', query.operator),
    wellName: partOf('well_name', query.well_name),
    formation: typedText('formation', query.formation),
    permitType: typedText('permit_type', query.permit_type),
    wellType: typedText('well_type', query.well_type),
    text: wordsOf('query', query.query),
    circle: circleOf(query, 'latitude', 'longitude'),
    ...daySpanOf(query),
  })
}
