import { describe, expect, test } from 'bun:test'
import { dayMs } from '../../../../src/lib/time/instant.ts'
import { billingHouse, codeOf } from '../../../support/topics/billing.ts'

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

  test('marks an open invoice once; what is settled stays', async () => {
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
    expect([paid.status, paid.body.data.invoice.status, paid.body.data.invoice.paid_at]).toEqual([
      200,
      'paid',
      '2026-11-21T15:00:00Z',
    ])
    for (const deed of ['pay', 'void', 'write_off']) {
      const answer = await instance.operator('POST', `/admin/v1/invoices/${id}/${deed}`)
      expect([answer.status, codeOf(answer)]).toEqual([422, 'invoice_closed'])
    }
    expect((await instance.operator('POST', '/admin/v1/invoices/x/pay')).status).toBe(404)
    expect(
      (await instance.ask('GET', '/billing/invoices', buyer.token)).body.invoices[0].status,
    ).toBe('paid')
  })

  test('what was written off may be paid after all, and what is void may not', async () => {
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

  test('issues an invoice for anything, with the next number and a letter to who owes it', async () => {
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
    expect([status, created.data.invoice]).toEqual([
      201,
      expect.objectContaining({
        number: '2026-000001',
        amount: 9900,
        status: 'open',
        period_start: '2026-11-01T00:00:00Z',
        due_at: '2026-12-20T15:00:00Z',
        lines: [{ description: 'Well Permits, November', amount: 9900 }],
      }),
    ])
    expect(instance.letters().map(letter => [letter.to, letter.subject])).toEqual([
      [buyer.account.account.email, 'Wellhead: invoice 2026-000001'],
    ])
    // It is no subscription's: nobody loses a plan by it.
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

  test('puts an account on a plan at an agreed price that stays, in place of what it had', async () => {
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
    expect([created.status, created.body.data.subscription]).toEqual([
      201,
      expect.objectContaining({ plan: 'enterprise', status: 'active', price: 120_000 }),
    ])
    expect(instance.plan(buyer)).toBe('enterprise')
    await instance.advance(61 * dayMs)
    const amounts = instance.services.billing.invoices
      .page({ accountId: buyer.id }, 10, 0)
      .map(invoice => invoice.amountCents)
    expect(amounts).toEqual([120_000, 120_000, 120_000, 4900])
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
})
