import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { OpenApiDocument } from '../../src/http/openapi/openapi.ts'
import type { AccountState } from '../../src/topics/keys/service/keyring.ts'
import { type DemoInstance, demoInstance } from '../support/instance/demo-instance.ts'
import {
  boundless,
  documentOf,
  nobodysId,
  type Row,
  rows,
  sampleId,
  stateOf,
} from '../support/interface/every-route.ts'

/** Paths with public ids: they name data, not records of an account. */
const isShared = (path: string) => /^\/v1\/(ei|dark_data)\//.test(path)

/**
 * Ids of routes without a sample request. Routes of the operator have no other owner, whatever
 * their ids name.
 */
const owned: readonly [prefix: string, id: string][] = [
  ['/admin/v1/accounts/', sampleId(1)],
  ['/admin/v1/', sampleId(102)],
  ['/v1/data-sources/', sampleId(802)],
  // Keys have no sign-ins: test/topics/account/operations/session-list.test.ts requests those of
  // another user.
  ['/v1/auth/sessions/', sampleId(901)],
]

const idIn = /\{(?:\w+_)?id\}/
const sampled = /00000000-0000-4000-8000-\d{12}/g
const withIds = rows.filter(({ path }) => idIn.test(path) && !isShared(path))

/** The request that reaches the owner's thing; without one for a route that nothing is known of. */
function sampleOf({ path, sample }: Row): string | undefined {
  if (sample) return sample
  const id = owned.find(([prefix]) => path.startsWith(prefix))?.[1]
  return id === undefined ? undefined : path.replace(idIn, id)
}
const unknownOf = (row: Row): string =>
  row.sample ? row.sample.replace(sampled, nobodysId) : row.path.replace(idIn, nobodysId)

let copy: DemoInstance
let document: OpenApiDocument
let strangers: Record<string, string | null>

beforeAll(async () => {
  copy = demoInstance(undefined, boundless)
  document = await documentOf(copy)
  strangers = strangersOf(copy)
}, 120_000)
afterAll(() => copy.remove())

/** Everybody who has no business with the evaluation account's things. */
function strangersOf({
  running: { services },
  apiKey,
}: DemoInstance): Record<string, string | null> {
  const { keys, organizationStore, clock, ids } = services
  const account = (name: string): AccountState =>
    keys.putAccount({
      id: ids.uuid(),
      email: `${name}@elsewhere.example`,
      plan: 'enterprise',
      addOns: [],
      trialStartedAt: null,
      trialEndsAt: null,
      emailConfirmedAt: clock.now(),
      suspendedAt: null,
      createdAt: clock.now(),
    })
  const [stranger, admin, member] = [account('stranger'), account('admin'), account('member')]
  const organizationId = ids.uuid()
  organizationStore.put({
    id: organizationId,
    name: 'Elsewhere',
    accountId: admin.account.id,
    createdAt: clock.now(),
  })
  for (const [person, role] of [
    [admin, 'admin'],
    [member, 'member'],
  ] as const) {
    const { id: accountId, email } = person.account
    organizationStore.putMember({
      id: ids.uuid(),
      organizationId,
      accountId,
      email,
      role,
      joinedAt: clock.now(),
    })
    keys.place(accountId)
  }
  const revoked = keys.addKey(keys.find(apiKey)!.account)
  keys.changeKey(revoked.state, { revokedAt: clock.now() })
  return {
    'another account': keys.addKey(stranger).token,
    'the admin of another organization': keys.addKey(admin).token,
    'a member of another organization': keys.addKey(member).token,
    'a revoked key of the owner': revoked.token,
    'no key': null,
  }
}

test('every route with an id has a request that reaches a thing of the evaluation account', () => {
  expect(
    withIds.filter(row => sampleOf(row) === undefined).map(row => `${row.method} ${row.path}`),
  ).toEqual([])
  const documented = Object.entries(document.paths).flatMap(([path, item]) =>
    idIn.test(path) && !isShared(path)
      ? Object.keys(item).map(method => `${method.toUpperCase()} ${path}`)
      : [],
  )
  expect(documented.sort()).toEqual(withIds.map(row => `${row.method} ${row.path}`).sort())
})

/** Which differ from one request to the next of the same kind. */
const counting =
  /^(?:x-)?rate-?limit|^x-(?:quota|monthly|daily|usage|credits|requests)|^retry-after$/

/** An answer as it must be for every id that is not the caller's own. */
async function askRow(row: Row, path: string, key: string | null) {
  const response = await copy.ask(row.method, path, {
    key,
    body: row.body,
    headers: { 'x-request-id': 'the-same' },
  })
  const text = (await response.text()).replace(sampled, '<id>')
  const headers = [...response.headers]
    .filter(([name]) => !counting.test(name))
    .map(([name, value]) => `${name}: ${value.replace(sampled, '<id>')}`)
  return { status: response.status, headers: headers.sort(), text }
}

describe("one account's things", () => {
  for (const row of withIds.filter(row => sampleOf(row) !== undefined)) {
    test(`${row.method} ${row.path} answers other accounts as for an unknown id, and changes nothing`, async () => {
      const { db } = copy.running.services
      const before = stateOf(db)
      for (const [who, key] of Object.entries(strangers)) {
        const foreign = await askRow(row, sampleOf(row)!, key)
        expect(foreign, who).toEqual(await askRow(row, unknownOf(row), key))
        // A member's role is checked before their request is validated.
        expect(who.startsWith('a member') ? [401, 403, 404] : [401, 404], who).toContain(
          foreign.status,
        )
        expect(foreign.text, who).not.toMatch(
          /eval@example\.com|evaluation\.example|Terminal feed|Brent above|whsec_/,
        )
      }
      expect(stateOf(db)).toEqual(before)
    })
  }

  // An operator's things answer to the admin token alone.
  const isOperators = ({ path }: Row) => path.startsWith('/admin/')
  const readable = withIds.filter(row => row.sample && row.method !== 'DELETE' && !isOperators(row))
  for (const row of readable) {
    test(`${row.method} ${row.path} is their owner's`, async () => {
      const response = await copy.ask(row.method, row.sample!, { body: row.body })
      expect(response.status, await response.text()).toBe(row.success)
    })
  }
})
