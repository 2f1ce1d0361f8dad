import { afterEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs } from '../../../../src/lib/time/instant.ts'
import { defaultSettings } from '../../../../src/topics/webhooks/store/webhooks.ts'
import type { Sent, Thing } from '../../../support/servers/stripe-server.ts'
import { closeShops, shop, stateOf, subscribe } from '../../../support/servers/stripe-shop.ts'

afterEach(closeShops)

describe('POST /billing/webhooks/stripe', () => {
  test('a failed payment and its later success are each reported once', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'professional')
    instance.services.webhooks.create(buyer.account, {
      ...defaultSettings,
      url: 'https://hooks.example.com/a',
      events: ['*'],
    })
    instance.clock.advance(30 * dayMs)
    const invoice = instance.stand.renew(instance.theirs(buyer).id, false)
    const failed = instance.stand.message('invoice.payment_failed', invoice)
    for (const sent of [failed, failed]) expect(await instance.deliver(sent)).toBe(200)
    expect(instance.services.billing.statusOf(buyer.account).status).toBe('past_due')
    expect(instance.plan(buyer)).toBe('professional')
    Object.assign(invoice, {
      status: 'paid',
      attempt_count: 2,
      next_payment_attempt: null,
      status_transitions: { paid_at: Math.floor(instance.clock.now() / 1000) },
    })
    Object.assign(instance.theirs(buyer), { status: 'active' })
    for (const type of ['invoice.paid', 'invoice.payment_succeeded', 'invoice.updated'])
      await instance.deliver(instance.stand.message(type, invoice))
    expect(instance.services.billing.statusOf(buyer.account).status).toBe('active')
    const types = instance.events(buyer.account).map(event => event.type)
    expect(types.filter(type => type.startsWith('invoice.'))).toEqual([
      'invoice.payment_failed',
      'invoice.paid',
    ])
    // An older message that comes in now finds what is so now.
    const before = stateOf(instance, buyer)
    await instance.deliver({
      ...instance.stand.message(
        'invoice.payment_failed',
        { ...invoice, status: 'open' },
        { id: 'evt_late' },
      ),
    })
    expect(stateOf(instance, buyer)).toBe(before)
  })

  test('about a price that was made in the dashboard keeps the plan, and the log names it', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'professional')
    const before = stateOf(instance, buyer)
    const theirs = instance.theirs(buyer)
    theirs.items.data[0].price = { id: 'price_dashboard', unit_amount: 777, metadata: {} }
    await instance.deliver(instance.stand.message('customer.subscription.updated', theirs))
    expect(stateOf(instance, buyer)).toBe(before)
    expect(instance.log.join('\n')).toContain('subscription_unreadable')
  })

  test('ends the plan when the processor has ended the subscription', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'starter')
    Object.assign(instance.theirs(buyer), {
      status: 'canceled',
      ended_at: Math.floor(instance.clock.now() / 1000),
    })
    await instance.deliver(
      instance.stand.message('customer.subscription.deleted', instance.theirs(buyer)),
    )
    expect({
      plan: instance.plan(buyer),
      status: instance.services.billing.statusOf(buyer.account).status,
    }).toEqual({ plan: 'free', status: 'cancelled' })
  })

  test('that is not signed, signed by another, changed, or long ago is refused and changes nothing', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'starter')
    Object.assign(instance.theirs(buyer), {
      status: 'canceled',
      ended_at: Math.floor(instance.clock.now() / 1000),
    })
    const before = stateOf(instance, buyer)
    const at = Math.floor(instance.clock.now() / 1000)
    const type = 'customer.subscription.deleted'
    const good = instance.stand.message(type, instance.theirs(buyer))
    const bad: Sent[] = [
      { raw: good.raw, signature: '' },
      { raw: good.raw, signature: 'nonsense' },
      { raw: good.raw, signature: `t=${at},v1=${'0'.repeat(64)}` },
      { raw: `${good.raw} `, signature: good.signature },
      instance.stand.message(type, instance.theirs(buyer), { secret: 'whsec_other' }),
      instance.stand.message(type, instance.theirs(buyer), { secret: '' }),
      instance.stand.message(type, instance.theirs(buyer), { at: at - 301 }),
      { raw: '', signature: good.signature },
    ]
    for (const sent of bad) expect(await instance.deliver(sent)).toBe(400)
    expect(stateOf(instance, buyer)).toBe(before)
    expect(await instance.deliver(good)).toBe(200)
    expect(instance.plan(buyer)).toBe('free')
  })

  test('about what this service did not make, or about another account’s customer, is taken and changes nothing', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'starter')
    const before = stateOf(instance, buyer)
    const strange = { ...instance.theirs(buyer), id: 'sub_strange', metadata: {} }
    instance.stand.things.set('sub_strange', strange)
    const nobody = {
      ...instance.theirs(buyer),
      id: 'sub_nobody',
      metadata: { account_id: 'nobody' },
    }
    instance.stand.things.set('sub_nobody', nobody)
    const second = { ...instance.theirs(buyer), id: 'sub_second' }
    instance.stand.things.set('sub_second', second)
    for (const thing of [
      strange,
      nobody,
      second,
      { id: 'sub_gone', object: 'subscription' },
      { id: 'cus_1', object: 'customer' },
      { id: 'in_x', object: 'invoice' },
    ]) {
      expect(
        await instance.deliver(instance.stand.message('any.thing', thing)),
        JSON.stringify(thing.id),
      ).toBe(200)
    }
    expect(stateOf(instance, buyer)).toBe(before)
  })

  test('a Stripe webhook that cannot be verified now is checked again later and then takes effect', async () => {
    const instance = shop()
    const buyer = await instance.customer()
    await subscribe(instance, buyer, 'starter')
    instance.clock.advance(30 * dayMs)
    const sent = instance.stand.message(
      'invoice.paid',
      instance.stand.renew(instance.theirs(buyer).id),
    )
    instance.stand.broken = 403
    expect(await instance.deliver(sent)).toBe(503)
    instance.stand.broken = undefined
    expect(await instance.deliver(sent)).toBe(200)
    expect(instance.services.billing.invoices.count({ accountId: buyer.id })).toBe(2)
  }, 20_000)

  test('comes to the same in any order, any number of times, and all at once', async () => {
    const deeds = fc.array(
      fc.record({
        deed: fc.constantFrom('renew', 'fail', 'recover', 'end at period end', 'go on', 'end'),
        outcome: fc.boolean(),
      }),
      { minLength: 1, maxLength: 5 },
    )
    await fc.assert(
      fc.asyncProperty(deeds, fc.infiniteStream(fc.nat(1_000_000)), async (story, chance) => {
        const instance = shop()
        const buyer = await instance.customer()
        await subscribe(instance, buyer, 'starter')
        const theirs = instance.theirs(buyer)
        const messages: Sent[] = []
        let invoice: Thing | undefined
        for (const { deed, outcome } of story) {
          if (theirs.status === 'canceled') break
          if (deed === 'renew' || deed === 'fail') {
            instance.clock.advance(31 * dayMs)
            invoice = instance.stand.renew(theirs.id, deed === 'renew')
          } else if (deed === 'recover' && invoice?.status === 'open') {
            Object.assign(invoice, {
              status: 'paid',
              attempt_count: 2,
              next_payment_attempt: null,
              status_transitions: { paid_at: Math.floor(instance.clock.now() / 1000) },
            })
            theirs.status = 'active'
          } else if (deed === 'end')
            Object.assign(theirs, {
              status: 'canceled',
              ended_at: Math.floor(instance.clock.now() / 1000),
            })
          else theirs.cancel_at_period_end = deed === 'end at period end'
          const sentMessages = [
            instance.stand.message('customer.subscription.updated', theirs, {
              id: `evt_${messages.length}_a`,
            }),
            ...(invoice
              ? [
                  instance.stand.message('invoice.updated', invoice, {
                    id: `evt_${messages.length}_b`,
                  }),
                ]
              : []),
          ]
          messages.push(...sentMessages)
          if (outcome) for (const message of sentMessages) await instance.deliver(message)
        }
        // All of them again, signed again, in another order and at once.
        const later = [...messages, ...messages]
          .map(message => ({ message, at: chance.next().value as number }))
          .sort((a, b) => a.at - b.at)
          .map(({ message }) => {
            const event = JSON.parse(message.raw)
            return instance.stand.message(event.type, event.data.object, { id: event.id })
          })
        await Promise.all(later.map(instance.deliver))
        for (const message of later) await instance.deliver(message)
        const ended = theirs.status === 'canceled'
        expect(instance.plan(buyer)).toBe(ended ? 'free' : 'starter')
        const subscription = instance.services.billing.current(buyer.account)
        if (ended) expect(subscription).toBeUndefined()
        else
          expect(subscription).toMatchObject({
            status: theirs.status,
            cancelAtPeriodEnd: theirs.cancel_at_period_end,
          })
        // Every invoice that was notified of, as it is there, and none twice.
        const refs = new Set(
          messages
            .map(message => JSON.parse(message.raw).data.object)
            .filter(object => object.object === 'invoice')
            .map(object => object.id),
        )
        for (const ref of refs) {
          const copies = instance.services.billing.invoices
            .page({ accountId: buyer.id }, 100, 0)
            .filter(invoice => invoice.providerRef === ref)
          expect(copies.map(copy => copy.status)).toEqual([instance.stand.things.get(ref)!.status])
        }
        instance.stand.close()
        instance.services.db.close()
      }),
      { numRuns: 12 },
    )
  }, 60_000)
})
