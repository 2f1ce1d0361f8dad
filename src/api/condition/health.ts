import { Elysia, t } from 'elysia'
import { integer } from '../../http/answer/integer.ts'
import { FlatProblem, NestedProblem } from '../../http/problem/shape.ts'
import { isoInstant, secondMs } from '../../lib/instant.ts'
import {
  apiComponent,
  type Component,
  conditionOf,
  databaseAnswers,
  databaseComponent,
  ingestComponent,
  schedulerComponent,
} from '../../service/condition/condition.ts'
import type { Feed } from '../../service/condition/freshness.ts'
import type { Vitals } from '../../service/condition/vitals.ts'
import { version } from '../../version.ts'
import { type Answering, envelope, success } from '../answer.ts'
import { markSeries } from '../commodities/row.ts'
import type { Context } from '../context.ts'

export type HealthDeps = Vitals &
  Pick<Context, 'access' | 'settings' | 'catalogue' | 'freshness' | 'marks' | 'clock'>

const Health = t.Object(
  {
    status: t.Union([t.Literal('ok'), t.Literal('unavailable')]),
    version: t.String({ examples: [version] }),
    uptime_seconds: integer({ examples: [86_400] }),
    timestamp: t.String({ format: 'date-time' }),
  },
  { title: 'Health' },
)

const instantOrNull = (description: string) =>
  t.Union([t.String({ format: 'date-time' }), t.Null()], { description })

const Status = envelope(
  t.Object({
    status: t.Union([t.Literal('operational'), t.Literal('degraded'), t.Literal('down')]),
    version: t.String({ examples: [version] }),
    timestamp: t.String({ format: 'date-time' }),
    components: t.Array(
      t.Object({
        name: t.String({ examples: ['database'] }),
        status: t.Union([
          t.Literal('operational'),
          t.Literal('degraded'),
          t.Literal('down'),
          t.Literal('disabled'),
        ]),
        checked_at: t.String({ format: 'date-time' }),
        message: t.Union([t.String(), t.Null()]),
      }),
    ),
    data: t.Object({
      commodities: integer({ description: 'Codes of the catalogue.', examples: [897] }),
      with_data: integer({ description: 'Codes that have a price.', examples: [884] }),
      stale: integer({ description: 'Codes whose newest price is stale.', examples: [0] }),
      newest_observation: instantOrNull('Time of the newest observation of all.'),
    }),
    feeds: t.Array(
      t.Object({
        name: t.String({ description: 'Source and category.', examples: ['EIA/storage'] }),
        status: t.Union([
          t.Literal('current'),
          t.Literal('delayed'),
          t.Literal('stale'),
          t.Literal('empty'),
        ]),
        last_observation_at: instantOrNull('Time of its newest observation.'),
        expected_by: instantOrNull('When it is no longer current without a new one.'),
      }),
    ),
    outbox: t.Object({
      pending: integer({ examples: [0] }),
      oldest_pending_seconds: t.Union([integer(), t.Null()], {
        description: 'How long the oldest of them has been due.',
      }),
    }),
  }),
)

const isoOrNull = (at: number | undefined): string | null =>
  at === undefined ? null : isoInstant(at)

/** Whether the service lives and how each part of it is doing. */
export function healthRoutes(deps: HealthDeps) {
  return new Elysia().use(livenessRoutes(deps)).use(statusRoute(deps))
}

function livenessRoutes({ access, settings, clock, isStopping }: HealthDeps) {
  const startedMs = clock.monotonic()
  const answer = (set: Answering) => {
    const isWell = !isStopping() && databaseAnswers(settings)
    if (!isWell) set.status = 503
    set.headers['cache-control'] = 'no-store'
    return {
      status: isWell ? ('ok' as const) : ('unavailable' as const),
      version,
      uptime_seconds: Math.floor((clock.monotonic() - startedMs) / secondMs),
      timestamp: isoInstant(clock.now()),
    }
  }
  const description =
    'Whether the service is up and its database answers a query. 503 with `unavailable` when it does not, or when the process is about to stop.'
  return new Elysia()
    .use(access)
    .get('/v1/health', ({ set }) => answer(set as Answering), {
      access: { open: 'Anybody may ask whether the service lives.' },
      response: { 200: Health, 429: FlatProblem, 503: Health },
      detail: { operationId: 'getHealth', tags: ['discovery'], summary: 'Health', description },
    })
    .get('/health', ({ set }) => answer(set as Answering), {
      access: { open: 'Probes ask often.', rate: 'none' },
      response: { 200: Health, 503: Health },
      detail: {
        operationId: 'getHealthForProbes',
        tags: ['discovery'],
        summary: 'Health, for probes',
        description: `${description} Without a rate limit.`,
      },
    })
}

function statusRoute(deps: HealthDeps) {
  const { access, settings, catalogue, freshness, marks, clock } = deps
  return new Elysia().use(access).get(
    '/v1/status',
    ({ set }) => {
      const now = clock.now()
      const feeds = freshness.feeds()
      const components: Component[] = [
        apiComponent(deps.isOverloaded()),
        databaseComponent(settings),
        ingestComponent(feeds),
        schedulerComponent(deps.lastPassAt(), now),
        ...deps.senders(),
      ]
      const { total, missing, stale, newestAt } = freshness.overview()
      const { pending, oldestAt } = deps.backlog()
      markSeries(set as Answering, marks, catalogue.list())
      const timestamp = isoInstant(now)
      return success({
        status: conditionOf(components),
        version,
        timestamp,
        components: components.map(component => ({
          name: component.name,
          status: component.status,
          checked_at: timestamp,
          message: component.message ?? null,
        })),
        data: {
          commodities: catalogue.list().length,
          with_data: total - missing,
          stale,
          newest_observation: isoOrNull(newestAt),
        },
        feeds: feeds.map(feedRow),
        outbox: {
          pending,
          oldest_pending_seconds:
            oldestAt === undefined ? null : Math.max(0, Math.floor((now - oldestAt) / secondMs)),
        },
      })
    },
    {
      access: { meter: false },
      response: { 200: Status, 503: NestedProblem },
      detail: {
        operationId: 'getStatus',
        tags: ['discovery'],
        summary: 'Status of every part and every feed',
        description:
          'How each part of the service is doing and how fresh each feed is. A feed is what one source publishes of one category; it is as late as the latest of its cadences. Does not count against the quota.',
      },
    },
  )
}

const feedRow = (feed: Feed) => ({
  name: feed.name,
  status: feed.status,
  last_observation_at: isoOrNull(feed.lastObservationAt),
  expected_by: isoOrNull(feed.expectedBy),
})
