import { sourceOf, toolOf } from '../../../http/answer/attribution.ts'
import { t } from '../../../http/answer/schema.ts'
import { owned } from '../../../http/gate/owned.ts'
import { accountIdOf, type Caller } from '../../../http/gate/request-context.ts'
import { noBody } from '../../../http/input/body-schema.ts'
import { integerOf } from '../../../http/input/query.ts'
import { idParameter, integerParameter } from '../../../http/input/typed.ts'
import { envelope, envelopeOf, markFixtures, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { type Operations, operation } from '../../../http/operations/operation.ts'
import { stateForbids } from '../../../http/problem/problem.ts'
import { featureMissing } from '../../../http/problem/refusals.ts'
import { NestedProblem } from '../../../http/problem/shape.ts'
import type { LimitReached } from '../../../plans/limits.ts'
import { hasFeature } from '../../../plans/plans.ts'
import type { Watches } from '../service/watches.ts'
import { asksForWebhook, createWatchForms } from './form.ts'
import {
  WatchEventShape,
  WatchShape,
  WatchTwice,
  watchEventRow,
  watchRow,
  watchTwice,
} from './row.ts'

const eventsMax = 500
const eventsDefault = 100

const Listed = envelopeOf({
  subscriptions: t.Array(WatchShape),
  count: t.integer(),
  limit: t.integerOrNull('Watches that the plan allows; null: no limit.'),
})
const One = envelope(WatchTwice)
const Deleted = envelopeOf({ id: t.String(), deleted: t.Literal(true) })
const Events = envelopeOf({
  events: t.Array(WatchEventShape),
  cursor: t.integer('Value for `since` in the next request.', 42),
  has_more: t.boolean('Whether more events are available.'),
})

const reading = { meter: true } as const
const writing = { meter: true, header: true } as const
const params = { id: t.string('Id of the watch.', '00000000-0000-4000-8000-000000000501') }

const ownWatch = (watches: Pick<Watches, 'byId'>, id: string, caller: Caller) =>
  owned(watches.byId(id), caller, 'watch', id)

/** The helpers of creating and changing. */
function shared({ catalogue, plans, links, now }: Context) {
  return {
    forms: createWatchForms({
      codeOf: text => catalogue.named(text)?.code ?? catalogue.resolve(text, now())?.code,
    }),
    refuseWebhook(body: unknown, { entitled }: Caller, request: Request) {
      if (asksForWebhook(body) && !hasFeature(entitled, 'webhooks'))
        throw featureMissing(plans, links(request), entitled, 'webhooks')
    },
  }
}

const limitReached = ({ limit, count }: LimitReached) =>
  stateForbids(
    'watch_limit_reached',
    `The account has ${count} watches of ${limit} allowed by its plan. Delete one or upgrade.`,
    { limit, current_count: count },
  )

const creation =
  "Creates a watch and returns it. A watch runs every `interval_seconds`, first one interval after creation. Each run adds events to the feed:\n\n| Event | When |\n|---|---|\n| `evaluated` | every run, for each code |\n| `threshold_crossed` | the price differs from the previous run (for the first run: from creation) by at least `threshold_percent` |\n| `stale` | once, when no new price has arrived for three periods of the cadence, or none exists |\n\nAfter an outage a watch runs once and resumes its schedule. With `deliver_webhook` the first two are sent as `watch.evaluated` and `watch.threshold_crossed` to subscribed webhook endpoints. After a downgrade the oldest watches within the plan's limit keep running, no faster than its shortest interval. The headers `<prefix>Source` (`api`, `dashboard`, `web`, `mobile`, `sdk`, `cli`, `mcp`, `agent`, `spreadsheet`, `widget`, `integration`, also as `sdk-python`) and `<prefix>Tool` identify the client that created the watch."

function listAndCreate(deps: Context) {
  const { watches, headerPrefix } = deps
  const { forms, refuseWebhook } = shared(deps)
  return [
    operation('GET /v1/subscriptions', {
      operationId: 'listWatches',
      summary: 'List watches',
      description:
        'Returns the watches of the account, newest first, and how many the plan allows.',
      access: reading,
      answers: Listed,
      handle: ({ caller }) => {
        const rows = watches.list(accountIdOf(caller)).map(watchRow)
        return success({ subscriptions: rows, count: rows.length, limit: caller.entitled.watches })
      },
    }),
    operation('POST /v1/subscriptions', {
      operationId: 'createWatch',
      summary: 'Create a watch',
      description: creation,
      access: writing,
      idempotent: true,
      body: forms.newWatch,
      creates: '/v1/subscriptions/:id',
      answers: { 201: One },
      handle: ({ body, caller, request }) => {
        refuseWebhook(body, caller, request)
        const origin = {
          source: sourceOf(request, headerPrefix),
          toolName: toolOf(request, headerPrefix),
        }
        const created = watches.create(
          caller.key.account,
          forms.created(body, caller.entitled),
          origin,
        )
        if ('refused' in created) throw limitReached(created)
        return success(watchTwice(created))
      },
    }),
  ]
}

function changeOne(deps: Context) {
  const { watches } = deps
  const { forms, refuseWebhook } = shared(deps)
  return [
    operation('GET /v1/subscriptions/:id', {
      operationId: 'getWatch',
      counted: /^(?:last_evaluated_at|next_run_at)$/,
      summary: 'Get a watch',
      description: 'Returns the watch with its last and next run.',
      access: reading,
      params,
      answers: One,
      handle: ({ caller, params: { id } }) => success(watchTwice(ownWatch(watches, id, caller))),
    }),
    operation('PATCH /v1/subscriptions/:id', {
      operationId: 'updateWatch',
      summary: 'Update a watch',
      description:
        'Updates the given fields. A new interval, or `active` after `paused`, schedules the next run one interval from now; after a pause the first run compares with the price at its end. Null clears `name` and `threshold_percent`.',
      access: writing,
      params,
      body: forms.watchChange,
      answers: One,
      handle: ({ body, caller, params: { id }, request }) => {
        refuseWebhook(body, caller, request)
        const watch = ownWatch(watches, id, caller)
        return success(watchTwice(watches.change(watch, forms.changed(body, caller.entitled))))
      },
    }),
    operation('DELETE /v1/subscriptions/:id', {
      operationId: 'deleteWatch',
      summary: 'Delete a watch',
      description: 'Deletes the watch; its events stay in the feed for 30 days.',
      access: writing,
      params,
      body: noBody,
      answers: Deleted,
      handle: ({ caller, params: { id } }) => {
        watches.remove(ownWatch(watches, id, caller))
        return success({ id, deleted: true as const })
      },
    }),
  ]
}

/** The watches of an account, and the feed of their events. */
export const watchOperations: Operations = [
  operation('GET /v1/subscriptions/events', {
    operationId: 'listWatchEvents',
    summary: 'List watch events',
    description:
      "Returns events of the account's watches in order, stored for 30 days. Send the `cursor` of the previous response as `since` to get every event exactly once. Free of charge. `GET /v1/stream` returns the same as a stream.",
    access: { meter: false },
    query: {
      since: integerParameter('Only events with a `seq` above this. Default: 0.', 0, {
        default: 0,
        minimum: 0,
      }),
      watch_id: idParameter('Only events of this watch.', '00000000-0000-4000-8000-000000000501'),
      limit: integerParameter(
        `Events, 1 to ${eventsMax}, default: ${eventsDefault}; more is served as ${eventsMax}.`,
        100,
        { default: eventsDefault, minimum: 1, maximum: eventsMax },
      ),
    },
    answers: { 200: Events, 404: NestedProblem },
    handle: ({ at: { watches, watchFeed, catalogue, marks }, caller, query, reply }) => {
      const since = integerOf('since', query.since, 0, 0, Number.MAX_SAFE_INTEGER)
      const limit = Math.min(eventsMax, integerOf('limit', query.limit, eventsDefault, 1, 1e9))
      const watch = query.watch_id ? ownWatch(watches, query.watch_id, caller) : undefined
      // One more than is answered: whether it is there.
      const rows = watchFeed.after(accountIdOf(caller), since, limit + 1, watch)
      const events = rows.slice(0, limit)
      const codes = new Set(events.map(event => event.code))
      const series = [...codes].flatMap(code => catalogue.named(code) ?? [])
      markFixtures(
        reply,
        marks,
        series.map(series => ({ series })),
      )
      return success({
        events: events.map(watchEventRow),
        cursor: events.at(-1)?.seq ?? since,
        has_more: rows.length > limit,
      })
    },
  }),
  listAndCreate,
  changeOne,
]
