import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { remove, run, type Server, start, temporaryDir } from '../../support/instance/binary.ts'

/** Real time passes: many of these requests come within one millisecond of another. */
describe('the moment that a write of the binary answers', () => {
  const dir = temporaryDir()
  const data = join(dir, 'data')
  const day = '2026-11-20'
  let server: Server
  beforeAll(async () => {
    server = await start('serve', dir)
  })
  afterAll(async () => {
    server.process.kill('SIGKILL')
    await server.process.exited
    remove(dir)
  })

  interface Answer {
    data: Record<string, unknown> & { recorded_at: string; batch: number }
  }
  const operate = async (method: string, path: string, body: unknown): Promise<Answer['data']> => {
    const answer = await fetch(`${server.url}/admin/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${server.adminToken}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    })
    expect(answer.status, path).toBe(200)
    return ((await answer.json()) as Answer).data
  }
  const push = (price: number, code = 'WTI_USD') =>
    operate('POST', '/observations', { observations: [{ code, observed_at: day, price }] })
  const latest = async (asOf: number, code = 'WTI_USD') => {
    const at = new Date(asOf).toISOString()
    const answer = await server.get(`/v1/prices/latest?by_code=${code}&as_of=${at}`)
    return ((await answer.json()) as { data?: { price: number } }).data?.price
  }
  /** Each value is there from the moment on that was answered, and the one before it until then. */
  const expectReplayed = async (
    writes: readonly { at: number; value: number | undefined }[],
    valueAt: (at: number) => Promise<number | undefined>,
  ) => {
    const wrong: unknown[] = []
    for (const [i, { at, value }] of writes.entries()) {
      const before = writes[i - 1]
      const answered = [await valueAt(at), before && (await valueAt(at - 1))]
      const expected = [value, before?.value]
      if (!Bun.deepEquals(answered, expected)) wrong.push({ i, at, answered, expected })
    }
    expect(wrong).toEqual([])
  }

  test('has the value of each of 1,000 pushes, and a millisecond earlier the one before', async () => {
    const writes: { at: number; value: number }[] = []
    for (let i = 0; i < 1000; i += 1) {
      const value = 70 + (i % 100) / 100
      const { recorded_at: recordedAt } = await push(value)
      writes.push({ at: Date.parse(recordedAt), value })
    }
    await expectReplayed(writes, at => latest(at))
  }, 120_000)

  test('has the value of corrections, deletions and undos, with pushes in between', async () => {
    const code = 'BRENT_CRUDE_USD'
    const named = { code, observed_at: day, reason: 'test' }
    const writes: { at: number; value: number | undefined }[] = []
    const note = ({ recorded_at: at }: Answer['data'], value: number | undefined) =>
      writes.push({ at: Date.parse(at), value })
    // Only what was known before there was any value has no value before it.
    await push(74, code)
    for (let i = 0; i < 50; i += 1) {
      const value = 75 + i / 100
      note(await push(value, code), value)
      const corrected = await operate('PATCH', '/values', { ...named, price: value + 1 })
      note(corrected, value + 1)
      note(await operate('POST', `/batches/${corrected.batch}/undo`, {}), value)
      const deleted = await operate('DELETE', '/values', named)
      note(deleted, undefined)
      note(await operate('POST', `/batches/${deleted.batch}/undo`, {}), value)
    }
    await expectReplayed(writes, at => latest(at, code))
  }, 120_000)

  test('has the row of each of 200 pushes of a dataset, and a millisecond earlier the one before', async () => {
    const writes: { at: number; value: number }[] = []
    for (let i = 0; i < 200; i += 1) {
      const value = 70 + (i % 100) / 100
      const { recorded_at: recordedAt } = await operate('POST', '/datasets/futures-settlements', {
        rows: [
          { contract: 'WTI_FUTURES_2027_01', traded_on: day, close: value, settlement: value },
        ],
      })
      writes.push({ at: Date.parse(recordedAt), value })
    }
    await expectReplayed(writes, async at => {
      const asOf = new Date(at).toISOString()
      const answer = await server.get(`/v1/futures/wti/curve?as_of=${asOf}`)
      const body = (await answer.json()) as {
        curve?: { contracts: { price: number }[] }
        contracts?: { price: number }[]
      }
      return (body.curve?.contracts ?? body.contracts)?.[0]?.price
    })
  }, 120_000)

  test('has the values of an import', async () => {
    const path = join(dir, 'prices.csv')
    await Bun.write(path, `code,observed_at,price\nNATURAL_GAS_USD,${day},3.05\n`)
    const { code, out } = await run('import', '--data', data, '--json', path)
    expect(code).toBe(0)
    const { recorded_at: recordedAt } = JSON.parse(out) as { recorded_at: string }
    expect(await latest(Date.parse(recordedAt), 'NATURAL_GAS_USD')).toBe(3.05)
    await Bun.write(path, `code,observed_at,price\nNATURAL_GAS_USD,${day},3.06\n`)
    const again = await run('import', '--data', data, '--json', path)
    const at = Date.parse((JSON.parse(again.out) as { recorded_at: string }).recorded_at)
    expect([await latest(at, 'NATURAL_GAS_USD'), await latest(at - 1, 'NATURAL_GAS_USD')]).toEqual([
      3.06, 3.05,
    ])
  }, 60_000)

  test('is not required of history imported later: futures are known from their own dates, as prices are', async () => {
    const prices = join(dir, 'history.csv')
    await Bun.write(
      prices,
      'code,observed_at,price\nDUBAI_CRUDE_USD,2019-12-30,66\nDUBAI_CRUDE_USD,2020-01-02,67\n',
    )
    const settlements = join(dir, 'settlements.csv')
    // The last trading day of January Brent was 29 November, of February 30 December.
    await Bun.write(
      settlements,
      `contract,traded_on,settlement\n${[
        ['2020_02', '2019-12-27', 68.16],
        ['2020_02', '2019-12-30', 68.44],
        ['2020_03', '2019-12-30', 66.67],
        ['2020_03', '2019-12-31', 66],
        ['2020_03', '2020-01-02', 66.25],
      ]
        .map(([month, day, price]) => `BRENT_FUTURES_${month},${day},${price}`)
        .join('\n')}\n`,
    )
    expect(await run('import', '--data', data, prices)).toMatchObject({ code: 0 })
    expect(
      await run('import', '--data', data, '--dataset', 'futures-settlements', settlements),
    ).toMatchObject({ code: 0 })
    const asOf = Date.parse('2019-12-31T23:00:00Z')
    expect(await latest(asOf, 'DUBAI_CRUDE_USD')).toBe(66)
    const ask = async (path: string) => {
      const answer = await server.get(
        `/v1/futures/brent/${path}as_of=${new Date(asOf).toISOString()}`,
      )
      const body = await answer.text()
      expect(answer.status, `${path} ${body}`).toBe(200)
      return JSON.parse(body) as Record<string, unknown>
    }
    expect(await ask('continuous?')).toMatchObject({
      contract: 'BRENT_FUTURES_2020_03',
      prices: [
        { date: '2019-12-31', price: 66, active_contract: 'BRENT_FUTURES_2020_03' },
        { date: '2019-12-30', price: 68.44, active_contract: 'BRENT_FUTURES_2020_02' },
        { date: '2019-12-27', price: 68.16, active_contract: 'BRENT_FUTURES_2020_02' },
      ],
    })
    expect(await ask('historical?from=2019-12-27&')).toMatchObject({ count: 3 })
    expect(await ask('curve?')).toMatchObject({
      analysis_date: '2019-12-31',
      front_month: { contract: 'BRENT_FUTURES_2020_03', price: 66 },
    })
  }, 60_000)
})
