import { t } from '../../../http/answer/schema.ts'
import type { Caller } from '../../../http/gate/request-context.ts'
import { idempotencyHeader } from '../../../http/idempotency.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { passing, stateForbids } from '../../../http/problem/problem.ts'
import type { Links } from '../../../http/problem/refusals.ts'
import { FlatProblem, ValidationProblem } from '../../../http/problem/shape.ts'
import type { LimitReached } from '../../../plans/limits.ts'
import type { CopyRefusal, Delivery } from '../service/deliveries.ts'
import { createDeliveryForms } from './form.ts'
import {
  createDeliveryRows,
  DeliveryShape,
  DeliveryTwice,
  runError,
  runId,
  runStatus,
} from './row.ts'

const reading = { meter: false } as const
const writing = { meter: false, header: true } as const
const params = { id: t.string('Id of the delivery.', '00000000-0000-4000-8000-000000000301') }
const unknown = { 404: ValidationProblem }
const refused = { 422: ValidationProblem, 503: ValidationProblem }
const message = t.String({ examples: ['The scheduled delivery was created.'] })
const One = t.Object({ data: DeliveryTwice, message })
const limit = t.integerOrNull('Deliveries that the plan allows; null: no limit.')

/** Prices that the account has mailed to it by a schedule. */
export function deliveryOperations(deps: Context) {
  const shared = createShared(deps)
  return [...listAndCreate(deps, shared), ...changeOne(deps, shared), ...sendNow(deps, shared)]
}

/** The helpers that all routes share. */
function createShared({ deliveries, catalogue, limits, now }: Context) {
  return {
    rows: createDeliveryRows(deliveries),
    forms: createDeliveryForms({
      // A family of futures is delivered as such, not as the contract that is in front today.
      codeOf: text => catalogue.named(text)?.code ?? catalogue.resolve(text, now())?.code,
      near: code => catalogue.suggest(code).map(series => series.code),
      codesMax: limits.deliveryCodesMax,
      nameMax: limits.deliveryNameMax,
    }),
    /** A delivery of the caller's account; unknown, malformed and foreign ids look the same. */
    own(id: string, { key }: Caller): Delivery {
      const delivery = deliveries.own(key.account.account.id, id)
      if (!delivery) throw stateForbids('not_found', 'The scheduled delivery was not found.')
      return delivery
    },
    /** While all are paused nothing is made, changed or sent; they can be checked and deleted. */
    refusePaused() {
      if (!deliveries.enabled) {
        throw stateForbids(
          'scheduled_deliveries_disabled',
          'Scheduled deliveries are paused by the operator. Try again later.',
        )
      }
    },
  }
}

type Shared = ReturnType<typeof createShared>

const howItRuns =
  '**Schedule.** Deliveries are checked every fifteen minutes and run once per local day after `delivery_time` in `time_zone`. A time skipped by a clock change runs at the next existing time; a repeated time runs once. After an outage the newest missed delivery is sent.\n\n**Content.** Each delivery has the prices of `GET /v1/prices/latest` at the time of the run, as text and as `prices-<local date>.csv` (`code`, `name`, `price`, `currency`, `unit`, `observed_at`, `previous_price`, `change`, `change_percent`), the change is against the last observation of an earlier local day. Text that a spreadsheet would run as a formula starts with an apostrophe. Codes without a current price are named in the e-mail. A failed delivery is retried after 1, 5, 15 and 60 minutes. Deliveries never count against the quota.'

const listAndCreate = (
  { deliveries, links, headerPrefix }: Context,
  { rows, forms, refusePaused }: Shared,
) => [
  operation('GET /v1/scheduled-deliveries', {
    operationId: 'listScheduledDeliveries',
    summary: 'List scheduled deliveries',
    description:
      'Returns the scheduled deliveries of the account, oldest first, and how many the plan allows.',
    access: reading,
    answers: t.Object({
      data: t.Array(DeliveryShape),
      meta: t.Object({
        limit,
        current_count: t.integer(),
        remaining: t.integerOrNull('Null: no limit.'),
        plan: t.String({ examples: ['enterprise'] }),
      }),
      limit,
    }),
    handle: ({ caller: { key, entitled } }) => {
      const data = deliveries.list(key.account.account.id).map(rows.row)
      const { scheduledDeliveries: allowed, planId: plan } = entitled
      const remaining = allowed === null ? null : Math.max(0, allowed - data.length)
      return {
        data,
        meta: { limit: allowed, current_count: data.length, remaining, plan },
        limit: allowed,
      }
    },
  }),
  operation('POST /v1/scheduled-deliveries', {
    operationId: 'createScheduledDelivery',
    summary: 'Create a scheduled delivery',
    description: `Creates a scheduled delivery and returns it. The body may be wrapped in \`scheduled_delivery\`. ${howItRuns}`,
    access: writing,
    idempotent: true,
    headers: t.Object({
      ...idempotencyHeader.properties,
      [`${headerPrefix}source`.toLowerCase()]: t.Optional(
        t.string(
          'The channel that created it, returned as `source`: up to 40 characters.',
          'dashboard',
        ),
      ),
    }),
    body: forms.newDelivery,
    creates: '/v1/scheduled-deliveries/:id',
    answers: { 201: One, ...refused },
    handle: ({ body, caller, request }) => {
      refusePaused()
      const source = channelOf(request.headers.get(`${headerPrefix}Source`))
      const created = deliveries.create(caller.key.account, forms.created(body), { source })
      if ('refused' in created) throw limitReached(created, links(request))
      return { data: rows.twice(created), message: 'The scheduled delivery was created.' }
    },
  }),
]

/** A word, or `api`. */
const channelOf = (source: string | null): string =>
  source !== null && /^[a-z0-9][\w.-]{0,39}$/i.test(source) ? source.toLowerCase() : 'api'

const limitReached = ({ limit: allowed, count }: LimitReached, { upgradeUrl }: Links) =>
  stateForbids(
    'scheduled_delivery_limit_reached',
    `The account has ${count} scheduled deliveries of ${allowed} allowed by its plan. Delete one or upgrade.`,
    { limit: allowed, current_count: count, upgrade_url: upgradeUrl },
  )

const changeOne = ({ deliveries }: Context, { rows, forms, own, refusePaused }: Shared) => [
  operation('GET /v1/scheduled-deliveries/:id', {
    operationId: 'getScheduledDelivery',
    counted: /^(?:deliveries_count|last_\w+|next_delivery_at)$/,
    summary: 'Get a scheduled delivery',
    description: 'Returns the delivery with its last run.',
    access: reading,
    params,
    answers: { 200: t.Object({ data: DeliveryTwice }), ...unknown },
    handle: ({ caller, params: { id } }) => ({ data: rows.twice(own(id, caller)) }),
  }),
  operation('PATCH /v1/scheduled-deliveries/:id', {
    operationId: 'updateScheduledDelivery',
    summary: 'Update a scheduled delivery',
    description:
      "Returns the changed delivery. Fields that the body does not name keep their values. `enabled: false` pauses the delivery. A changed or resumed schedule starts from now; a local day that has had its run does not get a second one. Null clears `name` and makes `recipient_email` the account's own.",
    access: writing,
    params,
    body: forms.deliveryChange,
    answers: { 200: One, ...unknown, ...refused },
    handle: ({ body, caller, params: { id } }) => {
      refusePaused()
      const change = forms.changed(body)
      return {
        data: rows.twice(deliveries.change(own(id, caller), change)),
        message: 'The scheduled delivery was changed.',
      }
    },
  }),
  operation('DELETE /v1/scheduled-deliveries/:id', {
    operationId: 'deleteScheduledDelivery',
    summary: 'Delete a scheduled delivery',
    description:
      'Deletes the delivery and its runs. An e-mail that is already being sent still arrives.',
    access: writing,
    params,
    answers: {
      200: t.Object({ data: t.Object({ id: t.String(), deleted: t.Literal(true) }), message }),
      ...unknown,
    },
    handle: ({ caller, params: { id } }) => {
      deliveries.remove(own(id, caller))
      return {
        data: { id, deleted: true as const },
        message: 'The scheduled delivery was deleted.',
      }
    },
  }),
]

const messages = {
  pending: 'The delivery is being sent.',
  sent: 'The delivery was sent.',
  skipped: 'Nothing was sent; see `error`.',
  suppressed: 'Nothing was sent; see `error`.',
} as const

const sendNow = ({ deliveries, limits }: Context, { own, refusePaused }: Shared) => [
  operation('POST /v1/scheduled-deliveries/:id/send_now', {
    operationId: 'sendScheduledDelivery',
    summary: 'Send a scheduled delivery now',
    description: `Runs the delivery now, outside its schedule, and returns the run: \`pending\` if it is being sent, \`skipped\` or \`suppressed\` with the reason in \`error\` if not. Allowed once in ${limits.manualSendCooldownSeconds} seconds per delivery; sooner requests get 429 with \`Retry-After\`.`,
    access: writing,
    params,
    idempotent: true,
    body: t.Optional(t.Unknown({ description: 'None is needed.' })),
    answers: {
      202: t.Object({
        data: t.Object({
          run_id: runId,
          status: runStatus,
          recipient: t.String({ examples: ['desk@example.com'] }),
          error: runError,
        }),
        message: t.String({ examples: [messages.pending] }),
      }),
      ...unknown,
      429: t.Union([ValidationProblem, FlatProblem]),
      503: ValidationProblem,
    },
    handle: ({ caller, params: { id } }) => {
      refusePaused()
      const run = deliveries.sendNow(own(id, caller))
      if ('refused' in run) throw tooSoon(run)
      const { status, recipient, error } = run
      return { data: { run_id: run.id, status, recipient, error }, message: messages[status] }
    },
  }),
]

const tooSoon = ({ retryAfterSeconds }: CopyRefusal) =>
  passing(
    'manual_send_cooldown',
    `This delivery was sent manually a short time ago. Try again in ${retryAfterSeconds} s.`,
    retryAfterSeconds,
    { field: null, value: null, errors: [] },
  )
