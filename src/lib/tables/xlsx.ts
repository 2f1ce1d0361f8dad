import { deflateRawSync } from 'node:zlib'
import { escaped } from '../text/html.ts'
import { dayMs } from '../time/instant.ts'
import type { Cell, Column } from './table.ts'

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
  'xl/styles.xml': `<styleSheet xmlns="${main}"><fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf/><xf numFmtId="22" applyNumberFormat="1"/></cellXfs></styleSheet>`,
}

/** The day that spreadsheets count from is so many days before 1970. */
const epochDays = 25_569

// biome-ignore lint/suspicious/noControlCharactersInRegex: XML cannot hold them
const notInXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g

const text = (value: string) =>
  `<c t="inlineStr"><is><t xml:space="preserve">${escaped(value.replaceAll(notInXml, '\ufffd'))}</t></is></c>`

function cellXml(kind: Column['kind'], cell: Cell): string {
  if (cell === null) return '<c/>'
  if (typeof cell === 'boolean') return `<c t="b"><v>${cell ? 1 : 0}</v></c>`
  if (typeof cell === 'string') return text(cell)
  return kind === 'instant'
    ? `<c s="1"><v>${cell / dayMs + epochDays}</v></c>`
    : `<c><v>${cell}</v></c>`
}

/** A table as a workbook of one sheet, its first row the names of the columns. */
export function xlsxTable(columns: readonly Column[]): Uint8Array<ArrayBuffer> {
  const rows = (columns[0]?.cells ?? []).map(
    (_, row) =>
      `<row>${columns.map(({ kind, cells }) => cellXml(kind, cells[row]!)).join('')}</row>`,
  )
  const head = `<row>${columns.map(({ name }) => text(name)).join('')}</row>`
  const sheet = `<worksheet xmlns="${main}"><sheetData>${head}${rows.join('')}</sheetData></worksheet>`
  return zip({ ...parts, 'xl/worksheets/sheet1.xml': sheet })
}

/** A ZIP archive of XML texts. */
function zip(files: Readonly<Record<string, string>>): Uint8Array<ArrayBuffer> {
  const [bodies, entries]: [Buffer[], Buffer[]] = [[], []]
  let offset = 0
  for (const [name, xml] of Object.entries(files)) {
    const plain = Buffer.from(declaration + xml)
    const packed = deflateRawSync(plain)
    // Version 2.0, no flags, deflated, the first day that the format knows.
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(8, 4)
    common.writeUInt16LE(33, 8)
    common.writeUInt32LE(Bun.hash.crc32(plain), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(plain.length, 18)
    common.writeUInt16LE(name.length, 22)
    const place = Buffer.alloc(14)
    place.writeUInt32LE(offset, 10)
    bodies.push(Buffer.from('PK\u0003\u0004'), common, Buffer.from(name), packed)
    entries.push(Buffer.from('PK\u0001\u0002\u0014\u0000'), common, place, Buffer.from(name))
    offset += 4 + common.length + name.length + packed.length
  }
  const directory = Buffer.concat(entries)
  const end = Buffer.alloc(22)
  const count = Object.keys(files).length
  end.write('PK\u0005\u0006', 'latin1')
  end.writeUInt16LE(count, 8)
  end.writeUInt16LE(count, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  return new Uint8Array(Buffer.concat([...bodies, directory, end]))
}
