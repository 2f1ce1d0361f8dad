/** Rows under their headings, each column as wide as its widest cell. */
export function tableLines(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  const all = [headings, ...rows]
  const widths = headings.map((_, column) => Math.max(...all.map(row => row[column]?.length ?? 0)))
  return all.map(row =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** A table whose column widths are set when the width of the terminal is known. */
export interface Table {
  headings: readonly string[]
  rows: readonly (readonly string[])[]
}

export const table = (
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): readonly [Table] => [{ headings, rows }]

/** A column of a table: a field, with a dash where it is null, or what is made of a row. */
type Column<Row> = (keyof Row & string) | ((row: Row) => string)

/** A table of rows, one column under each heading. */
export const tableOf = <Row>(
  rows: readonly Row[],
  columns: Readonly<Record<string, Column<Row>>>,
): readonly [Table] =>
  table(
    Object.keys(columns),
    rows.map(row =>
      Object.values(columns).map(column =>
        typeof column === 'function' ? column(row) : String(row[column] ?? '-'),
      ),
    ),
  )

/** Texts are not cut further. */
const leastWidth = 8
/** Cells that are never shortened: numbers, dates, times and ids. */
const whole = /^(?:-|[-+]?[\d.,]+%?|\d{4}-\d\d(?:-\d\d.*)?|[\da-f]{8}-[\da-f-]{27})?$/

/**
 * The lines of a table on a terminal. The longest texts are cut until it fits, so that numbers,
 * dates and ids stay whole.
 */
export function fittedLines({ headings, rows }: Table, width: number | undefined): string[] {
  if (width === undefined) return tableLines(headings, rows)
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map(row => row[column]?.length ?? 0)),
  )
  const least = headings.map((heading, column) =>
    rows.every(row => whole.test(row[column] ?? ''))
      ? widths[column]!
      : Math.max(heading.length, leastWidth),
  )
  let over = widths.reduce((sum, each) => sum + each + 2, -2) - width
  while (over > 0) {
    const [widest] = widths
      .map((each, column) => ({ each, column }))
      .filter(({ each, column }) => each > least[column]!)
      .sort((a, b) => b.each - a.each)
    if (!widest) break
    widths[widest.column]! -= 1
    over -= 1
  }
  const cut = (cell: string, most: number) =>
    cell.length <= most ? cell : `${cell.slice(0, most - 1)}…`
  return tableLines(
    headings,
    rows.map(row => row.map((cell, column) => cut(cell, widths[column]!))),
  )
}

/** A text in lines of at most `width` columns, broken at spaces; a longer word stays whole. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const part of text.split(/(?<=\S)(?= )/)) {
    if (line !== '' && line.length + part.length > width) {
      lines.push(line)
      line = part.trimStart()
    } else line += part
  }
  return [...lines, line]
}
