import { FeedFault } from './fault.ts'
import { britishDay, leadingDay, serialDay } from './periods.ts'
import { archiveFiles, pieces } from './zip.ts'

/** A cell: text, or the number as the workbook has it; undefined where there is nothing. */
export type SheetCell = string | number | undefined

/** One row of a sheet: its number, from 1, and its cells, the first column first. */
export interface SheetRow {
  number: number
  cells: readonly SheetCell[]
}

const workbookBytesMax = 100 * 1024 * 1024
const sharedTextsMax = 2_000_000
const columnsMax = 1000

/** The names of the sheets of a workbook, in their order. */
export const sheetNames = async (bytes: Uint8Array): Promise<string[]> =>
  (await contents(bytes)).sheets.map(sheet => sheet.name)

/**
 * The rows of one sheet of an `.xlsx` workbook, one after the other: the archive is unpacked and its XML
 * read in pieces, so a sheet of half a million rows costs no more memory than its shared texts.
 * With `dates`, numbers that are shown as days or times come as ISO text without a zone.
 */
export async function* sheetRows(
  bytes: Uint8Array,
  isSheet: (name: string) => boolean,
  { dates = false } = {},
): AsyncIterable<SheetRow> {
  if (bytes.length > workbookBytesMax) throw new FeedFault('too_long', 'the workbook is too large')
  const workbook = await contents(bytes)
  const name = workbook.sheets.find(sheet => isSheet(sheet.name))
  if (!name) {
    const names = workbook.sheets.map(sheet => sheet.name).join(', ') || 'no sheet'
    throw new FeedFault(
      'unexpected_header',
      `the workbook has ${names}, and not the sheet that is read`,
    )
  }
  for await (const file of archiveFiles(pieces(bytes), path => path === name.path)) {
    yield* rowsOf(file.read(), workbook, dates)
  }
}

interface Book {
  sheets: { name: string; path: string }[]
  texts: string[]
  /** Whether a style, by its number, shows a number as a day or a time. */
  dated: boolean[]
  /** Day 0 of its day numbers. */
  epoch: string
}

const usualEpoch = '1899-12-30'
const macEpoch = '1904-01-01'

/** Which sheets there are, and the texts that their cells share. */
async function contents(bytes: Uint8Array): Promise<Book> {
  const named: { name: string; relation: string }[] = []
  const targets = new Map<string, string>()
  const texts: string[] = []
  let dated: boolean[] = []
  let epoch = usualEpoch
  const parts = /^xl\/(workbook\.xml|_rels\/workbook\.xml\.rels|sharedStrings\.xml|styles\.xml)$/
  for await (const file of archiveFiles(pieces(bytes), path => parts.test(path))) {
    if (file.name === 'xl/workbook.xml') {
      await parse(file.read(), {
        open: (tag, attributes) => {
          if (tag === 'workbookPr' && /^(1|true)$/.test(attributes.date1904 ?? '')) epoch = macEpoch
          if (tag !== 'sheet') return
          named.push({ name: attributes.name ?? '', relation: attributes.id ?? '' })
        },
      })
    } else if (file.name.endsWith('.rels')) {
      await parse(file.read(), {
        open: (tag, attributes) => {
          if (tag !== 'Relationship') return
          targets.set(attributes.Id ?? '', pathOf(attributes.Target ?? ''))
        },
      })
    } else if (file.name === 'xl/styles.xml') dated = await datedStyles(file.read())
    else await readTexts(file.read(), texts)
  }
  const sheets = named.map(({ name, relation }) => ({ name, path: targets.get(relation) ?? '' }))
  return { sheets, texts, dated, epoch }
}

/** Formats of days and times that are not spelt out in a workbook. */
const isKnownDated = (id: number) =>
  (id >= 14 && id <= 22) ||
  (id >= 27 && id <= 36) ||
  (id >= 45 && id <= 47) ||
  (id >= 50 && id <= 58)

/**
 * Whether a number format shows a part of a date, outside of quoted text, colours and conditions.
 */
const isDated = (format: string) =>
  /[dmyhs]/i.test(format.replace(/"[^"]*"|\\.|_.|\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, ''))

async function datedStyles(chunks: AsyncIterable<Uint8Array>): Promise<boolean[]> {
  const customFormats = new Map<number, boolean>()
  const styles: boolean[] = []
  let isOfCells = false
  await parse(chunks, {
    open: (tag, attributes) => {
      const id = Number(attributes.numFmtId)
      if (tag === 'numFmt') customFormats.set(id, isDated(attributes.formatCode ?? ''))
      if (tag === 'cellXfs') isOfCells = true
      if (tag === 'xf' && isOfCells) styles.push(customFormats.get(id) ?? isKnownDated(id))
    },
    close: tag => {
      if (tag === 'cellXfs') isOfCells = false
    },
  })
  return styles
}

const pathOf = (target: string): string =>
  target.startsWith('/') ? target.slice(1) : `xl/${target}`

async function readTexts(chunks: AsyncIterable<Uint8Array>, texts: string[]): Promise<void> {
  let text = ''
  let within = false
  let phonetic = 0
  await parse(chunks, {
    open: tag => {
      if (tag === 'si') text = ''
      if (tag === 'rPh') phonetic += 1
      within = tag === 't' && phonetic === 0
    },
    text: piece => {
      if (within) text += piece
    },
    close: tag => {
      within = false
      if (tag === 'rPh') phonetic -= 1
      if (tag !== 'si') return
      if (texts.length >= sharedTextsMax)
        throw new FeedFault('too_long', 'the workbook is too large')
      texts.push(text)
    },
  })
}

async function* rowsOf(
  chunks: AsyncIterable<Uint8Array>,
  { texts, dated, epoch }: Book,
  dates: boolean,
): AsyncIterable<SheetRow> {
  let rows: SheetRow[] = []
  let cells: SheetCell[] = []
  let number = 0
  let column = 0
  let type = ''
  let isDay = false
  let text = ''
  let within = false
  const parser = await parserOf({
    open: (tag, attributes) => {
      if (tag === 'row') {
        number = Number(attributes.r ?? number + 1)
        cells = []
        column = -1
      } else if (tag === 'c') {
        column = attributes.r ? columnOf(attributes.r) : column + 1
        type = attributes.t ?? 'n'
        isDay = dates && type === 'n' && dated[Number(attributes.s ?? 0)] === true
        text = ''
      }
      within = tag === 'v' || tag === 't'
    },
    text: piece => {
      if (within) text += piece
    },
    close: tag => {
      within = false
      if (tag === 'c' && column < columnsMax) {
        const content = contentOf(text, type, texts)
        cells[column] = isDay && typeof content === 'number' ? timeOf(content, epoch) : content
      }
      if (tag === 'row') rows.push({ number, cells })
    },
  })
  for await (const chunk of chunks) {
    parser.write(chunk)
    yield* rows
    rows = []
  }
  parser.end()
  yield* rows
}

/**
 * Converts a serial day number to ISO text without a zone; a number outside the range stays as it
 * is.
 */
function timeOf(serial: number, epoch: string): SheetCell {
  if (!(serial >= 0 && serial < 2_958_466)) return serial
  const local = Temporal.PlainDateTime.from(epoch).add({ seconds: Math.round(serial * 86_400) })
  return local.toString({ smallestUnit: 'second' }).replace(/T00:00:00$/, '')
}

function contentOf(text: string, type: string, texts: readonly string[]): SheetCell {
  if (text === '' || type === 'e') return undefined
  if (type === 's') return texts[Number(text)]
  if (type !== 'n') return text
  const value = Number(text)
  return Number.isFinite(value) ? value : text
}

/** 0 of A1, 27 of AB3. */
function columnOf(reference: string): number {
  let column = 0
  for (const character of reference) {
    const place = character.charCodeAt(0) - 64
    if (place < 1 || place > 26) break
    column = column * 26 + place
  }
  return column - 1
}

interface Handlers {
  open(tag: string, attributes: Readonly<Record<string, string>>): void
  text?(piece: string): void
  close?(tag: string): void
}

/** Names without their namespaces: writers choose prefixes as they like. */
const localName = (name: string): string => name.slice(name.indexOf(':') + 1)

async function parserOf(handlers: Handlers) {
  // Loaded where a workbook is read: a start is sooner without it.
  const { default: sax } = await import('sax')
  const parser = sax.parser(true, {})
  const decoder = new TextDecoder()
  const isRelation = (name: string) => name.endsWith(':id')
  parser.onerror = () => {
    throw new FeedFault('unreadable', 'the XML of the workbook is damaged')
  }
  parser.onopentag = tag => {
    const attributes: Record<string, string> = {}
    for (const [name, value] of Object.entries(tag.attributes)) {
      attributes[isRelation(name) ? 'id' : name] = String(value)
    }
    handlers.open(localName(tag.name), attributes)
  }
  if (handlers.text) parser.ontext = handlers.text
  if (handlers.text) parser.oncdata = handlers.text
  if (handlers.close) parser.onclosetag = name => handlers.close!(localName(name))
  return {
    write: (chunk: Uint8Array) => void parser.write(decoder.decode(chunk, { stream: true })),
    end: () => void parser.close(),
  }
}

async function parse(chunks: AsyncIterable<Uint8Array>, handlers: Handlers): Promise<void> {
  const parser = await parserOf(handlers)
  for await (const chunk of chunks) parser.write(chunk)
  parser.end()
}

/** The day of a cell: a serial number, or a day in words. */
export function dayOf(cell: SheetCell): string | undefined {
  if (typeof cell === 'number') return serialDay(cell)
  return cell === undefined ? undefined : (leadingDay(cell) ?? britishDay(cell))
}
