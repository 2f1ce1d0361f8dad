import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type EventType, eventTypes } from '../../../../src/plans/messages/event-types.ts'
import { createAccountSecrets } from '../../../../src/topics/webhooks/service/account-secrets.ts'
import { createWebhooks, type Webhooks } from '../../../../src/topics/webhooks/service/webhooks.ts'
import { createAccountSecretStore } from '../../../../src/topics/webhooks/store/account-secrets.ts'
import { createWebhookStore } from '../../../../src/topics/webhooks/store/webhooks.ts'
import { runs } from '../../../support/full.ts'
import { openWebhookInstance } from '../../../support/topics/webhooks.ts'

const codes = ['WTI_USD', 'BRENT_CRUDE_USD'] as const

/** Every read of the endpoints in memory, by id. */
const answers = (webhooks: Webhooks, accountIds: readonly string[]) => ({
  listed: accountIds.map(id => webhooks.list(id).map(endpoint => endpoint.id)),
  subscribed: eventTypes.map(type =>
    webhooks
      .subscribed(type)
      .map(endpoint => endpoint.id)
      .sort(),
  ),
  own: accountIds.map(id =>
    eventTypes.map((type: EventType) =>
      webhooks.subscribedOf(id, type).map(endpoint => endpoint.id),
    ),
  ),
  conditioned: codes.map(code =>
    webhooks
      .conditionedOn(code)
      .map(endpoint => endpoint.id)
      .sort(),
  ),
})

test('after any changes the endpoints in memory are those that a new start reads', () => {
  const instance = openWebhookInstance()
  const accounts = [instance.account(), instance.account()]
  const accountIds = accounts.map(account => account.account.id)
  const settings = fc.record(
    {
      events: fc.uniqueArray(fc.constantFrom('*', 'price.*', 'invoice.paid', 'alert.triggered'), {
        minLength: 1,
        maxLength: 2,
      }),
      conditions: fc.array(
        fc
          .constantFrom(...codes)
          .map(commodity => ({ commodity, operator: 'less_than' as const, value: 1 })),
        { maxLength: 2 },
      ),
      active: fc.boolean(),
    },
    { requiredKeys: [] },
  )
  const step = fc.record({
    what: fc.constantFrom('create', 'change', 'rotate', 'disable', 'remove'),
    which: fc.nat(10),
    account: fc.nat(1),
    settings,
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), steps => {
      const webhooks = instance.services.webhooks
      for (const { what, which, account, settings: given } of steps) {
        const endpoints = accountIds.flatMap(id => webhooks.list(id))
        const endpoint = endpoints[which % Math.max(1, endpoints.length)]
        instance.clock.advance(1)
        if (what === 'create' && endpoints.length < 20) instance.endpoint(accounts[account]!, given)
        else if (!endpoint) continue
        else if (what === 'change') webhooks.change(endpoint, given)
        else if (what === 'rotate') webhooks.rotate(endpoint, { overlapMs: 0 })
        else if (what === 'remove') webhooks.remove(endpoint)
        else if (what === 'disable') webhooks.change(endpoint, { active: false })
      }
      const { db, keys, vault, clock, ids } = instance.services
      const fresh = createWebhooks({
        db,
        store: createWebhookStore(db),
        keys,
        vault,
        clock,
        ids,
        wake() {},
      })
      expect(answers(webhooks, accountIds)).toEqual(answers(fresh, accountIds))
      for (const id of accountIds)
        for (const endpoint of webhooks.list(id))
          expect(fresh.secrets(fresh.byId(endpoint.id)!)).toEqual(webhooks.secrets(endpoint))
    }),
    { numRuns: runs(60) },
  )
})

test('an account’s secret is what a new start reads', () => {
  const { services, ...instance } = openWebhookInstance()
  const { id } = instance.account().account
  const fresh = () =>
    createAccountSecrets({ ...services, store: createAccountSecretStore(services.db) })
  const accountSecret = services.accountSecrets.current(id)
  expect(fresh().current(id)).toEqual(accountSecret)
  const rolled = services.accountSecrets.roll(id)
  expect(rolled.secret).not.toBe(accountSecret.secret)
  expect(fresh().current(id)).toEqual(rolled)
})

test('a secret that was sealed for one endpoint opens no other', () => {
  const instance = openWebhookInstance()
  const [first, second] = [
    instance.endpoint(instance.account()),
    instance.endpoint(instance.account()),
  ]
  expect(() => instance.services.webhooks.secrets({ ...second, secret: first.secret })).toThrow(
    'does not open',
  )
})
