import { describe, expect, test } from 'bun:test'
import { transact } from '../../../../src/database/database.ts'
import type { Settled } from '../../../../src/outbox/outbox.ts'
import { keepWebhookRecords, testRef } from '../../../../src/topics/webhooks/service/record.ts'
import { startAt } from '../../../support/instance/instance.ts'
import { openWebhookInstance } from '../../../support/topics/webhooks.ts'

/**
 * An endpoint whose deliveries end as a test says, in their own transaction as the outbox has
 * them.
 */
function opened() {
  const instance = openWebhookInstance()
  const account = instance.account()
  const endpoint = instance.endpoint(account, {
    url: 'https://hooks.example.com/a?token=hidden',
    description: 'desk',
  })
  let notifySettled: (settled: Settled) => void = () => {}
  const listen = (_kind: string, listener: typeof notifySettled) => {
    notifySettled = listener
  }
  keepWebhookRecords({ ...instance.services, outbox: { listen }, deactivateAfter: 10 })
  const end = (state: Settled['state'], more: Partial<Settled> = {}) =>
    transact(instance.services.db, () =>
      notifySettled({
        id: 'm',
        kind: 'webhook',
        accountId: endpoint.accountId,
        lane: endpoint.id,
        eventId: 'e',
        eventType: 'price.updated',
        ref: null,
        state,
        attempts: 1,
        statusCode: null,
        error: null,
        blameless: false,
        at: startAt,
        ...more,
      }),
    )
  const fail = (times: number) => {
    for (let i = 0; i < times; i += 1) end('failed')
  }
  return {
    instance,
    account,
    end,
    fail,
    current: () => instance.services.webhooks.byId(endpoint.id)!,
    record: () => instance.services.webhooks.records(endpoint.accountId).get(endpoint.id)!,
    mailMessages: () => instance.services.outbox.log.page('email', 'email', {}, 10, 0).entries,
    notices: () =>
      instance.services.db
        .query('SELECT type, message, data FROM notifications WHERE account_id = ?')
        .all(account.account.id),
  }
}

describe('the record of an endpoint', () => {
  test('an endpoint record counts completed deliveries and not attempts that will be retried', () => {
    const { end, record } = opened()
    end('retry')
    expect(record()).toEqual({
      delivered: 0,
      failed: 0,
      failedInARow: 0,
      lastStatus: null,
      lastAt: null,
    })
    end('delivered', { at: startAt + 5 })
    end('failed', { at: startAt + 7 })
    expect(record()).toEqual({
      delivered: 1,
      failed: 1,
      failedInARow: 1,
      lastStatus: 'failed',
      lastAt: startAt + 7,
    })
  })
  test('recording a delivery of a deleted endpoint has no effect and does not fail', () => {
    const { instance, end, current } = opened()
    instance.services.webhooks.remove(current())
    expect(() => end('failed', { blameless: true })).not.toThrow()
  })
})

describe('ten deliveries that end failed in a row', () => {
  test('ten consecutive failed deliveries disable the endpoint and notify its owner once by e-mail and in the app', async () => {
    const { fail, current, mailMessages, notices, record } = opened()
    fail(9)
    await Promise.resolve()
    expect(current().active).toBe(true)
    fail(3)
    await Promise.resolve()
    expect(current()).toMatchObject({ active: false, disabledReason: 'consecutive_failures' })
    expect(record().failedInARow).toBe(12)
    expect(mailMessages().length).toBe(1)
    expect(notices()).toMatchObject([{ type: 'webhook_disabled' }])
    expect(JSON.stringify(notices())).not.toContain('hidden')
  })
  test('are ended by any 2xx', async () => {
    const { fail, end, current } = opened()
    fail(9)
    end('delivered')
    fail(9)
    await Promise.resolve()
    expect(current().active).toBe(true)
  })
  test('consecutive failures exclude tests and failures that do not concern the receiver', async () => {
    const { fail, end, current, record } = opened()
    fail(9)
    for (let i = 0; i < 5; i += 1) end('failed', { blameless: true })
    for (let i = 0; i < 5; i += 1) end('failed', { ref: testRef })
    await Promise.resolve()
    expect(current().active).toBe(true)
    expect(record()).toMatchObject({ failed: 19, failedInARow: 9 })
  })
  test('the count of consecutive failed deliveries resets when the endpoint is active again', async () => {
    const { instance, fail, current, record, mailMessages } = opened()
    fail(10)
    await Promise.resolve()
    instance.services.webhooks.change(current(), { active: true })
    expect(current()).toMatchObject({ active: true, disabledReason: null })
    expect(record().failedInARow).toBe(0)
    instance.clock.advance(1)
    fail(9)
    await Promise.resolve()
    expect(current().active).toBe(true)
    expect(mailMessages().length).toBe(1)
  })
  test('are forgotten with the transaction that is undone', async () => {
    const { instance, fail, end, current, record } = opened()
    fail(9)
    expect(() =>
      transact(instance.services.db, () => {
        end('failed')
        throw new Error('undone')
      }),
    ).toThrow('undone')
    await Promise.resolve()
    expect(current().active).toBe(true)
    expect(record().failedInARow).toBe(9)
  })
})
