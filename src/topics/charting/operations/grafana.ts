import { t } from '../../../http/answer/schema.ts'
import type { KeyAccess } from '../../../http/gate/access-kind.ts'
import { operation } from '../../../http/operations/operation.ts'
import { invalidParameter, missingParameter } from '../../../http/problem/problem.ts'
import { CodeProblem } from '../../../http/problem/shape.ts'
import { fieldsOf } from '../../../lib/text/json.ts'
import { dayMs, hourMs, minuteMs, parseInstant, secondMs } from '../../../lib/time/instant.ts'
import { isIntraday } from '../../catalogue/math/catalogue.ts'
import { mentions } from '../../catalogue/math/lookup.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { roundTo } from '../../prices/math/format.ts'
import type { Resolution } from '../math/resolution.ts'
import type { CorrectionStore } from '../store/corrections.ts'
import { barsIn, barsMax } from './bars.ts'
import { marksOf, timescaleMarksOf } from './marks.ts'
import { type Reading, readSymbol } from './reading.ts'

type Fields = Readonly<Record<string, unknown>>

/** Widths of bars with the longest distance of points that each is fine enough for. */
const widths: readonly [Resolution, number][] = [
  ['1', 5 * minuteMs],
  ['5', 15 * minuteMs],
  ['15', hourMs],
  ['60', 12 * hourMs],
  ['D', 4 * dayMs],
  ['W', 20 * dayMs],
]
const searchMax = 1000

function resolutionFor(series: Series, intervalMs: number): Resolution {
  const [resolution] = widths.find(([, below]) => intervalMs < below) ?? ['M' as const]
  const isWithinDay = !['D', 'W', 'M'].includes(resolution)
  return isWithinDay && !isIntraday(series.cadence) ? 'D' : resolution
}

function rangeOf(body: unknown) {
  const range = fieldsOf(fieldsOf(body).range)
  const [from, to] = (['from', 'to'] as const).map(name => {
    const text = range[name]
    const at = typeof text === 'string' ? parseInstant(text) : undefined
    if (at === undefined)
      throw text === undefined
        ? missingParameter(`range.${name}`, 'a time such as 2026-11-01T00:00:00Z.')
        : invalidParameter(`range.${name}`, String(text), 'a time such as 2026-11-01T00:00:00Z')
    return at
  }) as [number, number]
  return { from, to }
}

const positive = (value: unknown, otherwise: number): number =>
  typeof value === 'number' && value > 0 ? Math.floor(value) : otherwise

/** The codes of a target: a variable with several values is sent as `(A|B)`. */
function codesOf({ target }: Fields): string[] {
  const text = typeof target === 'string' ? target : ''
  return /^\(.+\)$/.test(text) ? text.slice(1, -1).split('|') : [text]
}

/** One code of a target: its points in the range, oldest first. */
function seriesOf(reading: Reading, body: unknown, target: Fields, symbol: string) {
  const { from, to } = rangeOf(body)
  const { intervalMs, maxDataPoints } = fieldsOf(body)
  const { commodity, moment } = readSymbol(reading, symbol)
  const { series, code } = commodity
  const resolution = resolutionFor(series, positive(intervalMs, dayMs))
  const count = Math.min(positive(maxDataPoints, barsMax), barsMax)
  const bars = barsIn(moment.prices.history, series, resolution, { from, to }, count)
  const points = bars.map(({ time, close }): [number, number] => [
    roundTo(close, series.decimals),
    time * secondMs,
  ])
  const refId = typeof target.refId === 'string' ? { refId: target.refId } : {}
  if (target.type !== 'table') return { target: code, ...refId, datapoints: points }
  return {
    ...refId,
    type: 'table' as const,
    columns: [
      { text: 'Time', type: 'time' },
      { text: 'Code', type: 'string' },
      { text: 'Price', type: 'number' },
    ],
    rows: points.map(([value, time]) => [time, code, value]),
  }
}

/** Corrections, publications and last trading days of a code in the range of a dashboard. */
function annotationsOf(reading: Reading, body: unknown, corrections: CorrectionStore) {
  const { annotation } = fieldsOf(body)
  const symbol = fieldsOf(annotation).query
  const range = rangeOf(body)
  const read = readSymbol(reading, typeof symbol === 'string' ? symbol : undefined)
  return [
    ...marksOf(read, range, corrections).map(({ time, text }) => ({
      time,
      text,
      tags: ['correction'],
    })),
    ...timescaleMarksOf(read, range).map(({ time, tooltip, label }) => ({
      time,
      text: tooltip.join(' '),
      tags: [label === 'R' ? 'roll' : 'publication'],
    })),
  ]
    .toSorted((a, b) => a.time - b.time)
    .map(({ time, text, tags }) => ({
      annotation: annotation ?? null,
      time: time * secondMs,
      title: String(symbol),
      text,
      tags,
    }))
}

function codesLike({ catalogue }: Reading['at'], target: unknown): string[] {
  const text = typeof target === 'string' ? target.trim().toUpperCase() : ''
  return catalogue
    .list()
    .filter(series => catalogue.hasData(series) && mentions(series, text))
    .map(({ code }) => code)
    .slice(0, searchMax)
}

// Panels send what they want in bodies; nothing is changed by them.
const access: KeyAccess = { meter: true, header: true, action: 'read', unaudited: true }
const range = { from: '2026-11-01T00:00:00Z', to: '2026-11-20T00:00:00Z' }
const bodyLike = (example: Fields) =>
  t.Optional(t.Any({ description: 'As a JSON data source sends it.', examples: [example] }))

/** The protocol of JSON data sources of dashboards. */
export const grafanaOperations = (corrections: CorrectionStore) => [
  operation('GET /grafana', {
    operationId: 'checkDashboardSource',
    summary: 'Check a dashboard data source',
    description: 'Returns `ok` for a valid key, for the test of a data source.',
    access: { meter: false },
    answers: { 200: t.Object({ status: t.Literal('ok') }) },
    handle: () => ({ status: 'ok' as const }),
  }),
  operation('POST /grafana/search', {
    // Later data sources call the list of targets so.
    aliases: ['/grafana/metrics'],
    operationId: 'searchDashboardTargets',
    summary: 'Search codes for a dashboard',
    description: `Returns the codes with data whose code or name contains \`target\`, at most ${searchMax}.`,
    access: { ...access, meter: false },
    body: bodyLike({ target: 'WTI' }),
    answers: { 200: t.Array(t.String({ examples: ['WTI_USD'] })) },
    handle: ({ at, body }) => codesLike(at, fieldsOf(body).target),
  }),
  operation('POST /grafana/variable', {
    operationId: 'listDashboardVariableValues',
    summary: 'List values of a dashboard variable',
    hidden: true,
    access: { ...access, meter: false },
    body: bodyLike({ payload: { target: 'WTI' } }),
    answers: { 200: t.Array(t.String()) },
    handle: ({ at, body }) => codesLike(at, fieldsOf(fieldsOf(body).payload).target),
  }),
  operation('POST /grafana/query', {
    operationId: 'queryDashboardTargets',
    summary: 'Get series for a dashboard',
    description: `Returns the closes of each code of \`targets\` in \`range\`, at most \`maxDataPoints\` or ${barsMax}, as points of value and time in milliseconds, or as a table. The width of a bar follows \`intervalMs\`, from a minute to a month.`,
    access: { ...access, queryWorker: true },
    body: bodyLike({ range, intervalMs: dayMs, targets: [{ target: 'WTI_USD', refId: 'A' }] }),
    answers: {
      200: t.Array(
        t.Object(
          {
            refId: t.Optional(t.String({ description: 'As it was sent.', examples: ['A'] })),
            target: t.Optional(t.String({ examples: ['WTI_USD'] })),
            datapoints: t.Optional(
              t.Array(t.Array(t.Number()), {
                description: 'Price in the unit of the code, and time in Unix milliseconds.',
                examples: [[[71.23, 1_763_078_400_000]]],
              }),
            ),
            type: t.Optional(t.Literal('table')),
            columns: t.Optional(t.Array(t.Object({ text: t.String(), type: t.String() }))),
            rows: t.Optional(t.Array(t.Array(t.Union([t.String(), t.Number()])))),
          },
          { title: 'DashboardSeries' },
        ),
      ),
      400: CodeProblem,
    },
    handle: call => {
      const { targets } = fieldsOf(call.body)
      const wanted = (Array.isArray(targets) ? targets : [])
        .map(fieldsOf)
        .filter(({ target, hide }) => target !== undefined && target !== '' && hide !== true)
        .flatMap(target => codesOf(target).map(code => ({ target, code })))
      const { codesPerRequestMax } = call.at.limits
      if (wanted.length > codesPerRequestMax)
        throw invalidParameter(
          'targets',
          `${wanted.length} codes`,
          `at most ${codesPerRequestMax} codes`,
        )
      return wanted.map(({ target, code }) => seriesOf(call, call.body, target, code))
    },
  }),
  operation('POST /grafana/annotations', {
    operationId: 'listDashboardAnnotations',
    summary: 'List annotations for a dashboard',
    description:
      'Returns corrections, publications and last trading days of the code in `annotation.query` within `range`, oldest first.',
    access,
    body: bodyLike({ range, annotation: { query: 'WTI_USD' } }),
    answers: {
      200: t.Array(
        t.Object({
          annotation: t.Unknown({ description: 'As it was sent.' }),
          time: t.Number({ description: 'Unix milliseconds.' }),
          title: t.string('The code.', 'WTI_USD'),
          text: t.string('What happened.', 'Last trading day of WTI Crude Oil 2026-12'),
          tags: t.Array(t.String({ examples: ['roll'] })),
        }),
      ),
      400: CodeProblem,
    },
    handle: call => annotationsOf(call, call.body, corrections),
  }),
]
