import { t } from '../../../http/answer/schema.ts'
import { codesParameter, textParameter } from '../../../http/input/typed.ts'
import type { OpenApiDocument, Parameter } from '../../../http/openapi/openapi.ts'
import { withParametersInPlace } from '../../../http/openapi/parameters.ts'
import { operation } from '../../../http/operations/operation.ts'
import { CodeProblem, NestedProblem } from '../../../http/problem/shape.ts'
import { once } from '../../../lib/once.ts'
import { fieldsOf } from '../../../lib/text/json.ts'
import { isSheetPath } from '../../../plans/clients/sheet-paths.ts'
import { type createTableSource, longTableInQueryWorker, passedOn } from './run.ts'
import { sheetTable } from './table.ts'

type Fields = Readonly<Record<string, unknown>>

interface WorkspaceDeps {
  source: ReturnType<typeof createTableSource>
  document(): Promise<string>
  serviceName: string
  firstCodes: readonly string[]
}

const rowsMax = 1000
const open = { open: 'It describes widgets; their data needs a key.', rate: 'none' } as const
const AnyObject = t.Object({}, { additionalProperties: true })
/** Parameters that a widget has no field for: whole pages, one form, JSON. */
const unshown = ['page', 'format', 'fields', 'cursor', 'partial']

const typeOf = (schema: Fields): 'number' | 'boolean' | 'date' | 'text' => {
  if (schema.type === 'integer' || schema.type === 'number') return 'number'
  if (schema.type === 'boolean') return 'boolean'
  return schema.format === 'date' ? 'date' : 'text'
}

/** The parameter of an operation as the field of a widget. */
function fieldOf({
  name,
  description = '',
  schema: shape,
  required,
  example,
  'x-sample': isSampled,
}: Parameter) {
  const [first] = Array.isArray(shape.examples) ? shape.examples : [shape.example ?? example]
  const words = Array.isArray(shape.enum) ? shape.enum : []
  return {
    paramName: name,
    label: name.replaceAll('_', ' '),
    description,
    type: typeOf(shape),
    // A widget shows data at once, so what its operation needs one of is filled in.
    value: shape.default ?? (required || isSampled === true ? (first ?? '') : ''),
    ...(words.length > 0 && {
      options: words.map(word => ({ label: String(word), value: String(word) })),
    }),
  }
}

const sentenceOf = (text: string) => text.split(/(?<=\.)\s/)[0]!

/** The rows of a path as a widget, with fields for its parameters. */
const tableOf = <Field extends { paramName: unknown }>(path: string, fields: readonly Field[]) => ({
  type: 'table',
  endpoint: 'table',
  gridData: { w: 20, h: 12 },
  params: [{ paramName: 'path', value: path, type: 'text', label: 'path', show: false }, ...fields],
})

/** A table for every list or record that the API answers without a name in its path. */
function tablesOf({ paths }: OpenApiDocument, serviceName: string) {
  return Object.entries(paths).flatMap(([path, { get }]) => {
    if (!get || get.deprecated || path.includes('{')) return []
    if (!isSheetPath(path) || !get.responses[200]?.content?.['application/json']) return []
    const { summary = '', description = '', parameters = [] } = get
    const fields = parameters.filter(
      ({ name, in: place }) => place === 'query' && !unshown.includes(name),
    )
    return [
      [
        get.operationId,
        {
          name: summary.replace(/^(Get|List) (the )?/, '').replace(/^./, c => c.toUpperCase()),
          description: sentenceOf(description),
          ...tableOf(path, fields.map(fieldOf)),
          category: serviceName,
          subCategory: get.tags?.[0] ?? 'Prices',
          source: [serviceName],
        },
      ] as const,
    ]
  })
}

function widgetsOf(document: OpenApiDocument, { serviceName, firstCodes }: WorkspaceDeps) {
  const [code = ''] = firstCodes
  const codeField = { paramName: 'by_code', label: 'code', type: 'text', value: code }
  const common = { category: serviceName, subCategory: 'Prices', source: [serviceName] }
  const tables = Object.fromEntries(tablesOf(document, serviceName))
  const history = tables.getPricesPastMonth
  return {
    price_metric: {
      ...common,
      name: 'Newest price',
      description: 'The newest price of a code, and its change within a day.',
      type: 'metric',
      endpoint: 'metric',
      gridData: { w: 8, h: 5 },
      params: [codeField],
    },
    price_chart: {
      ...common,
      name: 'Price chart',
      description: 'Bars of a code from a minute to a month, with corrections and rolls.',
      type: 'advanced_charting',
      endpoint: '../udf',
      gridData: { w: 20, h: 16 },
      data: { defaultSymbol: code, updateFrequency: 60_000 },
    },
    price_line: {
      ...common,
      name: 'Closes',
      description: 'Closes of a code over a month.',
      ...tableOf('/v1/prices/past_month', [
        codeField,
        ...(history?.params.filter(({ paramName }) => paramName === 'interval') ?? []),
      ]),
      data: { table: { enableCharts: true, chartView: { enabled: true, chartType: 'line' } } },
    },
    ...tables,
  }
}

const appsOf = ({ serviceName, firstCodes }: WorkspaceDeps) => [
  {
    name: serviceName,
    description: 'Newest prices, a chart and history of energy prices.',
    allowCustomization: true,
    tabs: {
      market: {
        id: 'market',
        name: 'Market',
        layout: [
          ...firstCodes.slice(0, 4).map((code, i) => ({
            i: 'price_metric',
            x: i * 10,
            y: 0,
            w: 10,
            h: 5,
            state: { params: { by_code: code } },
          })),
          { i: 'price_chart', x: 0, y: 5, w: 20, h: 16 },
          { i: 'price_line', x: 20, y: 5, w: 20, h: 16 },
        ],
      },
    },
    groups: [],
  },
]

/**
 * The API as widgets of a research workspace, made from the descriptions of its operations. A
 * workspace finds the endpoints of widgets below the address that it was given, `/openbb`.
 */
export function workspaceOperations(deps: WorkspaceDeps) {
  const { source } = deps
  // The same for all callers for as long as the service runs.
  const widgets = once(async () =>
    widgetsOf(withParametersInPlace(JSON.parse(await deps.document())), deps),
  )
  const access = { meter: false, passesParametersOn: true, ...longTableInQueryWorker } as const
  return [
    operation('GET /openbb/widgets.json', {
      operationId: 'listWorkspaceWidgets',
      summary: 'List widgets for a research workspace',
      description:
        'Returns a widget for each operation that lists data, and one each for a metric, a chart and closes, by name.',
      access: open,
      answers: { 200: AnyObject },
      handle: async () => await widgets(),
    }),
    operation('GET /openbb/apps.json', {
      operationId: 'listWorkspaceApps',
      summary: 'List dashboards for a research workspace',
      description: 'Returns a dashboard of the widgets that begins with prices.',
      access: open,
      answers: { 200: t.Array(AnyObject), 400: CodeProblem },
      handle: () => appsOf(deps),
    }),
    operation('GET /openbb/table', {
      operationId: 'getWorkspaceTable',
      summary: 'Get rows for a workspace widget',
      description: `Returns the rows of a data path as flat objects, at most ${rowsMax}. Other parameters are those of the path, which the request is counted as.`,
      access,
      query: {
        path: textParameter('A data path of this service.', '/v1/prices/past_month', {
          pattern: '^/v1/',
          required: true,
        }),
      },
      answers: { 200: t.Array(AnyObject) },
      handle: async ({ query, request, reply, caller }) => {
        const answer = await source(query.path, { request, reply, caller })
        if (!answer.ok) return passedOn(answer)
        const { columns, rows } = sheetTable(await answer.json(), rowsMax)
        return rows.map(row => Object.fromEntries(columns.map((name, i) => [name, row[i]])))
      },
    }),
    operation('GET /openbb/metric', {
      operationId: 'getWorkspaceMetric',
      summary: 'Get the newest price for a workspace widget',
      description: 'Returns the newest price of a code with its change within a day in percent.',
      access: { meter: false },
      query: {
        by_code: codesParameter(1, 'A code or alias. Default: the first demo code.', 'WTI_USD'),
      },
      answers: {
        200: t.Array(
          t.Object({
            label: t.string('Name of the code.', 'WTI Crude Oil'),
            value: t.string('The price with its unit.', '$71.23 per barrel'),
            delta: t.string('Percent; empty: no earlier price.', '-1.73'),
          }),
        ),
        400: CodeProblem,
        404: NestedProblem,
      },
      handle: async ({ request, reply, caller }) => {
        const answer = await source('/v1/prices/latest', { request, reply, caller })
        if (!answer.ok) return passedOn(answer)
        const data = fieldsOf(fieldsOf(await answer.json()).data)
        // Without a code, and with several, the answer is a list.
        const first = Array.isArray(data.prices) ? data.prices[0] : data
        const { name, formatted, unit, change_24h_percent: change } = fieldsOf(first)
        return [
          {
            label: String(name),
            value: `${formatted} per ${unit}`,
            delta: change === undefined || change === null ? '' : String(change),
          },
        ]
      },
    }),
  ]
}
