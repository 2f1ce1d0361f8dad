import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { OpenApiDocument } from '../../src/http/openapi/openapi.ts'
import { part } from '../support/full.ts'
import type { DemoInstance } from '../support/instance/demo-instance.ts'
import {
  isApart,
  isExpected,
  openDemoInstance,
  prepare,
  prepared,
  refused,
  type Step,
  send,
  stepsOf,
} from '../support/interface/examples.ts'

/** Reads of secrets. */
const toldReads = ['GET /v1/account/webhook-secret']
/** POST operations that only read or send an e-mail: they change nothing yet. */
const untoldPosts = [
  'POST /grafana/annotations',
  'POST /grafana/metrics',
  'POST /grafana/query',
  'POST /grafana/search',
  'POST /v1/prices/batch',
  'POST /v1/diesel-prices/stations',
  'POST /v1/alerts/backtest',
  'POST /v1/formulas/preview',
  'POST /v1/alerts/test',
  'POST /v1/alerts/{id}/test',
  'POST /v1/auth/link',
  'POST /v1/auth/signup',
  'POST /admin/v1/observations/compare',
  'POST /mcp',
]
/** Reads whose lists are empty on a demo instance, since nothing of the kind happened there. */
const emptyReads = [
  '/v1/webhook-ips',
  '/v1/sources',
  '/status/incidents.json',
  '/v1/prices/board/layouts',
  '/v1/formulas',
  '/udf/marks',
  '/v1/alerts/{id}',
  '/v1/alerts/triggers',
  '/v1/alerts/analytics_history',
  '/v1/subscriptions/events',
  '/v1/data-sources/{id}/logs',
  '/v1/data-sources/{id}/health',
  '/admin/v1/batches',
  '/admin/v1/batches/{id}',
  '/admin/v1/review',
  '/admin/v1/quarantine',
  '/admin/v1/suppressions',
  '/admin/v1/backups',
  '/admin/v1/metrics/history',
  '/admin/v1/cluster',
  '/admin/v1/logs',
  '/admin/v1/looks',
  '/admin/v1/feeds/{name}/runs',
]
/** Whether no list of a body has anything in it, where it has lists. */
function isEmpty(value: unknown): boolean {
  const parts = Object.entries(value ?? {})
    .filter(([name, part]) => typeof part === 'object' && part !== null && !/^meta/.test(name))
    .map(([, part]) => part)
  if (Array.isArray(value)) return value.length === 0
  return parts.length > 0 && parts.every(isEmpty)
}
/** Whether the audit trail records an operation: every change, once. */
const isAudited = ({ name, method, path }: Step): boolean =>
  method === 'GET'
    ? toldReads.includes(name)
    : !untoldPosts.includes(name) && !path.startsWith('/_dev/')
/** The audit entry of every kind of sign-in. */
const signIn = { name: 'POST /v1/auth/session', line: 'person sign in with a password done' }
/** The owner of an operation, in the words of the audit trail. */
const actorOf = ({ path }: Step): string =>
  path.startsWith('/admin/') ? 'operator' : path.startsWith('/v1/auth/') ? 'person' : 'key'

describe('the examples of the OpenAPI document, sent unchanged to a demo instance', () => {
  let copy: DemoInstance
  let steps: Step[]
  beforeAll(async () => {
    copy = openDemoInstance()
    const answer = await copy.ask('GET', '/openapi.json')
    steps = stepsOf((await answer.json()) as OpenApiDocument)
  })
  afterAll(() => copy.remove())

  const walk = async (some: readonly Step[], on: () => DemoInstance): Promise<string[]> => {
    const faults: string[] = []
    for (const step of some) {
      const one = on()
      const own = await prepare(one, step)
      const { audit } = one.running.services
      const before = audit.list({}, 1, 0).at(0)?.id ?? 0
      const { status, text, ignored } = await send(one, step, own)
      const told = audit.list({}, 10, 0).filter(({ id }) => id > before)
      const lines = told.map(({ actor, action, outcome }) => {
        const [kind] = actor.split(' ')
        return `${kind} ${action.replaceAll(/:(\w+)/g, '{$1}')} ${outcome}`
      })
      const line =
        step.name === signIn.name ? signIn.line : `${actorOf(step)} ${step.name} ${status}`
      const wanted = status < 400 && isAudited(step) ? [line] : []
      if (lines.join() !== wanted.join())
        faults.push(`${step.name}: the audit trail has [${lines}] and not [${wanted}]`)
      if (ignored !== null) faults.push(`${step.name} ignores ${ignored}`)
      if (status === 200 && step.method === 'GET' && text && isEmpty(JSON.parse(text)))
        if (!emptyReads.includes(step.path)) faults.push(`${step.name} is empty: ${text}`)
      if (!isExpected(step, status)) faults.push(`${step.name} (${status}): ${text.slice(0, 200)}`)
      if (one !== copy) one.remove()
    }
    return faults
  }

  test('succeed where they read', async () => {
    expect(
      await walk(
        steps.filter(({ method }) => method === 'GET'),
        () => copy,
      ),
    ).toEqual([])
  }, 240_000)

  test('succeed where they make and change', async () => {
    const changes = steps.filter(step => step.method !== 'GET' && !isApart(step))
    // A change is sent before what is made takes the names that it gives.
    const isMaking = ({ method }: Step) => (method === 'POST' ? 1 : 0)
    changes.sort((a, b) => isMaking(a) - isMaking(b))
    expect(await walk(changes, () => copy)).toEqual([])
  }, 240_000)

  test('each OpenAPI example that ends something succeeds on its own demo instance', async () => {
    expect(await walk(part(steps.filter(isApart)), openDemoInstance)).toEqual([])
  }, 240_000)

  test('are refused for no other reason than those that are listed', () => {
    const names = new Set(steps.map(({ name }) => name))
    for (const name of [
      ...Object.keys(refused),
      ...Object.keys(prepared),
      ...toldReads,
      ...untoldPosts,
    ])
      expect(names.has(name), name).toBe(true)
  })
})
