import { describe, expect, test } from 'bun:test'
import type { KeyState } from '../../../src/service/keys/keyring.ts'
import { startAt } from '../../support/instance.ts'
import { type WebhookDesk, webhookDesk } from '../../support/webhooks.ts'

function opened(flags: Record<string, string> = {}) {
  const instance = webhookDesk(flags)
  const account = instance.account('professional')
  const endpoint = instance.endpoint(account)
  const [key] = account.keys
  const told = () =>
    instance
      .entries(endpoint)
      .map(entry => JSON.parse(entry.body) as { type: string; data: Record<string, unknown> })
  return { instance, account, key: key!, told }
}

const use = ({ services: { meter } }: WebhookDesk, key: KeyState, requests: number) => {
  for (let i = 0; i < requests; i += 1) meter.reserve(key)
  meter.flush()
}

describe('the owner of a key is told', () => {
  test('at 80 and at 100 percent of the quota, once each', () => {
    const { instance, key, told } = opened()
    use(instance, key, 79_999)
    expect(told()).toEqual([])
    use(instance, key, 1)
    use(instance, key, 1)
    expect(told()).toEqual([
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
    expect(told().map(event => event.type)).toEqual(['usage.limit_warning', 'usage.limit_exceeded'])
    expect(told()[1]!.data).toMatchObject({
      usage: 100_000,
      percentage: 100,
      exceeded_at: '2026-11-20T15:00:00Z',
    })
  })
  test('of both where one beat passes both', () => {
    const { instance, key, told } = opened()
    use(instance, key, 100_000)
    expect(told().map(event => event.type)).toEqual(['usage.limit_warning', 'usage.limit_exceeded'])
  })
  test('in the notifications of the account too', () => {
    const { instance, key, account } = opened()
    use(instance, key, 80_000)
    const rows = instance.services.db
      .query('SELECT type, title FROM notifications WHERE account_id = ?')
      .all(account.account.id)
    expect(rows).toEqual([{ type: 'usage', title: '80 % of the quota is used' }])
  })
  test('again in the next window, and not again after a start in the same one', () => {
    const { instance, key, told } = opened()
    use(instance, key, 80_000)
    instance.services.meter.reset()
    use(instance, key, 1)
    expect(told().length).toBe(1)
    instance.clock.set(Date.parse('2026-12-05T00:00:00Z'))
    use(instance, key, 80_000)
    expect(told().map(event => event.data.reset_at)).toEqual([
      '2026-12-01T00:00:00Z',
      '2027-01-01T00:00:00Z',
    ])
  })
  test('of the quota that keys share, where they share one', () => {
    const { instance, account, key, told } = opened({ 'quota.scope': 'account' })
    const { state } = instance.services.keys.addKey(account)
    use(instance, key, 50_000)
    expect(told()).toEqual([])
    use(instance, state, 30_000)
    expect(told()).toMatchObject([{ type: 'usage.limit_warning', data: { usage: 80_000 } }])
  })
  test('nothing where there is no quota', () => {
    const { instance, key, told } = opened({ plans: 'unlimited' })
    use(instance, key, 1000)
    expect(told()).toEqual([])
    expect(instance.clock.now()).toBe(startAt)
  })
})
