import { strToU8, zipSync } from 'fflate'
import { escaped } from '../text/html.ts'
import { dayMs } from '../time/instant.ts'
import { type Cell, cellOf, type Kind, type Table } from './table.ts'

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const packages = 'http://schemas.openxmlformats.org/package/2006'
const sheetTypes = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

const relation = (id: number, type: string, target: string) =>
  `<Relationship Id="rId${id}" Type="${office}/${type}" Target="${target}"/>`
const relations = (...list: string[]) =>
  `<Relationships xmlns="${packages}/relationships">${list.join('')}</Relationships>`

/** What every workbook of one sheet has. The second format of cells is that of a time. */
const parts = {
  '[Content_Types].xml': `<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${sheetTypes}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${sheetTypes}.styles+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${sheetTypes}.worksheet+xml"/></Types>`,
  '_rels/.rels': relations(relation(1, 'officeDocument', 'xl/workbook.xml')),
  'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${office}"><sheets><sheet name="Data" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': relations(
    relation(1, 'worksheet', 'worksheets/sheet1.xml'),
    relation(2, 'styles', 'styles.xml'),
  ),
  'xl/styles.xml': `<styleSheet xmlns="${main}"><fonts count="1"><font/></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf/><xf numFmtId="22" applyNumberFormat="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`,
}

/** The first day that the archive knows, so that equal tables are equal files. */
const firstDay = '1980-01-01'

/** The day that spreadsheets count from is so many days before 1970. */
const epochDays = 25_569

// biome-ignore lint/suspicious/noControlCharactersInRegex: XML cannot hold them
const notInXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g

/** An attribute where nothing needs it is part of the text for some readers. */
const spaceOf = (value: string) => (value.trim() === value ? '' : ' xml:space="preserve"')

const text = (place: string, value: string) =>
  `<c r="${place}" t="inlineStr"><is><t${spaceOf(value)}>${escaped(value.replaceAll(notInXml, '\ufffd'))}</t></is></c>`

/** The name of a column: A to Z, AA and so on. */
const columnName = (column: number): string =>
  (column < 26 ? '' : columnName(Math.floor(column / 26) - 1)) +
  String.fromCharCode(65 + (column % 26))

/** `place`: without it, some readers refuse the file although the format allows that. */
function cellXml(place: string, kind: Kind, cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell === 'boolean') return `<c r="${place}" t="b"><v>${cell ? 1 : 0}</v></c>`
  if (typeof cell === 'string') return text(place, cell)
  return kind === 'instant'
    ? `<c r="${place}" s="1"><v>${cell / dayMs + epochDays}</v></c>`
    : `<c r="${place}"><v>${cell}</v></c>`
}

/** A table as a workbook of one sheet, its first row the names of the columns. */
export function xlsxTable({ kinds, rows }: Table): Uint8Array<ArrayBuffer> {
  const columns = Object.entries(kinds).map(
    ([name, kind], i) => [name, kind, columnName(i)] as const,
  )
  const rowXml = (number: number, cells: string[]) => `<row r="${number}">${cells.join('')}</row>`
  const head = rowXml(
    1,
    columns.map(([name, , place]) => text(`${place}1`, name)),
  )
  const body = rows.map((row, i) =>
    rowXml(
      i + 2,
      columns.map(([name, kind, place]) =>
        cellXml(`${place}${i + 2}`, kind, cellOf(kind, row[name])),
      ),
    ),
  )
  const sheet = `<worksheet xmlns="${main}"><sheetData>${head}${body.join('')}</sheetData></worksheet>`
  const files = Object.entries({ ...parts, 'xl/worksheets/sheet1.xml': sheet })
  return new Uint8Array(
    zipSync(Object.fromEntries(files.map(([name, xml]) => [name, strToU8(declaration + xml)])), {
      mtime: firstDay,
    }),
  )
}
