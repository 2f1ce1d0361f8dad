import { t } from '../../../http/answer/schema.ts'
import { parsed } from '../../../http/input/typed.ts'
import { operation } from '../../../http/operations/operation.ts'
import { FlatProblem } from '../../../http/problem/shape.ts'
import { dayMs, hourMs, isoDay, startOfDay, startOfMonth } from '../../../lib/time/instant.ts'
import { roundTo } from '../../prices/math/format.ts'
import { countedKeys } from '../service/keyring.ts'
import { endpointOf } from '../store/usage.ts'
import type { UsageHour } from '../store/usage-batch.ts'

const ranges = { '7d': 7, '30d': 30, '90d': 90 } as const
type Range = keyof typeof ranges
const rangeNames = Object.keys(ranges) as Range[]
const endpointsMax = 20

const vias = ['api', 'console', 'all'] as const

const fields = {
  tier: t.String({ examples: ['starter'] }),
  tier_name: t.String({ examples: ['Production Boost'] }),
  range: t.oneOf(rangeNames),
  via: t.oneOf(vias, 'Origin of the counted requests: `api`, `console` or both.'),
  overview: t.Object({
    totalRequests: t.integer('Requests in the range, including refusals and errors.', 1234),
    monthlyRequests: t.integer('Since the 1st of the running month.', 1234),
    dailyAverage: t.Number({ examples: [41.13] }),
    peakDay: t.orNull(t.String({ format: 'date' })),
    peakHour: t.orNull(t.integer({ minimum: 0, maximum: 23 }), 'Hour of the day, UTC.'),
    uniqueEndpoints: t.integer({ examples: [3] }),
    errorRate: t.number('Percent of requests with a 4xx or 5xx response.', 1.5),
    avgResponseTime: t.number('Milliseconds.', 0.42),
  }),
  dailyUsage: t.objects('Every day of the range, oldest first.', {
    date: t.String({ format: 'date' }),
    requests: t.integer(),
    errors: t.integer(),
  }),
  hourlyDistribution: t.objects('By hour of the day, UTC.', {
    hour: t.integer({ minimum: 0, maximum: 23 }),
    requests: t.integer(),
  }),
  endpointBreakdown: t.objects(`The ${endpointsMax} most requested endpoints.`, {
    endpoint: t.String({ examples: ['/v1/prices/latest'] }),
    via: t.oneOf(['api', 'console'], '`console`: made by console pages, which are free of charge.'),
    requests: t.integer(),
    percentage: t.Number(),
  }),
  geographicData: t.objects('Empty: the service does not locate requests.', {
    country: t.String(),
    requests: t.integer(),
  }),
}

const Performance = t.Object({ status: t.Literal('success'), data: t.Object(fields), ...fields })
export type Performance = (typeof Performance)['static']

/** The account's use of the service, from the record of its requests. */
export const performanceOperations = [
  operation('GET /v1/analytics/performance', {
    operationId: 'getPerformance',
    summary: 'Get request performance',
    description:
      'Returns requests, errors and response times of all keys of the account, by day, hour of the day and endpoint. All client requests are included, charged or not; requests of console pages are included with `via=console` or `via=all` and marked `via: console`. The same fields are under `data` and at the top level.',
    tags: ['Analytics'],
    access: { meter: true, heavy: true, queryWorker: false },
    query: {
      range: parsed.word(
        rangeNames,
        '`7d`, `30d` (default) or `90d`, ending with the current day.',
        '30d',
        { default: '30d' },
      ),
      via: parsed.word(
        vias,
        '`api` (default): requests of clients. `console`: requests of console pages, which are free of charge. `all`: both.',
        'api',
        { default: 'api' },
      ),
    },
    answers: { 200: Performance, 402: FlatProblem },
    handle: ({ at: { now, meter }, caller, query }) => {
      const { range } = query
      const { account } = caller.key
      const at = now()
      const from = startOfDay(at) - (ranges[range] - 1) * dayMs
      const month = startOfMonth(at)
      const { via } = query
      const hours = meter
        .hours(countedKeys(account), Math.min(from, month), at + hourMs)
        .filter(({ endpoint }) => via === 'all' || endpointOf(endpoint).via === via)
      const body = {
        tier: caller.entitled.planId,
        tier_name: caller.entitled.tierName,
        range,
        via,
        ...report(
          hours.filter(hour => hour.hourAt >= from),
          from,
          ranges[range],
          requestsOf(hours.filter(hour => hour.hourAt >= month)),
        ),
      }
      return { status: 'success' as const, data: body, ...body }
    },
  }),
]

const requestsOf = (hours: readonly UsageHour[]) =>
  hours.reduce((sum, hour) => sum + hour.requests, 0)
const errorsOf = (hours: readonly UsageHour[]) =>
  requestsOf(hours.filter(hour => hour.statusClass >= 4))
const percent = (part: number, whole: number) =>
  whole === 0 ? 0 : roundTo((100 * part) / whole, 2)

/** The item with the most requests, the first of several; null when there were none. */
function peak<T extends { requests: number }>(items: readonly T[]): T | null {
  return items.reduce<T | null>(
    (best, endpoint) => (endpoint.requests > (best?.requests ?? 0) ? endpoint : best),
    null,
  )
}

function report(hours: readonly UsageHour[], from: number, days: number, monthlyRequests: number) {
  const total = requestsOf(hours)
  const byDay = Map.groupBy(hours, hour => startOfDay(hour.hourAt))
  const byHour = Map.groupBy(hours, hour => (hour.hourAt % dayMs) / hourMs)
  const byEndpoint = Map.groupBy(hours, hour => hour.endpoint)
  const dailyUsage = Array.from({ length: days }, (_, i) => {
    const at = from + i * dayMs
    const hours = byDay.get(at) ?? []
    return { date: isoDay(at), requests: requestsOf(hours), errors: errorsOf(hours) }
  })
  const hourlyDistribution = Array.from({ length: 24 }, (_, hour) => ({
    hour,
    requests: requestsOf(byHour.get(hour) ?? []),
  }))
  const endpoints = [...byEndpoint].map(([recorded, hours]) => {
    const { route, via } = endpointOf(recorded)
    return { endpoint: route, via, requests: requestsOf(hours) }
  })
  endpoints.sort((a, b) => b.requests - a.requests || (a.endpoint < b.endpoint ? -1 : 1))
  const durationUs = hours.reduce((sum, hour) => sum + hour.durationUs, 0)
  return {
    overview: {
      totalRequests: total,
      monthlyRequests,
      dailyAverage: roundTo(total / days, 2),
      peakDay: peak(dailyUsage)?.date ?? null,
      peakHour: peak(hourlyDistribution)?.hour ?? null,
      uniqueEndpoints: endpoints.length,
      errorRate: percent(errorsOf(hours), total),
      avgResponseTime: total === 0 ? 0 : roundTo(durationUs / total / 1000, 2),
    },
    dailyUsage,
    hourlyDistribution,
    endpointBreakdown: endpoints
      .slice(0, endpointsMax)
      .map(endpoint => ({ ...endpoint, percentage: percent(endpoint.requests, total) })),
    geographicData: [],
  }
}
