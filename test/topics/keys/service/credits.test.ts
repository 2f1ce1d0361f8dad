import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs } from '../../../../src/lib/time/instant.ts'
import { runs } from '../../../support/full.ts'
import { type BillingHouse, type Buyer, billingHouse } from '../../../support/topics/billing.ts'

const packs = 'pack_3:3:100:30,pack_5:5:150'

function shop(flags: Record<string, string> = {}) {
  const instance = billingHouse('dev', { 'billing.credit_packs': packs, ...flags })
  const { billing, meter, keys } = instance.services
  return {
    ...instance,
    meter,
    buy(buyer: Buyer, id: string, quantity = 1) {
      const pack = billing.credits.packs.find(pack => pack.id === id)!
      const order = billing.credits.order(buyer.account, pack, quantity)
      if ('refused' in order) throw new Error(order.refused)
      return order
    },
    left: (buyer: Buyer) => billing.credits.balance(buyer.id),
    key: (buyer: Buyer) => keys.find(buyer.token)!,
    /** Uses up what is left of the quota. */
    spend(buyer: Buyer) {
      const key = keys.find(buyer.token)!
      const { window, used } = meter.quotaUsage(key)
      for (let i = used; i < window.limit!; i += 1) meter.reserve(key)
    },
    stored: () =>
      instance.services.db
        .query('SELECT remaining, lapsed FROM credit_purchases ORDER BY created_at, id')
        .values(),
  }
}

const statusOf = async (instance: BillingHouse, token: string) =>
  (await instance.ask('GET', '/v1/prices/latest', token)).status

describe('createCredits', () => {
  test('credits extend the quota by exactly the number purchased, even under concurrent requests', async () => {
    const instance = shop()
    const buyer = instance.buyer('free')
    instance.spend(buyer)
    expect(await statusOf(instance, buyer.token)).toBe(402)
    instance.buy(buyer, 'pack_3', 2)
    const { headers } = await instance.ask('GET', '/v1/account', buyer.token)
    expect({
      ratelimitState: headers.get('x-ratelimit-state'),
      ratelimitRemaining: headers.get('x-ratelimit-remaining'),
      ratelimitUsed: headers.get('x-ratelimit-used'),
    }).toEqual({ ratelimitState: 'free', ratelimitRemaining: '6', ratelimitUsed: '50' })
    // A refused request gives its credit back.
    expect(
      (await instance.ask('GET', '/v1/prices/latest?by_code=NO_SUCH_CODE', buyer.token)).status,
    ).toBe(400)
    expect(instance.left(buyer)).toBe(6)
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => statusOf(instance, buyer.token)),
    )
    expect(answers.sort()).toEqual([...Array(6).fill(200), ...Array(4).fill(402)])
    expect(instance.left(buyer)).toBe(0)
    expect(instance.meter.quotaUsage(instance.key(buyer))).toMatchObject({
      used: 50,
      extra: 0,
      state: 'exhausted',
    })
  })

  test('credits are not used while quota remains and are preserved when the quota resets', async () => {
    const instance = shop()
    const buyer = instance.buyer('free')
    instance.buy(buyer, 'pack_5')
    instance.meter.reserve(instance.key(buyer))
    expect({
      left: instance.left(buyer),
      extra: instance.meter.quotaUsage(instance.key(buyer)).extra,
    }).toEqual({ left: 5, extra: 0 })
    instance.spend(buyer)
    instance.meter.reserve(instance.key(buyer))
    expect(instance.left(buyer)).toBe(4)
    await instance.advance(dayMs)
    instance.meter.reserve(instance.key(buyer))
    expect({
      left: instance.left(buyer),
      used: instance.meter.quotaUsage(instance.key(buyer)).used,
    }).toEqual({ left: 4, used: 1 })
  })

  test('are used in the order in which they expire, and lapse with a word to the account', async () => {
    const instance = shop()
    const buyer = instance.buyer('free')
    instance.buy(buyer, 'pack_5')
    instance.buy(buyer, 'pack_3')
    instance.spend(buyer)
    instance.meter.reserve(instance.key(buyer))
    instance.meter.flush()
    expect(instance.stored().sort()).toEqual([
      [2, 0],
      [5, 0],
    ])
    await instance.advance(30 * dayMs - 1)
    expect(instance.left(buyer)).toBe(7)
    await instance.advance(1)
    expect(instance.left(buyer)).toBe(5)
    expect(instance.stored().sort()).toEqual([
      [0, 2],
      [5, 0],
    ])
    const notices = instance.services.notifications.page(buyer.id, false, 10, 0)
    expect(
      notices.filter(notice => notice.type === 'credits').map(notice => notice.message),
    ).toEqual(['2 bought requests were not used in time.'])
  })

  test('credits are shared by all keys of an account and by no other account', () => {
    const instance = shop()
    const [buyer, other] = [instance.buyer('free'), instance.buyer('free')]
    const second = instance.services.keys.addKey(buyer.account).state
    instance.buy(buyer, 'pack_3')
    for (const spender of [buyer, other]) instance.spend(spender)
    for (let i = 0; i < 50; i += 1) instance.meter.reserve(second)
    expect(
      [instance.key(buyer), second, instance.key(buyer), second].map(
        key => instance.meter.reserve(key) !== undefined,
      ),
    ).toEqual([true, true, true, false])
    expect(instance.meter.reserve(instance.key(other))).toBeUndefined()
  })

  test('that wait for their invoice are worth nothing until it is paid', () => {
    const serve = billingHouse('serve', { 'billing.credit_packs': packs })
    const buyer = serve.buyer('free')
    const { billing } = serve.services
    const order = billing.credits.order(buyer.account, billing.credits.packs[0]!, 1)
    expect(order).toMatchObject({ status: 'pending', requests: 3 })
    expect(billing.credits.balance(buyer.id)).toBe(0)
    const invoice = billing.invoices.page({ accountId: buyer.id }, 1, 0)[0]!
    billing.ledger.mark(invoice, 'paid')
    expect(billing.credits.balance(buyer.id)).toBe(3)
    // Once paid it stays paid.
    expect(billing.ledger.mark(billing.invoices.byId(invoice.id)!, 'void')).toMatchObject({
      refused: 'invoice_closed',
    })
    expect(billing.credits.balance(buyer.id)).toBe(3)
  })

  test('are preserved by any sequence of purchases, requests, returns and writes', () => {
    const deed = fc.constantFrom('take', 'take', 'take', 'back', 'buy', 'flush', 'stop')
    fc.assert(
      fc.property(fc.array(deed, { maxLength: 40 }), deeds => {
        const instance = shop()
        const buyer = instance.buyer('free')
        instance.spend(buyer)
        const key = instance.key(buyer)
        let left = 0
        const open: NonNullable<ReturnType<typeof instance.meter.reserve>>[] = []
        for (const deed of deeds) {
          if (deed === 'take') {
            const window = instance.meter.reserve(key)
            expect(window !== undefined).toBe(left > 0)
            if (window) {
              left -= 1
              open.push(window)
            }
          } else if (deed === 'back') {
            const window = open.pop()
            if (window) {
              instance.meter.refund(key, window)
              left += 1
            }
          } else if (deed === 'buy') {
            instance.buy(buyer, 'pack_3')
            left += 3
          } else {
            instance.meter.flush()
            expect(instance.stored().reduce((sum, [remaining]) => sum + Number(remaining), 0)).toBe(
              left,
            )
            // Flushed counts survive a restart.
            if (deed === 'stop') instance.services.credits.reset()
          }
          expect(instance.left(buyer)).toBe(left)
        }
        instance.services.db.close()
      }),
      { numRuns: runs(25) },
    )
  })
})
