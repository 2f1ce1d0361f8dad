import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ignoredFields, knownFields } from '../../src/http/input/ignored-fields.ts'
import { type DemoInstance, demoInstance } from '../support/instance/demo-instance.ts'
import { boundless } from '../support/interface/every-route.ts'

let copy: DemoInstance
beforeAll(() => {
  copy = demoInstance(undefined, boundless)
}, 120_000)
afterAll(() => copy.remove())

const header = 'x-service-ignored-parameters'
const alert = {
  name: 'above',
  commodity_code: 'WTI_USD',
  condition_operator: 'greater_than',
  condition_value: 900,
}
const create = (body: unknown, headers: Record<string, string> = {}) =>
  copy.ask('POST', '/v1/alerts', { body, headers })
const countOfAlerts = async () =>
  Number((await copy.ask('GET', '/v1/alerts')).headers.get('x-total'))

describe('a field that an operation does not have', () => {
  test.each([
    ['bare', { ...alert, cooldown: 5 }, 'cooldown;nearest=cooldown_minutes'],
    [
      'wrapped',
      { price_alert: { ...alert, cooldown: 5 } },
      'price_alert.cooldown;nearest=cooldown_minutes',
    ],
    ['in metadata, which is the client’s', { ...alert, metadata: { desk: 'north' } }, null],
    ['absent', alert, null],
  ])('is named in the header of an alert: %s', async (_, body, named) => {
    const created = await create(body)
    expect(created.status).toBe(201)
    expect(created.headers.get(header)).toBe(named)
  })

  test('is named after a parameter of the address', async () => {
    const created = await copy.ask('POST', '/v1/alerts?dry=1', { body: { ...alert, cooldown: 5 } })
    expect(created.headers.get(header)).toBe('dry, cooldown;nearest=cooldown_minutes')
  })

  test('is refused where strict handling is preferred, and nothing is created', async () => {
    const before = await countOfAlerts()
    const refused = await create({ ...alert, cooldown: 5 }, { prefer: 'handling=strict' })
    expect(refused.status).toBe(422)
    const { errors } = (await refused.json()) as { errors: unknown[] }
    expect(errors).toEqual([
      {
        field: 'cooldown',
        message: 'cooldown is not a field of this operation. Did you mean cooldown_minutes?',
        value: null,
      },
    ])
    expect(await countOfAlerts()).toBe(before)
    expect((await create(alert, { prefer: 'handling=strict' })).status).toBe(201)
  })
})

describe('a field that a push of an operator does not have', () => {
  const push = async (body: unknown, headers: Record<string, string> = {}, path = 'observations') =>
    await copy.ask('POST', `/admin/v1/${path}`, {
      body,
      headers: { ...headers, authorization: `Bearer ${copy.adminToken}` },
    })
  const row = { code: 'WTI_USD', observed_at: '2026-11-02T15:00:00Z', price: 61 }

  test.each([
    [
      'of a row',
      { observations: [row, { ...row, curency: 'USD' }] },
      'observations.1.curency;nearest=currency',
    ],
    ['of a bare list', [{ ...row, recorded: '2026-11-02' }], '0.recorded;nearest=recorded_at'],
    ['that is there', { observations: [{ ...row, source: 'Desk' }], replace: false }, null],
  ])('is named in the header: %s', async (_, body, named) => {
    for (const path of ['observations', 'observations/compare']) {
      const answer = await push(body, {}, path)
      expect({ status: answer.status, ignored: answer.headers.get(header) }, path).toEqual({
        status: 200,
        ignored: named,
      })
    }
  })

  test('is named of a line', async () => {
    const lines = `${JSON.stringify(row)}\n${JSON.stringify({ ...row, prise: 1 })}\n`
    const ofLine = await push(lines, { 'content-type': 'application/x-ndjson' })
    expect({ status: ofLine.status, ignored: ofLine.headers.get(header) }).toEqual({
      status: 200,
      ignored: '1.prise;nearest=price',
    })
  })

  test('is refused where strict handling is preferred, and nothing is recorded', async () => {
    const refused = await push(
      { observations: [{ ...row, price: 62, curency: 'USD' }] },
      { prefer: 'handling=strict' },
    )
    expect(refused.status).toBe(422)
    expect(await refused.json()).toMatchObject({ field: 'observations.0.curency' })
    const { biggest_changes } = (
      (await (
        await push({ observations: [{ ...row, price: 62 }] }, {}, 'observations/compare')
      ).json()) as { data: { biggest_changes: unknown } }
    ).data
    expect(biggest_changes).toMatchObject([{ before: 61, after: 62 }])
  })
})

describe('a field that the body of an operator does not have', () => {
  const send = (method: string, path: string, body: unknown) =>
    copy.ask(method, `/admin/v1/${path}`, {
      body,
      headers: { authorization: `Bearer ${copy.adminToken}` },
    })
  const series = {
    code: 'DESK_HIDDEN_USD',
    name: 'For two customers',
    category: 'crude_oil',
    unit: 'barrel',
    currency: 'USD',
  }

  test.each([
    [
      'POST',
      'series',
      { ...series, accounts: ['11111111-2222-4333-8444-555555555555'] },
      'accounts',
    ],
    ['POST', 'series', { series: [series, { ...series, visible: [] }] }, 'series.1.visible'],
    [
      'POST',
      'series',
      { series: [...Array(30).fill(series), { ...series, visible: [] }] },
      'series.30.visible',
    ],
    ['PATCH', 'series/WTI_USD', { visibleTo: [] }, 'visibleTo'],
    ['POST', 'observations', { observations: [], sources: 'Desk' }, 'sources'],
    ['POST', 'datasets/futures-settlements', { rows: [], dryrun: true }, 'dryrun'],
    ['POST', 'quarantine', { code: 'WTI_USD', from: '2020-01-02', until: '2020-01-03' }, 'until'],
    ['POST', 'accounts', { email: 'typo@example.com', plans: 'scale' }, 'plans'],
    ['POST', 'tokens', { name: 'ci', rolle: 'read' }, 'rolle'],
    ['POST', 'feeds/ecb/pause', { until: '2026-12-24' }, 'until'],
    ['POST', 'accounts/1/erase', { dry_run: true }, 'dry_run'],
    ['POST', 'invoices/1/pay', { amount_cents: 50 }, 'amount_cents'],
    ['POST', 'token/rotate', { keep: true }, 'keep'],
  ])('is refused, and nothing is changed: %s %s', async (method, path, body, field) => {
    const refused = await send(method, path, body)
    expect(refused.status).toBe(422)
    expect(await refused.json()).toMatchObject({
      field,
      message: expect.stringContaining(`${field} is not a field of this operation.`),
    })
  })

  test('leaves nothing that was meant for a few', async () => {
    const listed = await send('GET', 'series', undefined)
    expect(JSON.stringify(await listed.json())).not.toContain('DESK_HIDDEN_USD')
  })
})

test('the fields of a body are those of all of its forms, and an object without a list of fields is open', () => {
  const object = (properties: object) => ({ type: 'object', properties })
  const number = { type: 'number' }
  expect(
    knownFields({ anyOf: [object({ a: number }), object({ wrapper: object({ a: number }) })] }),
  ).toEqual(
    new Map([
      ['a', new Map()],
      ['wrapper', new Map([['a', new Map()]])],
    ] as never),
  )
  const inTwoForms = knownFields({
    anyOf: [object({ part: object({ a: number }) }), object({ part: object({ b: number }) })],
  })
  expect(ignoredFields({ part: { a: 1, b: 2, c: 3 } }, inTwoForms)).toEqual([
    { name: 'part.c', nearest: undefined, owner: 'object' },
  ])
  expect(knownFields({ type: 'object' })).toBe('any')
  expect(knownFields({ ...object({ a: number }), additionalProperties: number })).toBe('any')
  const rows = knownFields(object({ rows: { type: 'array', items: object({ a: number }) } }))
  expect(ignoredFields({ rows: [{ a: 1 }, { a: 1, b: 2 }] }, rows)).toEqual([
    { name: 'rows.1.b', nearest: undefined, owner: 'item of a list' },
  ])
})

test('the bytes of a body are not its fields', () => {
  const known = knownFields({ type: 'object', properties: { a: { type: 'number' } } })
  expect(ignoredFields(new Uint8Array(100_000), known)).toEqual([])
})
