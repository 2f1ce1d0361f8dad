import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs } from '../../../src/lib/instant.ts'
import { type BillingHouse, type Buyer, billingHouse } from '../../support/billing.ts'

const packs = 'pack_3:3:100:30,pack_5:5:150'

function shop(flags: Record<string, string> = {}) {
  const house = billingHouse('dev', { 'billing.credit_packs': packs, ...flags })
  const { billing, meter, keys } = house.services
  return {
    ...house,
    meter,
    buy(buyer: Buyer, id: string, quantity = 1) {
      const pack = billing.credits.packs.find(one => one.id === id)!
      const made = billing.credits.order(buyer.account, pack, quantity)
      if ('refused' in made) throw new Error(made.refused)
      return made
    },
    left: (buyer: Buyer) => billing.credits.balance(buyer.id),
    key: (buyer: Buyer) => keys.find(buyer.token)!,
    /** Uses up what is left of the quota. */
    spend(buyer: Buyer) {
      const key = keys.find(buyer.token)!
      const { window, used } = meter.standing(key)
      for (let i = used; i < window.limit!; i += 1) meter.reserve(key)
    },
    stored: () =>
      house.services.db
        .query('SELECT remaining, lapsed FROM credit_purchases ORDER BY created_at, id')
        .values(),
  }
}

const statusOf = async (house: BillingHouse, token: string) =>
  (await house.ask('GET', '/v1/prices/latest', token)).status

describe('bought requests', () => {
  test('extend the quota by exactly as many as were bought, also when all are asked at once', async () => {
    const house = shop()
    const buyer = house.buyer('free')
    house.spend(buyer)
    expect(await statusOf(house, buyer.token)).toBe(402)
    house.buy(buyer, 'pack_3', 2)
    const { headers } = await house.ask('GET', '/v1/account', buyer.token)
    expect([
      headers.get('x-ratelimit-state'),
      headers.get('x-ratelimit-remaining'),
      headers.get('x-ratelimit-used'),
    ]).toEqual(['free', '6', '50'])
    // What is refused gives its request back.
    expect(
      (await house.ask('GET', '/v1/prices/latest?by_code=NO_SUCH_CODE', buyer.token)).status,
    ).toBe(400)
    expect(house.left(buyer)).toBe(6)
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => statusOf(house, buyer.token)),
    )
    expect(answers.sort()).toEqual([...Array(6).fill(200), ...Array(4).fill(402)])
    expect(house.left(buyer)).toBe(0)
    expect(house.meter.standing(house.key(buyer))).toMatchObject({
      used: 50,
      extra: 0,
      state: 'exhausted',
    })
  })

  test('are not touched while the quota lasts, and rest when it begins anew', async () => {
    const house = shop()
    const buyer = house.buyer('free')
    house.buy(buyer, 'pack_5')
    house.meter.reserve(house.key(buyer))
    expect([house.left(buyer), house.meter.standing(house.key(buyer)).extra]).toEqual([5, 0])
    house.spend(buyer)
    house.meter.reserve(house.key(buyer))
    expect(house.left(buyer)).toBe(4)
    await house.advance(dayMs)
    house.meter.reserve(house.key(buyer))
    expect([house.left(buyer), house.meter.standing(house.key(buyer)).used]).toEqual([4, 1])
  })

  test('are used in the order in which they expire, and lapse with a word to the account', async () => {
    const house = shop()
    const buyer = house.buyer('free')
    house.buy(buyer, 'pack_5')
    house.buy(buyer, 'pack_3')
    house.spend(buyer)
    house.meter.reserve(house.key(buyer))
    house.meter.flush()
    expect(house.stored().sort()).toEqual([
      [2, 0],
      [5, 0],
    ])
    await house.advance(30 * dayMs - 1)
    expect(house.left(buyer)).toBe(7)
    await house.advance(1)
    expect(house.left(buyer)).toBe(5)
    expect(house.stored().sort()).toEqual([
      [0, 2],
      [5, 0],
    ])
    const notices = house.services.notifications.page(buyer.id, false, 10, 0)
    expect(notices.filter(one => one.type === 'credits').map(one => one.message)).toEqual([
      '2 bought requests were not used in time.',
    ])
  })

  test('are shared by the keys of an account and by nobody else', () => {
    const house = shop()
    const [buyer, other] = [house.buyer('free'), house.buyer('free')]
    const second = house.services.keys.addKey(buyer.account).state
    house.buy(buyer, 'pack_3')
    for (const one of [buyer, other]) house.spend(one)
    for (let i = 0; i < 50; i += 1) house.meter.reserve(second)
    expect(
      [house.key(buyer), second, house.key(buyer), second].map(
        key => house.meter.reserve(key) !== undefined,
      ),
    ).toEqual([true, true, true, false])
    expect(house.meter.reserve(house.key(other))).toBeUndefined()
  })

  test('that wait for their invoice are worth nothing until it is paid', () => {
    const serve = billingHouse('serve', { 'billing.credit_packs': packs })
    const buyer = serve.buyer('free')
    const { billing } = serve.services
    const made = billing.credits.order(buyer.account, billing.credits.packs[0]!, 1)
    expect(made).toMatchObject({ status: 'pending', requests: 3 })
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

  test('are neither lost nor made by any course of buying, asking, giving back and writing', () => {
    const deed = fc.constantFrom('take', 'take', 'take', 'back', 'buy', 'flush', 'stop')
    fc.assert(
      fc.property(fc.array(deed, { maxLength: 40 }), deeds => {
        const house = shop()
        const buyer = house.buyer('free')
        house.spend(buyer)
        const key = house.key(buyer)
        let left = 0
        const open: NonNullable<ReturnType<typeof house.meter.reserve>>[] = []
        for (const one of deeds) {
          if (one === 'take') {
            const window = house.meter.reserve(key)
            expect(window !== undefined).toBe(left > 0)
            if (window) {
              left -= 1
              open.push(window)
            }
          } else if (one === 'back') {
            const window = open.pop()
            if (window) {
              house.meter.refund(key, window)
              left += 1
            }
          } else if (one === 'buy') {
            house.buy(buyer, 'pack_3')
            left += 3
          } else {
            house.meter.flush()
            expect(house.stored().reduce((sum, [remaining]) => sum + Number(remaining), 0)).toBe(
              left,
            )
            // What was flushed is there again after a start.
            if (one === 'stop') house.services.credits.reset()
          }
          expect(house.left(buyer)).toBe(left)
        }
        house.services.db.close()
      }),
      { numRuns: 25 },
    )
  })
})
