import { t } from '../../../../http/answer/schema.ts'
import { envelope, success } from '../../../../http/operations/answer.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { operation } from '../../../../http/operations/operation.ts'
import { isoOrNull, secondMs } from '../../../../lib/time/instant.ts'
import { type AdminRole, mayOperate } from '../../../../plans/roles/admin-roles.ts'
import { workerFaultText } from '../../../condition/service/condition.ts'
import type { QueryWorkers } from '../../../condition/service/vitals.ts'
import { lastErrorOf } from '../../../webhooks/operations/row.ts'

const codesMax = 100
const failingMax = 20
const serverError = 500
const moment = t.String({ format: 'date-time' })
const codes = (description: string) =>
  t.Array(t.String({ examples: ['HEATING_OIL_USD'] }), {
    description: `${description} At most ${codesMax}.`,
  })

export const Condition = envelope(
  t.object('OperatorCondition', {
    series: t.Object({
      stopped: codes('Codes that stopped receiving values.'),
      frozen: codes('Codes with an unchanged value for far longer than ever before.'),
      unit_breaks: codes('Codes whose level has changed by the ratio of two units.'),
    }),
    process: t.Object({
      memory_bytes: t.integer('Resident memory.', 183500800),
      loop_wait_ms: t.number('Longest event loop delay in the last minute, ms.', 12.5),
      is_overloaded: t.boolean('Heavy routes are refused.'),
      query_workers: t.orNull(
        t.Object({
          ready: t.integer('Workers that are ready.', 1),
          starting: t.integer('Workers that are starting.', 0),
          failed: t.integer(
            '1 while no worker can be started, and for a minute after one ended.',
            0,
          ),
          trouble: t.orNull(t.String(), 'Error of the workers, if any.'),
        }),
        'The query workers for heavy requests. Null: the main thread serves them.',
      ),
      answers: t.integer('Responses since the start.', 120433),
      server_errors: t.integer('Responses with a status of 500 or above.', 0),
    }),
    disk: t.Object({
      free_bytes: t.orNull(t.integer({ examples: [52428800000] }), 'Null if unknown.'),
      trouble: t.orNull(t.String(), 'Why writes are refused.'),
    }),
    outbox: t.Object({
      pending: t.integer({ examples: [0] }),
      oldest_pending_seconds: t.orNull(
        t.integer({ examples: [4] }),
        'Age of the oldest due message.',
      ),
    }),
    feeds: t.objects('Feeds that fail or are late.', {
      name: t.String({ examples: ['ecb'] }),
      state: t.String({ examples: ['failing'] }),
      consecutive_failures: t.integer({ examples: [3] }),
      problem: t.orNull(t.String(), 'Why its last run failed.'),
    }),
    webhooks: t.objects(
      `Customer endpoints that are disabled or whose deliveries fail. At most ${failingMax}.`,
      {
        id: t.String(),
        account_id: t.String(),
        account_email: t.String({ examples: ['eval@example.com'] }),
        host: t.String({ examples: ['hooks.example.com'] }),
        state: t.oneOf(['switched_off', 'failing']),
        consecutive_failures: t.integer({ examples: [10] }),
        error: t.orNull(t.String(), 'Error of the last failed attempt.'),
      },
    ),
    deliveries: t.objects(
      `Scheduled deliveries whose last run was not sent. At most ${failingMax}.`,
      {
        id: t.String(),
        account_id: t.String(),
        account_email: t.String({ examples: ['eval@example.com'] }),
        name: t.orNull(t.String(), 'Its name.'),
        error: t.String(),
      },
    ),
    backups: t.Object({
      made_at: t.orNull(
        moment,
        'When the last scheduled backup was made, or the last one that was started by the server. Backups to a file, by `wellhead backup FILE`, are not recorded.',
      ),
      checked_at: t.orNull(moment, 'When the newest backup was last verified.'),
      trouble: t.orNull(t.String(), 'Why the last backup or verification failed.'),
    }),
  }),
)
export type Condition = (typeof Condition)['static']['data']

function workersOf(workers: QueryWorkers | undefined) {
  if (!workers) return null
  const { fault, ...counts } = workers
  return { ...counts, trouble: fault ? workerFaultText(fault) : null }
}

/** The faults of feeds and, for who may read accounts, of endpoints and scheduled deliveries. */
function faultsOf(
  { feeds, webhooks, deliveries, outbox, keys }: Context,
  role: AdminRole | undefined,
) {
  const most = role === undefined || mayOperate(role, 'people', false) ? failingMax : 0
  const emailOf = (accountId: string) => keys.account(accountId)?.account.email ?? ''
  return {
    feeds: feeds
      .active()
      .filter(({ state }) => state === 'failing' || state === 'late')
      .map(({ feed, state, consecutiveFailures, lastRun }) => ({
        name: feed.publisher.name,
        state,
        consecutive_failures: consecutiveFailures,
        problem: lastRun?.problem ?? null,
      })),
    webhooks: webhooks.failing(most).map(endpoint => ({
      id: endpoint.id,
      account_id: endpoint.accountId,
      account_email: emailOf(endpoint.accountId),
      host: URL.parse(endpoint.url)?.host ?? '',
      state: endpoint.isSwitchedOff ? ('switched_off' as const) : ('failing' as const),
      consecutive_failures: endpoint.failedInARow,
      error: lastErrorOf(outbox, endpoint.id),
    })),
    deliveries: deliveries.failing(most).map(delivery => ({
      id: delivery.id,
      account_id: delivery.accountId,
      account_email: emailOf(delivery.accountId),
      name: delivery.name,
      error: delivery.error,
    })),
  }
}

/** The overview that an operator checks first. */
export function conditionAdminOperations(deps: Context) {
  const { seriesFaults, tally, disk, backupRecord, clock } = deps
  const answers = () => {
    let [total, failed] = [0, 0]
    for (const route of tally.routes().values())
      for (const [status, plans] of route.answers)
        for (const count of plans.values()) {
          total += count
          if (status >= serverError) failed += count
        }
    return { total, failed }
  }
  return [
    operation('GET /admin/v1/condition', {
      operationId: 'getOperatorCondition',
      summary: 'Get the condition of the service',
      description:
        'Returns stopped and frozen series, memory, event loop delay, errors since the start, disk space, outbox and backups, and failing feeds, customer endpoints and scheduled deliveries. A token that may not read accounts gets no endpoints and no deliveries. `GET /metrics` has the same as time series.',
      access: { operator: 'service' },
      answers: Condition,
      handle: ({ requestContext }) => {
        const faulty = seriesFaults.codes()
        const { total, failed } = answers()
        const { pending, oldestAt } = deps.backlog()
        const { madeAt, checkedAt, fault: trouble } = backupRecord.get()
        return success({
          series: {
            stopped: faulty.stopped.slice(0, codesMax),
            frozen: faulty.frozen.slice(0, codesMax),
            unit_breaks: faulty.broken.slice(0, codesMax),
          },
          process: {
            memory_bytes: process.memoryUsage.rss(),
            loop_wait_ms: deps.loopWaitMs(),
            is_overloaded: deps.isOverloaded(),
            query_workers: workersOf(deps.queryWorkers()),
            answers: total,
            server_errors: failed,
          },
          disk: {
            free_bytes: disk.freeBytes() ?? null,
            trouble: disk.fault()?.reason ?? null,
          },
          outbox: {
            pending,
            oldest_pending_seconds:
              oldestAt === undefined
                ? null
                : Math.max(0, Math.floor((clock.now() - oldestAt) / secondMs)),
          },
          ...faultsOf(deps, requestContext?.adminRole),
          backups: {
            made_at: isoOrNull(madeAt),
            checked_at: isoOrNull(checkedAt),
            trouble: trouble ?? null,
          },
        })
      },
    }),
  ]
}
