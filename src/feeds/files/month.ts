import { isoDay } from '../../lib/time/instant.ts'
import { type DatasetRow, neededText, refuse } from './fields.ts'

const right = 'write a month, such as 2026-10'
const pattern = /^(\d{4}-(?:0[1-9]|1[0-2]))(?:-\d{2})?$/

/** A month up to the running one; a day stands for its month. */
export function neededMonth(row: DatasetRow, field: string, now: number): string {
  const text = neededText(row, field, right)
  const month = pattern.exec(text)?.[1] ?? refuse(field, text, 'is not a month', right)
  const last = isoDay(now).slice(0, 7)
  if (month > last || month < '1900-01')
    refuse(field, text, 'is out of range', `write a month from 1900-01 to ${last}`)
  return month
}
