import { describe, expect, test } from 'bun:test'
import { openTestInstance } from '../../../../support/instance/instance.ts'

interface Answer {
  data: Record<string, unknown> & { name: string }[]
  errors: { field: string; message: string; value: unknown }[]
  error: Record<string, unknown>
}

const set = () => {
  const own = openTestInstance()
  const token = own.services.adminTokens.rotate()
  const send = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => {
    const response = await own.send(method, path, body, undefined, {
      authorization: `Bearer ${token}`,
      ...headers,
    })
    return { status: response.status, body: (await response.json()) as Answer }
  }
  return { own, send, futures: own.services.futures }
}
const path = '/admin/v1/datasets/futures-settlements'
const row = { contract: 'WTI_FUTURES_2027_01', traded_on: '2026-11-19', close: 71.95 }

describe('POST /admin/v1/datasets/{name}', () => {
  test('are recorded in one transaction, and counted', async () => {
    const { send, futures } = set()
    const first = await send('POST', path, { rows: [row, { ...row, contract: 'CL.3' }] })
    expect({ status: first.status, data: first.body.data }).toMatchObject({
      status: 200,
      data: { received: 2, inserted: 2, revised: 0, unchanged: 0, dry_run: false },
    })
    const again = await send('POST', path, { rows: [row, { ...row, contract: 'CL.3', close: 71 }] })
    expect(again.body.data).toMatchObject({ inserted: 0, revised: 1, unchanged: 1 })
    expect(futures.quotes('WTI_FUTURES').map(quote => [quote.day.month, quote.day.close])).toEqual([
      ['2027-01', 71.95],
      ['2027-02', 71],
    ])
  })

  test('are refused as a whole when one is wrong, and every fault is named', async () => {
    const { send, futures } = set()
    const { status, body } = await send('POST', path, {
      rows: [row, { ...row, close: 'x' }, 7, { ...row, contract: 'X' }],
    })
    expect([status, body.errors.map(error => error.field)]).toEqual([
      422,
      ['rows.1.close', 'rows.2.traded_on', 'rows.3.contract'],
    ])
    expect(body.errors[0]).toMatchObject({
      message: expect.stringContaining('close x is not a number'),
      value: 'x',
    })
    expect(futures.quotes('WTI_FUTURES')).toEqual([])
  })

  test('are only judged in a dry run', async () => {
    const { send, futures } = set()
    expect((await send('POST', path, { rows: [row], dry_run: true })).body.data).toMatchObject({
      received: 1,
      inserted: 0,
      dry_run: true,
    })
    expect(
      (await send('POST', path, { rows: [{ ...row, close: 'x' }], dry_run: true })).status,
    ).toBe(422)
    expect(futures.quotes('WTI_FUTURES')).toEqual([])
  })

  test('come as a list or as lines too', async () => {
    const { send } = set()
    expect((await send('POST', path, [row])).body.data).toMatchObject({ received: 1, inserted: 1 })
    const lines = `${JSON.stringify(row)}\n\n${JSON.stringify({ ...row, contract: 'CL.4' })}\n`
    const { body } = await send('POST', path, lines, { 'content-type': 'application/x-ndjson' })
    expect(body.data).toMatchObject({ received: 2, inserted: 1, unchanged: 1 })
    const broken = await send('POST', path, '{"contract":\n', {
      'content-type': 'application/x-ndjson',
    })
    expect({ status: broken.status, code: broken.body.error.code }).toEqual({
      status: 400,
      code: 'MALFORMED_JSON',
    })
  })

  const refused: [string, unknown, number][] = [
    ['no list', { rows: {} }, 422],
    ['nothing', {}, 422],
    ['a dry_run that is not a boolean', { rows: [], dry_run: 'yes' }, 422],
    ['more than 5000', { rows: Array.from({ length: 5001 }, () => row) }, 413],
  ]
  for (const [name, body, status] of refused) {
    test(`${name} is refused with ${status}`, async () => {
      expect((await set().send('POST', path, body)).status).toBe(status)
    })
  }

  test('pushing to an unknown dataset returns 404, and only the operator can push to datasets', async () => {
    const { own, send } = set()
    expect((await send('POST', '/admin/v1/datasets/nope', { rows: [] })).status).toBe(404)
    expect((await own.send('POST', path, { rows: [row] }, own.key())).status).toBe(401)
  })
})

test('the dataset list describes the fields that each dataset accepts', async () => {
  const { body } = await set().send('GET', '/admin/v1/datasets')
  const names = body.data.map(dataset => dataset.name)
  expect(names).toContain('futures-settlements')
  expect(names).toContain('futures-ticks')
  expect(body.data.find(dataset => dataset.name === 'futures-settlements')).toMatchObject({
    key: ['contract', 'traded_on'],
    wide: { name: 'contract', value: 'close' },
    example: expect.stringContaining('contract,traded_on'),
  })
})
