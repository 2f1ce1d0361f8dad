import type { Static } from 'elysia'
import { t } from '../../../http/answer/schema.ts'
import { envelope, success } from '../../../http/operations/answer.ts'
import { markSeries } from '../../../http/operations/commodities/row.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { Problem } from '../../../http/problem/problem.ts'
import { NestedProblem } from '../../../http/problem/shape.ts'
import { isoDay, isoInstant } from '../../../lib/time/instant.ts'
import { roundTo } from '../../prices/math/format.ts'
import type { Series } from '../store/series.ts'

const benchmarkCode = 'GAS_HENRY_HUB_SPOT_USD'

/** The short name of a hub: `waha` for `GAS_WAHA_USD`. */
const slugOf = ({ code }: Series): string =>
  code
    .replace(/^GAS_|_USD$/g, '')
    .toLowerCase()
    .replaceAll('_', '-')

const Hub = t.object('GasHub', {
  code: t.String({ examples: ['GAS_WAHA_USD'] }),
  slug: t.String({ examples: ['waha'] }),
  name: t.String({ examples: ['Waha Hub Natural Gas'] }),
  price: t.Number({ examples: [1.084] }),
  currency: t.orNull(t.String({ examples: ['USD'] })),
  unit: t.String({ examples: ['mmbtu'] }),
  basis_to_henry: t.numberOrNull(
    'The price minus that of the benchmark; null for another unit or currency.',
    -2.136,
  ),
  history_since: t.orNull(t.String({ format: 'date' })),
  created_at: t.String({ format: 'date-time' }),
})
type Hub = Static<typeof Hub>

export function gasHubOperations({ catalogue, latestPrices, marks, meter }: Context) {
  const hubOf = (series: Series, benchmark: number): Hub[] => {
    const quote = latestPrices.quote(series)
    if (!quote) return []
    const price = roundTo(quote.observation.value, series.decimals)
    const firstAt = catalogue.extent(series)?.firstAt
    return [
      {
        code: series.code,
        slug: slugOf(series),
        name: series.name,
        price,
        currency: series.currency,
        unit: series.unit,
        basis_to_henry:
          series.currency === 'USD' && series.unit === 'mmbtu'
            ? roundTo(price - benchmark, series.decimals)
            : null,
        history_since: firstAt === undefined ? null : isoDay(firstAt),
        created_at: isoInstant(quote.observation.observedAt),
      },
    ]
  }
  return [
    operation('GET /v1/natural-gas/hubs', {
      operationId: 'listGasHubs',
      summary: 'List natural gas hubs',
      description:
        'Returns the newest price of every natural gas hub priced in USD per MMBtu, cheapest first, each with its basis to Henry Hub.',
      tags: ['Prices'],
      access: { meter: true },
      answers: {
        200: envelope(t.Object({ benchmark: Hub, hubs: t.Array(Hub), count: t.integer() })),
        404: NestedProblem,
      },
      handle: ({ reply, caller }) => {
        const all = catalogue
          .list()
          .filter(({ code, unit }) => /^GAS_.*_USD$/.test(code) && unit === 'mmbtu')
        const henry = all.find(({ code }) => code === benchmarkCode)
        const price = (henry && latestPrices.quote(henry)?.observation.value) ?? 0
        const [benchmark] = henry ? hubOf(henry, price) : []
        if (!benchmark)
          throw new Problem('DATA_NOT_AVAILABLE', `${benchmarkCode} has no current price.`, {
            commodity_code: benchmarkCode,
          })
        const hubs = all
          .filter(({ code, cadence }) => code !== benchmarkCode && cadence === 'daily')
          .flatMap(series => hubOf(series, price))
          .sort((a, b) => a.price - b.price)
        markSeries(reply, marks, all)
        meter.noteRequested(
          caller.key,
          all.map(({ id }) => id),
        )
        return success({ benchmark, hubs, count: hubs.length })
      },
    }),
  ]
}
