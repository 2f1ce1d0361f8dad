import { isoDay, parseDay } from '../../lib/time/instant.ts'
import { type DatasetRow, neededText, refuse } from './fields.ts'

const midnight = /[T ]00:00(:00(\.0+)?)?Z?$/
const right = 'write a day, such as 2026-11-17'

/** A day up to today; agencies write it with the time of its midnight too. */
export function neededPastDay(row: DatasetRow, field: string, now: number): string {
  const text = neededText(row, field, right)
  const day = text.replace(midnight, '')
  if (parseDay(day) === undefined) refuse(field, text, 'is not a day', right)
  if (day > isoDay(now) || day < '1900-01-01')
    refuse(field, text, 'is out of range', `write a day from 1900-01-01 to ${isoDay(now)}`)
  return day
}
