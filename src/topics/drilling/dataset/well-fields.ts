import { textOr } from '../../../datasets/columns.ts'
import type { Column } from '../../../datasets/dataset.ts'
import {
  type DatasetRow,
  neededPastDay,
  neededText,
  numberIn,
  refuse,
  textIn,
} from '../../../datasets/fields.ts'
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
export const nameIn = (row: DatasetRow, field: string): string | undefined =>
  labelIn(row, field, 120)?.replace(/\s+/g, ' ')

/** A name, such as that of an operator; `right` is the advice in the error where it is missing. */
export const name = (
  description: string,
  right: string,
  options: Partial<Column<string>> = {},
): Column<string> => ({
  required: true,
  ...options,
  description,
  read: (row, field) => nameIn(row, field) ?? refuse(field, undefined, '', right),
})

export const operatorName = (description = 'Name of the operator') =>
  name(description, 'write the name of the operator')

/** Columns whose value `read` finds, each with its description. */
const column =
  <T>(read: Column<T>['read']) =>
  (description: string, options: Partial<Column<T>> = {}): Column<T> => ({
    ...options,
    description,
    read,
  })

export const optionalName = column<string | null>((row, field) => nameIn(row, field) ?? null)
export const optionalLabel = column<string | null>((row, field) => labelIn(row, field) ?? null)
/** A name that is empty where the field is. */
export const emptyName = column<string>((row, field) => nameIn(row, field) ?? '')

/** A day that may not be known. */
export const optionalDay = column<string | null>((row, field, { now }) =>
  labelIn(row, field) === undefined ? null : neededPastDay(row, field, now),
)

/** One of the states whose permits are served, by its two letters. */
export function stateIn(row: DatasetRow): PermitState {
  const right = `write one of ${permitStates.map(state => state.code).join(', ')}`
  const text = neededText(row, 'state', right)
  return permitStateOf(text) ?? refuse('state', text, 'is not a state that is served', right)
}

const rightNumber = 'write 10, 12 or 14 digits, with or without dashes, such as 42-329-40001'

/** The well's number, in the state of the row; undefined when the field is empty. */
export function apiNumberIn(
  row: DatasetRow,
  state: PermitState,
): { text: string; number: ApiNumber } | undefined {
  const text = labelIn(row, 'api_number')
  if (text === undefined) return undefined
  const number =
    parseApiNumber(text) ?? refuse('api_number', text, 'is not an API number', rightNumber)
  if (number.state?.code !== state.code) {
    const whose = number.state ? `is of ${number.state.name}` : 'begins with the digits of no state'
    refuse('api_number', text, whose, `those of ${state.name} begin with ${state.apiPrefix}`)
  }
  return { text, number }
}

/**
 * The number of a well, and the state of its first two digits, which must be one that is served.
 */
export function neededWellNumber(row: DatasetRow): { number: ApiNumber; state: PermitState } {
  const text = labelIn(row, 'api_number') ?? refuse('api_number', undefined, '', rightNumber)
  const number =
    parseApiNumber(text) ?? refuse('api_number', text, 'is not an API number', rightNumber)
  if (!number.state) refuse('api_number', text, 'begins with the digits of no state', rightNumber)
  const state = permitStateOf(number.state.code)
  return {
    number,
    state:
      state ??
      refuse(
        'api_number',
        text,
        `is of ${number.state.name}`,
        'wells of the 26 served states are taken',
      ),
  }
}

/**
 * Degrees to a millionth, inside the state or the waters off it; null when both fields are empty.
 */
export function placeIn(
  row: DatasetRow,
  state: PermitState,
): { latitude: number; longitude: number } | { latitude: null; longitude: null } {
  const [latitude, longitude] = [
    numberIn(row, 'latitude', -90, 90),
    numberIn(row, 'longitude', -180, 180),
  ]
  if (latitude === undefined && longitude === undefined) return { latitude: null, longitude: null }
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
    `it must be within ${box}; leave both empty if the place is not known`,
  )
}

const millionth = (degrees: number): number => Math.round(degrees * 1e6) / 1e6

export const state: Column<string> = {
  required: true,
  description: 'Two letters; one of the 26 states that are served',
  stored: 'state_code',
  read: row => stateIn(row).code,
}
export const apiNumberText = 'Number of the well: 10, 12 or 14 digits, with or without dashes'
export const place = {
  latitude: { description: 'Degrees north; inside the state' } as Column<number | null>,
  longitude: { description: 'Degrees east: west is negative' } as Column<number | null>,
}
export const source = textOr('import', 'Source of the list, as shown in responses; default: import')
