import { shown } from '../../datasets/cell.ts'
import type { Source } from '../files/source.ts'
import { type SheetCell, type SheetRow, sheetNames, sheetRows } from '../reading/workbook.ts'
import { csvLine, spooled, wholeOf } from './spool.ts'

const workbookBytesMax = 100 * 1024 * 1024

/**
 * A sheet of a workbook as CSV whose lines have the numbers of the sheet's rows. Rows before the
 * names of the columns are empty lines, and so is a row of units right below the names.
 */
export async function sheetSource(
  source: Source,
  directory: string,
  { sheet, headerRow = 1 }: { sheet?: string; headerRow?: number },
): Promise<Source> {
  const bytes = await wholeOf(source, workbookBytesMax)
  const names = await sheetNames(bytes)
  const name = sheet === undefined ? names[0] : names.find(name => sameName(name, sheet))
  if (name === undefined) {
    const listed = names.map(name => shown(name)).join(', ')
    throw new Error(
      sheet === undefined
        ? `${source.name} has no sheet`
        : `--sheet ${shown(sheet)}: ${source.name} has the sheets ${listed}`,
    )
  }
  const rows = sheetRows(bytes, sheetName => sheetName === name, { dates: true })
  const table = await spooled(source, directory, linesOf(rows, headerRow))
  const others = names.filter(other => other !== name).map(name => shown(name))
  const row = `The names of the columns are looked for in row ${headerRow} of the sheet ${shown(name)}: --header-row says which row has them.`
  const more =
    others.length > 0 ? ` There are also the sheets ${others.join(', ')}: --sheet says which.` : ''
  return { ...table, hint: row + more }
}

const sameName = (a: string, b: string) => a.trim().toLowerCase() === b.trim().toLowerCase()

async function* linesOf(rows: AsyncIterable<SheetRow>, headerRow: number): AsyncGenerator<string> {
  let line = 1
  let width = 0
  for await (const { number, cells } of rows) {
    if (number < headerRow || number < line) continue
    yield '\n'.repeat(number - line)
    line = number + 1
    if (number === headerRow) {
      width = cells.length
      yield csvLine(namesOf(cells))
    } else {
      const isUnits = number === headerRow + 1 && areUnits(cells)
      const isEmpty = cells.every(cell => cell === undefined || cell === '')
      yield isUnits || isEmpty ? '\n' : csvLine(padded(cells, width))
    }
  }
}

/** The names of the columns, as far as they have one. */
const namesOf = (cells: readonly SheetCell[]): string[] =>
  Array.from(cells, cell => (cell === undefined ? '' : String(cell).trim()))

const padded = (cells: readonly SheetCell[], width: number): SheetCell[] =>
  Array.from({ length: Math.max(width, cells.length) }, (_, i) => cells[i])

/** Units below the names: nothing in the first column, and no number in any. */
function areUnits(cells: readonly SheetCell[]): boolean {
  const first = cells[0]
  const texts = Array.from(cells).filter(cell => cell !== undefined && cell !== '')
  return (
    (first === undefined || first === '') &&
    texts.length > 0 &&
    texts.every(cell => typeof cell === 'string' && !/^[+-]?[\d.,]+$/.test(cell.trim()))
  )
}
