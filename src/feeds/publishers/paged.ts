import { FeedFault } from '../reading/fault.ts'

/** A page of a response. */
export interface Page<T> {
  /** The number of rows on all pages, as this page has it. */
  total: number
  rows: readonly T[]
  /** Whether the publisher has cut the response. */
  truncated: boolean
}

const readsMax = 3

/**
 * Reads every row of a paged answer, in order. A truncated page, a total that changes between
 * pages, a repeated row or a missing page means that the data changed while it was read: everything
 * is read again with shorter pages, at most three times.
 */
export async function readPages<T>(
  page: (offset: number, length: number) => Promise<Page<T>>,
  keyOf: (row: T) => string,
  lengthMax: number,
): Promise<T[]> {
  let reason = ''
  for (let read = 0; read < readsMax; read++) {
    const rows = await readOnce(page, keyOf, Math.ceil(lengthMax / 2 ** read))
    if (typeof rows !== 'string') return rows
    reason = rows
  }
  throw new FeedFault('changed_while_read', `${reason}, also when read again`)
}

/** The rows, or the reason why they may be incomplete. */
async function readOnce<T>(
  page: (offset: number, length: number) => Promise<Page<T>>,
  keyOf: (row: T) => string,
  length: number,
): Promise<T[] | string> {
  const rows: T[] = []
  const seen = new Set<string>()
  let total: number | undefined
  do {
    const next = await page(rows.length, length)
    if (next.truncated) return 'the answer was cut'
    if (!Number.isSafeInteger(next.total) || next.total < 0) return 'the answer names no total'
    total ??= next.total
    if (next.total !== total)
      return `the total changed from ${total} to ${next.total} between pages`
    if (next.rows.length === 0 && rows.length < total) return 'a page was missing'
    for (const row of next.rows) {
      const key = keyOf(row)
      if (seen.has(key)) return `${key} came twice`
      seen.add(key)
      rows.push(row)
    }
  } while (rows.length < total)
  return rows.length > total ? 'there were more rows than the total says' : rows
}
