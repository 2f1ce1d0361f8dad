import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { instantOf, isBlank, numberOf, shown } from '../../../datasets/cell.ts'
import { fieldsOf, separatorOf } from '../../../feeds/files/csv.ts'
import { isObject } from '../../../lib/text/json.ts'
import { sleep } from '../../../lib/time/clock.ts'
import { secondMs } from '../../../lib/time/instant.ts'
import { contentBytesMax, type RowField, type SourceLayout } from '../../../plans/source-config.ts'
import { connectorRegion, fuelOf, isMetricTon, portNameOf } from '../../fuels/math/connector.ts'
import { type Port, portOf } from '../../fuels/math/marine.ts'
import type { RowReader, SourceContent } from '../service/sync.ts'
import type { SourceRow } from '../store/sources.ts'

/** They are written in one transaction, which must not hold up the requests behind it. */
const rowsMax = 5_000
/** Judged without a pause. */
const rowsEach = 500
const rejectionsMax = 20
const tooMany = { fault: `it has more than the ${rowsMax} rows that are read at a time` }

/** Reads JSON, NDJSON and CSV, gzip too, into prices of marine fuel. */
export const createSourceParser = (ports: readonly Port[]): RowReader => ({
  async read(bytes, layout, mask, now) {
    const text = await textOf(bytes)
    if (typeof text !== 'string') return text
    const records = recordsOf(mask(text), layout)
    if ('fault' in records) return records
    return await judged(records, layout, namer(ports), now)
  },
})

const unpack = promisify(gunzip)

async function textOf(bytes: Uint8Array): Promise<string | { fault: string }> {
  let content = bytes
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
    try {
      content = await unpack(bytes, { maxOutputLength: contentBytesMax })
    } catch (error) {
      const isLong = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
      return {
        fault: isLong
          ? `it is longer than ${contentBytesMax / 2 ** 20} MB when unpacked`
          : 'its gzip data is damaged or cut off',
      }
    }
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch {
    return { fault: 'it is not UTF-8 text' }
  }
}

/** A row, or why it cannot be read. */
type Rec = Readonly<Record<string, unknown>> | string

function recordsOf(text: string, layout: SourceLayout): Rec[] | { fault: string } {
  const start = text.trimStart()
  if (start === '') return { fault: 'it is empty' }
  switch (layout.format ?? guessed(start)) {
    case 'csv':
      return csvRecords(start)
    case 'ndjson': {
      const all = lines(start)
      return all.length > rowsMax ? tooMany : all.map(line => asObject(parsed(line)))
    }
    case 'json': {
      const value = parsed(start)
      return value === undefined ? { fault: 'it is not JSON' } : jsonRecords(value, layout.items)
    }
  }
}

/** One JSON value is JSON, an object a line is NDJSON, anything else is CSV. */
function guessed(text: string): 'json' | 'ndjson' | 'csv' {
  if (!/^[[{]/.test(text)) return 'csv'
  if (text.startsWith('[')) return 'json'
  const all = lines(text)
  return all.length > 1 && all[0]!.trimEnd().endsWith('}') && parsed(all[0]!) !== undefined
    ? 'ndjson'
    : 'json'
}

const lines = (text: string): string[] => text.split(/\r?\n/).filter(line => line.trim() !== '')

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const asObject = (value: unknown): Rec => (isObject(value) ? value : 'it is not a JSON object')

/** The value of an object under a path of names; lists by number. */
function at(value: unknown, steps: readonly string[]): unknown {
  let level = value
  for (const step of steps) {
    if (typeof level !== 'object' || level === null || !Object.hasOwn(level, step)) return undefined
    level = (level as Readonly<Record<string, unknown>>)[step]
  }
  return level
}

/** The objects of a list; an object that holds no list is one by itself. */
function jsonRecords(value: unknown, items: readonly string[]): Rec[] | { fault: string } {
  const list = at(value, items)
  if (Array.isArray(list)) return list.length > rowsMax ? tooMany : list.map(asObject)
  if (isObject(list) && (items.length > 0 || !Object.values(list).some(Array.isArray)))
    return [list]
  if (items.length > 0)
    return {
      fault: `it has no list at ${shown(items.join('.'))}, which scraper_config.items names`,
    }
  if (!isObject(value)) return { fault: 'it is not a list of objects' }
  const name = Object.keys(value).find(key => Array.isArray(value[key]))!
  return {
    fault: `it is an object: name the list in it with scraper_config.items, such as ${shown(name)}`,
  }
}

function csvRecords(text: string): Rec[] | { fault: string } {
  const [header, ...rows] = csvLines(text)
  if (rows.length > rowsMax) return tooMany
  if (header === undefined) return { fault: 'it is empty' }
  const separator = separatorOf(header)
  const columns = fieldsOf(header, separator)
  if (!columns || columns.every(name => name === ''))
    return { fault: 'its first line does not name the columns' }
  return rows.map(row => {
    const fields = fieldsOf(row, separator)
    if (!fields) return 'a quote is not closed, or text follows it'
    if (fields.length > columns.length && fields.slice(columns.length).some(Boolean))
      return 'it has more fields than the first line'
    return Object.fromEntries(columns.map((name, i) => [name, fields[i]]))
  })
}

/** Records of a CSV text, up to one more than are read: a line continues where a quote is open. */
function csvLines(text: string): string[] {
  const records: string[] = []
  let open: string[] = []
  let quotes = 0
  for (const line of text.split(/\r\n|\n|\r/)) {
    for (let i = line.indexOf('"'); i >= 0; i = line.indexOf('"', i + 1)) quotes += 1
    open.push(line)
    if (quotes % 2 === 1) continue
    const record = open.length === 1 ? line : open.join('\n')
    if (record.trim() !== '') records.push(record)
    open = []
    if (records.length > rowsMax + 1) return records
  }
  if (open.length > 0) records.push(open.join('\n'))
  return records
}

const usualNames: Readonly<Record<RowField, readonly string[]>> = {
  price: ['price', 'value'],
  timestamp: ['timestamp', 'observed_at', 'date', 'time'],
  fuel_type: ['fuel_type', 'fuel', 'grade'],
  port: ['port', 'port_code', 'port_name'],
  region: ['region'],
  currency: ['currency'],
  unit: ['unit'],
}

async function judged(
  records: readonly Rec[],
  layout: SourceLayout,
  names: Namer,
  now: number,
): Promise<SourceContent> {
  const rows = new Map<string, SourceRow>()
  const rejections: string[] = []
  let rejected = 0
  for (const [i, record] of records.entries()) {
    if (i % rowsEach === rowsEach - 1) await sleep(0)
    const row = typeof record === 'string' ? record : rowOf(record, layout, names, now)
    if (typeof row !== 'string') {
      // The last of several rows with the same key counts, so that sending the same content again
      // changes nothing.
      rows.set(`${row.observedAt} ${row.fuelType} ${row.port}`, row)
      continue
    }
    rejected += 1
    if (rejections.length < rejectionsMax) rejections.push(`row ${i + 1}: ${row}`)
  }
  return { rows: [...rows.values()], received: records.length, rejected, rejections }
}

const currencyCode = /^[A-Za-z]{3}$/
const priceMax = 1e9

/** The price of a row, or a sentence on why there is none. */
function rowOf(
  record: Readonly<Record<string, unknown>>,
  layout: SourceLayout,
  names: Namer,
  now: number,
): SourceRow | string {
  const fieldValue = (field: RowField): unknown => {
    const steps = layout.fields.get(field)
    const names = steps ? [steps] : usualNames[field].map(name => [name])
    const value = names
      .map(name => at(record, name))
      .find(value => value !== undefined && value !== null && value !== '')
    return value ?? layout.defaults.get(field)
  }
  const text = (field: RowField): string | undefined => {
    const value = fieldValue(field)
    return value === undefined
      ? undefined
      : typeof value === 'string'
        ? value.trim()
        : JSON.stringify(value)
  }
  const price = isBlank(fieldValue('price'))
    ? 'price is missing: write a decimal number'
    : numberOf(fieldValue('price'))
  if (typeof price === 'string') return price
  if (price <= 0 || price > priceMax) return `price ${price} must be a price per metric ton above 0`
  const observedAt = momentOf(fieldValue('timestamp'), now)
  if (typeof observedAt === 'string') return observedAt
  const [fuel, place] = [text('fuel_type'), text('port')]
  const fuelType = fuel && names.fuel(fuel)
  if (!fuelType) return missing('fuel_type', fuel, 'write VLSFO, MGO, IFO380 or another fuel')
  const port = place && names.port(place)
  if (!port) return missing('port', place, 'write a port, such as SINGAPORE')
  const unit = text('unit')
  if (unit !== undefined && !isMetricTon(unit))
    return `unit ${shown(unit)} is not the metric ton: only prices per metric ton (MT) are taken`
  const currency = text('currency') ?? 'USD'
  if (!currencyCode.test(currency))
    return `currency ${shown(currency)} must be a three-letter currency code, such as USD`
  const area = text('region')
  // A listed port has a fixed region; otherwise the row names it.
  const region = names.home(port) ?? (area ? names.region(area) : null)
  if (region === undefined)
    return `region ${shown(area)} is not known: write AMERICAS, EMEA or APAC`
  return { observedAt, fuelType, port, region, currency: currency.toUpperCase(), price }
}

const missing = (field: RowField, value: string | undefined, right: string): string =>
  `${field} ${value === undefined || value === '' ? 'is missing' : `${shown(value)} is not accepted`}: ${right}`

/** Resolves names, each once: thousands of rows have a few. */
type Namer = ReturnType<typeof namer>

function namer(ports: readonly Port[]) {
  const homeOf = (port: string): string | undefined => {
    const listed = portOf(ports, port)
    return listed && connectorRegion(listed.region)
  }
  return {
    fuel: remembered(fuelOf),
    port: remembered(text => portNameOf(ports, text)),
    /** The region of a listed port. */
    home: remembered(homeOf),
    region: remembered(connectorRegion),
  }
}

function remembered(
  find: (text: string) => string | undefined,
): (text: string) => string | undefined {
  const codeByAlias = new Map<string, string | undefined>()
  return text => {
    if (!codeByAlias.has(text)) codeByAlias.set(text, find(text))
    return codeByAlias.get(text)
  }
}

/** Unix seconds have ten digits for a long time to come, milliseconds thirteen. */
const [secondsMin, secondsMax] = [1e8, 1e11]

/** An ISO 8601 time with its zone, a day, or Unix seconds or milliseconds as a number. */
function momentOf(value: unknown, now: number): number | string {
  const number =
    typeof value === 'number'
      ? value
      : typeof value === 'string' && /^\d{9,13}$/.test(value.trim())
        ? Number(value)
        : undefined
  const ms =
    number === undefined || number < secondsMin
      ? undefined
      : number < secondsMax
        ? number * secondMs
        : number
  const at = instantOf(ms === undefined ? value : isoOf(ms), now)
  return typeof at === 'string' ? at.replaceAll('observed_at', 'timestamp') : at
}

/** A number beyond the range of dates stays a number, to be refused as one. */
function isoOf(ms: number): unknown {
  const at = Math.floor(ms)
  return at <= 8.64e15 ? new Date(at).toISOString() : ms
}
