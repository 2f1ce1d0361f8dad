import { describe, expect, test } from 'bun:test'
import type { KeyState } from '../../../src/service/keys/keyring.ts'
import { startAt } from '../../support/instance.ts'
import { type WebhookDesk, webhookDesk } from '../../support/webhooks.ts'

function opened(flags: Record<string, string> = {}) {
  const desk = webhookDesk(flags)
  const account = desk.account('professional')
  const endpoint = desk.endpoint(account)
  const [key] = account.keys
  const told = () =>
    desk
      .entries(endpoint)
      .map(entry => JSON.parse(entry.body) as { type: string; data: Record<string, unknown> })
  return { desk, account, key: key!, told }
}

const use = ({ services: { meter } }: WebhookDesk, key: KeyState, requests: number) => {
  for (let i = 0; i < requests; i += 1) meter.reserve(key)
  meter.flush()
}

describe('the owner of a key is told', () => {
  test('at 80 and at 100 percent of the quota, once each', () => {
    const { desk, key, told } = opened()
    use(desk, key, 79_999)
    expect(told()).toEqual([])
    use(desk, key, 1)
    use(desk, key, 1)
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
    use(desk, key, 20_000)
    use(desk, key, 5)
    expect(told().map(one => one.type)).toEqual(['usage.limit_warning', 'usage.limit_exceeded'])
    expect(told()[1]!.data).toMatchObject({
      usage: 100_000,
      percentage: 100,
      exceeded_at: '2026-11-20T15:00:00Z',
    })
  })
  test('of both where one beat passes both', () => {
    const { desk, key, told } = opened()
    use(desk, key, 100_000)
    expect(told().map(one => one.type)).toEqual(['usage.limit_warning', 'usage.limit_exceeded'])
  })
  test('in the notifications of the account too', () => {
    const { desk, key, account } = opened()
    use(desk, key, 80_000)
    const rows = desk.services.db
      .query('SELECT type, title FROM notifications WHERE account_id = ?')
      .all(account.account.id)
    expect(rows).toEqual([{ type: 'usage', title: '80 % of the quota is used' }])
  })
  test('again in the next window, and not again after a start in the same one', () => {
    const { desk, key, told } = opened()
    use(desk, key, 80_000)
    desk.services.meter.reset()
    use(desk, key, 1)
    expect(told().length).toBe(1)
    desk.clock.set(Date.parse('2026-12-05T00:00:00Z'))
    use(desk, key, 80_000)
    expect(told().map(one => one.data.reset_at)).toEqual([
      '2026-12-01T00:00:00Z',
      '2027-01-01T00:00:00Z',
    ])
  })
  test('of the quota that keys share, where they share one', () => {
    const { desk, account, key, told } = opened({ 'quota.scope': 'account' })
    const { state } = desk.services.keys.addKey(account)
    use(desk, key, 50_000)
    expect(told()).toEqual([])
    use(desk, state, 30_000)
    expect(told()).toMatchObject([{ type: 'usage.limit_warning', data: { usage: 80_000 } }])
  })
  test('nothing where there is no quota', () => {
    const { desk, key, told } = opened({ plans: 'unlimited' })
    use(desk, key, 1000)
    expect(told()).toEqual([])
    expect(desk.clock.now()).toBe(startAt)
  })
})
