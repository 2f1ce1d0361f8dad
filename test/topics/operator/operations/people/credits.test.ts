import { describe, expect, test } from 'bun:test'
import { dayMs } from '../../../../../src/lib/time/instant.ts'
import { billingHouse } from '../../../../support/topics/billing.ts'

const codesOfFields = (body: { errors: { field: string }[] }) =>
  body.errors.map(({ field }) => field).sort()

describe('/admin/v1/accounts/{id}/credits', () => {
  test('gives requests that are there at once, once for a key of the request', async () => {
    const instance = billingHouse('serve')
    const buyer = instance.buyer('free')
    const path = `/admin/v1/accounts/${buyer.id}/credits`
    const give = () =>
      instance.operator(
        'POST',
        path,
        { requests: 3, reason: 'For Monday’s outage.' },
        { 'idempotency-key': 'once' },
      )
    const given = await give()
    expect((await give()).body).toEqual(given.body)
    expect({ status: given.status, data: given.body.data }).toEqual({
      status: 201,
      data: {
        credit: {
          id: given.body.data.credit.id,
          kind: 'gift',
          requests: 3,
          remaining: 3,
          expired: 0,
          created_at: '2026-11-20T15:00:00Z',
          expires_at: null,
        },
        balance: { requests_remaining: 3 },
      },
    })
    const packs = await instance.ask('GET', '/billing/credit_packs', buyer.token)
    expect(packs.body.balance).toEqual({ requests_remaining: 3 })
    expect(instance.services.billing.invoices.count({ accountId: buyer.id })).toBe(0)
    const { body } = await instance.ask('GET', '/v1/notifications', buyer.token)
    expect(JSON.stringify(body)).toContain('For Monday’s outage.')
  })

  test('are used when the quota is used up, those that expire first before the others', async () => {
    const instance = billingHouse('serve')
    const buyer = instance.buyer('free')
    const { meter, keys } = instance.services
    const path = `/admin/v1/accounts/${buyer.id}/credits`
    await instance.operator('POST', path, { requests: 5 })
    await instance.operator('POST', path, { requests: 2, expires_at: '2026-12-01T00:00:00Z' })
    const key = keys.find(buyer.token)!
    const { window, used } = meter.quotaUsage(key)
    for (let i = used; i < window.limit!; i += 1) meter.reserve(key)
    expect((await instance.ask('GET', '/v1/prices/latest', buyer.token)).status).toBe(200)
    const left = async () => (await instance.operator('GET', path)).body.data
    const { credits, balance } = await left()
    expect(
      credits.map((row: Record<string, unknown>) => [row.remaining, row.requests, row.expires_at]),
    ).toEqual([
      [1, 2, '2026-12-01T00:00:00Z'],
      [5, 5, null],
    ])
    expect(balance).toEqual({ requests_remaining: 6 })
    await instance.advance(30 * dayMs)
    const rest = (await left()).credits
    expect(rest.map((row: Record<string, unknown>) => [row.remaining, row.expired])).toEqual([
      [5, 0],
      [0, 1],
    ])
  })

  test('stay in the list when they are used up, page by page', async () => {
    const instance = billingHouse('serve')
    const buyer = instance.buyer('free')
    const { meter, keys } = instance.services
    const path = `/admin/v1/accounts/${buyer.id}/credits`
    for (const requests of [1, 7]) {
      await instance.operator('POST', path, { requests })
      await instance.advance(1)
    }
    const key = keys.find(buyer.token)!
    const { window, used } = meter.quotaUsage(key)
    for (let i = used; i < window.limit!; i += 1) meter.reserve(key)
    expect((await instance.ask('GET', '/v1/prices/latest', buyer.token)).status).toBe(200)
    const { data } = (await instance.operator('GET', path)).body
    expect(
      data.credits.map((row: Record<string, unknown>) => [row.requests, row.remaining]),
    ).toEqual([
      [7, 7],
      [1, 0],
    ])
    const second = (await instance.operator('GET', `${path}?per_page=1&page=2`)).body.data
    expect({
      length: second.credits.length,
      requests: second.credits[0].requests,
      total: second.meta.total,
    }).toEqual({ length: 1, requests: 1, total: 2 })
  })

  test('are recorded in the audit trail with their number', async () => {
    const instance = billingHouse('serve')
    const buyer = instance.buyer()
    await instance.operator('POST', `/admin/v1/accounts/${buyer.id}/credits`, { requests: 70 })
    const { body } = await instance.operator('GET', '/admin/v1/audit')
    expect(body.data.entries[0]).toMatchObject({
      action: 'POST /admin/v1/accounts/:id/credits',
      outcome: '201',
      details: { requests: 70 },
    })
  })

  test.each([
    [{}, ['requests']],
    [{ requests: 0 }, ['requests']],
    [{ requests: 1.5 }, ['requests']],
    [{ requests: 10, expires_at: '2026-11-20T15:00:00Z' }, ['expires_at']],
    [{ requests: '10', reason: 'x'.repeat(501) }, ['reason', 'requests']],
  ])('%j is refused by its fields and changes nothing', async (wanted, fields) => {
    const instance = billingHouse('serve')
    const buyer = instance.buyer()
    const answer = await instance.operator('POST', `/admin/v1/accounts/${buyer.id}/credits`, wanted)
    expect({ status: answer.status, codesOfFields: codesOfFields(answer.body) }).toEqual({
      status: 422,
      codesOfFields: fields,
    })
    expect(instance.services.billing.credits.balance(buyer.id)).toBe(0)
  })

  test('are for the operator only, and of accounts that there are', async () => {
    const instance = billingHouse('serve')
    const buyer = instance.buyer()
    const path = `/admin/v1/accounts/${buyer.id}/credits`
    expect((await instance.ask('POST', path, buyer.token, { requests: 5 })).status).toBe(401)
    expect((await instance.ask('GET', path, buyer.token)).status).toBe(401)
    const nobody = '/admin/v1/accounts/nobody/credits'
    expect((await instance.operator('POST', nobody, { requests: 5 })).status).toBe(404)
    expect((await instance.operator('GET', nobody)).status).toBe(404)
  })
})
