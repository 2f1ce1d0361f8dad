import { t } from '../../../../http/answer/schema.ts'
import type { DevControls, Scenario, ScenarioOptions } from '../../../../http/dev-controls.ts'
import type { Fault } from '../../../../http/faults.ts'
import { fieldMessage } from '../../../../http/input/form.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { operation } from '../../../../http/operations/operation.ts'
import {
  type FieldFault,
  type ProblemCode,
  problems,
  refusedField,
  validationFailed,
} from '../../../../http/problem/problem.ts'
import { oneOf } from '../../../../lib/text/wrong-value.ts'
import { addDuration } from '../../../../lib/time/duration.ts'
import { dayMs, isoInstant, parseInstant } from '../../../../lib/time/instant.ts'
import { isPlanId } from '../../../../plans/plans.ts'
import { addOnIds, planIds } from '../../../../plans/tiers.ts'
import { type DevLogDeps, devLogOperations, devRead, open } from './dev-log.ts'

export interface DevDeps extends DevControls, DevLogDeps, Pick<Context, 'ids'> {
  trialDays: number
}

type Body = Record<string, unknown>

const devChange = { ...devRead, body: t.Optional(t.Any({ description: 'A JSON object.' })) }

const refuse = (field: string, message: string, value: unknown) =>
  refusedField(field, fieldMessage(field, message, value), value ?? null)

/**
 * The controls of a demo instance: time, accounts, data and faults. They take the operator's
 * token and do not exist in production.
 */
export const devOperations = (deps: DevDeps) =>
  [
    timeAndFeed,
    accountOperations,
    devLogOperations,
    snapshots,
    scenarioOperations,
    faultOperations,
  ].flatMap(part => part(deps))

/** The clock, and the data published as it moves. */
function timeAndFeed(deps: DevDeps) {
  const { clock, feed } = deps
  const clockState = () => ({ now: isoInstant(clock.now()), frozen: clock.frozen })
  /** Every code has its data from the start. */
  const feedState = () => ({
    paused: feed.paused,
    codes_ready: feed.codes,
    codes_total: feed.codes,
  })
  return [
    operation('GET /_dev/clock', {
      operationId: 'devGetClock',
      summary: 'The clock',
      ...devRead,
      handle: clockState,
    }),
    operation('POST /_dev/clock', {
      operationId: 'devMoveClock',
      summary: 'Move the clock',
      ...devChange,
      handle: async ({ body }) => {
        const fields = objectOf(body)
        if (typeof fields.freeze === 'boolean') fields.freeze ? clock.freeze() : clock.release()
        const to = momentOf(fields, clock.now())
        if (to !== undefined) await deps.advance(to)
        return clockState()
      },
    }),
    operation('GET /_dev/feed', {
      operationId: 'devGetFeed',
      summary: 'The feed',
      ...devRead,
      handle: feedState,
    }),
    operation('POST /_dev/feed', {
      operationId: 'devPauseFeed',
      summary: 'Pause the feed',
      ...devChange,
      handle: ({ body }) => {
        const { paused } = objectOf(body)
        if (typeof paused !== 'boolean') throw refuse('paused', 'must be true or false.', paused)
        feed.paused = paused
        return feedState()
      },
    }),
  ]
}

/** Accounts on demand. */
const accountOperations = (deps: DevDeps) => [
  operation('POST /_dev/accounts', {
    operationId: 'devMakeAccount',
    summary: 'Make an account with a key',
    ...devChange,
    answers: { 201: open },
    handle: ({ body }) => makeAccount(deps, objectOf(body)),
  }),
]

/** The state as a whole: kept, gone back to, begun again. */
const snapshots = (deps: DevDeps) => [
  operation('POST /_dev/snapshot', {
    operationId: 'devSnapshot',
    summary: 'Keep the state',
    ...devChange,
    handle: async ({ body }) => {
      const name = nameOf(objectOf(body))
      const refusal = await deps.snapshot(name)
      if (refusal) {
        const { limit, names } = refusal
        const choices = names.length > 0 ? `one of ${names.join(', ')}` : 'of a smaller instance'
        throw refuse(
          'name',
          `must be ${choices}; got ${name}. A demo instance holds at most ${limit}: replace one, or delete one with DELETE /_dev/snapshot.`,
          name,
        )
      }
      return { snapshot: name, now: isoInstant(deps.clock.now()) }
    },
  }),
  operation('DELETE /_dev/snapshot', {
    operationId: 'devDeleteSnapshot',
    summary: 'Delete a kept state',
    ...devChange,
    handle: ({ body }) => {
      const name = nameOf(objectOf(body))
      if (!deps.dropSnapshot(name)) throw refuse('name', 'must be the name of a snapshot.', name)
      return { deleted: name, now: isoInstant(deps.clock.now()) }
    },
  }),
  operation('POST /_dev/restore', {
    operationId: 'devRestore',
    summary: 'Go back to a kept state',
    ...devChange,
    handle: async ({ body }) => {
      const name = nameOf(objectOf(body))
      if (!(await deps.restore(name))) throw refuse('name', 'must be the name of a snapshot.', name)
      return { restored: name, now: isoInstant(deps.clock.now()) }
    },
  }),
  operation('POST /_dev/reset', {
    operationId: 'devReset',
    summary: 'Go back to the start',
    ...devChange,
    handle: async () => {
      await deps.reset()
      return { reset: true, now: isoInstant(deps.clock.now()) }
    },
  }),
]

/** Scenarios by name: their changes stay in the data until a state is restored. */
const scenarioOperations = ({ scenarios, clock }: DevDeps) => [
  operation('GET /_dev/scenario', {
    operationId: 'devListScenarios',
    summary: 'The scenarios there are',
    ...devRead,
    handle: () => ({
      scenarios: scenarios.map(({ name, description, options }) => ({
        name,
        description,
        options,
      })),
    }),
  }),
  operation('POST /_dev/scenario', {
    operationId: 'devPlayScenario',
    summary: 'Play a scenario',
    ...devChange,
    handle: async ({ body }) => {
      const fields = objectOf(body)
      const scenario = scenarios.find(({ name }) => name === fields.name)
      if (!scenario) {
        const names = scenarios.map(({ name }) => name)
        throw refuse('name', `must be ${oneOf(names)}.`, fields.name)
      }
      const played = await scenario.play(optionsOf(fields, scenario))
      if ('fault' in played) throw refuse(played.field, played.fault, fields[played.field])
      const { done, after, details } = played
      return { scenario: scenario.name, now: isoInstant(clock.now()), done, after, details }
    },
  }),
]

const optionKinds = { code: 'string', remaining: 'number', zone: 'string' } as const

/** The options of a body, each of its kind and of this scenario. */
function optionsOf(fields: Body, { name, options }: Scenario): ScenarioOptions {
  const { name: _, ...given } = fields
  for (const [field, value] of Object.entries(given)) {
    const option = options.find(known => known === field)
    if (!option) {
      const choices = options.length > 0 ? `its options are ${options.join(', ')}` : 'it has none'
      throw refuse(field, `is not an option of ${name}; ${choices}.`, value)
    }
    const kind = optionKinds[option]
    if (typeof value !== kind)
      throw refuse(field, `must be a ${kind === 'string' ? 'text' : 'number'}.`, value)
  }
  return given
}

/** Routes that are made to fail. */
const faultOperations = ({ faults }: DevDeps) => [
  operation('GET /_dev/faults', {
    operationId: 'devListFaults',
    summary: 'The faults',
    ...devRead,
    handle: () => ({ faults: faults.all().map(faultRow) }),
  }),
  operation('POST /_dev/faults', {
    operationId: 'devAddFault',
    summary: 'Make a route fail',
    ...devChange,
    answers: { 201: open },
    handle: ({ body }) => faultRow(faults.add(faultOf(objectOf(body)))),
  }),
  operation('DELETE /_dev/faults', {
    operationId: 'devClearFaults',
    summary: 'End all faults',
    ...devRead,
    handle: () => {
      faults.clear()
      return { faults: [] }
    },
  }),
]

const faultRow = ({ delayMs, ...fault }: Fault) => ({ ...fault, delay_ms: delayMs })

const objectOf = (body: unknown): Body =>
  typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Body) : {}

/** Where the clock is to go: forward by a duration, or to an instant that is not before now. */
function momentOf(fields: Body, now: number): number | undefined {
  if (fields.advance !== undefined) {
    const to = typeof fields.advance === 'string' ? addDuration(now, fields.advance) : undefined
    if (to === undefined || to < now)
      throw refuse(
        'advance',
        'must be an ISO 8601 duration forward, such as PT61S or P1D.',
        fields.advance,
      )
    return to
  }
  if (fields.now === undefined) return undefined
  const to = typeof fields.now === 'string' ? parseInstant(fields.now) : undefined
  if (to === undefined) throw refuse('now', 'must be an ISO 8601 time with a zone.', fields.now)
  if (to < now)
    throw refuse(
      'now',
      `is before the clock (${isoInstant(now)}); time only moves forward. Use /_dev/reset to go back.`,
      fields.now,
    )
  return to
}

function nameOf(fields: Body): string {
  const name = fields.name ?? 'default'
  if (typeof name !== 'string' || !/^[a-z0-9-]{1,64}$/.test(name))
    throw refuse('name', 'must be 1 to 64 of a-z, 0-9 and -.', name)
  return name
}

function makeAccount({ keys, ids, clock, trialDays }: DevDeps, fields: Body) {
  const at = clock.now()
  const id = ids.uuid()
  const email =
    typeof fields.email === 'string'
      ? fields.email.toLowerCase()
      : `account-${id.slice(0, 8)}@example.com`
  const plan = fields.plan ?? 'free'
  const addOns = fields.add_ons ?? []
  if (typeof plan !== 'string' || !isPlanId(plan))
    throw refuse('plan', `must be ${oneOf(planIds)}.`, plan)
  if (
    !Array.isArray(addOns) ||
    addOns.some(addOn => !(addOnIds as readonly unknown[]).includes(addOn))
  ) {
    throw refuse('add_ons', `must be a list of ${addOnIds.join(', ')}.`, addOns)
  }
  if (!/^[^\s@]+@[^\s@]+$/.test(email))
    throw refuse('email', 'must be an e-mail address.', fields.email)
  if (keys.accountByEmail(email)) throw refuse('email', 'has an account already.', email)
  const trial = fields.trial === true
  const account = keys.putAccount({
    id,
    email,
    plan,
    addOns: addOns as string[],
    trialStartedAt: trial ? at : null,
    trialEndsAt: trial ? at + trialDays * dayMs : null,
    emailConfirmedAt: fields.unconfirmed === true ? null : at,
    suspendedAt: null,
    createdAt: at,
  })
  return {
    account: { id, email, plan, trial, add_ons: addOns },
    api_key: keys.addKey(account).token,
  }
}

function faultOf(fields: Body) {
  const faults: FieldFault[] = []
  const fault = (field: string, message: string) =>
    void faults.push({
      field,
      message: fieldMessage(field, message, fields[field]),
      value: fields[field] ?? null,
    })
  const { path = '*', method, code, delay_ms: delayMs = 0, count, probability = 1 } = fields
  if (typeof path !== 'string') fault('path', 'must be a path of the documentation, or *.')
  if (method !== undefined && typeof method !== 'string')
    fault('method', 'must be a method such as GET.')
  if (code !== undefined && (typeof code !== 'string' || !Object.hasOwn(problems, code)))
    fault('code', `must be ${oneOf(Object.keys(problems))}.`)
  if (typeof delayMs !== 'number' || !(delayMs >= 0 && delayMs <= 60_000))
    fault('delay_ms', 'must be 0 to 60000.')
  if (count !== undefined && (!Number.isInteger(count) || Number(count) < 1))
    fault('count', 'must be a whole number from 1.')
  if (typeof probability !== 'number' || !(probability > 0 && probability <= 1))
    fault('probability', 'must be above 0 and at most 1.')
  if (code === undefined && delayMs === 0) fault('code', 'or delay_ms is required.')
  if (faults.length > 0) throw validationFailed(faults)
  return {
    path: path as string,
    method: (method as string | undefined)?.toUpperCase(),
    code: code as ProblemCode | undefined,
    delayMs: delayMs as number,
    count: count as number | undefined,
    probability: probability as number,
  }
}
