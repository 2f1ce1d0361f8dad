import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type EvaluationCopy, evaluationCopy } from '../support/instance/evaluation-copy.ts'
import { documentOf } from '../support/interface/every-route.ts'
import { interfaceRows } from '../support/interface/interface.ts'

let copy: EvaluationCopy
beforeAll(() => {
  copy = evaluationCopy(undefined, {}, { leadingOnly: true })
}, 120_000)
afterAll(() => copy.remove())

/**
 * What asks without making or moving anything, or comes to the same however often it is asked: it
 * needs no key of its own.
 */
const harmless = [
  '/billing/customer-portal/sessions',
  '/billing/intents/setup',
  '/billing/subscriptions/cancel',
  '/billing/subscriptions/reactivate',
  '/mcp',
  '/organizations/invitations/{id}/confirm_accept',
  '/v1/alerts/backtest',
  '/v1/alerts/test',
  '/v1/alerts/{id}/test',
  '/v1/auth/second-factor',
  // Their codes are good once.
  '/v1/auth/second-factor/confirm',
  '/v1/auth/second-factor/disable',
  '/v1/auth/session/refresh',
  '/v1/data-sources/{id}/test',
  '/v1/diesel-prices/stations',
  '/v1/notifications/mark_all_read',
  '/v1/notifications/{id}/mark_read',
  '/v1/phone/verify',
  '/v1/prices/batch',
  '/v1/sms/optin',
  '/v1/webhooks/{id}/test',
]

test('every POST of a key that makes or moves something takes an Idempotency-Key', async () => {
  const document = await documentOf(copy)
  const without = interfaceRows
    .filter(row => row.method === 'POST' && row.access === 'key-header-only')
    .filter(row => {
      const path = Object.keys(document.paths).find(
        path => path.replace(/\{\w+\}/g, '{}') === row.path.replace(/\{\w+\}/g, '{}'),
      )!
      const { parameters = [] } = document.paths[path]!.post!
      return !parameters.some(parameter => parameter.name.toLowerCase() === 'idempotency-key')
    })
    .map(row => row.path)
  expect(without.sort()).toEqual(harmless)
})

test.each([
  '/v1/account/webhook-secret/roll',
  '/v1/data-sources/{id}/rotate_credentials',
  '/v1/webhooks/{id}/events/{event_id}/resend',
  '/v1/webhooks/{id}/replay',
  '/v1/webhooks/{id}/rotate_secret',
])('POST %s sent again gets the first answer again', async path => {
  const row = interfaceRows.find(row => row.method === 'POST' && row.path === path)!
  const send = (name: string) =>
    copy.ask('POST', row.sample!, {
      headers: { 'idempotency-key': name },
      ...(row.body !== undefined && { body: row.body }),
    })
  const [first, again] = [await send('once'), await send('once')]
  expect([first.status, again.status]).toEqual([row.success, row.success])
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(await again.text()).toBe(await first.text())
  expect((await send('twice')).headers.get('idempotent-replayed')).toBeNull()
})
