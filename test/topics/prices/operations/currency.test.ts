import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs, isoDay, isoInstant } from '../../../../src/lib/time/instant.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'

type Row = Record<string, unknown>

const day = (daysAgo: number) => startAt - daysAgo * dayMs
const on = (daysAgo: number) => isoDay(day(daysAgo))

/** Values of codes by how many days ago they were observed. */
function copyOf(values: Record<string, Record<number, number>>) {
  const instance = openTestInstance()
  const token = instance.key()
  for (const [code, byDay] of Object.entries(values)) {
    const seriesId = instance.services.catalogue.named(code)!.id
    instance.services.ingest.write(
      Object.entries(byDay).map(([daysAgo, value]) => ({
        seriesId,
        observedAt: day(Number(daysAgo)),
        value,
      })),
    )
  }
  const rows = async (query: string): Promise<Row[]> => {
    const answer = await instance.get(`/v1/prices/${query}`, token)
    const body = (await answer.json()) as { data: { prices: Row[] } }
    expect(answer.status, JSON.stringify(body)).toBe(200)
    return body.data.prices
  }
  return { instance, token, rows }
}

describe('currency of windows', () => {
  test('window currency conversion uses the rate of the day of each row and reports that rate', async () => {
    const { rows } = copyOf({
      WTI_USD: { 4: 70, 3: 71, 2: 72 },
      EUR_USD: { 5: 1.1, 3: 1.25 },
    })
    const answered = await rows('past_week?by_code=WTI_USD&interval=raw&currency=eur')
    expect(
      answered.map(row => [row.price, row.currency, row.original_price, row.fx_rate, row.fx_on]),
    ).toEqual([
      [57.6, 'EUR', 72, 0.8, on(3)],
      [56.8, 'EUR', 71, 0.8, on(3)],
      [63.64, 'EUR', 70, 0.9090909091, on(5)],
    ])
    expect(answered[0]).toMatchObject({ original_currency: 'USD', original_unit: 'barrel' })
  })

  test('crosses through USD where no series pairs the two, with the older of the days', async () => {
    const { rows } = copyOf({
      DUTCH_TTF_EUR: { 2: 40 },
      EUR_USD: { 3: 1.2 },
      GBP_USD: { 2: 1.5 },
    })
    const [row] = await rows('past_week?by_code=DUTCH_TTF_EUR&interval=raw&currency=GBP')
    expect({ price: row!.price, fx_rate: row!.fx_rate, fx_on: row!.fx_on }).toEqual({
      price: 32,
      fx_rate: 0.8,
      fx_on: on(3),
    })
  })

  test('converts every number of a bar at the rate of its last day', async () => {
    const { rows } = copyOf({
      WTI_USD: { 2: 60, 1.9: 80, 1.8: 70 },
      EUR_USD: { 3: 1.25, 1: 2 },
    })
    const [bar] = await rows('past_week?by_code=WTI_USD&interval=day&currency=EUR')
    expect(bar).toMatchObject({
      open: 48,
      high: 64,
      low: 48,
      price: 56,
      average: 56,
      sample_count: 3,
      fx_on: on(3),
    })
  })

  test('takes pence by the hundred', async () => {
    const { rows } = copyOf({ NATURAL_GAS_GBP: { 1: 100 }, GBP_USD: { 2: 1.25 } })
    const [row] = await rows('past_week?by_code=NATURAL_GAS_GBP&interval=raw&currency=USD')
    expect({ price: row!.price, unit: row!.unit, original_unit: row!.original_unit }).toEqual({
      price: 1.25,
      unit: 'therm',
      original_unit: 'pence_per_therm',
    })
  })

  test('window currency conversion leaves non-monetary values unchanged, including in tables', async () => {
    const { instance, token } = copyOf({
      WTI_USD: { 1: 70 },
      CUSHING_STORAGE: { 2: 24.6 },
      EUR_USD: { 3: 1.25 },
    })
    const answer = await instance.get(
      '/v1/prices/past_week?by_code=WTI_USD,CUSHING_STORAGE&interval=raw&currency=EUR&format=csv',
      token,
    )
    const [header, ...lines] = (await answer.text()).trimEnd().split('\n')
    const columns = header!.split(',')
    const tables = lines.map(line => line.split(','))
    expect(tables.map(cells => cells.length)).toEqual([columns.length, columns.length])
    const cell = (line: number, column: string) => tables[line]![columns.indexOf(column)]
    expect([cell(0, 'price'), cell(0, 'original_price'), cell(0, 'fx_on')]).toEqual([
      '56',
      '70',
      on(3),
    ])
    expect([cell(1, 'price'), cell(1, 'original_price'), cell(1, 'fx_on')]).toEqual([
      '24.6',
      '',
      '',
    ])
  })

  test('window currency conversion is refused for unknown currencies and for dates before the first rate', async () => {
    const { instance, token } = copyOf({ WTI_USD: { 4: 70 }, EUR_USD: { 2: 1.25 } })
    for (const [currency, words] of [
      ['EUR', `No exchange rate from USD to EUR is available for a price of ${on(4)}`],
      ['XYZ', 'must be a currency with an exchange rate'],
    ]) {
      const answer = await instance.get(
        `/v1/prices/past_week?by_code=WTI_USD&interval=raw&currency=${currency}`,
        token,
      )
      expect({ status: answer.status, text: await answer.text() }).toEqual({
        status: 400,
        text: expect.stringContaining(words!),
      })
    }
  })

  test('a window in another currency is refused where the rate is more than seven days older than a price', async () => {
    const { instance, token, rows } = copyOf({
      WTI_USD: { 3: 71, 2: 72 },
      EUR_USD: { 10: 1.25 },
    })
    const path = 'historical?by_code=WTI_USD&interval=raw&currency=EUR'
    const [row] = await rows(`${path}&end_date=${on(3)}`)
    expect([row!.price, row!.fx_on]).toEqual([56.8, on(10)])
    const answer = await instance.get(`/v1/prices/${path}`, token)
    expect({ status: answer.status, text: await answer.text() }).toEqual({
      status: 400,
      text: expect.stringContaining(
        `No exchange rate from USD to EUR is available for a price of ${on(2)}.`,
      ),
    })
  })

  test('a newest price is not converted at a rate that is more than seven days older', async () => {
    const { instance, token } = copyOf({
      WTI_USD: { 1: 70 },
      DUTCH_TTF_EUR: { 9: 40 },
      EUR_USD: { 9: 1.25 },
    })
    const batch = (code: string, currency: string) =>
      instance.send('POST', '/v1/prices/batch', { codes: [code], currency }, token)
    const convert = (code: string, currency: string) =>
      instance.get(`/v1/prices/convert?by_code=${code}&to_currency=${currency}`, token)
    for (const request of [batch, convert]) {
      const refused = await request('WTI_USD', 'EUR')
      expect({ status: refused.status, text: await refused.text() }).toEqual({
        status: 400,
        text: expect.stringContaining(
          `WTI_USD: No exchange rate from USD to EUR is available for a price of ${on(1)}.`,
        ),
      })
      // A price of the day of the rate is converted, however old both are.
      expect((await request('DUTCH_TTF_EUR', 'USD')).status).toBe(200)
    }
  })

  test('an as_of currency conversion uses the rate known at that moment and states since when it is known', async () => {
    const { instance, token } = copyOf({})
    const write = (code: string, value: number, madeAt: number, recordedAt: number) =>
      instance.services.ingest.write(
        [{ seriesId: instance.services.catalogue.named(code)!.id, observedAt: madeAt, value }],
        recordedAt,
      )
    write('WTI_USD', 70, day(6), day(6) + hourMs)
    write('EUR_USD', 1.4, day(6), day(5))
    write('EUR_USD', 1.25, day(6), day(3))
    const priceAt = async (asOf: number) => {
      const answer = await instance.get(
        `/v1/prices/historical?by_code=WTI_USD&interval=raw&currency=EUR&as_of=${isoInstant(asOf)}`,
        token,
      )
      const { data } = (await answer.json()) as { data: { prices: Row[] } }
      return [
        data.prices[0]!.price,
        answer.headers.get('x-vintage-revision-coverage-since'),
      ] as const
    }
    expect(await priceAt(day(4))).toEqual([50, isoInstant(day(5))])
    expect(await priceAt(day(2))).toEqual([56, isoInstant(day(5))])
  })
})

describe('precision=full', () => {
  const stored = 71.87654321098765
  const { instance, token, rows } = copyOf({
    WTI_USD: { 1: stored, 0.9: 72.1 },
    EUR_USD: { 2: 1.25 },
  })
  const dataOf = async (path: string) =>
    ((await (await instance.get(path, token)).json()) as { data: Row }).data

  test.each(['past_week', 'past_month', 'past_year', 'historical', on(1)])(
    'answers every stored digit of %s',
    async path => {
      const separator = `${path}?by_code=WTI_USD&interval=raw`
      expect((await rows(`${separator}&precision=full`)).map(row => row.price)).toContain(stored)
      expect((await rows(separator)).map(row => row.price)).toContain(71.88)
    },
  )

  test('answers every digit of bars, and of converted prices', async () => {
    const [bar] = await rows('past_week?by_code=WTI_USD&interval=day&precision=full')
    expect(bar).toMatchObject({ open: stored, low: stored, average: (stored + 72.1) / 2 })
    const converted = await rows(
      'past_week?by_code=WTI_USD&interval=raw&precision=full&currency=EUR',
    )
    expect(converted.at(-1)).toMatchObject({ price: stored * 0.8, original_price: stored })
    expect(converted.at(-1)!.formatted).toContain('57.50')
  })

  test('of latest, lists of them, all of them, a batch, a chart and metrics', async () => {
    const newest = 70.000000001
    instance.record('BRENT_CRUDE_USD', [newest], startAt, dayMs)
    const latest = (query: string) => dataOf(`/v1/prices/latest${query}`)
    const brent = { price: newest }
    expect(await latest('?by_code=BRENT_CRUDE_USD&precision=full')).toMatchObject(brent)
    expect(await latest('?by_code=BRENT_CRUDE_USD')).toMatchObject({ price: 70 })
    for (const query of [
      '?precision=full',
      '?by_code=WTI_USD,BRENT_CRUDE_USD&precision=full',
      `?by_code=BRENT_CRUDE_USD,WTI_USD&precision=full&as_of=${isoInstant(startAt)}`,
    ])
      expect((await latest(query)).prices).toContainEqual(
        expect.objectContaining({ code: 'BRENT_CRUDE_USD', ...brent }),
      )
    const body = { codes: ['BRENT_CRUDE_USD'], precision: 'full', currency: 'EUR' }
    const batch = (await (await instance.send('POST', '/v1/prices/batch', body, token)).json()) as {
      data: { prices: Row[] }
    }
    expect(batch.data.prices[0]).toMatchObject({ price: newest * 0.8, original_price: newest })
    const chart = await dataOf('/v1/prices/chart?code=BRENT_CRUDE_USD&interval=day&precision=full')
    expect({ close: chart.close, open: chart.open }).toEqual({ close: [newest], open: [newest] })
    const metrics = await dataOf('/v1/prices/metrics?by_code=BRENT_CRUDE_USD&precision=full')
    expect((metrics.metrics as Row[])[0]).toMatchObject({ current: newest, average_7d: newest })
  })

  test('of changes too, in the decimals of the prices that they are between', async () => {
    const { instance, token } = copyOf({
      WTI_USD: { 9: 70.00123, 1.5: 75.1, 0: 71.23 },
      EUR_USD: { 1: 1.25 },
    })
    const latest = async (query: string) => {
      const answer = await instance.get(`/v1/prices/latest?by_code=WTI_USD${query}`, token)
      return ((await answer.json()) as { data: Row }).data
    }
    expect(await latest('&precision=full')).toMatchObject({
      price: 71.23,
      change_24h: -3.87,
      changes: {
        '24h': { amount: -3.87, percent: -5.15, previous_price: 75.1 },
        '7d': { amount: 1.22877, percent: 1.76, previous_price: 70.00123 },
      },
    })
    expect((await latest('')).changes).toMatchObject({
      '7d': { amount: 1.23, percent: 1.76, previous_price: 70 },
    })
    const body = { codes: ['WTI_USD'], precision: 'full', currency: 'EUR' }
    const batch = (await (await instance.send('POST', '/v1/prices/batch', body, token)).json()) as {
      data: { prices: { changes: Row }[] }
    }
    expect(batch.data.prices[0]!.changes).toMatchObject({
      '7d': { amount: 1.22877 * 0.8, previous_price: 70.00123 * 0.8 },
    })
  })

  test.each([
    '/v1/prices/latest?by_code=WTI_USD&precision=all',
    '/v1/prices/past_week?by_code=WTI_USD&precision=all',
    '/v1/prices/chart?code=WTI_USD&precision=all',
  ])('%s is refused', async path => {
    const answer = await instance.get(path, token)
    expect({ status: answer.status, text: await answer.text() }).toEqual({
      status: 400,
      text: expect.stringContaining('rounded'),
    })
  })
})
