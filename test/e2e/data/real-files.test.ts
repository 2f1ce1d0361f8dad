import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { remove, run, type Server, start, temporaryDir } from '../../support/instance/binary.ts'
import { needs } from '../../support/needs.ts'
import { realDataFolder } from '../../support/requirements.ts'

interface Row {
  price: number
  created_at: string
  open?: number
  high?: number
  low?: number
  average?: number
  sample_count?: number
  bucket_start?: string
}

interface Body {
  data: { prices: Row[] }
  meta: { total: number }
}

/** The rows of a two-column file as numbers, in the order of the file. */
const pairs = (file: string) =>
  readFileSync(join(realDataFolder, file), 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map(line => line.split(',') as [string, string])
    .filter(([, price]) => price.trim() !== '')
    .map(([day, price]) => ({ day, price: Number(price) }))

needs('../shared/data').describe('the real files, imported as the README says', () => {
  const dir = temporaryDir()
  const data = join(dir, 'data')
  let server: Server
  let firstImportEndedAt = ''

  beforeAll(async () => {
    server = await start('serve', dir)
    for (const [code, file] of [
      ['WTI_USD', 'oil-prices/wti-daily.csv'],
      ['BRENT_CRUDE_USD', 'oil-prices/brent-daily.csv'],
      ['NATURAL_GAS_USD', 'natural-gas/daily.csv'],
    ] as const) {
      const outcome = await run(
        'import',
        '--data',
        data,
        '--series',
        code,
        join(realDataFolder, file),
      )
      expect(outcome.err).not.toContain('rejected')
      // The exit code shows that a value is held for review.
      const held = Number(/held (\d+)/.exec(outcome.out)?.[1] ?? 0)
      expect(held).toBeLessThanOrEqual(3)
      expect(outcome.code).toBe(held > 0 ? 2 : 0)
    }
    const wide = await run(
      'import',
      '--data',
      data,
      '--map',
      'observed_at=Date,EUR_USD=USD,EUR_GBP=GBP',
      join(realDataFolder, 'ecb-fx/eurofxref-hist.csv'),
    )
    expect(wide.code).toBe(0)
    await Bun.sleep(5)
    firstImportEndedAt = new Date().toISOString()
  })
  afterAll(async () => {
    await server.stop()
    remove(dir)
  })

  const rows = async (path: string) => ((await (await server.get(path)).json()) as Body).data.prices

  test('latest is the last line of the file', async () => {
    for (const [code, file] of [
      ['WTI_USD', 'oil-prices/wti-daily.csv'],
      ['BRENT_CRUDE_USD', 'oil-prices/brent-daily.csv'],
      ['NATURAL_GAS_USD', 'natural-gas/daily.csv'],
    ] as const) {
      const last = pairs(file).at(-1)!
      const { data } = (await (await server.get(`/v1/prices/latest?by_code=${code}`)).json()) as {
        data: Row
      }
      expect(data.price).toBe(last.price)
      expect(data.created_at).toBe(`${last.day}T00:00:00Z`)
    }
  })

  test('a day of 2020 with a negative price is there', async () => {
    const [row] = await rows('/v1/prices/2020-04-20?by_code=WTI_USD')
    expect(row!.price).toBe(-36.98)
  })

  test('paging through ten years returns the rows of the file', async () => {
    const expected = pairs('oil-prices/wti-daily.csv').filter(
      pair => pair.day >= '2010-01-01' && pair.day <= '2019-12-31',
    )
    const rows: Row[] = []
    for (let page = 1; ; page++) {
      const response = await server.get(
        `/v1/prices/historical?by_code=WTI_USD&start_date=2010-01-01&end_date=2019-12-31&interval=day&page=${page}`,
      )
      rows.push(...((await response.json()) as Body).data.prices)
      if (response.headers.get('x-has-next') !== 'true') break
    }
    expect(
      rows.reverse().map(row => ({ day: row.created_at.slice(0, 10), price: row.price })),
    ).toEqual(expected)
  })

  test('months are the open, high, low, close and mean of their days', async () => {
    const days = pairs('natural-gas/daily.csv').filter(pair => pair.day.startsWith('2005-09'))
    const [month] = await rows(
      '/v1/prices/historical?by_code=NATURAL_GAS_USD&interval=month&start_date=2005-09-01&end_date=2005-09-30',
    )
    const prices = days.map(day => day.price)
    expect(month).toMatchObject({
      bucket_start: '2005-09-01T00:00:00Z',
      open: prices[0]!,
      high: Math.max(...prices),
      low: Math.min(...prices),
      price: prices.at(-1)!,
      sample_count: prices.length,
    })
    expect(month!.average).toBeCloseTo(
      prices.reduce((sum, price) => sum + price, 0) / prices.length,
      3,
    )
  })

  test('past_year holds the days of the file that are within it', async () => {
    const daysSince = (at: number) =>
      pairs('oil-prices/brent-daily.csv').filter(pair => Date.parse(pair.day) >= at).length
    const yearAgo = () => Date.now() - 365 * 86_400_000
    const before = daysSince(yearAgo())
    const response = await server.get('/v1/prices/past_year?by_code=BRENT_CRUDE_USD&interval=day')
    const { total } = ((await response.json()) as Body).meta
    expect([before, daysSince(yearAgo())]).toContain(total)
  })

  test('a blank in the file is a day without a price', async () => {
    expect(await rows('/v1/prices/2018-01-05?by_code=NATURAL_GAS_USD')).toEqual([])
  })

  test('each column of a wide file becomes a separate series', async () => {
    const [row] = await rows('/v1/prices/2024-06-26?by_code=EUR_USD')
    expect(row!.price).toBe(1.0689)
  })

  test('a correction is visible at once, and as_of still returns the earlier value', async () => {
    const file = join(dir, 'corrected.csv')
    await Bun.write(file, 'Date,Price\n2024-01-02,71.11\n')
    const before = (await rows('/v1/prices/2024-01-02?by_code=WTI_USD'))[0]!.price
    const outcome = await run('import', '--data', data, '--series', 'WTI_USD', file)
    expect(outcome.out).toContain('revised 1')
    expect((await rows('/v1/prices/2024-01-02?by_code=WTI_USD'))[0]!.price).toBe(71.11)
    const asOf = await server.get(
      `/v1/prices/past_day?at=2024-01-02&by_code=WTI_USD&interval=raw&as_of=${firstImportEndedAt}`,
    )
    expect(((await asOf.json()) as Body).data.prices[0]!.price).toBe(before)
    expect(asOf.headers.get('x-vintage-as-of')).toBe(firstImportEndedAt)
  })

  test('a file imported twice changes nothing', async () => {
    const outcome = await run(
      'import',
      '--data',
      data,
      '--series',
      'BRENT_CRUDE_USD',
      join(realDataFolder, 'oil-prices/brent-daily.csv'),
    )
    expect(outcome.out).toContain('inserted 0, revised 0, unchanged 9958')
  })
})
