import { expect, test } from 'bun:test'
import { strFromU8, unzipSync } from 'fflate'
import type { Kind } from '../../../src/lib/tables/table.ts'
import { xlsxTable } from '../../../src/lib/tables/xlsx.ts'

test('a workbook names the place of every row and cell, without which some programs refuse it', () => {
  const names = Array.from({ length: 28 }, (_, i) => `column ${i}`)
  const kinds = Object.fromEntries(names.map((name): [string, Kind] => [name, 'number']))
  const workbook = xlsxTable({
    kinds,
    rows: [{ 'column 0': 1, 'column 27': 2 }, { 'column 26': 3 }],
  })
  const sheet = strFromU8(unzipSync(workbook)['xl/worksheets/sheet1.xml']!)
  expect(sheet).toContain('<row r="1"><c r="A1" t="inlineStr">')
  expect(sheet).toContain('<c r="AB1" t="inlineStr">')
  expect(sheet).toContain('<row r="2"><c r="A2"><v>1</v></c><c r="AB2"><v>2</v></c></row>')
  expect(sheet).toContain('<row r="3"><c r="AA3"><v>3</v></c></row>')
})

test('the fills of a workbook have patterns, without which openpyxl and pandas refuse it', () => {
  const styles = strFromU8(
    unzipSync(xlsxTable({ kinds: { price: 'number' }, rows: [] }))['xl/styles.xml']!,
  )
  expect(styles).toContain('<fill><patternFill patternType="none"/></fill>')
  expect(styles).not.toContain('<fill/>')
})

test('only a text that begins or ends with a space says that its spaces count, which openxlsx takes for text', () => {
  const rows = [{ name: 'plain text' }, { name: ' indented' }]
  const workbook = xlsxTable({ kinds: { name: 'text' }, rows })
  const sheet = strFromU8(unzipSync(workbook)['xl/worksheets/sheet1.xml']!)
  expect(sheet).toContain('<t>plain text</t>')
  expect(sheet).toContain('<t xml:space="preserve"> indented</t>')
})
