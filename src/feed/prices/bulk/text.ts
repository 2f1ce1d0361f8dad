import { isoInstant } from '../../../lib/time/instant.ts'
import type { PriceBlock } from '../../../market/prices/block.ts'
import type { BulkColumn } from './columns.ts'
import type { BulkWriter } from './writer.ts'

/** Rows that become one text; a long one costs memory, a short one calls. */
const rowsAText = 8192

/** The texts of a row's cells, column by column; what a series has in all rows is made once. */
type Cells = (block: PriceBlock) => ((row: number) => string)[]

const numberText = (value: number) => String(value)

function cellsOf(columns: readonly BulkColumn[], quote: (text: string | null) => string): Cells {
  return block =>
    columns.map(column => {
      if (column.kind === 'text') {
        const rows = column.ofRows?.(block)
        if (rows) {
          const cells = rows.texts.map(quote)
          return row => cells[rows.index[row]!]!
        }
        const cell = quote(column.of(block.series))
        return () => cell
      }
      const values = column.of(block)
      if (column.kind !== 'instant') return row => numberText(values[row]!)
      // Rows of one import share a moment: its text is made once for all of them.
      let last = { at: Number.NaN, text: '' }
      return row => {
        const at = values[row]!
        if (at !== last.at) last = { at, text: quote(isoInstant(at)) }
        return last.text
      }
    })
}

function textWriter(
  header: string,
  cells: Cells,
  line: (cells: ((row: number) => string)[], row: number) => string,
): BulkWriter {
  const encoder = new TextEncoder()
  return {
    begin: () => encoder.encode(header),
    *block(block) {
      const ofBlock = cells(block)
      for (let from = 0; from < block.length; from += rowsAText) {
        let text = ''
        const to = Math.min(block.length, from + rowsAText)
        for (let row = from; row < to; row += 1) text += line(ofBlock, row)
        yield encoder.encode(text)
      }
    },
    *end() {},
  }
}

const csvCell = (text: string | null) =>
  text === null ? '' : /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

/** CSV with a header; an absent value is an empty cell. */
export const csvWriter = (columns: readonly BulkColumn[]): BulkWriter =>
  textWriter(
    `${columns.map(column => column.name).join(',')}\n`,
    cellsOf(columns, csvCell),
    (cells, row) => {
      let text = ''
      for (let i = 0; i < cells.length; i += 1) text += (i === 0 ? '' : ',') + cells[i]!(row)
      return `${text}\n`
    },
  )

/** One JSON object a line. */
export function ndjsonWriter(columns: readonly BulkColumn[]): BulkWriter {
  const names = columns.map(({ name }, i) => `${i === 0 ? '{' : ','}${JSON.stringify(name)}:`)
  return textWriter(
    '',
    cellsOf(columns, text => JSON.stringify(text)),
    (cells, row) => {
      let text = ''
      for (let i = 0; i < cells.length; i += 1) text += names[i]! + cells[i]!(row)
      return `${text}}\n`
    },
  )
}
