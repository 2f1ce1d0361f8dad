import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { OpenApiDocument } from '../../../../../src/http/openapi/openapi.ts'
import { minuteMs } from '../../../../../src/lib/time/instant.ts'
import type { DemoInstance } from '../../../../support/instance/demo-instance.ts'
import {
  openDemoInstance,
  type Step,
  send,
  stepsOf,
} from '../../../../support/interface/examples.ts'

/** What the operator's operations are about, by the first part of their path. */
const parts = {
  data: 'batches datasets export feeds observations quarantine review series values',
  people:
    'accounts invitations invoices keys looks organizations outbox sources subscriptions suppressions',
  service:
    'audit backups cluster condition logs mail metrics notices settings sms token tokens webhooks',
}
type Area = keyof typeof parts
const areaOf = new Map(
  Object.entries(parts).flatMap(([area, names]) =>
    names.split(' ').map(name => [name, area as Area] as const),
  ),
)
/** What a role checks, and what it changes. */
const roles: Readonly<Record<'read' | 'data' | 'people', { sees: Area[]; changes: Area[] }>> = {
  read: { sees: ['data', 'people', 'service'], changes: [] },
  data: { sees: ['data', 'service'], changes: ['data'] },
  people: { sees: ['people', 'service'], changes: ['people'] },
}
/** Its example names another address, which is for the role `all` alone. */
const setsAddress = 'PUT /admin/v1/feeds/{name}'
/** It asks what a push would change. */
const asks = 'POST /admin/v1/observations/compare'

describe('a token of the operator', () => {
  let copy: DemoInstance
  let steps: Step[]
  beforeAll(async () => {
    copy = openDemoInstance()
    const answer = await copy.ask('GET', '/openapi.json')
    steps = stepsOf((await answer.json()) as OpenApiDocument).filter(({ path }) =>
      path.startsWith('/admin/v1/'),
    )
  })
  afterAll(() => copy.remove())

  test('is of a role, and each operation of an area', () => {
    const unknown = steps.filter(({ path }) => !areaOf.has(path.split('/')[3]!))
    expect(steps.length).toBeGreaterThan(80)
    expect(unknown.map(({ name }) => name)).toEqual([])
  })

  test.each(Object.entries(roles))(
    'an operator token with the role %s grants only the permissions of that role',
    async (role, { sees, changes }) => {
      const { audit, adminTokens } = copy.running.services
      const { token } = adminTokens.create(`a ${role}`, role as keyof typeof roles)
      const faults: string[] = []
      for (const step of steps) {
        const { method, name, path } = step
        const area = areaOf.get(path.split('/')[3]!)!
        const isImpersonation = method === 'GET' || name === asks
        const before = audit.list({}, 1, 0).at(0)?.id
        const headers = { authorization: `Bearer ${token}` }
        const { status, text } = await send(copy, step, { headers })
        const isRefused = status === 403 && text.includes('"ADMIN_ROLE_MISSING"')
        const isAllowed = (isImpersonation ? sees : changes).includes(area) && name !== setsAddress
        if (isRefused === isAllowed) faults.push(`${name}: ${status}`)
        if (isRefused && audit.list({}, 1, 0).at(0)?.id !== before)
          faults.push(`${name} was recorded`)
      }
      expect(faults).toEqual([])
    },
    100_000,
  )

  test('a token that may not read accounts is shown no e-mail address of one', async () => {
    const { adminTokens, keys } = copy.running.services
    const { token } = adminTokens.create('prices only', 'data')
    const addresses = keys.accounts().map(({ account }) => account.email)
    expect(addresses.length).toBeGreaterThan(0)
    const faults: string[] = []
    for (const step of steps.filter(({ method }) => method === 'GET')) {
      const { text } = await send(copy, step, { headers: { authorization: `Bearer ${token}` } })
      if (addresses.some(address => text.includes(address))) faults.push(step.name)
    }
    expect(faults).toEqual([])
  }, 100_000)

  test('an invalid operator token or an API key grants no operator access', async () => {
    const faults: string[] = []
    for (const step of steps)
      for (const authorization of [
        `Bearer ${'0'.repeat(64)}`,
        `Bearer ${copy.apiKey}`,
        `Token ${copy.apiKey}`,
      ]) {
        // The limit for invalid tokens is a few per minute.
        copy.clock.advance(minuteMs)
        const { status } = await send(copy, step, { headers: { authorization } })
        if (status !== 401) faults.push(`${step.name}: ${status}`)
      }
    expect(faults).toEqual([])
  }, 100_000)
})
