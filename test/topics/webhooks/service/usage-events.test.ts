import { describe, expect, test } from 'bun:test'
import type { KeyState } from '../../../../src/topics/keys/service/keyring.ts'
import { startAt } from '../../../support/instance/instance.ts'
import { openWebhookInstance, type WebhookInstance } from '../../../support/topics/webhooks.ts'

function opened(flags: Record<string, string> = {}) {
  const instance = openWebhookInstance(flags)
  const account = instance.account('professional')
  const endpoint = instance.endpoint(account)
  const [key] = account.keys
  const usageEvents = () =>
    instance
      .entries(endpoint)
      .map(entry => JSON.parse(entry.body) as { type: string; data: Record<string, unknown> })
  return { instance, account, key: key!, usageEvents }
}

const use = ({ services: { meter } }: WebhookInstance, key: KeyState, requests: number) => {
  for (let i = 0; i < requests; i += 1) meter.reserve(key)
  meter.flush()
}

describe('the owner of a key is notified', () => {
  test('at 80 and at 100 percent of the quota, once each', () => {
    const { instance, key, usageEvents } = opened()
    use(instance, key, 79_999)
    expect(usageEvents()).toEqual([])
    use(instance, key, 1)
    use(instance, key, 1)
    expect(usageEvents()).toEqual([
      expect.objectContaining({
        type: 'usage.limit_warning',
        data: {
          resource: 'requests',
          usage: 80_000,
          limit: 100_000,
          percentage: 80,
          period: 'month',
          key_id: key.key.id,
          reset_at: '2026-12-01T00:00:00Z',
          timestamp: '2026-11-20T15:00:00Z',
        },
      }),
    ])
    use(instance, key, 20_000)
    use(instance, key, 5)
    expect(usageEvents().map(event => event.type)).toEqual([
      'usage.limit_warning',
      'usage.limit_exceeded',
    ])
    expect(usageEvents()[1]!.data).toMatchObject({
      usage: 100_000,
      percentage: 100,
      exceeded_at: '2026-11-20T15:00:00Z',
    })
  })
  test('of both where one beat passes both', () => {
    const { instance, key, usageEvents } = opened()
    use(instance, key, 100_000)
    expect(usageEvents().map(event => event.type)).toEqual([
      'usage.limit_warning',
      'usage.limit_exceeded',
    ])
  })
  test('in the notifications of the account too, by the name of the key or its last characters', () => {
    for (const name of [null, 'Desk']) {
      const { instance, key, account } = opened()
      instance.services.keys.changeKey(key, { name })
      use(instance, key, 80_000)
      const rows = instance.services.db
        .query('SELECT type, title, message FROM notifications WHERE account_id = ?')
        .all(account.account.id)
      expect(rows).toEqual([
        {
          type: 'usage',
          title: '80% of the quota is used',
          message: `The API key ${name ? '"Desk"' : key.key.tokenHint} has used 80000 of the 100000 requests of this month. The quota resets at 2026-12-01T00:00:00Z.`,
        },
      ])
    }
  })
  test('again in the next window, and not again after a start in the same one', () => {
    const { instance, key, usageEvents } = opened()
    use(instance, key, 80_000)
    instance.services.meter.reset()
    use(instance, key, 1)
    expect(usageEvents().length).toBe(1)
    instance.clock.set(Date.parse('2026-12-05T00:00:00Z'))
    use(instance, key, 80_000)
    expect(usageEvents().map(event => event.data.reset_at)).toEqual([
      '2026-12-01T00:00:00Z',
      '2027-01-01T00:00:00Z',
    ])
  })
  test('of the quota that keys share, where they share one', () => {
    const { instance, account, key, usageEvents } = opened({ 'quota.scope': 'account' })
    const { state } = instance.services.keys.addKey(account)
    use(instance, key, 50_000)
    expect(usageEvents()).toEqual([])
    use(instance, state, 30_000)
    expect(usageEvents()).toMatchObject([{ type: 'usage.limit_warning', data: { usage: 80_000 } }])
  })
  test('nothing where there is no quota', () => {
    const { instance, key, usageEvents } = opened({ plans: 'unlimited' })
    use(instance, key, 1000)
    expect(usageEvents()).toEqual([])
    expect(instance.clock.now()).toBe(startAt)
  })
})
