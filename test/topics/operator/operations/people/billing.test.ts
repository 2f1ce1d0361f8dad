import { describe, expect, test } from 'bun:test'
import { createApp } from '../../../../../src/instance/app/app.ts'
import { dayMs } from '../../../../../src/lib/time/instant.ts'
import { billingHouse, codeOf } from '../../../../support/topics/billing.ts'

describe('/admin/v1/invoices and /admin/v1/subscriptions', () => {
  test('lists the invoices of everybody, by status and account, and is for the operator only', async () => {
    const instance = billingHouse('serve')
    const [first, two] = [instance.buyer(), instance.buyer()]
    await instance.change(first, 'starter')
    await instance.change(two, 'scale')
    const listed = async (query = '') =>
      (await instance.operator('GET', `/admin/v1/invoices${query}`)).body.data.invoices
    expect(
      (await listed()).map((row: Record<string, unknown>) => [
        row.number,
        row.account_id,
        row.amount,
        row.status,
        row.billed_to,
      ]),
    ).toEqual([
      ['2026-000002', two.id, 39_900, 'open', two.account.account.email],
      ['2026-000001', first.id, 4900, 'open', first.account.account.email],
    ])
    expect(
      (await listed(`?account=${first.id}`)).map((row: { amount: number }) => row.amount),
    ).toEqual([4900])
    expect(await listed('?status=paid')).toEqual([])
    expect(codeOf(await instance.operator('GET', '/admin/v1/invoices?status=lost'))).toBe(
      'INVALID_PARAMETER',
    )
    for (const [method, path] of [
      ['GET', '/admin/v1/invoices'],
      ['POST', '/admin/v1/invoices'],
      ['POST', '/admin/v1/invoices/x/pay'],
      ['POST', '/admin/v1/subscriptions'],
    ] as const) {
      expect((await instance.ask(method, path, first.token, {})).status, path).toBe(401)
    }
  })

  test('a command on this machine gets addresses of the server, not of its socket', async () => {
    const instance = billingHouse('serve')
    await instance.change(instance.buyer(), 'starter')
    const local = new WeakSet<Request>()
    const app = createApp(instance.services, { local, url: () => 'http://127.0.0.1:9000' })
    const request = new Request('http://localhost/admin/v1/invoices')
    local.add(request)
    const { data } = (await (await app.fetch(request)).json()) as {
      data: { invoices: { pdf_url: string }[] }
    }
    expect(data.invoices[0]!.pdf_url).toStartWith('http://127.0.0.1:9000/billing/invoices/')
  })

  test('an open invoice is marked as paid once, and a settled invoice cannot be changed', async () => {
    const instance = billingHouse('serve')
    const buyer = instance.buyer()
    await instance.change(buyer, 'starter')
    const { id } = instance.services.billing.invoices.page({ accountId: buyer.id }, 1, 0)[0]!
    instance.clock.advance(dayMs)
    const pay = () =>
      instance.operator('POST', `/admin/v1/invoices/${id}/pay`, undefined, {
        'idempotency-key': 'once',
      })
    const paid = await pay()
    expect((await pay()).body).toEqual(paid.body)
    expect({
      paidStatus: paid.status,
      invoiceStatus: paid.body.data.invoice.status,
      paidAt: paid.body.data.invoice.paid_at,
    }).toEqual({ paidStatus: 200, invoiceStatus: 'paid', paidAt: '2026-11-21T15:00:00Z' })
    for (const deed of ['pay', 'void', 'write_off']) {
      const answer = await instance.operator('POST', `/admin/v1/invoices/${id}/${deed}`)
      expect({ status: answer.status, code: codeOf(answer) }).toEqual({
        status: 422,
        code: 'invoice_closed',
      })
    }
    expect((await instance.operator('POST', '/admin/v1/invoices/x/pay')).status).toBe(404)
    expect(
      (await instance.ask('GET', '/billing/invoices', buyer.token)).body.invoices[0].status,
    ).toBe('paid')
  })

  test('a written-off invoice can still be marked paid, but a void invoice cannot', async () => {
    const instance = billingHouse('serve')
    const buyer = instance.buyer()
    const issue = async () => {
      const body = {
        account: buyer.account.account.email,
        description: 'Futures Data',
        amount: 4900,
      }
      return (await instance.operator('POST', '/admin/v1/invoices', body)).body.data.invoice
        .id as string
    }
    const [lost, wrong] = [await issue(), await issue()]
    expect(
      (await instance.operator('POST', `/admin/v1/invoices/${lost}/write_off`)).body.data.invoice
        .status,
    ).toBe('uncollectible')
    expect(
      (await instance.operator('POST', `/admin/v1/invoices/${lost}/pay`)).body.data.invoice.status,
    ).toBe('paid')
    expect(
      (await instance.operator('POST', `/admin/v1/invoices/${wrong}/void`)).body.data.invoice
        .status,
    ).toBe('void')
    expect((await instance.operator('POST', `/admin/v1/invoices/${wrong}/pay`)).status).toBe(422)
  })

  test('the operator can issue an invoice for any item with the next number and an e-mail to the customer', async () => {
    const instance = billingHouse('serve')
    const buyer = instance.buyer('professional', { addOns: ['well_permits'] })
    const body = {
      account: buyer.id,
      description: 'Well Permits, November',
      amount: 9900,
      period_start: '2026-11-01T00:00:00Z',
      period_end: '2026-12-01T00:00:00Z',
    }
    const { status, body: created } = await instance.operator('POST', '/admin/v1/invoices', body)
    expect({ status, invoice: created.data.invoice }).toEqual({
      status: 201,
      invoice: expect.objectContaining({
        number: '2026-000001',
        amount: 9900,
        status: 'open',
        period_start: '2026-11-01T00:00:00Z',
        due_at: '2026-12-20T15:00:00Z',
        lines: [{ description: 'Well Permits, November', amount: 9900 }],
      }),
    })
    expect(
      instance.mailMessages().map(mailMessage => [mailMessage.to, mailMessage.subject]),
    ).toEqual([[buyer.account.account.email, 'Wellhead: invoice 2026-000001']])
    // The invoice does not belong to a subscription: no plan ends because of it.
    await instance.advance(200 * dayMs)
    expect(instance.plan(buyer)).toBe('professional')
    const faults = await instance.operator('POST', '/admin/v1/invoices', {
      account: 'nobody@example.com',
      amount: -5,
      period_start: 'x',
    })
    expect(faults.body.errors.map((error: { field: string }) => error.field).sort()).toEqual([
      'account',
      'amount',
      'description',
      'period_start',
    ])
  })

  test('an operator-assigned subscription replaces the current plan at an agreed price that does not change', async () => {
    const instance = billingHouse()
    const buyer = instance.buyer()
    await instance.change(buyer, 'starter')
    const body = {
      account: buyer.id,
      plan: 'enterprise',
      billing_period: 'monthly',
      price: 120_000,
    }
    const created = await instance.operator('POST', '/admin/v1/subscriptions', body)
    expect({ status: created.status, subscription: created.body.data.subscription }).toEqual({
      status: 201,
      subscription: expect.objectContaining({
        plan: 'enterprise',
        status: 'active',
        price: 120_000,
      }),
    })
    expect(instance.plan(buyer)).toBe('enterprise')
    await instance.advance(61 * dayMs)
    const amounts = instance.services.billing.invoices
      .page({ accountId: buyer.id }, 10, 0)
      .map(invoice => invoice.amountCents)
    // The first one is less by the unused time of the plan that was bought.
    expect(amounts).toEqual([120_000, 120_000, 115_100, 4900])
    // The customer may go down by themselves, not back up.
    await instance.ask('POST', '/billing/subscriptions/change_plan', buyer.token, {
      new_plan_id: 'scale',
    })
    await instance.advance(31 * dayMs)
    expect(instance.plan(buyer)).toBe('scale')
    expect(
      codeOf(
        await instance.ask('POST', '/billing/subscriptions', buyer.token, {
          plan_id: 'enterprise',
        }),
      ),
    ).toBe('invalid_plan')
  })

  const agreement = (buyer: { id: string }, more: Record<string, unknown> = {}) => ({
    account: buyer.id,
    plan: 'professional',
    price: 9900,
    ...more,
  })

  test('agreeing the running plan at the same price again returns the same subscription with 200 and invoices nothing', async () => {
    const instance = billingHouse('serve')
    const buyer = instance.buyer()
    const agree = (more = {}) =>
      instance.operator('POST', '/admin/v1/subscriptions', agreement(buyer, more))
    const first = await agree()
    const mailMessages = instance.mailMessages().length
    const events = instance.events(buyer.account).length
    const second = await agree()
    const { id } = first.body.data.subscription
    expect({
      firstStatus: first.status,
      secondStatus: second.status,
      id: second.body.data.subscription.id,
    }).toEqual({ firstStatus: 201, secondStatus: 200, id })
    expect(instance.services.billing.invoices.count({ accountId: buyer.id })).toBe(1)
    expect({
      mailMessages: instance.mailMessages().length,
      events: instance.events(buyer.account).length,
    }).toEqual({ mailMessages, events })
    // A cancellation that was pending is taken back by the new agreement, still without an invoice.
    await instance.ask('POST', '/billing/subscriptions/cancel', buyer.token)
    const third = await agree()
    expect({
      status: third.status,
      cancel_at_period_end: third.body.data.subscription.cancel_at_period_end,
    }).toEqual({ status: 200, cancel_at_period_end: false })
    expect(instance.services.billing.invoices.count({ accountId: buyer.id })).toBe(1)
  })

  test('a plan that was bought at the price of the list is agreed at that price without an invoice, and keeps it', async () => {
    const instance = billingHouse('serve')
    const buyer = instance.buyer()
    await instance.change(buyer, 'professional')
    const before = instance.services.billing.current(buyer.account)!
    const { status } = await instance.operator(
      'POST',
      '/admin/v1/subscriptions',
      agreement(buyer, { price: before.priceCents }),
    )
    const after = instance.services.billing.current(buyer.account)!
    expect({
      status,
      id: after.id,
      beforeAgreed: before.agreed,
      afterAgreed: after.agreed,
    }).toEqual({ status: 200, id: before.id, beforeAgreed: false, afterAgreed: true })
    expect(instance.services.billing.invoices.count({ accountId: buyer.id })).toBe(1)
  })

  test('the unused time of a paid subscription is a credit on the invoice of the one that replaces it, and the rest on the next ones', async () => {
    const instance = billingHouse('serve')
    const buyer = instance.buyer()
    const agree = async (more = {}) => {
      const answer = await instance.operator(
        'POST',
        '/admin/v1/subscriptions',
        agreement(buyer, more),
      )
      expect(answer.status).toBe(201)
      const { id } = answer.body.data.subscription
      return (await instance.operator('GET', `/admin/v1/subscriptions/${id}`)).body.data
        .subscription
    }
    const newest = () => instance.services.billing.invoices.page({ accountId: buyer.id }, 1, 0)[0]!
    const pay = async () => {
      if (newest().status === 'open')
        await instance.operator('POST', `/admin/v1/invoices/${newest().id}/pay`)
    }
    await agree()
    await pay()
    // Half of the 30 days from 20 November to 20 December.
    await instance.advance(15 * dayMs)
    expect((await agree({ plan: 'scale', price: 39_900 })).credit).toBe(0)
    expect(newest().lines.map(({ amountCents }) => amountCents)).toEqual([39_900, -4950])
    expect({ amountCents: newest().amountCents, currency: newest().currency }).toEqual({
      amountCents: 34_950,
      currency: 'USD',
    })
    await pay()
    // Down and up again within a day: nothing is lost but the time that passed.
    const down = await agree({ plan: 'starter', price: 4900 })
    expect({
      credit: down.credit,
      amountCents: newest().amountCents,
      status: newest().status,
    }).toEqual({ credit: 35_000, amountCents: 0, status: 'paid' })
    const up = await agree({ plan: 'scale', price: 39_900 })
    expect({
      credit: up.credit,
      amountCents: newest().amountCents,
      status: newest().status,
    }).toEqual({ credit: 0, amountCents: 0, status: 'paid' })
    const again = await agree({ plan: 'starter', price: 4900 })
    expect(again.credit).toBe(35_000)
    // The next periods use it up: 31 days from 5 December on, then month by month.
    await instance.advance(31 * dayMs)
    const { billing } = instance.services
    expect({
      creditCents: billing.current(buyer.account)!.creditCents,
      amountCents: newest().amountCents,
    }).toEqual({ creditCents: 30_100, amountCents: 0 })
    await instance.advance(7 * 31 * dayMs)
    expect(billing.current(buyer.account)!.creditCents).toBe(0)
    const sums = billing.invoices
      .page({ accountId: buyer.id }, 20, 0)
      .map(({ amountCents }) => amountCents)
      .filter(amount => amount > 0)
    expect(sums.at(-1)).toBe(9900)
    expect(sums.at(-2)).toBe(34_950)
    expect(sums.at(-3)).toBe(4200)
  })

  test('a credit of the whole price pays a subscription without a charge, and one of less does not', async () => {
    const instance = billingHouse()
    const buyer = instance.buyer()
    await instance.change(buyer, 'starter')
    await instance.ask('PATCH', '/billing/payment_methods/update', buyer.token, {
      payment_method_id: 'pm_fail',
    })
    const agree = (price: number) =>
      instance.operator('POST', '/admin/v1/subscriptions', agreement(buyer, { price }))
    expect(codeOf(await agree(4901))).toBe('payment_failed')
    expect((await agree(4900)).status).toBe(201)
  })

  test('a credit that is left when a subscription ends pays for the next one', async () => {
    for (const when of ['now', 'period_end']) {
      const instance = billingHouse('serve')
      const buyer = instance.buyer()
      const { billing } = instance.services
      const agree = (more = {}) =>
        instance.operator('POST', '/admin/v1/subscriptions', agreement(buyer, more))
      const newest = () => billing.invoices.page({ accountId: buyer.id }, 1, 0)[0]!
      await agree({ plan: 'scale', price: 39_900 })
      await instance.operator('POST', `/admin/v1/invoices/${newest().id}/pay`)
      await agree({ plan: 'starter', price: 4900 })
      const { id } = billing.current(buyer.account)!
      const cancelled = await instance.operator('POST', `/admin/v1/subscriptions/${id}/cancel`, {
        when,
      })
      expect(cancelled.body.data.subscription.credit).toBe(35_000)
      await instance.advance(40 * dayMs)
      expect({ current: billing.current(buyer.account), plan: instance.plan(buyer) }).toEqual({
        current: undefined,
        plan: 'free',
      })
      const ends = instance.mailMessages().filter(({ subject }) => subject.includes('has ended'))
      expect(ends).toHaveLength(1)
      expect({ subject: ends[0]!.subject, text: ends[0]!.text }).toEqual({
        subject: 'Wellhead: the Starter plan has ended',
        text: expect.stringContaining('The credit of USD 350.00 stays on the account'),
      })
      // Two months later the customer buys the plan themselves.
      await instance.change(buyer, 'starter')
      expect({ amountCents: newest().amountCents, status: newest().status }).toEqual({
        amountCents: 0,
        status: 'paid',
      })
      expect(newest().lines.map(({ amountCents }) => amountCents)).toEqual([4900, -4900])
      expect(billing.current(buyer.account)!.creditCents).toBe(30_100)
      expect(billing.sold.byId(id)!.creditCents).toBe(0)
    }
  })

  test('an invoice that is voided leaves no credit, and one that is kept does', async () => {
    for (const [openInvoices, credit] of [
      ['void', 0],
      ['keep', -4950],
    ] as const) {
      const instance = billingHouse('serve')
      const buyer = instance.buyer()
      const agree = (more = {}) =>
        instance.operator('POST', '/admin/v1/subscriptions', agreement(buyer, more))
      await agree()
      await instance.advance(15 * dayMs)
      expect(
        (await agree({ plan: 'scale', price: 39_900, open_invoices: openInvoices })).status,
      ).toBe(201)
      const [newest] = instance.services.billing.invoices.page({ accountId: buyer.id }, 1, 0)
      expect({ openInvoices, amountCents: newest!.amountCents }).toEqual({
        openInvoices,
        amountCents: 39_900 + credit,
      })
    }
  })

  test('another agreement asks what becomes of the open invoice of the subscription that ends', async () => {
    const instance = billingHouse('serve')
    const buyer = instance.buyer()
    const agree = (more = {}) =>
      instance.operator('POST', '/admin/v1/subscriptions', agreement(buyer, more))
    const first = await agree()
    const before = instance.services.billing.invoices.page({ accountId: buyer.id }, 9, 0)
    const refused = await agree({ price: 8900 })
    expect({
      status: refused.status,
      code: codeOf(refused),
      message: refused.body.message,
    }).toEqual({
      status: 409,
      code: 'open_invoice',
      message:
        'Invoice 2026-000001 of the running subscription is open: open_invoices must be "void", to cancel what is owed, or "keep", to leave it owed.',
    })
    expect(instance.services.billing.invoices.page({ accountId: buyer.id }, 9, 0)).toEqual(before)
    expect(instance.services.billing.current(buyer.account)!.id).toBe(
      first.body.data.subscription.id,
    )
    expect(codeOf(await agree({ price: 8900, open_invoices: 'burn' }))).toBe('validation_failed')

    const voided = await agree({ price: 8900, open_invoices: 'void' })
    const statuses = () =>
      instance.services.billing.invoices
        .page({ accountId: buyer.id }, 9, 0)
        .map(({ number, amountCents, status }) => [number, amountCents, status])
    expect(voided.status).toBe(201)
    expect(statuses()).toEqual([
      ['2026-000002', 8900, 'open'],
      ['2026-000001', 9900, 'void'],
    ])
    expect((await agree({ plan: 'scale', open_invoices: 'keep' })).status).toBe(201)
    expect(statuses().map(row => row[2])).toEqual(['open', 'open', 'void'])
    // Without open invoices the processor is not called.
    for (const invoice of instance.services.billing.invoices.page({ status: 'open' }, 9, 0))
      await instance.operator('POST', `/admin/v1/invoices/${invoice.id}/pay`)
    expect((await agree({ plan: 'professional', price: 1 })).status).toBe(201)
  })

  test('an overdue invoice of a subscription that another agreement replaced leaves the running plan alone', async () => {
    const instance = billingHouse('serve')
    const buyer = instance.buyer()
    const agree = (more = {}) =>
      instance.operator('POST', '/admin/v1/subscriptions', agreement(buyer, more))
    await agree()
    await instance.advance(dayMs)
    await agree({ plan: 'scale', price: 39_900, open_invoices: 'keep' })
    const [second, first] = instance.services.billing.invoices.page({ accountId: buyer.id }, 9, 0)
    const payNewest = async () => {
      for (const invoice of instance.services.billing.invoices.page({ status: 'open' }, 9, 0))
        if (invoice.id !== first!.id)
          await instance.operator('POST', `/admin/v1/invoices/${invoice.id}/pay`)
    }
    await instance.operator('POST', `/admin/v1/invoices/${second!.id}/pay`)
    for (let n = 0; n < 60; n += 1) {
      await instance.advance(dayMs)
      await payNewest()
      expect(instance.plan(buyer)).toBe('scale')
      expect(instance.services.billing.current(buyer.account)!.status).toBe('active')
    }
    // It is still owed: only the operator ends that.
    expect(instance.services.billing.invoices.byId(first!.id)!.status).toBe('open')
  })

  test('an overdue first invoice makes the running subscription past due, and after the days of grace ends it', async () => {
    const instance = billingHouse('serve')
    const buyer = instance.buyer()
    await instance.operator(
      'POST',
      '/admin/v1/subscriptions',
      agreement(buyer, { billing_period: 'yearly' }),
    )
    const status = () => instance.services.billing.current(buyer.account)?.status
    await instance.advance(31 * dayMs)
    expect({ status: status(), plan: instance.plan(buyer) }).toEqual({
      status: 'past_due',
      plan: 'professional',
    })
    // The same agreement again takes nothing back and adds nothing.
    const again = await instance.operator(
      'POST',
      '/admin/v1/subscriptions',
      agreement(buyer, { billing_period: 'yearly' }),
    )
    expect({ again: again.status, subscription: again.body.data.subscription.status }).toEqual({
      again: 200,
      subscription: 'past_due',
    })
    await instance.advance(14 * dayMs)
    expect({ status: status(), plan: instance.plan(buyer) }).toEqual({
      status: undefined,
      plan: 'free',
    })
    expect(
      instance.services.billing.invoices
        .page({ accountId: buyer.id }, 9, 0)
        .map(invoice => invoice.status),
    ).toEqual(['uncollectible'])
  })

  test('subscriptions and invoices are listed in pages and filtered by status, plan and account', async () => {
    const instance = billingHouse('serve')
    const buyers = [instance.buyer(), instance.buyer(), instance.buyer()]
    for (const buyer of buyers) {
      await instance.operator('POST', '/admin/v1/subscriptions', agreement(buyer))
      await instance.advance(1000)
    }
    await instance.operator(
      'POST',
      '/admin/v1/subscriptions',
      agreement(buyers[0]!, { plan: 'scale', open_invoices: 'void' }),
    )
    const list = async (query = '') =>
      (await instance.operator('GET', `/admin/v1/subscriptions${query}`)).body.data
    const names = (page: { subscriptions: Record<string, unknown>[] }) =>
      page.subscriptions.map(row => [row.account_id, row.plan, row.status])
    const [a, b, c] = buyers.map(({ id }) => id)
    expect(names(await list())).toEqual([
      [a, 'scale', 'active'],
      [c, 'professional', 'active'],
      [b, 'professional', 'active'],
      [a, 'professional', 'cancelled'],
    ])
    expect(names(await list('?status=cancelled'))).toEqual([[a, 'professional', 'cancelled']])
    expect(names(await list('?plan=scale'))).toEqual([[a, 'scale', 'active']])
    expect(names(await list(`?account=${c}`))).toEqual([[c, 'professional', 'active']])
    const paged = await list('?per_page=3&page=2')
    expect({ names: names(paged), total: paged.meta.total }).toEqual({
      names: [[a, 'professional', 'cancelled']],
      total: 4,
    })
    for (const query of ['?status=gone', '?plan=gold'])
      expect((await instance.operator('GET', `/admin/v1/subscriptions${query}`)).status).toBe(400)
    expect((await list('?plan=enterprise')).subscriptions).toEqual([])
    expect((await instance.operator('GET', '/admin/v1/subscriptions/none')).status).toBe(404)
  })

  test('cancels a subscription at the end of its period, or at once with an answer about its open invoice', async () => {
    const instance = billingHouse('serve')
    const buyer = instance.buyer()
    const created = await instance.operator('POST', '/admin/v1/subscriptions', agreement(buyer))
    const { id } = created.body.data.subscription
    const cancel = (body?: unknown) =>
      instance.operator('POST', `/admin/v1/subscriptions/${id}/cancel`, body)
    const later = await cancel()
    expect({
      status: later.status,
      cancel_at_period_end: later.body.data.subscription.cancel_at_period_end,
    }).toEqual({ status: 200, cancel_at_period_end: true })
    expect(instance.plan(buyer)).toBe('professional')
    expect(codeOf(await cancel({ when: 'now' }))).toBe('open_invoice')
    const ended = await cancel({ when: 'now', open_invoices: 'void' })
    expect({
      endedStatus: ended.status,
      subscriptionStatus: ended.body.data.subscription.status,
      plan: instance.plan(buyer),
    }).toEqual({ endedStatus: 200, subscriptionStatus: 'cancelled', plan: 'free' })
    expect(instance.services.billing.invoices.page({ accountId: buyer.id }, 9, 0)[0]!.status).toBe(
      'void',
    )
    const again = await cancel({ when: 'now' })
    expect({ status: again.status, code: codeOf(again) }).toEqual({
      status: 422,
      code: 'no_active_subscription',
    })
  })
})
