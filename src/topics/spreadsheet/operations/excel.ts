import { jsonType } from '../../../http/answer/complete.ts'
import { t } from '../../../http/answer/schema.ts'
import { serialised } from '../../../http/answer/serialised.ts'
import { refuseMoreThan } from '../../../http/input/codes.ts'
import { listOf } from '../../../http/input/query.ts'
import { codesParameter, integerParameter, textParameter } from '../../../http/input/typed.ts'
import { envelopeOf, markFixtures, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { missingParameter } from '../../../http/problem/problem.ts'
import { CodeProblem, FlatProblem, NestedProblem } from '../../../http/problem/shape.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { sheetPaths } from '../../../plans/clients/sheet-paths.ts'
import { sourceOf } from '../../catalogue/math/catalogue.ts'
import { roundTo } from '../../prices/math/format.ts'
import { formatted } from '../../prices/operations/row.ts'
import {
  createSheetRun,
  longTableInQueryWorker,
  runRowsMax,
  type SheetCall,
  type SheetRunDeps,
} from './run.ts'
import {
  checkFormat,
  formatQuery,
  inert,
  sheetAccess,
  wantsXml,
  Xml,
  xml,
  xmlType,
} from './sheet.ts'
import { columnsMax } from './table.ts'

export interface ExcelDeps extends Context, SheetRunDeps {
  codesMax: number
}

const runQuery = {
  path: textParameter(
    `A data path of this service, called with GET; add its own parameters to this request. Starts with one of: ${sheetPaths.join(', ')}.`,
    '/v1/prices/past_month',
    { pattern: '^/v1/', required: true },
  ),
  limit: integerParameter(
    `Rows, 1 to ${runRowsMax}, default: 25; more is served as ${runRowsMax}.`,
    25,
    {
      default: 25,
      minimum: 1,
      maximum: runRowsMax,
    },
  ),
}

const latestQuery = {
  codes: codesParameter(
    20,
    'One to twenty codes or aliases, comma-separated.',
    'WTI_USD,BRENT_CRUDE_USD',
    { sampled: true },
  ),
  by_code: codesParameter(20, 'The same as `codes`.', 'WTI_USD'),
}

const CellShape = t.Union([t.String(), t.Number(), t.Boolean(), t.Null()])

const Run = envelopeOf({
  message: t.String({ examples: ['25 of 30 rows.'] }),
  retrieved_at: t.String({ format: 'date-time' }),
  returned_row_count: t.integer({ examples: [25] }),
  source_row_count: t.integer('Rows returned by the path.', 30),
  columns: t.Array(t.String(), { maxItems: columnsMax, examples: [['code', 'name', 'price']] }),
  rows: t.Array(t.Array(CellShape), { examples: [[['WTI_USD', 'WTI Crude Oil', 71.23]]] }),
})

const LatestRow = t.object('SheetPrice', {
  code: t.String({ examples: ['WTI_USD'] }),
  name: t.String({ examples: ['WTI Crude Oil'] }),
  value: t.Union([t.Number({ examples: [71.23] }), t.Null()]),
  formatted: t.String({ examples: ['$71.23'] }),
  currency: t.String({ examples: ['USD'] }),
  unit: t.String({ examples: ['barrel'] }),
  source: t.String({ examples: ['market_reporting'] }),
  timestamp: t.Union([t.String({ format: 'date-time' }), t.Null()]),
  status: t.Union([t.Literal('ok'), t.Literal('no_data'), t.Literal('invalid_code')]),
  data_status: t.oneOf(
    ['current', 'delayed', 'stale', ''],
    'Whether the price is as new as its schedule says; empty without a price.',
  ),
})
type LatestRow = (typeof LatestRow)['static']

const Latest = envelopeOf({
  retrieved_at: t.String({ format: 'date-time' }),
  rows: t.Array(LatestRow, { description: 'One for each code, in the order requested.' }),
})

const runText =
  "Returns the rows of another data path as a table. The fields of the first row are the columns, at most twelve, nested ones named with dots. Counts as one request; the plan must include the path's features. Rows that do not fit in 32,767 characters are omitted."
const latestText =
  'Returns the newest price of each code in the order requested, one row each. Unknown codes and codes without a price keep their row, with the reason in `status`.'
const inXml =
  ' Errors return 200 with a word in `status`, because spreadsheets cannot read error responses; they are free of charge.'

/** Prices, and any data path, as tables that a spreadsheet can load by address. */
export const excelOperations = (deps: ExcelDeps) => [
  ...runOperations(deps),
  ...latestOperations(deps),
]

function runOperations(deps: ExcelDeps) {
  const { now, xmlRoot } = deps
  const runSheet = createSheetRun(deps)
  const access = {
    ...sheetAccess(xmlRoot, () => ({
      retrieved_at: isoInstant(now()),
      returned_row_count: 0,
      source_row_count: 0,
      columns: '',
      rows: '',
    })),
    ...longTableInQueryWorker,
  }
  return [
    operation('GET /v1/excel/run', {
      operationId: 'runForSheet',
      summary: 'Run a data path as a table',
      description: runText,
      access,
      query: { ...runQuery, format: formatQuery },
      answers: {
        200: serialised(t.Union([Run, Xml(xmlRoot)])),
        400: CodeProblem,
        402: FlatProblem,
        403: t.Union([NestedProblem, FlatProblem]),
        404: NestedProblem,
      },
      handle: runSheet,
    }),
    operation('GET /v1/excel/run.xml', {
      operationId: 'runForSheetXml',
      summary: 'Run a data path as an XML table',
      description: runText + inXml,
      access,
      query: runQuery,
      answers: { 200: Xml(xmlRoot) },
      handle: runSheet,
    }),
  ]
}

function latestOperations(deps: ExcelDeps) {
  const { now, xmlRoot } = deps
  const sheetLatest = createSheetPrices(deps)
  const access = sheetAccess(xmlRoot, () => ({ retrieved_at: isoInstant(now()), prices: '' }))
  return [
    operation('GET /v1/prices/excel-latest', {
      operationId: 'getSheetPrices',
      summary: 'Get latest prices as a table',
      description: latestText,
      access,
      query: { ...latestQuery, format: formatQuery },
      answers: { 200: serialised(t.Union([Latest, Xml(xmlRoot)])), 400: CodeProblem },
      handle: sheetLatest,
    }),
    operation('GET /v1/prices/excel-latest.xml', {
      operationId: 'getSheetPricesXml',
      summary: 'Get latest prices as an XML table',
      description: latestText + inXml,
      access,
      query: latestQuery,
      answers: { 200: Xml(xmlRoot) },
      handle: sheetLatest,
    }),
  ]
}

function createSheetPrices({
  latestPrices,
  catalogue,
  codesMax,
  marks,
  meter,
  now,
  xmlRoot,
}: ExcelDeps) {
  // Readers of XML go by position: every row has all fields, in one order.
  const rowOf = (requestedCode: string): LatestRow => {
    const commodity = catalogue.resolve(requestedCode, now())
    const series = commodity?.series
    const quote = series && latestPrices.quote(series)
    const observation = quote?.observation
    const value = series && observation ? roundTo(observation.value, series.decimals) : null
    const sourced = quote?.series ?? series
    const sourceName = sourced ? sourceOf(sourced).name : ''
    return {
      code: inert(commodity?.code ?? requestedCode.toUpperCase().slice(0, 100)),
      name: inert(series?.name ?? ''),
      value,
      formatted: series && value !== null ? inert(formatted(series, value)) : '',
      currency: series?.currency ?? '',
      unit: series?.unit ?? '',
      source: inert(sourceName),
      timestamp: observation ? isoInstant(observation.observedAt) : null,
      status: series ? (observation ? 'ok' : 'no_data') : 'invalid_code',
      data_status: quote?.status ?? '',
    }
  }

  return ({
    query,
    request,
    reply: set,
    caller,
  }: SheetCall & { query: { codes?: string; by_code?: string; format?: string } }): string => {
    checkFormat(query.format)
    const requestedCodes = listOf(query.codes ?? query.by_code)
    if (requestedCodes.length === 0)
      throw missingParameter('codes', 'one to twenty codes, comma-separated.')
    refuseMoreThan(codesMax, requestedCodes)
    const commodities = requestedCodes.flatMap(code => catalogue.resolve(code, now()) ?? [])
    markFixtures(set, marks, commodities)
    meter.noteRequested(caller.key, [...new Set(commodities.map(commodity => commodity.series.id))])
    const asXml = wantsXml(request)
    set.headers['x-cache'] = 'MISS'
    set.headers['content-type'] = asXml ? xmlType : jsonType
    const retrieved = { retrieved_at: isoInstant(now()) }
    const rows = requestedCodes.map(rowOf)
    if (!asXml) return JSON.stringify(success({ ...retrieved, rows }))
    return xml(xmlRoot, {
      status: 'ok',
      message: `${rows.length} ${rows.length === 1 ? 'price' : 'prices'}.`,
      ...retrieved,
      prices: { price: rows },
    })
  }
}
