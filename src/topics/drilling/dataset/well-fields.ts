import { type DatasetRow, neededText, numberIn, refuse, textIn } from '../../../datasets/fields.ts'
import { isInside } from '../../geography/math/geography.ts'
import {
  offshoreDegrees,
  type PermitState,
  permitStateOf,
  permitStates,
} from '../../geography/math/us-states.ts'
import { type ApiNumber, parseApiNumber } from '../math/api-number.ts'

/** Text, also where a program has written a number. */
export function labelIn(row: DatasetRow, field: string, charactersMax = 100): string | undefined {
  const value = row[field]
  return typeof value === 'number' && Number.isFinite(value)
    ? String(value)
    : textIn(row, field, charactersMax)
}

/** Runs of spaces are one. */
export const nameIn = (row: DatasetRow, field: string, charactersMax = 120): string | undefined =>
  labelIn(row, field, charactersMax)?.replace(/\s+/g, ' ')

export const neededName = (row: DatasetRow, field: string, right: string): string =>
  nameIn(row, field) ?? refuse(field, undefined, '', right)

/** One of the states whose permits are served, by its two letters. */
export function stateIn(row: DatasetRow): PermitState {
  const right = `write one of ${permitStates.map(state => state.code).join(', ')}`
  const text = neededText(row, 'state', right)
  return permitStateOf(text) ?? refuse('state', text, 'is not a state that is served', right)
}

/** The well's number, of the state that the row says; undefined when the field is empty. */
export function apiNumberIn(
  row: DatasetRow,
  state: PermitState,
): { text: string; number: ApiNumber } | undefined {
  const text = labelIn(row, 'api_number')
  if (text === undefined) return undefined
  const right = 'write 10, 12 or 14 digits, with or without dashes, such as 42-329-40001'
  const number = parseApiNumber(text) ?? refuse('api_number', text, 'is not an API number', right)
  if (number.state?.code !== state.code) {
    const whose = number.state ? `is of ${number.state.name}` : 'begins with the digits of no state'
    refuse('api_number', text, whose, `those of ${state.name} begin with ${state.apiPrefix}`)
  }
  return { text, number }
}

/**
 * Degrees to a millionth, inside the state or the waters off it; undefined when both fields are
 * empty.
 */
export function placeIn(
  row: DatasetRow,
  state: PermitState,
): { latitude: number; longitude: number } | undefined {
  const [latitude, longitude] = [
    numberIn(row, 'latitude', -90, 90),
    numberIn(row, 'longitude', -180, 180),
  ]
  if (latitude === undefined && longitude === undefined) return undefined
  if (latitude === undefined) refuse('latitude', undefined, '', 'write both coordinates or neither')
  if (longitude === undefined)
    refuse('longitude', undefined, '', 'write both coordinates or neither')
  const place = { latitude: millionth(latitude), longitude: millionth(longitude) }
  if (isInside(state.box, place, offshoreDegrees)) return place
  const { south, north, west, east } = state.box
  const box = `latitude ${south} to ${north} and longitude ${west} to ${east}`
  const field =
    latitude < south - offshoreDegrees || latitude > north + offshoreDegrees
      ? 'latitude'
      : 'longitude'
  return refuse(
    field,
    row[field],
    `is outside ${state.name}`,
    `it lies at ${box}; leave both empty where the place is not known`,
  )
}

const millionth = (degrees: number): number => Math.round(degrees * 1e6) / 1e6

export const stateColumn = {
  name: 'state',
  required: true,
  description: 'Two letters; one of the 26 states that are served',
} as const
export const apiNumberText = 'Number of the well: 10, 12 or 14 digits, with or without dashes'
export const placeColumns = [
  { name: 'latitude', required: false, description: 'Degrees north; inside the state' },
  { name: 'longitude', required: false, description: 'Degrees east: west is negative' },
] as const
export const sourceColumn = {
  name: 'source',
  required: false,
  description: 'Whose list it is, as answers name it; default: import',
} as const
