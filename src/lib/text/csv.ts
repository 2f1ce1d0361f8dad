/** A cell of a table; null is an empty one. */
export type CsvCell = string | number | null

/**
 * Text that a spreadsheet takes for a formula, including full-width forms. Leading apostrophes
 * count, so that removing one always restores the original text.
 */
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/
// A semicolon divides cells where the comma is the decimal sign.
const special = /[",;\t\r\n]|^\s|\s$/

/**
 * A CSV text with a line for each row, commas between cells. Text that a spreadsheet would run as a
 * formula begins with an apostrophe; numbers stay as they are.
 */
export const csvText = (rows: readonly (readonly CsvCell[])[]): string =>
  rows.map(row => `${row.map(csvCell).join(',')}\n`).join('')

/** Text that a spreadsheet keeps as text, wherever it is pasted. */
export const sheetText = (text: string): string => (formula.test(text) ? `'${text}` : text)

/** The text that `sheetText` was given: what a file has that this program wrote. */
export const fromSheetText = (text: string): string =>
  text.startsWith("'") && formula.test(text) ? text.slice(1) : text

/** A cell between commas. */
export function csvCell(cell: CsvCell): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return Number.isFinite(cell) ? String(cell) : ''
  const text = sheetText(cell)
  return special.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
