import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayMs, hourMs, minuteMs } from '../../../../src/lib/time/instant.ts'
import type { Point } from '../../../../src/topics/prices/store/observations.ts'
import { startAt } from '../../../support/instance/instance.ts'
import {
  type Answer,
  bodyOf,
  openWindowInstance,
  type Row,
} from '../../../support/topics/windows.ts'

describe('GET /v1/prices/past_* and historical: walking all pages while data is written', () => {
  const codes = ['BRENT_CRUDE_USD', 'FORTIES_USD', 'WTI_USD']
  const start = startAt - 6 * dayMs
  /**
   * Hours of the six days before now, as the fractions of an hour keep written rows apart from
   * those of the beginning.
   */
  const rowsAt = (hours: readonly number[], value: number): Omit<Point, 'seriesId'>[] =>
    hours.map(hour => ({ observedAt: Math.round(start + hour * hourMs), value }))
  const hours = fc.uniqueArray(fc.integer({ min: 0, max: 6 * 24 }), { minLength: 5, maxLength: 40 })
  const events = fc.record({
    code: fc.constantFrom(...codes),
    // Between the rows of the beginning, on them, and after all of them.
    hour: fc.oneof(
      fc.integer({ min: 0, max: 6 * 24 }).map(hour => hour + 0.5),
      fc.integer({ min: 0, max: 6 * 24 }),
      fc.constant(6 * 24 + 0.25),
    ),
    minutesLater: fc.constantFrom(0, 0, 1, 4),
  })
  const stories = fc.record({
    first: fc.record(Object.fromEntries(codes.map(code => [code, hours]))),
    events: fc.array(fc.array(events, { maxLength: 3 }), { minLength: 5, maxLength: 25 }),
    requestedCodes: fc.shuffledSubarray(codes, { minLength: 1 }),
    perPage: fc.integer({ min: 1, max: 5 }),
    query: fc.constantFrom(
      'past_week?interval=raw',
      'past_week?interval=day',
      'past_week?interval=1h',
      'historical?start_date=2026-11-01&interval=day',
      'historical?start_date=2026-11-14&end_date=2026-11-21&interval=raw',
      'past_day?days=9&interval=day',
    ),
  })
  const keyOf = (row: Row) => `${row.code} ${row.bucket_start ?? row.created_at}`
  const nextLink = (headers: Headers) =>
    /<http:\/\/localhost([^>]+)>; rel="next"/.exec(headers.get('link')!)?.[1]

  for (const way of ['page=N', 'Link'] as const) {
    test(`by ${way} neither repeats nor loses a row of its beginning`, async () => {
      await fc.assert(
        fc.asyncProperty(
          stories,
          async ({ first, events: happening, requestedCodes, perPage, query }) => {
            const instance = openWindowInstance()
            const put = (code: string, rows: Omit<Point, 'seriesId'>[]) =>
              instance.services.ingest.write(
                rows.map(row => ({ ...row, seriesId: instance.series(code).id })),
              )
            for (const code of codes) {
              // Read before it is complete, as the clock stands still: what comes then is recorded a
              // moment later.
              const [some, rest] = [first[code]!.slice(0, 3), first[code]!.slice(3)]
              put(code, rowsAt(some, 70))
              await instance.ask(`past_day?by_code=${code}`)
              put(code, rowsAt(rest, 70))
            }
            const base = `${query}&by_code=${requestedCodes.join(',')}`
            const whole = await instance.ask(base)
            expect(whole.body.meta.total_pages).toBeLessThanOrEqual(2)
            const expected = [...whole.rows, ...(await instance.ask(`${base}&page=2`)).rows].map(
              keyOf,
            )
            expect(expected).toHaveLength(whole.body.meta.total)

            const walked: string[] = []
            let path: string | undefined = `/v1/prices/${base}&per_page=${perPage}&page=1`
            for (let page = 1; path; page++) {
              const answer: Answer = await instance.ask(path)
              walked.push(...answer.rows.map(keyOf))
              expect(answer.body.meta.total).toBe(expected.length)
              const next: string | undefined = answer.body.meta.has_next
                ? `/v1/prices/${base}&per_page=${perPage}&page=${page + 1}`
                : undefined
              path = way === 'Link' ? nextLink(answer.headers) : next
              for (const { code, hour, minutesLater } of happening[page] ?? []) {
                instance.clock.advance(minutesLater * minuteMs)
                put(code, rowsAt([hour], 70 + page))
              }
            }
            expect(walked).toEqual(expected)
          },
        ),
        { numRuns: 20 },
      )
    }, 30_000)
  }

  test('pages asked for all at once after the first are the pages of that moment', async () => {
    const instance = openWindowInstance()
    instance.record(
      'FORTIES_USD',
      Array.from({ length: 90 }, (_, i) => i),
      startAt,
      7 * hourMs,
    )
    const base = 'past_month?by_code=FORTIES_USD&per_page=10'
    const all = (await instance.ask('past_month?by_code=FORTIES_USD')).rows.map(keyOf)
    const first = await instance.ask(`${base}&page=1`)
    instance.record('FORTIES_USD', Array(20).fill(1), startAt - minuteMs, 11 * hourMs)
    instance.clock.advance(minuteMs)
    instance.record('FORTIES_USD', [1], startAt + minuteMs, minuteMs)
    const rest = await Promise.all(
      [9, 5, 2, 7, 3, 8, 4, 6].map(page => instance.ask(`${base}&page=${page}`)),
    )
    const rows = [first, ...rest]
      .sort((a, b) => a.body.meta.page - b.body.meta.page)
      .flatMap(answer => answer.rows.map(keyOf))
    expect(rows).toEqual(all)
  })

  test('the range that is answered is that of the first page', async () => {
    const instance = openWindowInstance()
    instance.record('WTI_USD', [1, 2, 3], startAt, hourMs)
    const first = await instance.ask('past_day?by_code=WTI_USD&per_page=1')
    instance.clock.advance(10 * minuteMs)
    const second = await instance.ask('past_day?by_code=WTI_USD&per_page=1&page=2')
    const rangeOf = ({ body }: Answer) => [body.data.metadata.from, body.data.metadata.to]
    expect(rangeOf(second)).toEqual(rangeOf(first))
    expect(rangeOf(await instance.ask('past_day?by_code=WTI_USD&per_page=1'))).not.toEqual(
      rangeOf(first),
    )
  })

  test.each([
    'past_week',
    'past_day?days=6',
    'past_day?start_date=2026-11-20',
    'past_day?start_date=2026-11-19&end_date=2026-11-20',
    '2026-11-20',
    'past_day?interval=hour',
    'past_day?per_page=1',
    'past_day?interval=raw&as_of=2027-01-01T00:00:00Z',
  ])('a request for %s in between does not share the paging snapshot', async other => {
    const instance = openWindowInstance()
    instance.record('FORTIES_USD', [1, 2, 3, 4], startAt, 30 * minuteMs)
    const base = 'past_day?by_code=FORTIES_USD&per_page=2'
    await instance.ask(base)
    instance.write('FORTIES_USD', { '2026-11-20T14:45:00Z': 9 })
    await instance.ask(
      `${other}${other.includes('?') ? '&' : '?'}by_code=FORTIES_USD${other.includes('per_page') ? '' : '&per_page=2'}`,
    )
    expect((await instance.ask(`${base}&page=2`)).rows.map(row => row.price)).toEqual([2, 1])
  })

  test('two keys with the same request do not share a paging snapshot', async () => {
    const instance = openWindowInstance()
    const other = instance.key()
    instance.record('WTI_USD', [1, 2, 3, 4], startAt, hourMs)
    const path = '/v1/prices/past_day?by_code=WTI_USD&per_page=2'
    const prices = async (token: string, page: number) =>
      (await bodyOf(instance.get(`${path}&page=${page}`, token))).data.prices.map(
        (row: Row) => row.price,
      )
    expect(await prices(instance.token, 1)).toEqual([4, 3])
    instance.write('WTI_USD', { '2026-11-20T14:30:00Z': 9 })
    expect(await prices(other, 1)).toEqual([4, 9])
    expect(await prices(instance.token, 2)).toEqual([2, 1])
    expect(await prices(other, 2)).toEqual([3, 2])
  })
})
