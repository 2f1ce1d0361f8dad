import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, hourMs, isoInstant } from '../../../../src/lib/time/instant.ts'
import { openTestInstance, startAt, type TestInstance } from '../../../support/instance/instance.ts'

/** A value of a point, as it came to be known. */
interface Write {
  code: string
  observedAt: number
  value: number
  recordedAt: number
}

const codes = [
  'WTI_USD',
  'BRENT_CRUDE_USD',
  'EUR_USD',
  'CUSHING_STORAGE',
  'SPR_STORAGE',
  'US_CRUDE_STORAGE',
] as const
const firstDay = startAt - 40 * dayMs

/** Forty days of every code, each known an hour after it was, and what was corrected or came late. */
const histories = fc
  .record({
    walks: fc.array(fc.array(fc.integer({ min: -4, max: 4 }), { minLength: 40, maxLength: 40 }), {
      minLength: codes.length,
      maxLength: codes.length,
    }),
    corrections: fc.array(
      fc.record({
        code: fc.constantFrom(...codes),
        day: fc.nat(39),
        step: fc.integer({ min: -9, max: 9 }),
        after: fc.integer({ min: 0, max: 20 * 24 }),
        late: fc.boolean(),
      }),
      { maxLength: 40 },
    ),
  })
  .map(({ walks, corrections }) => {
    const writes: Write[] = codes.flatMap((code, n) => {
      let value = 80
      return walks[n]!.map((step, day) => {
        value = Math.max(40, value + step)
        const observedAt = firstDay + day * dayMs
        return { code, observedAt, value, recordedAt: observedAt + hourMs }
      })
    })
    for (const { code, day, step, after, late } of corrections) {
      const observedAt = firstDay + day * dayMs + (late ? 3 * hourMs : 0)
      const recordedAt = observedAt + 2 * hourMs + after * hourMs
      if (recordedAt < startAt) writes.push({ code, observedAt, value: 80 + step, recordedAt })
    }
    return writes.sort((a, b) => a.recordedAt - b.recordedAt)
  })

/** A copy that has received the writes, and whose clock stands. */
function copyOf(writes: readonly Write[], now: number): { instance: TestInstance; token: string } {
  const instance = openTestInstance({}, now)
  for (const { code, observedAt, value, recordedAt } of writes)
    instance.services.ingest.write(
      [{ seriesId: instance.services.catalogue.named(code)!.id, observedAt, value }],
      recordedAt,
    )
  return { instance, token: instance.key() }
}

const reads = [
  '/v1/prices/latest?by_code=WTI_USD',
  '/v1/prices/latest?by_code=WTI_USD,BRENT_CRUDE_USD,EUR_USD',
  '/v1/prices/past_month?by_code=WTI_USD,BRENT_CRUDE_USD&interval=raw&per_page=7&page=2',
  '/v1/prices/historical?by_code=WTI_USD&interval=raw&start_date=2026-10-22',
  '/v1/analytics/statistics?code=WTI_USD&period=30',
  '/v1/analytics/statistics?code=WTI_USD&period=10&end_date=2026-10-28',
  '/v1/analytics/trend?code=WTI_USD',
  '/v1/analytics/trend?code=WTI_USD&type=rsi',
  '/v1/analytics/trend?code=WTI_USD&type=macd',
  '/v1/analytics/trend?code=WTI_USD&type=bollinger&window=10',
  '/v1/analytics/trend?code=WTI_USD&type=atr',
  '/v1/analytics/rolling?code=WTI_USD&measure=volatility&window=5',
  '/v1/analytics/rolling?code=WTI_USD&measure=beta&benchmark=BRENT_CRUDE_USD&window=5',
  '/v1/prices/convert?by_code=WTI_USD&to_currency=EUR',
  '/v1/prices/convert?by_code=WTI_USD&to_currency=EUR&date=2026-10-20',
  '/v1/analytics/forecast?code=BRENT_CRUDE_USD&period=30',
  '/v1/analytics/correlation?code1=WTI_USD&code2=BRENT_CRUDE_USD',
  '/v1/analytics/correlation?type=matrix&codes=WTI_USD,BRENT_CRUDE_USD,EUR_USD',
  '/v1/analytics/spread?spread=wti_brent&type=historical',
  '/v1/indicators/price-context?by_code=WTI_USD',
  '/v1/spreads/basis?id=wti_brent',
  '/v1/spreads/basis/historical?id=wti_brent',
  '/v1/storage',
  '/v1/storage/cushing',
  '/v1/storage/history/CUSHING_STORAGE',
  '/v1/prices/metrics?by_code=WTI_USD,EUR_USD',
  '/v1/market-brief?codes=WTI_USD,BRENT_CRUDE_USD&narrative=true',
  '/v1/ei/oil_inventories?per_page=7&page=2',
  '/v1/ei/oil_inventories?location=Cushing&start_date=2026-10-20',
  '/v1/ei/oil_inventories/latest',
  '/v1/ei/oil_inventories/by_product',
  '/v1/ei/oil_inventories/historical',
  '/v1/ei/oil_inventories/cushing?weeks=6',
  '/v1/ei/oil_inventories/5',
] as const
const batch = { codes: ['WTI_USD', 'BRENT_CRUDE_USD'], currency: 'EUR' }

/** Where a window ends is part of its answer, regardless of who asked for it. */
const bodyOf = async (response: Response): Promise<[number, unknown]> => {
  const { request_id: _, error, ...body } = (await response.json()) as Record<string, unknown>
  const code = (error as { code?: string } | undefined)?.code
  return [response.status, error === undefined ? body : code]
}

test('every as-of read matches an instance that received only the data recorded by that moment', async () => {
  await fc.assert(
    fc.asyncProperty(
      histories,
      fc.integer({ min: 12 * 24, max: 40 * 24 }),
      async (writes, hours) => {
        const asOf = firstDay + hours * hourMs
        const whole = copyOf(writes, startAt)
        const past = copyOf(
          writes.filter(({ recordedAt }) => recordedAt <= asOf),
          asOf,
        )
        for (const path of reads) {
          whole.instance.clock.advance(1001)
          const [then, now] = [
            await bodyOf(await past.instance.get(path, past.token)),
            await bodyOf(
              await whole.instance.get(
                `${path}&as_of=${isoInstant(asOf)}`.replace(/^([^?]*)&/, '$1?'),
                whole.token,
              ),
            ),
          ]
          expect(now, path).toEqual(then)
        }
        const [then, now] = [
          await bodyOf(await past.instance.send('POST', '/v1/prices/batch', batch, past.token)),
          await bodyOf(
            await whole.instance.send(
              'POST',
              '/v1/prices/batch',
              { ...batch, as_of: isoInstant(asOf) },
              whole.token,
            ),
          ),
        ]
        expect(now).toEqual(then)
      },
    ),
    // Each run opens two instances and asks forty times.
    { numRuns: 4, endOnFailure: true },
  )
})

describe('as_of', () => {
  const { instance, token } = copyOf(
    [
      {
        code: 'WTI_USD',
        observedAt: startAt - 5 * dayMs,
        value: 70,
        recordedAt: startAt - 3 * dayMs,
      },
      {
        code: 'WTI_USD',
        observedAt: startAt - 4 * dayMs,
        value: 71,
        recordedAt: startAt - 3 * dayMs,
      },
      { code: 'WTI_USD', observedAt: startAt - 4 * dayMs, value: 72, recordedAt: startAt - dayMs },
    ],
    startAt,
  )

  test('an as_of response reports since when the instance covers revisions of the series', async () => {
    const answer = await instance.get(
      `/v1/prices/latest?by_code=WTI_USD&as_of=${isoInstant(startAt - 2 * dayMs)}`,
      token,
    )
    expect(answer.headers.get('x-vintage-as-of')).toBe(isoInstant(startAt - 2 * dayMs))
    expect(answer.headers.get('x-vintage-revision-coverage-since')).toBe(
      isoInstant(startAt - 3 * dayMs),
    )
    expect(await answer.json()).toMatchObject({ data: { price: 71 } })
  })

  test('before the coverage answers the value first recorded of what there was, and nothing later', async () => {
    const answer = await instance.get(
      `/v1/prices/latest?by_code=WTI_USD&as_of=${isoInstant(startAt - 4.5 * dayMs)}`,
      token,
    )
    expect(await answer.json()).toMatchObject({ data: { price: 70 } })
    const nothing = await instance.get(
      `/v1/prices/latest?by_code=WTI_USD&as_of=${isoInstant(startAt - 6 * dayMs)}`,
      token,
    )
    expect(nothing.status).toBe(404)
  })

  test.each([
    '/v1/ei/well-permits?as_of=2026-11-01T00:00:00Z',
    '/v1/status?as_of=2026-11-01T00:00:00Z',
    '/v1/prices/latest?as_of=2026-11-01T00:00:00Z',
    '/v1/prices/past_week?by_code=WTI_USD&interval=day&as_of=2026-11-01T00:00:00Z',
    '/v1/analytics/statistics?code=WTI_USD&as_of=2026-11-01',
  ])('%s is refused, never ignored', async path => {
    const answer = await instance.get(path, token)
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('as_of')
  })
})

test('/v1/prices/vintages has every value that a point had, with when and from whom', async () => {
  const observedAt = startAt - 4 * dayMs
  const { instance, token } = copyOf(
    [
      { code: 'WTI_USD', observedAt, value: 71, recordedAt: startAt - 3 * dayMs },
      { code: 'WTI_USD', observedAt, value: 72.125, recordedAt: startAt - dayMs },
      { code: 'WTI_USD', observedAt: observedAt + hourMs, value: 73, recordedAt: startAt - dayMs },
    ],
    startAt,
  )
  const path = '/v1/prices/vintages?by_code=WTI_USD&observed_at='
  const point = (await (await instance.get(`${path}${isoInstant(observedAt)}`, token)).json()) as {
    data: unknown
  }
  expect(point.data).toMatchObject({
    code: 'WTI_USD',
    coverage_since: isoInstant(startAt - 3 * dayMs),
    count: 1,
    points: [
      {
        observed_at: isoInstant(observedAt),
        vintages: [
          {
            value: 71,
            recorded_at: isoInstant(startAt - 3 * dayMs),
            replaced_at: isoInstant(startAt - dayMs),
            is_current: false,
          },
          {
            value: 72.125,
            recorded_at: isoInstant(startAt - dayMs),
            replaced_at: null,
            is_current: true,
          },
        ],
      },
    ],
  })
  const day = (await (await instance.get(`${path}2026-11-16`, token)).json()) as {
    data: { count: number }
  }
  expect(day.data.count).toBe(2)
  expect((await instance.get(`${path}2020-01-01`, token)).status).toBe(404)
  expect((await instance.get('/v1/prices/vintages?by_code=WTI_USD', token)).status).toBe(400)
})

test('/v1/prices/vintages returns the source of each value and the batch that wrote it', async () => {
  const { instance, token } = copyOf([], startAt)
  const admin = { authorization: `Bearer ${instance.services.adminTokens.rotate()}` }
  const at = isoInstant(startAt - dayMs)
  const row = { code: 'WTI_USD', observed_at: at }
  for (const [source, price] of [
    ['Desk A', 71],
    ['Desk B', 72],
  ] as const) {
    instance.clock.advance(1000)
    const pushed = await instance.send(
      'POST',
      '/admin/v1/observations',
      { source, observations: [{ ...row, price }] },
      undefined,
      admin,
    )
    expect(pushed.status).toBeLessThan(300)
  }
  const answer = await instance.get(`/v1/prices/vintages?by_code=WTI_USD&observed_at=${at}`, token)
  const { data } = (await answer.json()) as {
    data: { points: { vintages: { value: number; source: string; batch: number }[] }[] }
  }
  expect(
    data.points[0]!.vintages.map(({ value, source, batch }) => [value, source, batch]),
  ).toEqual([
    [71, 'Desk A', 1],
    [72, 'Desk B', 2],
  ])
})

test('as_of is exact from the moment of an earlier value that became known after the first read', async () => {
  const instance = openTestInstance()
  const { catalogue, ingest } = instance.services
  const seriesId = catalogue.named('WTI_USD')!.id
  const [wednesday, day] = [startAt - 2 * dayMs, startAt - 9 * dayMs]
  const write = (value: number, recordedAt: number, observedAt = day) =>
    ingest.write([{ seriesId, observedAt, value, recordedAt }])
  write(75, wednesday)
  write(76, wednesday, day + dayMs)
  const token = instance.key()
  const exported = async () => {
    const query = `codes=WTI_USD&as_of=${isoInstant(wednesday - hourMs)}`
    const text = await (await instance.get(`/v1/export/prices?${query}`, token)).text()
    return text
      .trim()
      .split('\n')
      .slice(1)
      .map(line => Number(line.split(',')[2]))
  }
  await exported()
  write(72, wednesday - dayMs)
  expect(await exported()).toEqual([72])
})

test('as_of has the source of an earlier value that became known after the current one', async () => {
  const instance = openTestInstance()
  const { adminTokens, catalogue, ingest } = instance.services
  const seriesId = catalogue.named('WTI_USD')!.id
  const [wednesday, observedAt] = [startAt - 2 * dayMs, startAt - 9 * dayMs]
  ingest.write([{ seriesId, observedAt, value: 75, recordedAt: wednesday }])
  const pushed = await instance.send(
    'POST',
    '/admin/v1/observations',
    {
      source: 'Desk B',
      observations: [
        {
          code: 'WTI_USD',
          observed_at: isoInstant(observedAt),
          price: 72,
          recorded_at: isoInstant(wednesday - dayMs),
        },
      ],
    },
    undefined,
    { authorization: `Bearer ${adminTokens.rotate()}` },
  )
  const { data } = (await pushed.json()) as { data: object }
  expect(data).toMatchObject({ revised: 1 })
  const query = `codes=WTI_USD&as_of=${isoInstant(wednesday - hourMs)}&columns=price,source`
  const exported = await instance.get(`/v1/export/prices?${query}`, instance.key())
  expect(await exported.text()).toBe('price,source\n72,Desk B\n')
})
