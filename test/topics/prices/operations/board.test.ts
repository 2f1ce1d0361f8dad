import { describe, expect, test } from 'bun:test'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'

const dayMs = 86_400_000

const instance = openTestInstance()
instance.record('WTI_USD', [70, 72, 71.23], startAt - 60_000, dayMs)
instance.record('DUBAI_CRUDE_USD', [74], startAt - 60_000, 1)
const token = instance.key()

interface Row {
  code: string
  price: number
  sparkline: number[]
}
const boardOf = async (codes: string) => {
  const response = await instance.get(`/v1/prices/board?codes=${codes}`, token)
  return {
    status: response.status,
    body: (await response.json()) as { data: { rows: Row[]; missing_codes: string[] } },
  }
}

describe('GET /v1/prices/board', () => {
  test('answers each code with its changes and its closes, in the order asked for', async () => {
    const { body } = await boardOf('DUBAI_CRUDE_USD,WTI_USD')
    expect(body.data.rows).toMatchObject([
      { code: 'DUBAI_CRUDE_USD', price: 74, change_24h: null, change_30d: null, sparkline: [74] },
      {
        code: 'WTI_USD',
        category: 'crude_oil',
        price: 71.23,
        formatted: '$71.23',
        data_status: 'current',
        cadence: 'intraday_5m',
        change_24h: { amount: -0.77, percent: -1.07 },
        sparkline: [70, 72, 71.23],
      },
    ])
  })

  test('names the codes that have no price, and answers the others', async () => {
    const { body } = await boardOf('OMAN_CRUDE_USD,WTI_USD')
    expect(body.data.missing_codes).toEqual(['OMAN_CRUDE_USD'])
    expect(body.data.rows.map(row => row.code)).toEqual(['WTI_USD'])
  })

  test('shows a new price at once', async () => {
    await boardOf('WTI_USD')
    instance.record('WTI_USD', [75], startAt - 30_000, dayMs)
    expect((await boardOf('WTI_USD')).body.data.rows[0]).toMatchObject({
      price: 75,
      sparkline: [70, 72, 75],
    })
  })

  test('takes 200 codes and refuses one more', async () => {
    expect((await boardOf(Array(200).fill('WTI_USD').join(','))).status).toBe(200)
    const { status, body } = await boardOf(Array(201).fill('WTI_USD').join(','))
    expect({ status, code: (body as { code?: string }).code }).toEqual({
      status: 400,
      code: 'too_many_codes',
    })
  })
})

describe('the codes of a board', () => {
  const path = '/v1/prices/board/layout'
  const bodyOf = async (response: Response) => ({
    status: response.status,
    body: (await response.json()) as {
      data: {
        groups: { name: string; codes: string[] }[]
        is_own: boolean
        updated_at: string | null
      }
      errors?: { field: string; message: string }[]
    },
  })
  const put = async (groups: unknown, key = token) =>
    bodyOf(await instance.send('PUT', path, { groups }, key))
  const get = async (key = token) => bodyOf(await instance.get(path, key))

  test('a board shows demo codes with prices until the user chooses codes', async () => {
    const { data } = (await get()).body
    expect({
      is_own: data.is_own,
      updated_at: data.updated_at,
      length: data.groups.length,
    }).toEqual({ is_own: false, updated_at: null, length: 1 })
    expect(data.groups[0]!.codes).toContain('WTI_USD')
  })

  test('a board without chosen codes lists other series of this instance and no demo code without prices', async () => {
    const { codes } = (await get()).body.data.groups[0]!
    expect(codes).toContain('DUBAI_CRUDE_USD')
    expect(codes).not.toContain('GOLD_USD')
  })

  test('board codes are stored in groups and in order for the individual user', async () => {
    const groups = [
      { name: 'Gas', codes: ['NATURAL_GAS_USD'] },
      { name: '', codes: ['DUBAI_CRUDE_USD', 'WTI_USD'] },
    ]
    expect((await put(groups)).body.data.groups).toEqual(groups)
    expect((await get()).body.data).toMatchObject({ groups, is_own: true })
    expect((await get(instance.key())).body.data.is_own).toBe(false)
  })

  test('are written as the catalogue writes them, whatever was sent', async () => {
    const { body } = await put([{ name: ' Oil ', codes: ['wti_usd'] }])
    expect(body.data.groups).toEqual([{ name: 'Oil', codes: ['WTI_USD'] }])
  })

  test('begin again when they are forgotten', async () => {
    await put([{ name: 'Oil', codes: ['WTI_USD'] }])
    expect((await bodyOf(await instance.send('DELETE', path, undefined, token))).status).toBe(200)
    expect((await get()).body.data.is_own).toBe(false)
  })

  test.each([
    [undefined, 'groups', 'is required.'],
    ['WTI_USD', 'groups', 'must be a list of at most 40 groups; got '],
    [
      Array(41).fill({ name: '', codes: [] }),
      'groups',
      'must be a list of at most 40 groups; got ',
    ],
    [[{ name: 'x'.repeat(61), codes: [] }], 'groups.0.name', '60'],
    [[{ name: '', codes: 'WTI_USD' }], 'groups.0.codes', 'must be a list of codes; got '],
    [
      [{ name: '', codes: ['WTI_UDS'] }],
      'groups.0.codes.0',
      'got "WTI_UDS". Did you mean WTI_USD?',
    ],
    [
      [
        { name: '', codes: ['WTI_USD'] },
        { name: '', codes: ['WTI_USD'] },
      ],
      'groups.1.codes.0',
      'must not repeat WTI_USD.',
    ],
  ])(
    'board groups %j are refused with an error that states what is valid',
    async (groups, field, words) => {
      const { status, body } = await put(groups)
      expect(status).toBe(422)
      expect(body.errors?.[0]?.field).toBe(field)
      expect(body.errors?.[0]?.message).toContain(words)
    },
  )
})

interface Chart {
  interval: string
  times: number[]
  close: number[]
  open?: number[]
  high?: number[]
  low?: number[]
  as_of: string | null
  volume?: (number | null)[]
  held_days: string[]
}
const chartOf = async (query: string) => {
  const response = await instance.get(`/v1/prices/chart?${query}`, token)
  return { status: response.status, body: (await response.json()) as { data: Chart } }
}

describe('GET /v1/prices/chart', () => {
  test('answers bars as lists of one length, oldest first', async () => {
    const { body } = await chartOf('code=WTI_USD&days=30&interval=day')
    const { times, close, open, high, low } = body.data
    expect(close).toEqual([70, 72, 75])
    expect(times.every((time, i) => i === 0 || time > times[i - 1]!)).toBe(true)
    expect({ open: open?.length, high, low: low?.length, times: times.length }).toEqual({
      open: 3,
      high: [70, 72, 75],
      low: 3,
      times: 3,
    })
  })

  test('names the days of which a value waits to be decided on', async () => {
    const { id } = instance.services.catalogue.named('DUBAI_CRUDE_USD')!
    const flag = { before: 74, rule: 'jump', reason: 'far off', sourceId: 0, batchId: 0 }
    const add = (value: number, status: 'waiting' | 'released', daysAgo: number) =>
      instance.services.flaggedValues.add({
        ...flag,
        seriesId: id,
        observedAt: startAt - daysAgo * dayMs,
        value,
        status,
        flaggedAt: startAt,
      })
    add(700, 'waiting', 2)
    add(701, 'waiting', 2)
    add(702, 'released', 3)
    const { body } = await chartOf('code=DUBAI_CRUDE_USD&days=30')
    expect(body.data.held_days).toEqual(['2026-11-18'])
  })

  test('the price chart shows the traded volume of a contract by day and as weekly sums', async () => {
    const own = openTestInstance()
    const day = (tradedOn: string, close: number, volume: number | null) => ({
      family: 'BRENT_FUTURES' as const,
      month: '2027-02',
      tradedOn,
      open: close,
      high: close,
      low: close,
      close,
      settlement: close,
      volume,
      openInterest: null,
      quotedAt: Date.parse(`${tradedOn}T18:00:00Z`),
      source: 'test',
    })
    own.services.futures.recordDays(
      [day('2026-11-16', 71, 900), day('2026-11-17', 72, null), day('2026-11-18', 73, 1100)],
      startAt,
    )
    const of = async (interval: string) => {
      const path = `/v1/prices/chart?code=BRENT_FUTURES_2027_02&days=30&interval=${interval}`
      return ((await (await own.get(path, own.key())).json()) as { data: Chart }).data.volume
    }
    expect(await of('day')).toEqual([900, null, 1100])
    expect(await of('week')).toEqual([2000])
    expect(await of('hour')).toBeUndefined()
  })

  test('answers raw prices without bars', async () => {
    const { body } = await chartOf('code=WTI_USD&days=2&interval=raw')
    expect(body.data.interval).toBe('raw')
    expect(body.data.open).toBeUndefined()
    expect(body.data.close.at(-1)).toBe(75)
  })

  test('makes the bars of an earlier day of the prices known then', async () => {
    const code = 'BRENT_CRUDE_USD'
    const observedAt = startAt - 5 * dayMs
    instance.record(code, [80], observedAt, 1)
    const knownAt = new Date(instance.clock.now()).toISOString()
    instance.clock.advance(dayMs)
    instance.record(code, [81], observedAt, 1)
    const query = `code=${code}&days=30&interval=day`
    expect((await chartOf(query)).body.data.close).toEqual([81])
    const then = (await chartOf(`${query}&as_of=${knownAt}`)).body.data
    expect({ close: then.close, open: then.open }).toEqual({ close: [80], open: [80] })
    expect(then.as_of).not.toBeNull()
  })

  test.each([
    ['code=NOPE_USD', 'invalid_code'],
    ['code=WTI_USD&as_of=yesterday', 'INVALID_PARAMETER'],
    ['code=WTI_USD&interval=fortnight', 'invalid_interval'],
    ['code=WTI_USD&start_date=2026-11-02&end_date=2026-11-01', 'INVALID_DATE_RANGE'],
  ])('refuses %s', async (query, code) => {
    const { status, body } = await chartOf(query)
    expect(status).toBe(400)
    expect(JSON.stringify(body)).toContain(code)
  })
})

describe('GET /status.json', () => {
  test('the public status endpoint reports the state of every component to any caller', async () => {
    const response = await instance.get('/status.json')
    const body = (await response.json()) as {
      mode: string
      components: { name: string }[]
      categories: { name: string; codes: number }[]
    }
    expect(body.components.map(({ name }) => name)).toContain('database')
    expect(body.categories.find(({ name }) => name === 'crude_oil')!.codes).toBeGreaterThan(1)
  })
})

describe('shared watchlists', () => {
  const path = '/v1/prices/board/layouts'
  const groups = [{ name: 'Oil', codes: ['WTI_USD'] }]
  const listed = async (key = token) =>
    (
      (await (await instance.get(path, key)).json()) as {
        data: { layouts: { name: string; groups: unknown }[] }
      }
    ).data.layouts
  const put = (name: string, body: object = { groups }, key = token) =>
    instance.send('PUT', `${path}/${encodeURIComponent(name)}`, body, key)

  test('are saved under their names, listed by name, replaced and deleted', async () => {
    expect((await put('Zinc')).status).toBe(200)
    expect((await put('Crude desk')).status).toBe(200)
    expect((await put('Zinc', { groups: [] })).status).toBe(200)
    expect(await listed()).toMatchObject([
      { name: 'Crude desk', groups },
      { name: 'Zinc', groups: [] },
    ])
    for (let i = 0; i < 2; i += 1)
      expect((await instance.send('DELETE', `${path}/Zinc`, undefined, token)).status).toBe(200)
    expect((await listed()).map(({ name }) => name)).toEqual(['Crude desk'])
  })

  test('of one account are not seen by another', async () => {
    await put('Crude desk')
    expect(await listed(instance.key())).toEqual([])
  })

  test('are at most 40, and the 41st is refused', async () => {
    const key = instance.key()
    for (let i = 0; i < 40; i += 1)
      expect((await put(`List ${i}`, { groups }, key)).status).toBe(200)
    expect((await put('List 40', { groups }, key)).status).toBe(422)
    expect((await put('List 39', { groups }, key)).status).toBe(200)
  })
})
