import { Elysia, t } from 'elysia'
import { integer } from '../../http/answer/integer.ts'
import { serialised } from '../../http/answer/serialised.ts'
import type { AccessPlugin } from '../../http/gate/access.ts'
import type { CodeReader } from '../../http/input/codes.ts'
import { integerOf, listOf } from '../../http/input/query.ts'
import { invalidParameter, Problem } from '../../http/problem/problem.ts'
import { FailProblem, NestedProblem } from '../../http/problem/shape.ts'
import { type Cadence, isIntraday, sourceDescription } from '../../market/catalogue/catalogue.ts'
import { roundTo } from '../../market/prices/format.ts'
import { closesIn } from '../../market/prices/window.ts'
import type { Resolved } from '../../service/catalogue/catalogue.ts'
import type { KeyState } from '../../service/keys/keyring.ts'
import type { Meter } from '../../service/keys/meter.ts'
import type { Board, Quote } from '../../service/prices/board.ts'
import type { Closes } from '../../service/prices/closes.ts'
import { type Answering, envelope, type Marks, markFixtures, success } from '../answer.ts'
import { priceRow } from './row.ts'
import { WidgetItem } from './widget-item.ts'
import { widgetPage, widgetPolicy } from './widget-page.ts'

export interface WidgetsDeps {
  access: AccessPlugin
  board: Board
  closes: Closes
  codes: CodeReader
  meter: Meter
  marks: Marks
  serviceName: string
  /** Codes that a widget shows when none are asked for. */
  firstCodes: readonly string[]
}

const about = {
  refresh_seconds: integer({ description: 'Ask again no sooner.', examples: [300] }),
  attribution: t.String({
    description: 'Whose prices these are; show it with them.',
    examples: ['Energy Prices: Compiled from market reporting'],
  }),
}

const Widget = envelope(
  t.Object({
    title: t.String({ examples: ['Energy prices'] }),
    items: t.Array(WidgetItem),
    ...about,
  }),
)

const WidgetPage = t.String({
  contentMediaType: 'text/html',
  description: 'One self-contained document: no scripts, nothing loaded from elsewhere.',
  examples: ['<!doctype html>\n<html lang="en">…'],
})

const One = envelope(
  t.Object({
    item: WidgetItem,
    sparkline: t.Array(
      t.Object({ date: t.String({ format: 'date' }), value: t.Number({ examples: [71.23] }) }),
      {
        description: 'Daily closes, oldest first; days without one are left out.',
      },
    ),
    ...about,
  }),
)

const title = 'Energy prices'
const sparklineDaysMax = 90

/** Prices in the shape that a small display wants. */
export const widgetRoutes = (deps: WidgetsDeps) =>
  new Elysia().use(tableWidget(deps)).use(codeWidget(deps))

function tableWidget(deps: WidgetsDeps) {
  const { board, codes, firstCodes, serviceName } = deps
  return new Elysia().use(deps.access).get(
    '/v1/prices/widget',
    ({ query, request, set, caller }) => {
      const asHtml = wantsHtml(query.format)
      const asked = listOf(query.codes)
      const found = codes.read(asked.length > 0 ? asked : firstCodes, request)
      const { items, about } = shown(
        serviceName,
        found,
        found.map(one => board.quote(one.series)),
      )
      noted(deps, found, set as Answering, caller.key)
      set.headers['content-type'] = asHtml
        ? 'text/html; charset=utf-8'
        : 'application/json; charset=utf-8'
      if (!asHtml) return JSON.stringify(success({ title, items, ...about }))
      set.headers['content-security-policy'] = widgetPolicy
      set.headers['x-content-type-options'] = 'nosniff'
      set.headers['referrer-policy'] = 'no-referrer'
      return widgetPage({
        title,
        items,
        refreshSeconds: about.refresh_seconds,
        attribution: about.attribution,
      })
    },
    {
      access: { meter: true },
      query: t.Object({
        codes: t.Optional(
          t.String({
            description:
              'One to twenty codes or aliases, comma-separated; absent: the codes of the demo.',
            examples: ['WTI_USD,BRENT_CRUDE_USD'],
          }),
        ),
        format: t.Optional(
          t.String({ description: '`json` (default) or `html`.', examples: ['json'] }),
        ),
      }),
      response: {
        200: serialised(t.Union([Widget, WidgetPage])),
        400: t.Union([FailProblem, NestedProblem]),
        404: NestedProblem,
      },
      detail: {
        operationId: 'getWidget',
        tags: ['prices'],
        summary: 'Prices for a widget',
        description:
          'The newest prices in a compact shape, or as one HTML document for a frame, which reloads itself after `refresh_seconds`. Codes without a price are left out.',
      },
    },
  )
}

function codeWidget(deps: WidgetsDeps) {
  const { board, closes, codes, serviceName } = deps
  return new Elysia().use(deps.access).get(
    '/v1/prices/widget/:code',
    ({ params, query, request, set, caller }) => {
      const days = integerOf('days', query.days, 30, 1, sparklineDaysMax)
      const found = codes.read([params.code], request)
      const { series } = found[0]!
      const { items, about } = shown(serviceName, found, [board.quote(series)])
      noted(deps, found, set as Answering, caller.key)
      const sparkline = closesIn(closes.of(series.id), days).map(({ day, value }) => ({
        date: day,
        value: roundTo(value, series.decimals),
      }))
      return success({ item: items[0]!, sparkline, ...about })
    },
    {
      access: { meter: true },
      params: t.Object({
        code: t.String({ description: 'A code or alias.', examples: ['WTI_USD'] }),
      }),
      query: t.Object({
        days: t.Optional(
          t.String({
            description: `Days of the sparkline, 1 to ${sparklineDaysMax} (30).`,
            examples: ['30'],
          }),
        ),
      }),
      response: { 200: One, 400: t.Union([FailProblem, NestedProblem]), 404: NestedProblem },
      detail: {
        operationId: 'getWidgetOfCode',
        tags: ['prices'],
        summary: 'One price with its sparkline',
        description: 'The newest price of one code and its daily closes of the days up to it.',
      },
    },
  )
}

/** The items of the codes that have a price, and what a widget says of all of them. */
function shown(
  serviceName: string,
  found: readonly Resolved[],
  quotes: readonly (Quote | undefined)[],
) {
  const items = found.flatMap((one, i) => (quotes[i] ? [itemOf(quotes[i], one)] : []))
  if (items.length === 0)
    throw new Problem(
      'DATA_NOT_AVAILABLE',
      `There is no current price of ${found.map(one => one.code).join(', ')}.`,
    )
  const series = found.filter((_, i) => quotes[i]).map(one => one.series)
  const sources = [...new Set(series.map(one => sourceDescription(one.source, one.fixture)))].join(
    '; ',
  )
  const refreshSeconds = Math.min(...series.map(one => refreshSecondsOf(one.cadence)))
  return {
    items,
    about: { refresh_seconds: refreshSeconds, attribution: `${serviceName}: ${sources}` },
  }
}

function noted(
  { marks, meter }: WidgetsDeps,
  found: readonly Resolved[],
  set: Answering,
  key: KeyState,
): void {
  markFixtures(set, marks, found)
  set.headers['x-cache'] = 'MISS'
  meter.asked(
    key,
    found.map(one => one.series.id),
  )
}

function itemOf(quote: Quote, { code, requestedCode }: Resolved): WidgetItem {
  const { name, price, formatted, currency, unit, change_24h, change_24h_percent, updated_at } =
    priceRow(quote, code, requestedCode)
  const direction = change_24h ? (change_24h > 0 ? 'up' : 'down') : 'flat'
  return {
    code,
    name,
    price,
    formatted,
    currency,
    unit,
    change_24h,
    change_24h_percent,
    direction,
    updated_at,
  }
}

const refreshSecondsOf = (cadence: Cadence): number => (isIntraday(cadence) ? 300 : 3600)

function wantsHtml(format: string | undefined): boolean {
  const wanted = format?.toLowerCase() || 'json'
  if (wanted !== 'json' && wanted !== 'html')
    throw invalidParameter('format', format, 'is neither json nor html.', ['json', 'html'])
  return wanted === 'html'
}
