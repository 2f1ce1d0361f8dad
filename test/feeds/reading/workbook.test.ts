import { describe, expect, test } from 'bun:test'
import { strToU8, Zip, ZipDeflate, zipSync } from 'fflate'
import { FeedFault } from '../../../src/feeds/reading/fault.ts'
import { type SheetRow, sheetRows } from '../../../src/feeds/reading/workbook.ts'
import { archiveFiles, linesOf, pieces, type WantedLines } from '../../../src/feeds/reading/zip.ts'
import { workbookOf } from '../../support/publishers/workbook.ts'

const rowsOf = async (bytes: Uint8Array, sheet: string): Promise<SheetRow[]> =>
  await Array.fromAsync(sheetRows(bytes, name => name === sheet))

const codeOf = async (work: Promise<unknown>): Promise<string> =>
  await work.then(
    () => 'read',
    error => (error instanceof FeedFault ? error.code : String(error)),
  )

describe('a workbook', () => {
  const bytes = workbookOf({
    Notes: [['nothing']],
    'Monthly Prices': [
      ['World Bank Commodity Price Data'],
      [],
      [undefined, 'Coal, South African **', 'Natural gas <&>'],
      ['2026M05', 100.43, 0.82999999999999996],
      ['2026M06', '…', -3],
    ],
  })

  test('the workbook parser returns the rows of the requested sheet with their numbers', async () => {
    expect(await rowsOf(bytes, 'Monthly Prices')).toEqual([
      { number: 1, cells: ['World Bank Commodity Price Data'] },
      { number: 2, cells: [] },
      // biome-ignore lint/suspicious/noSparseArray: an empty cell is not there
      { number: 3, cells: [, 'Coal, South African **', 'Natural gas <&>'] },
      { number: 4, cells: ['2026M05', 100.43, 0.83] },
      { number: 5, cells: ['2026M06', '…', -3] },
    ])
  })

  test('the workbook parser fails when the requested sheet is missing', async () => {
    expect(await codeOf(rowsOf(bytes, 'Prices'))).toBe('unexpected_header')
  })

  test('is refused when it is cut short, and when it is not an archive', async () => {
    expect(await codeOf(rowsOf(bytes.subarray(0, bytes.length >> 1), 'Monthly Prices'))).not.toBe(
      'read',
    )
    expect(await codeOf(rowsOf(strToU8('<html>maintenance</html>'), 'Monthly Prices'))).not.toBe(
      'read',
    )
  })
})

describe('an archive', () => {
  const text = Array.from({ length: 20_000 }, (_, i) => `line ${i} ${'x'.repeat(i % 50)}`).join(
    '\n',
  )
  const archive = zipSync({
    'skipped.txt': strToU8('nothing\n'.repeat(10_000)),
    'PET.txt': strToU8(text),
  })

  const everyLine: WantedLines = { headBytes: 20, isWanted: () => true }
  const linesIn = async (
    bytes: Uint8Array,
    size: number,
    wanted = everyLine,
    bytesMax = 1 << 20,
  ): Promise<string[]> => {
    const all: string[] = []
    for await (const file of archiveFiles(pieces(bytes, size), name => name === 'PET.txt')) {
      for await (const lines of linesOf(file.read(), wanted, bytesMax)) {
        all.push(...lines.map(line => line.toString()))
      }
    }
    return all
  }

  for (const size of [7, 1000, 1 << 20]) {
    test(`is read the same in pieces of ${size} bytes`, async () => {
      expect((await linesIn(archive, size)).join('\n')).toBe(text)
    })
  }

  test('gives the lines that begin as wanted, however long the others are', async () => {
    const long = 'x'.repeat(1 << 18)
    const lines = [`none ${long}`, `one ${long}`, 'none', 'on', 'one', `none ${long}`, 'one two']
    const isWanted = (head: string) => /^one( |$)/.test(head)
    for (const size of [7, 1 << 20]) {
      const bytes = zipSync({ 'PET.txt': strToU8(lines.join('\n')) })
      const read = (bytesMax: number) => linesIn(bytes, size, { headBytes: 4, isWanted }, bytesMax)
      expect(await read(long.length + 4)).toEqual([`one ${long}`, 'one', 'one two'])
      expect(await codeOf(read(1 << 17))).toBe('too_long')
    }
  })

  test('that ends too early is refused', async () => {
    expect(await codeOf(linesIn(archive.subarray(0, archive.length - 20_000), 1000))).toBe(
      'cut_short',
    )
  })

  test('whose content is damaged is refused', async () => {
    const damaged = archive.slice()
    damaged.fill(0xff, damaged.length >> 1, (damaged.length >> 1) + 400)
    expect(await codeOf(linesIn(damaged, 1000))).toBe('cut_short')
  })

  /** As publishers write it while they read: sizes and checksums stand behind each file. */
  function streamed(files: Readonly<Record<string, string>>, level: 0 | 6): Uint8Array {
    const written: Uint8Array[] = []
    const zip = new Zip((_, piece) => void written.push(piece))
    for (const [name, content] of Object.entries(files)) {
      const file = new ZipDeflate(name, { level })
      zip.add(file)
      file.push(strToU8(content), true)
    }
    zip.end()
    return Buffer.concat(written)
  }

  for (const level of [0, 6] as const) {
    for (const size of [7, 1 << 20]) {
      test(`written as a stream is read whole, whatever it contains (level ${level}, pieces of ${size})`, async () => {
        const signatures = 'PK\x07\x08 PK\x03\x04 PK\x01\x02 '.repeat(50)
        const bytes = streamed({ 'skipped.txt': signatures, 'PET.txt': signatures + text }, level)
        expect((await linesIn(bytes, size)).join('\n')).toBe(signatures + text)
      })
    }
  }

  test('whose checksum is another is refused', async () => {
    const bytes = streamed({ 'PET.txt': text }, 0)
    const at = Buffer.from(bytes).indexOf('line 10000 ')
    bytes[at + 5] = 57
    expect(await codeOf(linesIn(bytes, 1000))).toBe('cut_short')
  })
})
