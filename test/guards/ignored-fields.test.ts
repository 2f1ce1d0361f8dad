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
    ['around the rows', { observations: [row], sources: 'Desk' }, 'sources;nearest=source'],
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

  test('is named of a line, of a dataset and of a quarantine', async () => {
    const lines = `${JSON.stringify(row)}\n${JSON.stringify({ ...row, prise: 1 })}\n`
    const ofLine = await push(lines, { 'content-type': 'application/x-ndjson' })
    expect({ status: ofLine.status, ignored: ofLine.headers.get(header) }).toEqual({
      status: 200,
      ignored: '1.prise;nearest=price',
    })
    const rows = [{ contract: 'WTI_FUTURES_2027_01', traded_on: '2026-11-19', settlement: 71.87 }]
    const dataset = await push(
      { rows, dryrun: true, dry_run: true },
      {},
      'datasets/futures-settlements',
    )
    expect({ status: dataset.status, ignored: dataset.headers.get(header) }).toEqual({
      status: 200,
      ignored: 'dryrun;nearest=dry_run',
    })
    const body = { code: 'WTI_USD', from: '2020-01-02', until: '2020-01-03', reason: 'test' }
    const days = await push(body, {}, 'quarantine')
    expect({ status: days.status, ignored: days.headers.get(header) }).toEqual({
      status: 201,
      ignored: 'until',
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
    { name: 'part.c', nearest: undefined },
  ])
  expect(knownFields({ type: 'object' })).toBe('any')
  expect(knownFields({ ...object({ a: number }), additionalProperties: number })).toBe('any')
  const rows = knownFields(object({ rows: { type: 'array', items: object({ a: number }) } }))
  expect(ignoredFields({ rows: [{ a: 1 }, { a: 1, b: 2 }] }, rows)).toEqual([
    { name: 'rows.1.b', nearest: undefined },
  ])
})

test('the bytes of a body are not its fields', () => {
  const known = knownFields({ type: 'object', properties: { a: { type: 'number' } } })
  expect(ignoredFields(new Uint8Array(100_000), known)).toEqual([])
})
