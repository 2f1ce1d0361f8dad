import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs, isoInstant, minuteMs } from '../../../../src/lib/time/instant.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'
import { at, bodyOf, openWindowInstance, unhurried } from '../../../support/topics/windows.ts'

describe('GET /v1/prices/past_*: pages', () => {
  test('have their place in the headers, and links without the key', async () => {
    const instance = openWindowInstance()
    instance.record(
      'WTI_USD',
      Array.from({ length: 25 }, (_, i) => i),
      startAt,
      minuteMs,
    )
    const base = '/v1/prices/past_day?by_code=WTI_USD&per_page=10'
    const link = (page: number, rel: string) =>
      `<http://localhost${base}&page=${page}>; rel="${rel}"`
    const expected = [
      [1, 10, [link(1, 'first'), link(2, 'next'), link(3, 'last')]],
      [2, 10, [link(1, 'first'), link(1, 'prev'), link(3, 'next'), link(3, 'last')]],
      [3, 5, [link(1, 'first'), link(2, 'prev'), link(3, 'last')]],
      [4, 0, [link(1, 'first'), link(3, 'prev'), link(3, 'last')]],
      [999_999_999, 0, [link(1, 'first'), link(3, 'prev'), link(3, 'last')]],
    ] as const
    for (const [page, count, links] of expected) {
      const response = await instance.get(`${base}&page=${page}&api_key=${instance.token}`)
      const body = await bodyOf(response)
      expect(body.data.prices).toHaveLength(count)
      expect(body.data.metadata.count).toBe(count)
      const names = ['x-total', 'x-total-pages', 'x-page', 'x-per-page', 'x-has-next', 'link']
      expect(names.map(name => response.headers.get(name))).toEqual([
        '25',
        '3',
        String(page),
        '10',
        String(page < 3),
        links.join(', '),
      ])
      expect(body.meta).toEqual({
        page,
        per_page: 10,
        total: 25,
        total_pages: 3,
        has_next: page < 3,
        has_prev: page > 1,
      })
    }
  })

  test.each([
    ['', 100],
    ['&per_page=100', 100],
    ['&per_page=500', 100],
    ['&per_page=1', 1],
  ])('%s holds %p rows', async (query, rows) => {
    const { ask, record } = openWindowInstance()
    record('WTI_USD', Array(150).fill(70), startAt, minuteMs)
    const answer = await ask(`past_day?by_code=WTI_USD${query}`)
    expect({ length: answer.rows.length, per_page: answer.body.meta.per_page }).toEqual({
      length: rows,
      per_page: rows,
    })
  })
})

describe('GET /v1/prices/past_*: as_of', () => {
  const corrected = () => {
    const instance = openWindowInstance()
    instance.write(
      'FORTIES_USD',
      { '2026-11-18T16:30:00Z': 70, '2026-11-19T16:30:00Z': 71 },
      at('2026-11-19T17:00:00Z'),
    )
    instance.write('FORTIES_USD', { '2026-11-18T16:30:00Z': 60 }, at('2026-11-19T18:00:00Z'))
    instance.write(
      'FORTIES_USD',
      { '2026-11-17T16:30:00Z': 69, '2026-11-18T16:30:00Z': 65 },
      at('2026-11-20T10:00:00Z'),
    )
    return instance
  }

  test.each([
    // Before this instance had any values: the first recorded values of earlier observations.
    ['2026-11-19T16:59:59.999Z', [71, 70, 69]],
    ['2026-11-18T20:00:00Z', [70, 69]],
    ['2026-11-19T17:00:00Z', [71, 70]],
    ['2026-11-19T18:00:00Z', [71, 60]],
    ['2026-11-20T09:59:59.999Z', [71, 60]],
    ['2026-11-20T11:00:00%2B01:00', [71, 65, 69]],
    ['2027-01-01T00:00:00Z', [71, 65, 69]],
    ['2026-07-28T00:00:00Z', []],
    ['2026-07-27T23:59:59Z', []],
  ] as [string, number[]][])('at %s the prices were %p', async (asOf, prices) => {
    const { rows, headers, body } = await corrected().ask(
      `past_week?by_code=FORTIES_USD&interval=tick&as_of=${asOf}`,
    )
    expect(rows.map(row => row.price)).toEqual(prices)
    expect(body.meta.total).toBe(prices.length)
    expect(headers.get('x-vintage-as-of')).toBe(isoInstant(at(decodeURIComponent(asOf))))
    expect(headers.get('x-vintage-revision-coverage-since')).toBe('2026-11-19T17:00:00Z')
  })

  test('without an interval as_of returns the raw rows of then', async () => {
    const past = '2026-11-19T18:00:00Z'
    const { rows, body } = await corrected().ask(`past_week?by_code=FORTIES_USD&as_of=${past}`)
    expect(rows.map(row => row.price)).toEqual([71, 60])
    expect(body.data.metadata.interval).toBe('raw')
  })

  test('when the coverage begins is a setting', async () => {
    const instance = openWindowInstance({
      ...unhurried,
      'vintage.coverage_since': '2026-11-20T00:00:00Z',
    })
    instance.write('FORTIES_USD', { '2026-11-18T16:30:00Z': 70 }, at('2026-11-18T17:00:00Z'))
    instance.write('FORTIES_USD', { '2026-11-18T16:30:00Z': 60 }, at('2026-11-19T18:00:00Z'))
    const { rows, headers } = await instance.ask(
      'past_week?by_code=FORTIES_USD&interval=raw&as_of=2026-11-19T20:00:00Z',
    )
    expect({
      price: rows[0]!.price,
      vintageRevisionCoverageSince: headers.get('x-vintage-revision-coverage-since'),
    }).toEqual({ price: 70, vintageRevisionCoverageSince: '2026-11-20T00:00:00Z' })
  })

  test('pages hold still while time passes and corrections come in', async () => {
    const instance = openWindowInstance()
    instance.record('FORTIES_USD', [1, 2, 3, 4, 5, 6], startAt - hourMs, 28 * hourMs)
    const path = `past_week?by_code=FORTIES_USD&interval=raw&as_of=${isoInstant(startAt)}&per_page=2`
    const prices = (await instance.ask(path)).rows.map(row => row.price)
    for (const page of [2, 3]) {
      instance.clock.advance(14 * minuteMs)
      instance.record('FORTIES_USD', [9, 9, 9, 9, 9, 9, 9], startAt - hourMs, 28 * hourMs)
      prices.push(...(await instance.ask(`${path}&page=${page}`)).rows.map(row => row.price))
    }
    expect(prices).toEqual([6, 5, 4, 3, 2, 1])
  })

  test('leaves out quarantined days too', async () => {
    const instance = corrected()
    instance.exclude('FORTIES_USD', '2026-11-18', '2026-11-18', 'test')
    const { rows } = await instance.ask(
      'past_week?by_code=FORTIES_USD&interval=raw&as_of=2026-11-20T00:00:00Z',
    )
    expect(rows.map(row => row.price)).toEqual([71])
  })
})

describe('GET /v1/prices/past_*: metadata', () => {
  test('quarantined days are left out and listed with their reasons', async () => {
    const instance = openWindowInstance()
    instance.record('WTI_USD', Array(8).fill(70), startAt, dayMs)
    instance.record('EUR_USD', Array(8).fill(1), startAt, dayMs)
    instance.exclude('WTI_USD', '2026-11-10', '2026-11-14', 'Source repeated a stale value')
    instance.exclude('WTI_USD', '2026-11-14', '2026-11-15', 'Wrong unit')
    instance.exclude('EUR_USD', '2026-11-18', '2026-11-18', 'Wrong unit')
    instance.exclude('GOLD_USD', '2026-11-18', '2026-11-19', 'Not asked')
    for (const interval of ['raw', 'hour', 'day']) {
      const { rows, body } = await instance.ask(
        `past_week?by_code=WTI_USD,EUR_USD&interval=${interval}`,
      )
      expect(body.data.metadata.quarantine).toEqual({
        excluded_dates: ['2026-11-13', '2026-11-14', '2026-11-15', '2026-11-18'],
        excluded_count: 4,
        reason: 'Source repeated a stale value; Wrong unit',
      })
      const days = (code: string) =>
        rows.filter(row => row.code === code).map(row => row.created_at.slice(8, 10))
      expect([days('WTI_USD'), days('EUR_USD')]).toEqual([
        ['20', '19', '18', '17', '16'],
        ['20', '19', '17', '16', '15', '14', '13'],
      ])
      expect(body.meta.total).toBe(12)
    }
    const week = await instance.ask('past_week?by_code=WTI_USD&interval=week')
    expect(week.rows.map(row => [row.bucket_start, row.sample_count])).toEqual([
      ['2026-11-16T00:00:00Z', 5],
    ])
    expect(
      (await instance.ask('2026-11-19?by_code=WTI_USD')).body.data.metadata.quarantine,
    ).toBeUndefined()
  })

  test('a price window discloses swap instruments with the contract month at the end of its range', async () => {
    const instance = openWindowInstance()
    const disclosures = async (path: string) =>
      (await instance.ask(path)).body.data.metadata.instrument_disclosures
    expect(await disclosures('past_day?by_code=SINGAPORE_JET_KEROSENE_USD,WTI_USD')).toEqual([
      {
        code: 'SINGAPORE_JET_KEROSENE_USD',
        instrument_type: 'calendar_month_average_swap',
        contract_month: '2026-11',
        description: expect.any(String),
        settlement_basis: expect.any(String),
      },
    ])
    expect(
      (await disclosures('historical?by_code=SINGAPORE_MOGAS_92_USD&end_date=2026-10-31'))[0]
        .contract_month,
    ).toBe('2026-10')
    expect(await disclosures('past_day?by_code=WTI_USD')).toBeUndefined()
  })

  test('a price window with fixture data is marked in body and header, and a window without it is not', async () => {
    const instance = openWindowInstance()
    expect(
      (await instance.ask('past_day?by_code=WTI_USD')).headers.get('x-service-data'),
    ).toBeNull()
    instance.services.series.markFixture([instance.series('EUR_USD').id])
    instance.services.catalogue.reload()
    const { headers, body } = await instance.ask('past_day?by_code=WTI_USD,EUR_USD')
    expect(headers.get('x-service-data')).toBe('fixture')
    expect(body.data.metadata.source_description).toBe(
      'Compiled from market reporting; Fixture data: generated for evaluation and development, not a market price',
    )
  })

  test('an answer counts once against the quota, whatever it holds', async () => {
    const instance = openWindowInstance()
    await instance.ask('past_day')
    expect(instance.used()).toBe(1)
    await instance.ask('past_day?page=99')
    await instance.get('/v1/prices/historical?format=csv', instance.token)
    expect(instance.used()).toBe(3)
  })
})

describe('GET /v1/prices/past_*: CSV', () => {
  const filled = () => {
    const instance = openWindowInstance()
    instance.write('WTI_USD', { '2026-11-20T13:00:00Z': 70, '2026-11-20T13:30:00Z': 71.5 })
    instance.write('US_RIG_COUNT', { '2026-11-20T12:00:00Z': 546 })
    return {
      ...instance,
      csv: (path: string, headers = {}) =>
        instance.get(`/v1/prices/${path}`, instance.token, headers),
    }
  }
  const header =
    'code,name,created_at,price,currency,unit,type,source,open,high,low,average,sample_count'

  test('has one line a row, and the pages of the same answer in JSON', async () => {
    const { csv } = filled()
    const response = await csv('past_day?by_code=WTI_USD,US_RIG_COUNT&format=csv&per_page=2')
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect({
      total: response.headers.get('x-total'),
      hasNext: response.headers.get('x-has-next'),
    }).toEqual({ total: '3', hasNext: 'true' })
    expect(await response.text()).toBe(
      `${header}
WTI_USD,WTI Crude Oil,2026-11-20T13:30:00Z,71.5,USD,barrel,spot_price,market_reporting,,,,,
WTI_USD,WTI Crude Oil,2026-11-20T13:00:00Z,70,USD,barrel,spot_price,market_reporting,,,,,
`,
    )
    expect(
      await (
        await csv('past_day?by_code=WTI_USD,US_RIG_COUNT&format=csv&per_page=2&page=2')
      ).text(),
    ).toBe(
      `${header}\nUS_RIG_COUNT,US Rig Count,2026-11-20T12:00:00Z,546,,rigs,rig_count,market_reporting,,,,,\n`,
    )
  })

  test('lines come as NDJSON too, and in pages of up to ten thousand', async () => {
    const { ask, csv, write } = filled()
    const values = Array.from({ length: 300 }, (_, i) => [
      new Date(at('2026-11-20T00:00:00Z') + i * 60_000).toISOString(),
      60 + i / 100,
    ])
    write('BRENT_CRUDE_USD', Object.fromEntries(values))
    const url = 'past_day?by_code=BRENT_CRUDE_USD&per_page=10000'
    const json = await ask(url)
    expect(json.rows.length).toBe(100)
    const response = await csv(`${url}&format=ndjson`)
    expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    expect(response.headers.get('x-per-page')).toBe('10000')
    const lines = (await response.text()).trim().split('\n')
    expect(lines.length).toBe(300)
    expect(JSON.parse(lines[0]!)).toEqual(json.rows[0])
    const table = await (await csv(`${url}&format=csv`)).text()
    expect(table.trim().split('\n').length).toBe(301)
  })

  test('has the whole window, not its first page, unless a page is requested', async () => {
    const instance = openTestInstance()
    const token = instance.key()
    const values = Array.from({ length: 1500 }, (_, i) => 60 + i / 100)
    instance.record('WTI_USD', values, startAt - 60_000, 60_000)
    const lines = async (query: string, headers = {}) => {
      const path = `/v1/prices/past_week?by_code=WTI_USD&interval=raw${query}`
      const response = await instance.get(path, token, headers)
      return (await response.text()).trim().split('\n').length
    }
    expect(await lines('&format=csv')).toBe(1501)
    expect(await lines('', { accept: 'text/csv' })).toBe(1501)
    expect(await lines('&format=ndjson')).toBe(1500)
    expect(await lines('&format=csv&per_page=10')).toBe(11)
    expect(await lines('&format=csv&page=1')).toBeLessThan(1501)
  })

  test('fills the last columns for bars', async () => {
    const { csv } = filled()
    expect(
      (await (await csv('past_day?by_code=WTI_USD&interval=hour&format=csv')).text()).split('\n'),
    ).toEqual([
      header,
      'WTI_USD,WTI Crude Oil,2026-11-20T13:30:00Z,71.5,USD,barrel,spot_price,market_reporting,70,71.5,70,70.75,2',
      '',
    ])
  })

  test.each([
    ['past_day?by_code=WTI_USD', { accept: 'text/csv' }, 'text/csv; charset=utf-8'],
    [
      'past_day?by_code=WTI_USD',
      { accept: 'text/csv;q=0, application/json' },
      'application/json; charset=utf-8',
    ],
    [
      'past_day?by_code=WTI_USD',
      { accept: 'text/html, text/csv;q=0.9' },
      'text/csv; charset=utf-8',
    ],
    [
      'past_day?by_code=WTI_USD&format=json',
      { accept: 'text/csv' },
      'application/json; charset=utf-8',
    ],
    ['past_day?by_code=WTI_USD', { accept: '*/*' }, 'application/json; charset=utf-8'],
    [
      'past_day?by_code=WTI_USD&format=csv',
      { accept: 'application/json' },
      'text/csv; charset=utf-8',
    ],
    ['2026-11-20?by_code=WTI_USD&format=csv', {}, 'text/csv; charset=utf-8'],
  ] as [string, Record<string, string>, string][])(
    '%s with %p is %s',
    async (path, headers, type) => {
      const { csv } = filled()
      expect((await csv(path, headers)).headers.get('content-type')).toBe(type)
    },
  )

  test('without rows is its header', async () => {
    const { csv } = filled()
    expect(await (await csv('past_day?by_code=GOLD_USD&format=csv')).text()).toBe(`${header}\n`)
  })
})
