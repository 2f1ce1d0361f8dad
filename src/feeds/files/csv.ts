import { fromSheetText } from '../../lib/text/csv.ts'

const candidates = [',', ';', '\t', '|']

/**
 * The separator of a CSV file, from its first record: the one that is there most often outside
 * quotes; a comma when none does.
 */
export function separatorOf(firstRecord: string): string {
  const bare = firstRecord.replace(/"(?:[^"]|"")*"/g, '')
  const count = (separator: string) => bare.split(separator).length
  return candidates.reduce((best, candidate) => (count(candidate) > count(best) ? candidate : best))
}

/**
 * The fields of one record as RFC 4180 has it, spaces around a field dropped, and the apostrophe that
 * keeps a spreadsheet from running a text; undefined when text follows a closing quote or a quote is
 * never closed.
 */
export function fieldsOf(record: string, separator: string): string[] | undefined {
  if (!record.includes('"'))
    return record.split(separator).map(field => fromSheetText(field.trim()))
  const fields: string[] = []
  let at = 0
  for (;;) {
    while (record[at] === ' ') at += 1
    if (record[at] === '"') {
      const close = closingQuote(record, at + 1)
      if (close === undefined) return undefined
      fields.push(fromSheetText(record.slice(at + 1, close).replaceAll('""', '"')))
      at = close + 1
      while (record[at] === ' ') at += 1
      if (at < record.length && record[at] !== separator) return undefined
    } else {
      const next = record.indexOf(separator, at)
      const end = next < 0 ? record.length : next
      fields.push(fromSheetText(record.slice(at, end).trim()))
      at = end
    }
    if (at >= record.length) return fields
    at += 1
  }
}

function closingQuote(record: string, from: number): number | undefined {
  for (let at = record.indexOf('"', from); at >= 0; at = record.indexOf('"', at + 2)) {
    if (record[at + 1] !== '"') return at
  }
  return undefined
}

/** A field in quotes, whatever is in it. */
export const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`
