import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import { envelopeOf, type Reply, success } from '../../../http/operations/answer.ts'
import { markSeries } from '../../../http/operations/commodities/row.ts'
import type { Context } from '../../../http/operations/context.ts'
import { type Operations, operation } from '../../../http/operations/operation.ts'
import { NestedProblem } from '../../../http/problem/shape.ts'
import { isoInstant, isoOrNull, minuteMs, secondMs } from '../../../lib/time/instant.ts'
import { replicationText } from '../../../replication/service/condition.ts'
import { version } from '../../../version.ts'
import { damageText } from '../../operator/service/scrub.ts'
import type { Component } from '../service/component.ts'
import {
  apiComponent,
  conditionOf,
  databaseAnswers,
  databaseComponent,
  ingestComponent,
  schedulerComponent,
  workersText,
} from '../service/condition.ts'
import type { Feed } from '../service/freshness.ts'
import type { Vitals } from '../service/vitals.ts'

export type HealthDeps = Vitals & Context

const Health = t.object('Get service health', {
  status: t.oneOf(
    ['ok', 'degraded', 'unavailable'],
    '`degraded`: the service works, but something needs the operator; see `reason`. `unavailable`: the database does not respond, or the process is about to stop.',
  ),
  version: t.String({ examples: [version] }),
  uptime_seconds: t.integer({ examples: [86_400] }),
  timestamp: t.String({ format: 'date-time' }),
  reason: t.Optional(
    t.string(
      "What needs the operator's attention, if anything.",
      'The data cannot be written: the disk is full.',
    ),
  ),
})

/** A feed in responses. */
export const FeedRow = t.Object({
  name: t.string('Source and category.', 'EIA/storage'),
  status: t.oneOf(['current', 'delayed', 'stale', 'empty']),
  last_observation_at: t.instantOrNull('Time of the newest observation of the feed.'),
  expected_by: t.instantOrNull('When the feed becomes delayed unless a new observation arrives.'),
  codes: t.integer('Codes of the feed with data.', 12),
  stale_codes: t.integer('Stale codes of the feed.', 0),
})

const Status = envelopeOf({
  status: t.oneOf(['operational', 'degraded', 'down']),
  version: t.String({ examples: [version] }),
  timestamp: t.String({ format: 'date-time' }),
  components: t.Array(
    t.Object({
      name: t.String({ examples: ['database'] }),
      status: t.oneOf(['operational', 'degraded', 'down', 'disabled']),
      checked_at: t.String({ format: 'date-time' }),
      message: t.orNull(t.String()),
    }),
  ),
  data: t.Object({
    commodities: t.integer('Codes of the catalogue.', 897),
    with_data: t.integer('Codes that have a price.', 884),
    stale: t.integer('Codes whose newest price is stale.', 0),
    stopped: t.Array(t.String(), {
      description:
        'Codes that stopped receiving values: nothing has arrived for three periods of their calendar.',
    }),
    frozen: t.Array(t.String({ examples: ['HEATING_OIL_USD'] }), {
      description:
        'Codes with an unchanged value for at least eight days with a value, and more than three times as long as ever before.',
    }),
    unit_breaks: t.Array(t.String(), {
      description: 'Codes whose level has changed by the ratio of two units and stayed there.',
    }),
    newest_observation: t.instantOrNull('Time of the newest observation of all.'),
  }),
  feeds: t.Array(FeedRow),
  outbox: t.Object({
    pending: t.integer({ examples: [0] }),
    oldest_pending_seconds: t.orNull(t.integer(), 'Age of the oldest due message.'),
  }),
})

const ReadyQuery = t.Object({
  ready: t.Optional(
    t.Literal('write', {
      description: '`write` also checks that the service accepts writes: 503 while it does not.',
    }),
  ),
  max_lag: t.Optional(
    t.string(
      'Maximum replication lag, such as `5s` or `500ms`: a replica further behind returns 503.',
      '5s',
      { pattern: '^[0-9]{1,6}(ms|s|m)$' },
    ),
  ),
})

function livenessOperations({
  settings,
  disk,
  backupRecord,
  scrub,
  clock,
  openedMs,
  isStopping,
  senders,
  queryWorkers,
  replication,
  replica,
}: HealthDeps) {
  const answer = (reply: Reply, { ready, max_lag: maxLag }: (typeof ReadyQuery)['static']) => {
    const isBehind = maxLag !== undefined && (replica()?.lagMs ?? 0) > millisecondsOf(maxLag)
    const lives = !isStopping() && !isBehind && databaseAnswers(settings)
    const writes = disk.fault() === undefined
    const reason = lives
      ? reasonOf(
          { disk, backupRecord, scrub },
          [workersText(queryWorkers()), replicationText(replication(), replica())],
          senders(),
        )
      : undefined
    if (!lives || (ready === 'write' && !writes)) reply.status = 503
    reply.headers['cache-control'] = 'no-store'
    const status = !lives ? 'unavailable' : reason === undefined ? 'ok' : 'degraded'
    return {
      status: status as (typeof Health)['static']['status'],
      version,
      uptime_seconds: Math.floor(upMs({ clock, openedMs }) / secondMs),
      timestamp: isoInstant(clock.now()),
      ...(reason !== undefined && { reason }),
    }
  }
  const description =
    'Returns whether the service is up and its database responds. 503 with `unavailable` if not, if the process is about to stop, or if a replica is further behind than `max_lag`. A condition that needs the operator but no restart is 200 with `degraded`; with `ready=write` the response is 503 while writes are refused.'
  return [
    operation('GET /v1/health', {
      operationId: 'getHealth',
      summary: 'Get service health',
      description,
      access: { open: 'Health is public.' },
      query: ReadyQuery.properties,
      answers: { 200: Health, 503: Health },
      handle: ({ query, reply }) => answer(reply, query),
    }),
    operation('GET /health', {
      operationId: 'getHealthForProbes',
      summary: 'Check health for probes',
      description: `${description} Without a rate limit.`,
      access: { open: 'Probes send many requests.', rate: 'none' },
      query: ReadyQuery.properties,
      answers: { 200: Health, 503: Health },
      handle: ({ query, reply }) => answer(reply, query),
    }),
  ]
}

/** Uptime, never negative: some virtual machines set every clock back. */
export const upMs = ({ clock, openedMs }: Pick<HealthDeps, 'clock' | 'openedMs'>): number =>
  Math.max(0, clock.monotonic() - openedMs)

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: secondMs, m: minuteMs }

const millisecondsOf = (text: string): number => {
  const [, count, unit] = /^(\d+)(\w+)$/.exec(text)!
  return Number(count) * unitMs[unit!]!
}

/** Why the operator must act; names no account. */
function reasonOf(
  { disk, backupRecord, scrub }: Pick<HealthDeps, 'disk' | 'backupRecord' | 'scrub'>,
  texts: readonly (string | undefined)[],
  senders: readonly Component[],
): string | undefined {
  const fault = disk.fault()
  if (fault) return `The data cannot be written: ${fault.reason}.`
  const damage = damageText(scrub.status())
  if (damage !== undefined) return damage
  const failing = texts.find(text => text !== undefined)
  if (failing !== undefined) return failing
  const waits = senders.find(sender => sender.status === 'degraded' && sender.message)
  if (waits) return waits.message
  return backupRecord.get().fault === undefined
    ? undefined
    : 'The last scheduled backup failed; see the log.'
}

/** Health of the service, and status of each part. */
export const healthOperations: Operations = [
  livenessOperations,
  operation('GET /v1/status', {
    operationId: 'getStatus',
    summary: 'Get the status of every component and feed',
    description:
      'Returns the status of each component and the freshness of each feed. A feed is one source and category; it is delayed or stale if one of its codes is. Free of charge.',
    access: { meter: false },
    answers: { 200: Status, 503: NestedProblem },
    handle: ({ at: deps, reply }) => {
      const now = deps.clock.now()
      const feeds = deps.freshness.feeds()
      const faulty = deps.seriesFaults.codes()
      const components: Component[] = [
        apiComponent(deps.isOverloaded(), deps.queryWorkers()),
        databaseComponent(
          deps.settings,
          deps.disk.fault()?.reason,
          damageText(deps.scrub.status()),
        ),
        ingestComponent(feeds, faulty),
        schedulerComponent(deps.lastPassAt(), now, upMs(deps)),
        ...deps.senders(),
      ]
      const { total, missing, stale, newestAt } = deps.freshness.overview()
      const { pending, oldestAt } = deps.backlog()
      markSeries(reply, deps.marks, deps.catalogue.list())
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
          commodities: deps.catalogue.list().length,
          with_data: total - missing,
          stale,
          stopped: faulty.stopped,
          frozen: faulty.frozen,
          unit_breaks: faulty.broken,
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
  }),
]

export const feedRow = (feed: Feed) =>
  answerRow(FeedRow, feed, { expected_by: isoOrNull(feed.expectedBy) })
