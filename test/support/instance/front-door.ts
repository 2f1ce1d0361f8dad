import { Elysia, t } from 'elysia'
import { loadConfig } from '../../../src/config/config.ts'
import { openDatabase } from '../../../src/database/database.ts'
import { createBase } from '../../../src/http/base.ts'
import { type AccessPlugin, createAccess } from '../../../src/http/gate/access.ts'
import type { Access } from '../../../src/http/gate/access-kind.ts'
import { type PeerLookup, trustedProxies } from '../../../src/http/gate/address.ts'
import { createGate } from '../../../src/http/gate/gate.ts'
import { createRateTables } from '../../../src/http/gate/rates.ts'
import { createIdempotency, type Idempotency } from '../../../src/http/idempotency.ts'
import { createIgnoredParameters } from '../../../src/http/input/ignored-parameters.ts'
import { createKnownNames } from '../../../src/http/input/known-names.ts'
import type { Context } from '../../../src/http/operations/context.ts'
import { mount } from '../../../src/http/operations/mount.ts'
import { listed } from '../../../src/http/operations/operation.ts'
import { linker } from '../../../src/http/problem/links.ts'
import { notFound } from '../../../src/http/problem/problem.ts'
import { openServices, type Services } from '../../../src/instance/services/services.ts'
import { createSeededIds, type Ids } from '../../../src/lib/ids.ts'
import { createLog } from '../../../src/lib/log/log.ts'
import { createManualClock, type ManualClock } from '../../../src/lib/time/clock.ts'
import { isoInstant, parseInstant } from '../../../src/lib/time/instant.ts'
import { features } from '../../../src/plans/tiers.ts'
import { accountOperations } from '../../../src/topics/account/operations/account.ts'
import { keyOperations } from '../../../src/topics/keys/operations/keys.ts'
import { performanceOperations } from '../../../src/topics/keys/operations/performance.ts'
import { usageOperations } from '../../../src/topics/keys/operations/usage.ts'
import { createKeyChanges, type KeyChanges } from '../../../src/topics/keys/service/key-changes.ts'
import type { AccountState, KeyState } from '../../../src/topics/keys/service/keyring.ts'
import { createIdempotencyStore } from '../../../src/topics/keys/store/idempotency.ts'
import { accountAdminOperations } from '../../../src/topics/operator/operations/people/accounts.ts'
import { subscriptionAdminOperations } from '../../../src/topics/operator/operations/people/subscriptions.ts'
import { tokenAdminOperations } from '../../../src/topics/operator/operations/system/tokens.ts'

export const startAt = Date.parse('2026-11-20T15:00:00Z')

export interface FrontDoorOptions {
  /** The path of the database; in memory without one. */
  path?: string
  flags?: Record<string, string>
  clock?: ManualClock
  ids?: Ids
  /** The address of the other end of every connection. */
  address?: string
}

/**
 * The front door over its own database, with the account's resources and a probe route for
 * each sort of access.
 */
export interface FrontDoor {
  services: Services
  changes: KeyChanges
  clock: ManualClock
  log: string[]
  adminToken: string
  address: string
  /** Makes an account with one key. */
  open(plan?: string, options?: { trial?: boolean; confirmed?: boolean; addOns?: string[] }): Opened
  ask(method: string, path: string, options?: Asking): Promise<Response>
  get(path: string, token?: string, headers?: Record<string, string>): Promise<Response>
  /** Requests that a command of this machine makes. */
  local(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: unknown }>
  close(): void
}

export interface Asking {
  token?: string
  headers?: Record<string, string>
  body?: unknown
}

export interface Opened {
  token: string
  key: KeyState
  account: AccountState
}

export function openFrontDoor(options: FrontDoorOptions = {}): FrontDoor {
  const {
    path = ':memory:',
    flags = {},
    clock = createManualClock(startAt),
    ids = createSeededIds(1),
  } = options
  const log: string[] = []
  const db = openDatabase(path)
  const services = openServices({
    db,
    config: loadConfig({
      flags,
      env: {},
      files: { directory: '/' },
      readFile: () => 'client_profiles = []',
    }),
    clock,
    ids,
    masterKey: 'a master key for tests',
    log: createLog({ level: 'debug', format: 'json', write: line => void log.push(line), clock }),
  })
  const { keys, meter, plans, limits, adminTokens, sessions, config } = services
  const changes = createKeyChanges({ db, keys, limits, clock, ids })
  const links = linker(config)
  const rates = createRateTables(limits, 1)
  const local = new WeakSet<Request>()
  const client = { address: options.address ?? '203.0.113.7' }
  const peer: PeerLookup = { requestIP: () => ({ address: client.address }) }
  const trusted = trustedProxies(config.server.trustedProxies)
  const door = createGate({
    keys,
    meter,
    plans,
    rates,
    adminTokens,
    audit: { note: () => undefined },
    sessions,
    clock,
    isOverloaded: () => false,
    freshSignInMs: config.sessions.freshSignInMs,
    trusted,
    local,
    links,
  })
  const access = createAccess(door, peer)
  const now = clock.now
  const repeats = createIdempotency({
    store: createIdempotencyStore(db),
    vault: services.vault,
    reload: keys.reload,
    now,
  })
  const nameMax = limits.keyNameMax
  const app = createBase({
    access,
    gate: door,
    ids,
    log: services.log,
    links,
    corsOrigins: config.cors.origins,
  }).use(probes(access, repeats))
  const context = {
    ...services,
    access,
    keys,
    meter,
    plans,
    rates,
    clock,
    keyChanges: changes,
    links,
    idempotency: repeats,
    ignoredParameters: createIgnoredParameters(createKnownNames(), 'X-Service-'),
    nameMax,
    now,
  } as unknown as Context
  mount(
    app,
    context,
    listed(
      [
        accountOperations,
        keyOperations,
        usageOperations,
        performanceOperations,
        accountAdminOperations,
        subscriptionAdminOperations,
        tokenAdminOperations,
      ],
      context,
      undefined,
    ),
  )
  const ask: FrontDoor['ask'] = (method, url, { token, headers = {}, body } = {}) =>
    app.handle(
      new Request(`http://localhost${url}`, {
        method,
        headers: { ...(token && { authorization: `Token ${token}` }), ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    )
  let accounts = 0
  return Object.assign(client, {
    services,
    changes,
    clock,
    log,
    ask,
    adminToken: adminTokens.exists() ? '' : adminTokens.rotate(),
    open(
      plan = 'enterprise',
      { trial = false, confirmed = true, addOns = [] }: Parameters<FrontDoor['open']>[1] = {},
    ) {
      accounts += 1
      const at = clock.now()
      const opened = keys.putAccount({
        id: ids.uuid(),
        email: `person${accounts}@example.com`,
        plan,
        addOns,
        suspendedAt: null,
        createdAt: at,
        trialStartedAt: trial ? at : null,
        trialEndsAt: trial ? at + 7 * 86_400_000 : null,
        emailConfirmedAt: confirmed ? at : null,
      })
      const { state, token } = keys.addKey(opened)
      return { token, key: state, account: opened }
    },
    get: (url: string, token?: string, headers?: Record<string, string>) =>
      ask('GET', url, { ...(token && { token }), ...(headers && { headers }) }),
    async local(method: string, url: string, body?: unknown, headers: Record<string, string> = {}) {
      const request = new Request(`http://localhost${url}`, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      local.add(request)
      const response = await app.handle(request)
      const text = await response.text()
      return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
    },
    close: () => db.close(),
  })
}

const Done = t.Object({ done: t.Boolean() })
const done = () => ({ done: true })

/** One route for each sort of access, `?answer=` for each sort of answer. */
function probes(access: AccessPlugin, repeats: Idempotency) {
  const probe = (name: string, access: Access) => ({
    access: access,
    response: { 200: Done, 304: t.Void() },
    detail: { operationId: name, summary: name },
  })
  const app = new Elysia()
    .use(access)
    .get(
      '/probe/counted',
      ({ query, set }) => {
        if (query.answer === '404') throw notFound(query.name ?? 'It')
        if (query.answer === '500') throw new Error('a fault inside')
        if (query.answer === '304') set.status = 304
        return query.answer === '304' ? undefined : done()
      },
      {
        ...probe('counted', { meter: true }),
        query: t.Object({
          answer: t.Optional(t.String()),
          name: t.Optional(t.String()),
          number: t.Optional(t.Integer()),
        }),
      },
    )
    .post(
      '/probe/counted',
      ({ body, caller, requestContext, request, set }) =>
        repeats.once({ caller, requestContext, request, reply: set }, body, done),
      {
        ...probe('write', { meter: true, header: true }),
      },
    )
    .get(
      '/probe/slow',
      async ({ query }) => {
        const answer = await gates.wait(query.name)
        if (!('done' in answer)) throw new Error('The handler fails.')
        return answer
      },
      { ...probe('slow', { meter: true }), query: t.Object({ name: t.String() }) },
    )
    .get('/probe/free', done, probe('free', { meter: false }))
    .get('/probe/header', done, probe('header', { meter: false, header: true }))
    .get('/probe/marine', done, probe('marine', { meter: true, rate: 'marine' }))
    .get(
      '/probe/marine-historical',
      done,
      probe('marineHistorical', { meter: true, rate: 'marine-historical' }),
    )
    .get('/probe/demo', done, probe('demo', { open: 'a demo', rate: 'demo' }))
    .get('/probe/open', done, probe('open', { open: 'a list' }))
    .get('/probe/unlimited', done, probe('unlimited', { open: 'a probe', rate: 'none' }))
    .get(
      '/probe/flat',
      done,
      probe('flat', { meter: true, feature: 'energy_intelligence', flat: true }),
    )
    .get(
      '/probe/either',
      done,
      probe('either', { meter: true, feature: ['standard_alerts', 'analytics_alerts'] }),
    )
  for (const feature of features)
    app.get(`/probe/feature/${feature}`, done, probe(feature, { meter: true, feature }))
  return app
}

/** Answers that a test holds back until it lets them go. */
export const gates = {
  waiting: new Map<string, (answer: { done: boolean }) => void>(),
  wait(name: string): Promise<{ done: boolean }> {
    return new Promise(answer => gates.waiting.set(name, answer))
  },
}

export const bodyOf = async (response: Response): Promise<Record<string, never>> =>
  (await response.json()) as Record<string, never>

/** The rate headers of an answer, by their ends. */
export const rateOf = (response: Response) => {
  const header = (name: string) => response.headers.get(`x-ratelimit-${name}`)
  return {
    limit: header('limit'),
    remaining: header('remaining'),
    used: header('used'),
    window: header('window'),
    state: header('state'),
    tier: header('tier'),
    reset: isoInstant(Number(header('reset')) * 1000),
    retryAfter: response.headers.get('retry-after'),
  }
}

export const at = (text: string): number => parseInstant(text) ?? Number.NaN
