import { jsonType } from '../../../http/answer/complete.ts'
import { t } from '../../../http/answer/schema.ts'
import { serialised } from '../../../http/answer/serialised.ts'
import { listOf } from '../../../http/input/query.ts'
import { codesParameter, parsed } from '../../../http/input/typed.ts'
import { envelopeOf, markFixtures, type Reply, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { Problem } from '../../../http/problem/problem.ts'
import { CodeProblem, NestedProblem } from '../../../http/problem/shape.ts'
import { type Cadence, isIntraday, sourcesOf } from '../../catalogue/math/catalogue.ts'
import type { Resolved } from '../../catalogue/service/catalogue.ts'
import type { KeyState } from '../../keys/service/keyring.ts'
import { roundTo } from '../math/format.ts'
import { closesIn } from '../math/window.ts'
import type { Quote } from '../service/reads/latest-prices.ts'
import { priceRow } from './row.ts'
import { WidgetItem } from './widget-item.ts'
import { widgetPage, widgetPolicy } from './widget-page.ts'

const sharedFields = {
  refresh_seconds: t.integer('Minimum seconds between requests.', 300),
  attribution: t.string(
    'Attribution to show with the prices.',
    'Energy Prices: Compiled from market reporting',
  ),
}

const Widget = envelopeOf({
  title: t.String({ examples: ['Energy prices'] }),
  items: t.Array(WidgetItem),
  ...sharedFields,
})

const WidgetPage = t.string(
  'One self-contained document without scripts or external resources.',
  '<!doctype html>\n<html lang="en">…',
  { contentMediaType: 'text/html' },
)

const CodeWidget = envelopeOf({
  item: WidgetItem,
  sparkline: t.objects('Daily closes, oldest first; days without one are left out.', {
    date: t.String({ format: 'date' }),
    value: t.Number({ examples: [71.23] }),
  }),
  ...sharedFields,
})

const title = 'Energy prices'
const sparklineDaysMax = 90

/** Prices in a compact shape for small displays. */
export const widgetOperations = [
  operation('GET /v1/prices/widget', {
    operationId: 'getWidget',
    summary: 'Get prices for a widget',
    description:
      'Returns the newest prices in a compact form, or as an HTML document for a frame that reloads itself after `refresh_seconds`. Codes without a price are omitted.',
    access: { meter: true },
    query: {
      codes: codesParameter(
        20,
        'One to twenty codes or aliases, comma-separated; absent: the codes of the demo.',
        'WTI_USD,BRENT_CRUDE_USD',
      ),
      format: parsed.word(['json', 'html'], '`json` (default) or `html`.', 'json', {
        default: 'json',
      }),
    },
    answers: {
      200: serialised(t.Union([Widget, WidgetPage])),
      400: CodeProblem,
      404: NestedProblem,
    },
    handle: ({ at: deps, query, request, reply, caller }) => {
      const asHtml = query.format === 'html'
      const requestedCodes = listOf(query.codes)
      const commodities = deps.codes.read(
        requestedCodes.length > 0 ? requestedCodes : deps.firstCodes,
        request,
      )
      const { items, summary } = widgetContent(
        deps.serviceName,
        commodities,
        commodities.map(commodity => deps.latestPrices.quote(commodity.series)),
      )
      markAndCount(deps, commodities, reply, caller.key)
      reply.headers['content-type'] = asHtml ? 'text/html; charset=utf-8' : jsonType
      if (!asHtml) return JSON.stringify(success({ title, items, ...summary }))
      reply.headers['content-security-policy'] = widgetPolicy
      reply.headers['x-content-type-options'] = 'nosniff'
      reply.headers['referrer-policy'] = 'no-referrer'
      return widgetPage({
        title,
        items,
        refreshSeconds: summary.refresh_seconds,
        attribution: summary.attribution,
      })
    },
  }),
  operation('GET /v1/prices/widget/:code', {
    operationId: 'getWidgetOfCode',
    summary: 'Get one price with a sparkline',
    description: 'Returns the newest price of a code with recent daily closes.',
    access: { meter: true },
    params: {
      code: t.string('A code or alias.', 'WTI_USD'),
    },
    query: {
      days: parsed.integer('Days of the sparkline', [1, sparklineDaysMax], 30),
    },
    answers: { 200: CodeWidget, 400: CodeProblem },
    handle: ({ at: deps, params, query, request, reply, caller }) => {
      const { days } = query
      const commodities = deps.codes.read([params.code], request)
      const { series } = commodities[0]!
      const { items, summary } = widgetContent(deps.serviceName, commodities, [
        deps.latestPrices.quote(series),
      ])
      markAndCount(deps, commodities, reply, caller.key)
      const sparkline = closesIn(deps.closes.of(series.id), days).map(({ day, value }) => ({
        date: day,
        value: roundTo(value, series.decimals),
      }))
      return success({ item: items[0]!, sparkline, ...summary })
    },
  }),
]

/** The items of the codes that have a price, and the fields about all of them. */
function widgetContent(
  serviceName: string,
  commodities: readonly Resolved[],
  quotes: readonly (Quote | undefined)[],
) {
  const items = commodities.flatMap((commodity, i) =>
    quotes[i] ? [itemOf(quotes[i], commodity)] : [],
  )
  if (items.length === 0)
    throw new Problem(
      'DATA_NOT_AVAILABLE',
      `There is no current price of ${commodities.map(commodity => commodity.code).join(', ')}.`,
    )
  const series = quotes.flatMap(quote => quote?.series ?? [])
  const sources = sourcesOf(series).description
  const refreshSeconds = Math.min(...series.map(entry => refreshSecondsOf(entry.cadence)))
  return {
    items,
    summary: { refresh_seconds: refreshSeconds, attribution: `${serviceName}: ${sources}` },
  }
}

function markAndCount(
  { marks, meter }: Context,
  commodities: readonly Resolved[],
  reply: Reply,
  key: KeyState,
): void {
  markFixtures(reply, marks, commodities)
  reply.headers['x-cache'] = 'MISS'
  meter.noteRequested(
    key,
    commodities.map(commodity => commodity.series.id),
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
