import { shown } from '../../datasets/cell.ts'
import { fieldsOf, separatorOf } from '../files/csv.ts'
import {
  firstBytes,
  openSource,
  type Source,
  type SourceOpener,
  withoutMark,
} from '../files/source.ts'
import { FeedFault } from '../reading/fault.ts'

/** Where the rows of a file are, and how they are selected. */
export interface FormatRequest {
  /** The sheet of a workbook; the first where none is named. */
  sheet?: string
  /** The row that has the names of the columns, from 1: of a sheet, or the line of a text file. */
  headerRow?: string
  /** Where the records of a JSON document are: `response.data`. */
  records?: string
  /** Whether the columns were mapped explicitly: then a publisher's own names are not used. */
  isMapped: boolean
}

/**
 * Opens files of every format that is read: CSV and NDJSON as they are; workbooks, JSON documents,
 * Parquet, the ECB's rates, the weekly petroleum tables and ZIP archives of one file as a table. The
 * series of publishers that are fed are known by their own names. Throws a sentence that names the
 * file or the option.
 */
export function createOpener(request: FormatRequest): SourceOpener {
  const headerRow = request.headerRow === undefined ? undefined : Number(request.headerRow)
  if (headerRow !== undefined && !(Number.isSafeInteger(headerRow) && headerRow >= 1))
    throw new Error(
      `--header-row ${shown(request.headerRow)} is not the number of a row: write for example --header-row 5`,
    )
  const formRequest: FormOptions = {
    sheet: request.sheet,
    headerRow,
    records: request.records,
    isMapped: request.isMapped,
  }
  return async (path, stdin, directory) => {
    const source = await openSource(path, stdin, directory)
    try {
      return await tableOf(source, directory, formRequest)
    } catch (error) {
      await source.close()
      if (error instanceof FeedFault) throw new Error(`${source.name}: ${error.message}`)
      throw error
    }
  }
}

interface FormOptions {
  sheet: string | undefined
  headerRow: number | undefined
  records: string | undefined
  isMapped: boolean
}

async function tableOf(source: Source, directory: string, asked: FormOptions): Promise<Source> {
  const head = await firstBytes(source)
  const starts = (text: string) =>
    Buffer.from(head.subarray(0, text.length)).toString('latin1') === text
  if (starts('PK\x03\x04')) {
    const { unpacked } = await import('./archive.ts')
    const content = await unpacked(source, directory)
    if (content.kind === 'file')
      return tableOf({ ...content.source, name: source.name }, directory, asked)
    const { sheetSource } = await import('./workbook.ts')
    return sheetSource(source, directory, { sheet: asked.sheet, headerRow: asked.headerRow ?? 1 })
  }
  if (asked.sheet !== undefined)
    throw new Error(`--sheet is for workbooks (.xlsx), and ${source.name} is none`)
  if (starts('PAR1')) {
    const { parquetSource } = await import('./parquet.ts')
    return parquetSource(source, directory)
  }
  const text = new TextDecoder().decode(withoutMark(head))
  const start = text.trimStart()
  if (asked.records !== undefined || isDocument(start)) return documentOf(source, directory, asked)
  if (start.startsWith('<')) return xmlOf(source, directory, start)
  return textOf(source, directory, text, asked)
}

/** Whether a text is one JSON document, and not one object a line. */
function isDocument(start: string): boolean {
  if (start.startsWith('[')) return true
  if (!start.startsWith('{')) return false
  const [first = '', ...rest] = start.split(/\r\n|\n|\r/)
  const isAlone = rest.every(line => line.trim() === '')
  if (isAlone) return /^\{\s*"[^"]*"\s*:\s*[{[]/.test(first) || /:\s*\[\s*\{/.test(first)
  return /^\{?\s*$/.test(first) || /^\{\s*"[^"]*"\s*:\s*[{[]?\s*$/.test(first)
}

async function documentOf(source: Source, directory: string, asked: FormOptions): Promise<Source> {
  const { jsonDocument, recordSource } = await import('./json.ts')
  const document = await jsonDocument(source, asked.records)
  if (document.records.length === 0)
    throw new Error(`${source.name} has not one row: its list ${document.path} is empty`)
  const { agencySeries } = await import('./agency.ts')
  const series = asked.isMapped ? undefined : agencySeries(document, source.name)
  const table = await recordSource(source, directory, document.records)
  return series ? { ...table, series, publisher: 'EIA' } : table
}

async function xmlOf(source: Source, directory: string, start: string): Promise<Source> {
  if (!start.includes('eurofxref') && !start.includes('<Cube'))
    throw new Error(
      `${source.name} is XML, of which only the reference rates of the European Central Bank are read: save it as CSV`,
    )
  const { rateSource } = await import('./rates.ts')
  return { ...(await rateSource(source, directory, 'xml')), publisher: 'ECB' }
}

/** The first line of the tables of the weekly petroleum report. */
const weeklyTable = /^\s*"?STUB_1"?,/i
/** Currencies that every table of the European Central Bank's rates has. */
const rateNames = ['Date', 'USD', 'JPY', 'GBP']

async function textOf(
  source: Source,
  directory: string,
  text: string,
  { headerRow, isMapped }: FormOptions,
): Promise<Source> {
  if (headerRow !== undefined && headerRow > 1) return { ...source, prefaceLines: headerRow - 1 }
  if (weeklyTable.test(text)) {
    const { weeklySource } = await import('./weekly-tables.ts')
    return { ...(await weeklySource(source, directory)), publisher: 'EIA' }
  }
  if (isMapped) return source
  const line = text.split(/\r\n|\n|\r/).find(text => text.trim() !== '') ?? ''
  const names = fieldsOf(line, separatorOf(line)) ?? []
  if (names[0] === 'Date' && rateNames.every(name => names.includes(name))) {
    const { rateSource } = await import('./rates.ts')
    return { ...(await rateSource(source, directory, 'csv')), publisher: 'ECB' }
  }
  if (!/^(observation_)?date$/i.test(names[0] ?? '')) return source
  const { fredSeries } = await import('./agency.ts')
  const series = fredSeries(names)
  return series ? { ...source, series, publisher: 'FRED' } : source
}
