import {
  checked,
  type DatasetFault,
  type DatasetRow,
  neededInstant,
  numberIn,
  refuse,
} from '../../datasets/fields.ts'
import {
  type EarlierRow,
  type RowColumn,
  supersededColumn,
} from '../../topics/operator/store/earlier-rows.ts'

const charactersMax = 4_000
const numberMax = Number.MAX_SAFE_INTEGER

/** A row that a dataset once had, as an export wrote it, or what is wrong with it. */
export const checkEarlierRow = (
  row: DatasetRow,
  columns: readonly RowColumn[],
  now: number,
): { record: EarlierRow } | DatasetFault =>
  checked(() => {
    const names = new Set([...columns.map(({ name }) => name), supersededColumn])
    const unknown = Object.keys(row).find(name => !names.has(name))
    if (unknown !== undefined)
      refuse(unknown, unknown, 'is not a column of it', `it has ${[...names].join(', ')}`)
    const cells = Object.fromEntries(
      columns.map(column => [column.name, cellIn(row, column, now)] as const),
    )
    const from = neededPast(row, 'recorded_at', now)
    const until = neededPast(row, supersededColumn, now)
    if (until <= from)
      refuse(
        supersededColumn,
        row[supersededColumn],
        'is not after recorded_at',
        'a row stood until something took its place',
      )
    return { ...cells, recorded_at: from, superseded_at: until }
  })

function cellIn(row: DatasetRow, { name, kind, isNeeded }: RowColumn, now: number) {
  const value = row[name]
  if (value === undefined || value === null) {
    if (isNeeded) refuse(name, undefined, '', 'an earlier row has every column of its table')
    return null
  }
  if (name.endsWith('_at')) return neededInstant(row, name, now)
  if (kind === 'TEXT') {
    if (typeof value !== 'string' || value.length > charactersMax || !value.isWellFormed())
      refuse(name, value, 'is not text', `write text of at most ${charactersMax} characters`)
    return value
  }
  const number = typeof value === 'number' ? numberIn(row, name, -numberMax, numberMax) : undefined
  if (number === undefined || (kind === 'INTEGER' && !Number.isInteger(number)))
    refuse(name, value, 'is not such a number', `write a ${kind === 'REAL' ? '' : 'whole '}number`)
  return number
}

function neededPast(row: DatasetRow, name: string, now: number): number {
  const at = neededInstant(row, name, now)
  if (at > now) refuse(name, row[name], 'is in the future', 'write a time up to now')
  return at
}
