import { describe, expect, test } from 'bun:test'
import { PDFDocument } from 'pdf-lib'
import { dayMs, hourMs } from '../../../../src/lib/time/instant.ts'
import { roles } from '../../../../src/plans/roles/roles.ts'
import { type Buyer, billingHouse, codeOf, startAt } from '../../../support/topics/billing.ts'

const current = '/billing/subscriptions/current'

describe('GET /billing/plans', () => {
  test('are listed in order with prices, features and add-ons', async () => {
    const instance = billingHouse()
    const { body, status } = await instance.ask('GET', '/billing/plans', instance.buyer().token)
    expect(status).toBe(200)
    expect(
      body.plans.map((plan: Record<string, unknown>) => [
        plan.id,
        plan.price_monthly,
        plan.price_yearly,
        plan.request_limit,
        plan.request_period,
      ]),
    ).toEqual([
      ['free', 0, 0, 50, 'day'],
      ['developer', 1900, 22_800, 10_000, 'month'],
      ['starter', 4900, 58_800, 50_000, 'month'],
      ['professional', 9900, 118_800, 100_000, 'month'],
      ['scale', 39_900, 478_800, 1_000_000, 'month'],
      ['enterprise', 0, 0, 10_000_000, 'month'],
    ])
    expect(body.plans.map((plan: Record<string, unknown>) => plan.custom_pricing)).toEqual([
      false,
      false,
      false,
      false,
      false,
      true,
    ])
    expect(body.plans[2].features).toEqual([
      'calculated_metrics',
      'analytics',
      'analytics_alerts',
      'bulk_export',
    ])
    expect(
      body.addons.map((addOn: Record<string, unknown>) => [
        addOn.id,
        addOn.price_monthly,
        addOn.currency,
      ]),
    ).toEqual([
      ['futures_data', 4900, 'USD'],
      ['well_permits', 9900, 'USD'],
      ['well_production', 19_900, 'USD'],
      ['sms', 900, 'USD'],
    ])
  })
})

describe('GET /billing/subscriptions/current', () => {
  test('of the free plan is active for the day, of a trial trialing, of a plan set by hand active for the month', async () => {
    const instance = billingHouse()
    const of = async (buyer: Buyer) =>
      (await instance.ask('GET', current, buyer.token)).body.subscription
    const free = instance.buyer()
    expect(await of(free)).toEqual({
      id: free.id,
      plan: 'free',
      status: 'active',
      billing_period: 'monthly',
      price: 0,
      current_period_start: '2026-11-20T00:00:00Z',
      current_period_end: '2026-11-21T00:00:00Z',
      cancel_at_period_end: false,
      pending_plan: null,
      addons: [],
      usage: { requests_used: 0, requests_limit: 50, percent_used: 0 },
    })
    const trial = {
      plan: 'free',
      status: 'trialing',
      current_period_start: '2026-11-20T15:00:00Z',
      current_period_end: '2026-11-27T15:00:00Z',
    }
    expect(await of(instance.buyer('free', { trial: true }))).toMatchObject(trial)
    const scale = {
      plan: 'scale',
      status: 'active',
      current_period_end: '2026-12-01T00:00:00Z',
      addons: ['well_production'],
    }
    expect(await of(instance.buyer('scale', { addOns: ['well_production'] }))).toMatchObject(scale)
  })

  test('has the price that was agreed with the customer, not that of the list', async () => {
    const instance = billingHouse('serve')
    const buyer = instance.buyer()
    const agreed = await instance.operator('POST', '/admin/v1/subscriptions', {
      account: buyer.id,
      plan: 'scale',
      price: 39_000,
    })
    expect(agreed.status).toBe(201)
    const { subscription } = (await instance.ask('GET', current, buyer.token)).body
    expect({ plan: subscription.plan, price: subscription.price }).toEqual({
      plan: 'scale',
      price: 39_000,
    })
  })

  test('counts what all keys of the account have used', async () => {
    const instance = billingHouse()
    const buyer = instance.buyer()
    const second = instance.services.keys.addKey(buyer.account).token
    for (const token of [buyer.token, second, second])
      expect((await instance.ask('GET', '/v1/prices/latest', token)).status).toBe(200)
    const { subscription } = (await instance.ask('GET', current, buyer.token)).body
    expect(subscription.usage).toEqual({ requests_used: 3, requests_limit: 50, percent_used: 6 })
  })
})

describe('POST /billing/subscriptions', () => {
  test('begins, is upgraded at once for the difference, downgraded at the end, cancelled and taken up again', async () => {
    const instance = billingHouse()
    const { token, account } = instance.buyer()
    const created = await instance.ask('POST', '/billing/subscriptions', token, {
      plan_id: 'starter',
    })
    expect({
      status: created.status,
      plan: created.body.subscription.plan,
      message: created.body.message,
    }).toEqual({ status: 201, plan: 'starter', message: 'The Starter plan has started.' })
    expect(created.headers.get('x-ratelimit-tier')).toBe('starter')

    await instance.advance(10 * dayMs)
    const up = await instance.ask('POST', '/billing/subscriptions/change_plan', token, {
      new_plan_id: 'professional',
    })
    expect({
      status: up.status,
      proration: up.body.proration,
      effective_at: up.body.effective_at,
    }).toEqual({
      status: 200,
      proration: { amount: 3333, currency: 'USD' },
      effective_at: '2026-11-30T15:00:00Z',
    })
    expect({
      plan: up.body.subscription.plan,
      xRatelimitLimit: up.headers.get('x-ratelimit-limit'),
    }).toEqual({ plan: 'professional', xRatelimitLimit: '100000' })
    expect(up.body.subscription.current_period_end).toBe('2026-12-20T15:00:00Z')

    const down = await instance.ask('POST', '/billing/subscriptions/change_plan', token, {
      new_plan_id: 'developer',
    })
    expect({ amount: down.body.proration.amount, effective_at: down.body.effective_at }).toEqual({
      amount: 0,
      effective_at: '2026-12-20T15:00:00Z',
    })
    expect(down.body.subscription).toMatchObject({
      plan: 'professional',
      pending_plan: 'developer',
      cancel_at_period_end: false,
    })

    const ended = await instance.ask('POST', '/billing/subscriptions/cancel', token)
    expect({
      endedStatus: ended.status,
      cancelAtPeriodEnd: ended.body.subscription.cancel_at_period_end,
      subscriptionStatus: ended.body.subscription.status,
    }).toEqual({ endedStatus: 200, cancelAtPeriodEnd: true, subscriptionStatus: 'active' })
    const { body: whole } = await instance.ask('GET', '/v1/account', token)
    expect(whole.data).toMatchObject({
      plan: 'professional',
      subscription_status: 'active',
      cancel_at_period_end: true,
    })
    const again = await instance.ask('POST', '/billing/subscriptions/reactivate', token)
    expect({
      status: again.status,
      cancel_at_period_end: again.body.subscription.cancel_at_period_end,
    }).toEqual({ status: 200, cancel_at_period_end: false })
    expect(again.body.subscription).toEqual(
      (await instance.ask('POST', '/billing/subscriptions/reactivate', token)).body.subscription,
    )

    await instance.advance(20 * dayMs)
    expect(account.account.plan).toBe('developer')
    const { invoices, meta } = (await instance.ask('GET', '/billing/invoices', token)).body
    expect(
      invoices.map((invoice: Record<string, unknown>) => [invoice.amount, invoice.status]),
    ).toEqual([
      [1900, 'paid'],
      [3333, 'paid'],
      [4900, 'paid'],
    ])
    expect(meta).toEqual({
      page: 1,
      per_page: 20,
      total: 3,
      total_pages: 1,
      has_next: false,
      has_prev: false,
    })
  })

  test('a yearly subscription is charged for the year minus the unused part of the current month', async () => {
    const instance = billingHouse()
    const { token } = instance.buyer()
    await instance.ask('POST', '/billing/subscriptions', token, {
      plan_id: 'starter',
      billing_period: 'monthly',
    })
    await instance.advance(15 * dayMs)
    const { body } = await instance.ask('POST', '/billing/subscriptions', token, {
      plan_id: 'starter',
      billing_period: 'yearly',
    })
    expect(body.subscription).toMatchObject({
      billing_period: 'yearly',
      current_period_end: '2027-12-05T15:00:00Z',
    })
    const { invoices } = (await instance.ask('GET', '/billing/invoices', token)).body
    expect(invoices[0].amount).toBe(58_800 - 2450)
    const shorter = await instance.ask('POST', '/billing/subscriptions', token, {
      plan_id: 'scale',
      billing_period: 'monthly',
    })
    expect(shorter.body.subscription).toMatchObject({
      plan: 'starter',
      billing_period: 'yearly',
      pending_plan: 'scale',
    })
  })

  test('is not made twice by a request that is sent again, and another request under its name is refused', async () => {
    const instance = billingHouse()
    const { token, id } = instance.buyer()
    const send = (plan: string) =>
      instance.ask(
        'POST',
        '/billing/subscriptions',
        token,
        { plan_id: plan },
        { 'idempotency-key': 'k' },
      )
    const [first, second] = [await send('starter'), await send('starter')]
    expect({
      firstStatus: first.status,
      secondStatus: second.status,
      idempotentReplayed: second.headers.get('idempotent-replayed'),
    }).toEqual({ firstStatus: 201, secondStatus: 201, idempotentReplayed: 'true' })
    expect(second.body).toEqual(first.body)
    expect(codeOf(await send('scale'))).toBe('idempotency_key_reused')
    expect({
      count: instance.services.billing.invoices.count({ accountId: id }),
      plan: instance.services.keys.account(id)!.account.plan,
    }).toEqual({ count: 1, plan: 'starter' })
    // Two at once are one.
    const other = instance.buyer().token
    const both = await Promise.all(
      [1, 2].map(() =>
        instance.ask(
          'POST',
          '/billing/subscriptions',
          other,
          { plan_id: 'starter' },
          { 'idempotency-key': 'j' },
        ),
      ),
    )
    expect(both.map(answer => answer.status)).toEqual([201, 201])
    expect(both[1]!.body).toEqual(both[0]!.body)
  })
})

describe('refusals of /billing', () => {
  test.each([
    ['POST', '/billing/subscriptions', {}, 'validation_failed', 'plan_id'],
    ['POST', '/billing/subscriptions', { plan_id: 5 }, 'validation_failed', 'plan_id'],
    [
      'POST',
      '/billing/subscriptions',
      { plan_id: 'starter', billing_period: 'weekly' },
      'validation_failed',
      'billing_period',
    ],
    ['POST', '/billing/subscriptions', { plan_id: 'gold' }, 'invalid_plan', 'plan_id'],
    ['POST', '/billing/subscriptions', { plan_id: 'free' }, 'invalid_plan', 'plan_id'],
    ['POST', '/billing/subscriptions', { plan_id: 'trial' }, 'invalid_plan', 'plan_id'],
    // Its price is agreed: no one gives it to themselves.
    ['POST', '/billing/subscriptions', { plan_id: 'enterprise' }, 'invalid_plan', 'plan_id'],
    [
      'POST',
      '/billing/subscriptions/change_plan',
      { new_plan_id: 'enterprise' },
      'invalid_plan',
      'new_plan_id',
    ],
    [
      'POST',
      '/billing/subscriptions/change_plan',
      { new_plan_id: 'gold' },
      'invalid_plan',
      'new_plan_id',
    ],
    [
      'POST',
      '/billing/subscriptions/change_plan',
      { plan_id: 'starter' },
      'validation_failed',
      'new_plan_id',
    ],
    [
      'POST',
      '/billing/subscriptions/change_plan',
      { new_plan_id: 'free' },
      'no_active_subscription',
      null,
    ],
    ['POST', '/billing/subscriptions/cancel', undefined, 'no_active_subscription', null],
    ['PATCH', '/billing/payment_methods/update', {}, 'validation_failed', 'payment_method_id'],
    ['POST', '/billing/credit_purchases', { pack_id: 'pack_1' }, 'validation_failed', 'pack_id'],
    [
      'POST',
      '/billing/credit_purchases',
      { pack_id: 'pack_10k', quantity: 0 },
      'validation_failed',
      'quantity',
    ],
    [
      'POST',
      '/billing/credit_purchases',
      { pack_id: 'pack_10k', quantity: 101 },
      'validation_failed',
      'quantity',
    ],
    [
      'POST',
      '/billing/customer-portal/sessions',
      { return_url: 'javascript:alert(1)' },
      'validation_failed',
      'return_url',
    ],
  ])('of %s %s %j is answered 422 and %s', async (method, path, body, code, field) => {
    const instance = billingHouse()
    const { token, id } = instance.buyer()
    const answer = await instance.ask(method, path, token, body)
    expect({ status: answer.status, code: answer.body.code, field: answer.body.field }).toEqual({
      status: 422,
      code,
      field,
    })
    expect({
      count: instance.services.billing.invoices.count({ accountId: id }),
      plan: instance.services.keys.account(id)!.account.plan,
    }).toEqual({ count: 0, plan: 'free' })
  })

  test('of a payment is 422 payment_failed and changes nothing', async () => {
    const instance = billingHouse()
    const { token, id } = instance.buyer()
    await instance.ask('PATCH', '/billing/payment_methods/update', token, {
      payment_method_id: 'pm_fail',
    })
    for (const [path, body] of [
      ['/billing/subscriptions', { plan_id: 'starter' }],
      ['/billing/subscriptions/change_plan', { new_plan_id: 'starter' }],
      ['/billing/credit_purchases', { pack_id: 'pack_10k' }],
    ] as const) {
      const answer = await instance.ask('POST', path, token, body, { 'idempotency-key': path })
      expect({ status: answer.status, code: codeOf(answer), message: answer.body.message }).toEqual(
        { status: 422, code: 'payment_failed', message: expect.stringContaining('declined') },
      )
    }
    expect({
      count: instance.services.billing.invoices.count({ accountId: id }),
      plan: instance.services.keys.account(id)!.account.plan,
    }).toEqual({ count: 0, plan: 'free' })
  })

  test('of a plan that the operator set: it is cancelled to the end of its month, and taken up again', async () => {
    const instance = billingHouse()
    const buyer = instance.buyer('scale')
    const { token, id } = buyer
    const before = (await instance.ask('GET', current, token)).body.subscription
    expect(before).toMatchObject({ id, plan: 'scale', status: 'active' })
    const ask = (path: string) => instance.ask('POST', `/billing/subscriptions/${path}`, token)
    const cancelled = await ask('cancel')
    expect({ status: cancelled.status, subscription: cancelled.body.subscription }).toEqual({
      status: 200,
      subscription: { ...before, cancel_at_period_end: true, usage: expect.anything() },
    })
    expect((await ask('reactivate')).body.subscription).toMatchObject({
      id,
      cancel_at_period_end: false,
    })
    await ask('cancel')
    await instance.advance(12 * dayMs)
    expect(instance.plan(buyer)).toBe('free')
    expect(instance.services.billing.invoices.count({ accountId: id })).toBe(0)
  })

  test('of a plan that the operator set: it is changed as one that was bought', async () => {
    const instance = billingHouse()
    const lower = instance.buyer('scale')
    const change = ({ token }: Buyer, plan: string) =>
      instance.ask('POST', '/billing/subscriptions/change_plan', token, { new_plan_id: plan })
    expect((await change(lower, 'starter')).body.subscription).toMatchObject({
      plan: 'scale',
      pending_plan: 'starter',
    })
    await instance.advance(12 * dayMs)
    expect(instance.plan(lower)).toBe('starter')
    const higher = instance.buyer('starter')
    expect((await change(higher, 'scale')).body.subscription).toMatchObject({ plan: 'scale' })
    expect(instance.plan(higher)).toBe('scale')
    expect(instance.services.billing.invoices.count({ accountId: higher.id })).toBe(1)
  })

  test('of a plan that the operator set can be bought instead', async () => {
    const instance = billingHouse()
    const { token, account } = instance.buyer('enterprise')
    expect(
      (await instance.ask('POST', '/billing/subscriptions', token, { plan_id: 'enterprise' }))
        .status,
    ).toBe(201)
    expect(account.account.plan).toBe('enterprise')
  })

  test('bodies set nothing but what they are for', async () => {
    const instance = billingHouse()
    const { token, account } = instance.buyer()
    const body = {
      plan_id: 'starter',
      price_cents: 0,
      price: 0,
      agreed: true,
      status: 'active',
      account: 'x',
      amount: 0,
      add_ons: ['sms'],
    }
    await instance.ask('POST', '/billing/subscriptions', token, body)
    expect(account.account.addOns).toEqual([])
    expect((await instance.ask('GET', '/billing/invoices', token)).body.invoices[0].amount).toBe(
      4900,
    )
  })
})

describe('/billing for what belongs to another account', () => {
  test('looks like what does not exist, and a PDF is only for its own', async () => {
    const instance = billingHouse()
    const [owner, other] = [instance.buyer(), instance.buyer()]
    await instance.change(owner, 'starter')
    const [{ id, pdf_url: url }] = (await instance.ask('GET', '/billing/invoices', owner.token))
      .body.invoices
    expect(url).toBe(`http://localhost/billing/invoices/${id}/pdf`)
    const strange = [id, 'ffffffff-0000-4000-8000-000000000000', 'x'].map(methodId =>
      instance.ask('GET', `/billing/invoices/${methodId}/pdf`, other.token),
    )
    const messages = (await Promise.all(strange)).map(({ status, body }) => [
      status,
      body.error.code,
      body.error.message,
    ])
    for (const message of messages)
      expect(message).toEqual([404, 'NOT_FOUND', expect.stringMatching(/^No invoice has the id /)])
    expect((await instance.ask('GET', '/billing/invoices', other.token)).body.invoices).toEqual([])
    expect((await instance.ask('GET', `/billing/invoices/${id}/pdf`)).status).toBe(401)
  })

  test('payment methods that an account does not have are unknown', async () => {
    const instance = billingHouse()
    const { token } = instance.buyer()
    const answer = await instance.ask('PATCH', '/billing/payment_methods/update', token, {
      payment_method_id: 'pm_9999',
    })
    expect({ status: answer.status, code: codeOf(answer) }).toEqual({
      status: 404,
      code: 'NOT_FOUND',
    })
    const { body } = await instance.ask('GET', '/billing/payment_methods', token)
    expect([
      body.default_payment_method_id,
      body.payment_methods.filter((method: { is_default: boolean }) => method.is_default).length,
    ]).toEqual(['pm_0001', 1])
  })
})

test('an invoice is a PDF that can be read', async () => {
  const instance = billingHouse()
  const { token } = instance.buyer()
  await instance.ask('POST', '/billing/subscriptions', token, { plan_id: 'starter' })
  const [{ id, number }] = (await instance.ask('GET', '/billing/invoices', token)).body.invoices
  const response = await instance.app.handle(
    new Request(`http://localhost/billing/invoices/${id}/pdf?api_key=${token}`, { headers: {} }),
  )
  expect({ status: response.status, contentType: response.headers.get('content-type') }).toEqual({
    status: 200,
    contentType: 'application/pdf',
  })
  expect(response.headers.get('content-disposition')).toBe(
    `inline; filename="invoice-${number}.pdf"`,
  )
  const document = await PDFDocument.load(await response.arrayBuffer(), { updateMetadata: false })
  expect({ title: document.getTitle(), pageCount: document.getPageCount() }).toEqual({
    title: `Invoice ${number}`,
    pageCount: 1,
  })
})

describe('GET /billing/usage', () => {
  test('is every day of the quota window so far, and adds up', async () => {
    const instance = billingHouse('dev', {}, Date.parse('2026-11-01T10:00:00Z'))
    const { token, account } = instance.buyer('starter')
    const second = instance.services.keys.addKey(account).token
    const ask = async (n: number, by = token) => {
      for (let i = 0; i < n; i += 1) await instance.ask('GET', '/v1/prices/latest', by)
    }
    await ask(2)
    instance.clock.advance(2 * dayMs)
    await ask(1)
    await ask(3, second)
    const { body } = await instance.ask('GET', '/billing/usage', token)
    expect(body).toEqual({
      period: { start: '2026-11-01', end: '2026-11-30' },
      requests: { used: 6, limit: 50_000, remaining: 49_994 },
      daily_breakdown: [
        { date: '2026-11-01', requests: 2 },
        { date: '2026-11-02', requests: 0 },
        { date: '2026-11-03', requests: 4 },
      ],
    })
    instance.clock.set(Date.parse('2026-12-01T00:00:00Z'))
    const now = (await instance.ask('GET', '/billing/usage?period=current', token)).body
    expect({
      period: now.period,
      used: now.requests.used,
      daily_breakdown: now.daily_breakdown,
    }).toEqual({
      period: { start: '2026-12-01', end: '2026-12-31' },
      used: 0,
      daily_breakdown: [{ date: '2026-12-01', requests: 0 }],
    })
    const before = (await instance.ask('GET', '/billing/usage?period=previous', token)).body
    expect({
      period: before.period,
      used: before.requests.used,
      length: before.daily_breakdown.length,
    }).toEqual({ period: { start: '2026-11-01', end: '2026-11-30' }, used: 6, length: 30 })
    expect(
      (await instance.ask('GET', '/billing/usage?period=next', token)).body.error.allowed,
    ).toEqual(['current', 'previous'])
  })

  test('of the free plan is a day, of a trial its days', async () => {
    const instance = billingHouse()
    const free = instance.buyer().token
    await instance.ask('GET', '/v1/prices/latest', free)
    const today = (await instance.ask('GET', '/billing/usage', free)).body
    expect({ period: today.period, requests: today.requests }).toEqual({
      period: { start: '2026-11-20', end: '2026-11-20' },
      requests: { used: 1, limit: 50, remaining: 49 },
    })
    instance.clock.advance(dayMs)
    const before = (await instance.ask('GET', '/billing/usage?period=previous', free)).body
    expect({ start: before.period.start, used: before.requests.used }).toEqual({
      start: '2026-11-20',
      used: 1,
    })
    const trial = instance.buyer('free', { trial: true }).token
    expect((await instance.ask('GET', '/billing/usage', trial)).body.period).toEqual({
      start: '2026-11-21',
      end: '2026-11-28',
    })
  })
})

describe('POST /billing/credit_purchases', () => {
  test('are there at once, with their price times their number', async () => {
    const instance = billingHouse()
    const { token } = instance.buyer()
    const { body } = await instance.ask('GET', '/billing/credit_packs', token)
    const pack = {
      id: 'pack_10k',
      name: '10,000 requests',
      requests: 10_000,
      price: 900,
      currency: 'USD',
      expires_after_days: 365,
    }
    expect(body.credit_packs[0]).toEqual(pack)
    const send = () =>
      instance.ask(
        'POST',
        '/billing/credit_purchases',
        token,
        { pack_id: 'pack_10k', quantity: 3 },
        { 'idempotency-key': 'k' },
      )
    const created = await send()
    expect(created.status).toBe(201)
    expect(created.body).toEqual({
      credit_purchase: {
        id: created.body.credit_purchase.id,
        pack_id: 'pack_10k',
        quantity: 3,
        requests: 30_000,
        amount: 2700,
        currency: 'USD',
        status: 'completed',
        created_at: '2026-11-20T15:00:00Z',
      },
      balance: { requests_remaining: 30_000 },
    })
    const again = await send()
    expect({
      status: again.status,
      body: again.body,
      idempotentReplayed: again.headers.get('idempotent-replayed'),
    }).toEqual({ status: 201, body: created.body, idempotentReplayed: 'true' })
    expect((await instance.ask('GET', '/billing/invoices', token)).body.invoices).toHaveLength(1)
  })

  test('a credit purchase is pending in the ledger until the operator marks it as paid', async () => {
    const instance = billingHouse('serve')
    const { token } = instance.buyer()
    const created = await instance.ask('POST', '/billing/credit_purchases', token, {
      pack_id: 'pack_10k',
    })
    expect({
      createdStatus: created.status,
      creditPurchaseStatus: created.body.credit_purchase.status,
      balance: created.body.balance,
    }).toEqual({
      createdStatus: 201,
      creditPurchaseStatus: 'pending',
      balance: { requests_remaining: 0 },
    })
  })
})

describe('/billing by role', () => {
  const changes = [
    ['POST', '/billing/subscriptions', { plan_id: 'scale' }],
    ['POST', '/billing/subscriptions/change_plan', { new_plan_id: 'scale' }],
    ['POST', '/billing/subscriptions/cancel', undefined],
    ['POST', '/billing/subscriptions/reactivate', undefined],
    ['PATCH', '/billing/payment_methods/update', { payment_method_id: 'pm_0002' }],
    ['POST', '/billing/intents/setup', undefined],
    ['POST', '/billing/customer-portal/sessions', {}],
    ['POST', '/billing/credit_purchases', { pack_id: 'pack_10k' }],
  ] as const
  const reads = [
    '/billing/plans',
    current,
    '/billing/payment_methods',
    '/billing/invoices',
    '/billing/usage',
    '/billing/credit_packs',
  ]

  test.each([...roles])('%s: everybody reads, admins alone change', async role => {
    const instance = billingHouse()
    const { services } = instance
    const owner = instance.buyer()
    await instance.change(owner, 'starter')
    const person = instance.buyer()
    services.organizationStore.put({
      id: 'org',
      name: 'Org',
      accountId: owner.id,
      createdAt: startAt,
    })
    for (const [who, as] of [
      [owner, 'admin'],
      [person, role],
    ] as const) {
      const { id, email } = who.account.account
      services.organizationStore.putMember({
        id: `m-${id}`,
        organizationId: 'org',
        accountId: id,
        email,
        role: as,
        joinedAt: startAt,
      })
      services.keys.place(id)
    }
    for (const path of reads)
      expect((await instance.ask('GET', path, person.token)).status, path).toBe(200)
    const before = JSON.stringify(services.billing.current(owner.account))
    for (const [method, path, body] of changes) {
      const answer = await instance.ask(method, path, person.token, body)
      if (role === 'admin') expect(answer.status, path).toBeLessThan(300)
      else
        expect({ status: answer.status, code: codeOf(answer) }, path).toEqual({
          status: 403,
          code: 'FORBIDDEN_ROLE',
        })
    }
    // An admin's changes apply to the organization, and other members' attempts have no effect.
    expect(owner.account.account.plan).toBe(role === 'admin' ? 'scale' : 'starter')
    expect(JSON.stringify(services.billing.current(owner.account)) === before).toBe(
      role !== 'admin',
    )
    expect(person.account.account.plan).toBe('free')
  })
})

describe('POST /billing/customer-portal/sessions', () => {
  test('a customer portal link opens a page about its own account only and is valid for an hour', async () => {
    const instance = billingHouse()
    const [buyer, other] = [instance.buyer(), instance.buyer()]
    await instance.change(buyer, 'starter')
    await instance.change(other, 'scale')
    const answer = await instance.ask('POST', '/billing/customer-portal/sessions', buyer.token, {
      return_url: 'https://example.com/a?b=1&c=<x>',
    })
    expect({ status: answer.status, expires_at: answer.body.expires_at }).toEqual({
      status: 200,
      expires_at: '2026-11-20T16:00:00Z',
    })
    const path = answer.body.url.replace('http://localhost', '')
    const page = await instance.ask('GET', path)
    expect({
      status: page.status,
      contentSecurityPolicy: page.headers.get('content-security-policy'),
    }).toEqual({
      status: 200,
      contentSecurityPolicy: expect.stringContaining("default-src 'none'"),
    })
    expect(page.body.text).toContain('Starter plan')
    expect(page.body.text).toContain('USD 49.00')
    expect(page.body.text).toContain('href="https://example.com/a?b=1&amp;c=%3Cx%3E"')
    const [mine] = instance.services.billing.invoices.page({ accountId: buyer.id }, 1, 0)
    const [theirs] = instance.services.billing.invoices.page({ accountId: other.id }, 1, 0)
    const pdf = (id: string) =>
      instance.ask('GET', path.replace('/portal?', `/portal/invoices/${id}?`))
    expect({
      contentType: (await pdf(mine!.id)).headers.get('content-type'),
      status: (await pdf(theirs!.id)).status,
    }).toEqual({ contentType: 'application/pdf', status: 404 })
    const [text, signature] = new URLSearchParams(path.split('?')[1]).get('session')!.split('.')
    const forged = Buffer.from(
      JSON.stringify({ accountId: other.id, expiresAt: startAt + dayMs }),
    ).toString('base64url')
    for (const session of [
      `${forged}.${signature}`,
      `${text}.`,
      `${text}.${signature}x`,
      `${text}`,
      '',
      '.',
    ]) {
      const strange = await instance.ask(
        'GET',
        `/billing/portal?session=${encodeURIComponent(session)}`,
      )
      expect(strange.status).toBe(404)
      expect(strange.body.text).not.toMatch(/ plan/)
    }
    instance.clock.advance(hourMs)
    expect((await instance.ask('GET', path)).status).toBe(404)
  })
})
