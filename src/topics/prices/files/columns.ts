import { instantOf, isBlank, numberOf, shown } from '../../../datasets/cell.ts'
import { type Mapping, plain } from '../../../feeds/files/mapping.ts'
import type { PublisherSeries } from '../../../feeds/files/source.ts'
import { wrongValue } from '../../../lib/text/wrong-value.ts'
import type { CodeLookup } from '../../catalogue/math/lookup.ts'

export interface ColumnRequest {
  mapping: Mapping
  /** The one code that all rows belong to. */
  series: string | undefined
  catalogue: CodeLookup
  now: number
  /** Our codes by the publisher's names of series, where the file is a publisher's. */
  known?: PublisherSeries
}

/**
 * Where the values of a row stand: positions in a CSV record, or names of members of an NDJSON
 * object.
 */
export interface Columns<Place> {
  /** Undefined when `values` name the codes. */
  code: Place | undefined
  observedAt: Place
  /** The number of a delivery period, of the market day in `observedAt`. */
  period?: Place | undefined
  currency: Place | undefined
  /** When a value became known. */
  recordedAt?: Place | undefined
  /** The column of the source. */
  source?: Place | undefined
  /** Whether a point has no value any more. */
  deleted?: Place | undefined
  /** One, or in a wide file one for each code. */
  values: { place: Place; code: string | undefined; factor?: string }[]
}

export const priceFields = [
  'code',
  'observed_at',
  'price',
  'currency',
  'recorded_at',
  'source',
  'deleted',
] as const
type FieldName = (typeof priceFields)[number]

/** Names of the fields at other publishers; the first is our own name and takes precedence. */
const synonyms: Record<FieldName, readonly string[]> = {
  code: [
    'code',
    'commodity_code',
    'commodity',
    'series',
    'series_id',
    'seriesid',
    'symbol',
    'ticker',
    'instrument',
  ],
  observed_at: [
    'observed_at',
    'observation_date',
    'date',
    'time',
    'timestamp',
    'datetime',
    'date_time',
    'trade_date',
    'period',
    'day',
  ],
  price: ['price', 'value', 'rate', 'close', 'settlement', 'settle', 'spot', 'last'],
  currency: ['currency', 'currency_code', 'ccy'],
  recorded_at: ['recorded_at', 'realtime_start'],
  source: ['source'],
  deleted: ['deleted'],
}

/** Names that are of the time only where no better one is: many files have them alongside it. */
const periodNames = ['month', 'quarter', 'week']

const isField = (name: string): name is FieldName =>
  (priceFields as readonly string[]).includes(name)

/**
 * Refuses, with a sentence, requests that no file can meet: unknown codes, or two answers to which
 * code a row has.
 */
export function checkRequest({ mapping, series, catalogue }: ColumnRequest): void {
  if (series !== undefined) knownCode(series, '--series', catalogue)
  const codes = [...mapping.keys()].filter(key => !isField(key))
  for (const code of codes) knownCode(code, '--map', catalogue)
  if (series !== undefined && mapping.has('code'))
    throw new Error('--series and --map code=… both say which code a row has: give one of them')
  if (codes.length === 0) return
  const clash =
    series !== undefined
      ? '--series'
      : mapping.has('code')
        ? 'code=…'
        : mapping.has('price')
          ? 'price=…'
          : undefined
  if (clash)
    throw new Error(
      `--map ${codes[0]}=… takes the price of that code from another column: it conflicts with ${clash}`,
    )
}

function knownCode(code: string, option: string, catalogue: CodeLookup): void {
  if (catalogue.find(code)) return
  const nearest = catalogue.nearest(code)
  const right =
    option === '--map'
      ? `a field (${priceFields.join(', ')}) or a code of the catalogue`
      : 'a code of the catalogue'
  throw new Error(wrongValue(option, right, code, nearest === undefined ? [] : [nearest]))
}

/**
 * The columns under these names. Throws a sentence that lists the names when one cannot be found or
 * could be meant twice.
 */
export function columnsIn(names: readonly string[], request: ColumnRequest): Columns<string> {
  const { mapping, series } = request
  if (series !== undefined && names.some(name => plain(name) === 'code')) {
    throw new Error(
      'its column code says which code a row has: leave out --series, or rename the column if it means something else',
    )
  }
  const taken = (field: FieldName) =>
    mapping.has(field) ? mapped(names, field, mapping.get(field)!) : guessed(names, field)
  const codes = [...mapping.keys()].filter(key => !isField(key))
  const numbered = mapping.has('observed_at') ? undefined : numberedPeriods(names)
  let observedAt = numbered?.date ?? taken('observed_at')
  let price = codes.length > 0 ? undefined : taken('price')
  const pair =
    names.length === 4 && names[0] === 'line' && names[1] === 'reason' ? names.slice(2) : names
  if (series !== undefined && pair.length === 2) {
    observedAt ??= pair.find(name => name !== price)
    price ??= pair.find(name => name !== observedAt)
  }
  // Tables whose rows are named by their period often leave that column without a name.
  if (observedAt === undefined && names[0] === '' && !mapping.has('observed_at')) observedAt = ''
  if (observedAt === undefined) throw missing(names, 'observed_at', 'the time')
  const place = observedAt
  const further = {
    period: numbered?.period,
    recordedAt: taken('recorded_at'),
    source: taken('source'),
    deleted: taken('deleted'),
  }
  const wide =
    codes.length > 0
      ? codes.map(code => ({ place: mapped(names, code, mapping.get(code)!), code }))
      : series === undefined && mapping.size === 0 && price === undefined
        ? knownColumns(names, request.known)
        : []
  if (wide.length > 0)
    return { code: undefined, observedAt: place, currency: undefined, ...further, values: wide }
  if (price === undefined) throw missing(names, 'price', 'the price')
  const code = series === undefined ? taken('code') : undefined
  if (code === undefined && series === undefined)
    throw missing(
      names,
      'code',
      'the code',
      ' If all rows belong to one code, name it with --series CODE.',
    )
  return {
    code,
    observedAt: place,
    currency: taken('currency'),
    ...further,
    values: [{ place: price, code: series }],
  }
}

/** The columns of delivery periods that are numbered within their day, where both are there. */
function numberedPeriods(names: readonly string[]) {
  const named = (word: string) => names.find(name => plain(name) === word)
  const [date, period] = [named('date'), named('period')]
  return named('observed_at') === undefined && date !== undefined && period !== undefined
    ? { date, period }
    : undefined
}

/** Columns that have a publisher's name for a series, each with the codes that it is here. */
const knownColumns = (names: readonly string[], known: PublisherSeries = new Map()) =>
  names.flatMap(name =>
    (known.get(name) ?? []).map(({ code, factor }) => ({ place: name, code, factor })),
  )

/** Without the stars of footnotes and the breaks of narrow cells. */
const bare = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[\s*]+$/, '')
    .replaceAll(/\s+/g, ' ')
    .trim()

function mapped(names: readonly string[], field: string, column: string): string {
  const exact = names.filter(name => name === column)
  const same = exact.length > 0 ? exact : names.filter(name => bare(name) === bare(column))
  if (same.length === 1) return same[0]!
  const fault =
    same.length === 0 ? 'is not a column of the file' : 'is the name of several columns of the file'
  throw new Error(`--map ${field}=${column}: ${shown(column)} ${fault}. ${listed(names)}`)
}

function guessed(names: readonly string[], field: FieldName): string | undefined {
  const named = (words: readonly string[]) => names.filter(name => words.includes(plain(name)))
  const choices = [named([field]), named(synonyms[field])]
  if (field === 'observed_at') choices.push(named(periodNames))
  const candidates = choices.find(some => some.length > 0) ?? []
  if (candidates.length > 1)
    throw new Error(
      `${candidates.map(shown).join(' and ')} could each be ${field}: choose one with --map ${field}=COLUMN`,
    )
  return candidates[0]
}

const listed = (names: readonly string[]) =>
  `The columns are: ${names
    .filter(name => name !== '')
    .slice(0, 50)
    .map(shown)
    .join(', ')}.`

const missing = (names: readonly string[], field: FieldName, what: string, more = '') =>
  new Error(
    `no column is known to be ${what}: name one with --map ${field}=COLUMN. ${listed(names)}${more}`,
  )

/**
 * The positions of a CSV file's columns, and whether its first record is their names. Throws a
 * sentence.
 */
export function positionsIn(
  first: readonly string[],
  request: ColumnRequest,
): { columns: Columns<number>; header: boolean } {
  const bare = withoutHeader(first, request)
  if (bare) return { columns: bare, header: false }
  const columns = columnsIn(first, request)
  const at = (name: string) => first.indexOf(name)
  const at0 = (name: string | undefined) => (name === undefined ? undefined : at(name))
  const values = columns.values.map(value => ({ ...value, place: at(value.place) }))
  return {
    columns: {
      code: at0(columns.code),
      observedAt: at(columns.observedAt),
      period: at0(columns.period),
      currency: at0(columns.currency),
      recordedAt: at0(columns.recordedAt),
      source: at0(columns.source),
      deleted: at0(columns.deleted),
      values,
    },
    header: true,
  }
}

/**
 * A first record that is already data has no names: its columns are in our order, or at the
 * positions (from 1) that the mapping gives.
 */
function withoutHeader(
  first: readonly string[],
  { mapping, series, now }: ColumnRequest,
): Columns<number> | undefined {
  let order: string[] = []
  if (mapping.size > 0) {
    for (const [key, column] of mapping) {
      if (!/^[1-9]\d?$/.test(column)) return undefined
      order[Number(column) - 1] = key
    }
  } else if (series !== undefined && first.length === 2) order = ['observed_at', 'price']
  else if (series === undefined && (first.length === 3 || first.length === 4))
    order = priceFields.slice(0, 4)
  const at = (field: FieldName) => {
    const place = order.indexOf(field)
    return place >= 0 && place < first.length ? place : undefined
  }
  const observedAt = at('observed_at')
  if (observedAt === undefined || typeof instantOf(first[observedAt], now) !== 'number')
    return undefined
  const wide = [...mapping.keys()]
    .filter(key => !isField(key))
    .map(code => ({ place: order.indexOf(code), code }))
  const price = at('price')
  const values =
    wide.length > 0 ? wide : price === undefined ? [] : [{ place: price, code: series }]
  const isValue = ({ place }: { place: number }) =>
    place < first.length && (isBlank(first[place]) || typeof numberOf(first[place]) === 'number')
  if (values.length === 0 || !values.every(isValue)) return undefined
  const code = series === undefined && wide.length === 0 ? at('code') : undefined
  if (code === undefined && series === undefined && wide.length === 0) return undefined
  return {
    code,
    observedAt,
    currency: at('currency'),
    recordedAt: at('recorded_at'),
    source: at('source'),
    deleted: at('deleted'),
    values,
  }
}
