import { fieldsOf, separatorOf } from '../files/csv.ts'
import { FeedFault, unreadable } from './fault.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })
// The agency writes its weekly tables in Windows-1252.
const windows = new TextDecoder('windows-1252')

/** The text of a body, without a byte order mark; invalid UTF-8 is read as Windows-1252. */
export function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    return windows.decode(bytes)
  }
}

/** A JSON body; what stands before its first bracket is passed over. */
export function jsonOf(bytes: Uint8Array, what: string): unknown {
  const text = textOf(bytes)
  const start = text.search(/[[{]/)
  try {
    if (start < 0) throw unreadable(what)
    return JSON.parse(text.slice(start))
  } catch {
    throw unreadable(`the JSON of ${what}`)
  }
}

/** A table: the header's fields and a row of fields for each line. Lines without any text are left out. */
export interface Table {
  header: readonly string[]
  rows: readonly (readonly string[])[]
}

/** The CSV of a body. Throws where a line cannot be read. */
export function tableOf(bytes: Uint8Array, what: string): Table {
  const lines = textOf(bytes)
    .split(/\r\n|\n|\r/)
    .filter(line => line.trim() !== '')
  const separator = separatorOf(lines[0] ?? '')
  const [header, ...rows] = lines.map((line, i) => {
    const fields = fieldsOf(line, separator)
    if (!fields) throw unreadable(`line ${i + 1} of ${what}`)
    return fields
  })
  if (!header || !textOf(bytes.subarray(0, 300)).includes(separator)) {
    throw new FeedFault('unexpected_header', `${what} is not a table`)
  }
  return { header, rows }
}
