import { fieldsOf, separatorOf } from '../../../feeds/files/csv.ts'

/** A record of a CSV file, with the line on which it begins, from 1. */
interface CsvRecord {
  line: number
  /** Undefined where text follows a closing quote, or a quote is never closed. */
  cells: string[] | undefined
}

/**
 * The records of a CSV file, the first with the names of its columns: commas, quotes and line ends
 * inside quotes belong to a cell; the separator is the one of the first record.
 */
export function csvRecordsOf(text: string): CsvRecord[] {
  const records: CsvRecord[] = []
  let separator: string | undefined
  for (const { line, record } of recordsOf(text.replace(/^\uFEFF/, ''))) {
    separator ??= separatorOf(record)
    records.push({ line, cells: fieldsOf(record, separator) })
  }
  return records
}

/** The texts between line ends outside of quotes; empty lines are skipped. */
function* recordsOf(text: string): Generator<{ line: number; record: string }> {
  let parts: string[] = []
  let isOpen = false
  let line = 0
  for (const part of text.split(/\r\n|\n|\r/)) {
    line += 1
    parts.push(part)
    // An odd number of quotes opens a cell or closes it.
    if (part.split('"').length % 2 === 0) isOpen = !isOpen
    if (isOpen) continue
    const record = parts.join('\n')
    if (record.trim() !== '') yield { line: line - parts.length + 1, record }
    parts = []
  }
  if (isOpen) yield { line: line - parts.length + 1, record: parts.join('\n') }
}
