import { describe, expect, test } from 'bun:test'
import { openTestInstance } from '../../../support/instance/instance.ts'

interface Row {
  created_at: string
  source: string
  data_source: string
}

interface Answer {
  data: Row & {
    prices: Row[]
    attribution: string
    metadata: { source: string; source_description: string }
    points: { vintages: { value: number; source: string }[] }[]
  }
}

interface Listed {
  prices: Row[] & { WTI_USD: Row }
  rows: Row[]
  commodities: Row[]
}

/** Six days of one code: three of them by the agency, the others by the desk. */
async function openSources() {
  const instance = openTestInstance()
  const authorization = `Bearer ${instance.services.adminTokens.rotate()}`
  const token = instance.key()
  const operate = async (method: string, path: string, body: unknown) => {
    instance.clock.advance(1000)
    const answer = await instance.send(method, `/admin/v1${path}`, body, undefined, {
      authorization,
    })
    expect({ path, ok: answer.ok }).toEqual({ path, ok: true })
  }
  const ask = async (path: string) =>
    ((await (await instance.get(`/v1/prices/${path}`, token)).json()) as Answer).data
  const at = (day: number) => `2026-11-${day}T12:00:00Z`
  await operate('POST', '/observations', {
    observations: [13, 14, 15, 16, 17, 18].map(day => ({
      code: 'WTI_USD',
      observed_at: at(day),
      price: 70 + day / 10,
      source: day <= 15 ? 'EIA' : 'Desk',
    })),
  })
  return { ...instance, operate, ask, at }
}

describe('whose a value is', () => {
  test('stays when it is corrected, and a correction is undone', async () => {
    const { operate, ask, at, services } = await openSources()
    const namesOf = async () => {
      const { points } = await ask(`vintages?by_code=WTI_USD&observed_at=${at(14)}`)
      return points[0]!.vintages.map(({ value, source }) => `${value} ${source}`)
    }
    await operate('PATCH', '/values', {
      code: 'WTI_USD',
      observed_at: at(14),
      price: 71.5,
      reason: 'typing error',
    })
    expect(await namesOf()).toEqual(['71.4 EIA', '71.5 EIA'])
    const { id } = services.batchStore.list({}, 1, 0)[0]!
    await operate('POST', `/batches/${id}/undo`, {})
    expect(await namesOf()).toEqual(['71.4 EIA', '71.5 EIA', '71.4 EIA'])
    await operate('PATCH', '/values', {
      code: 'WTI_USD',
      observed_at: at(18),
      price: 71.7,
      reason: 'typing error',
    })
    const { metadata } = await ask('latest?by_code=WTI_USD')
    expect({ source: metadata.source, source_description: metadata.source_description }).toEqual({
      source: 'Desk',
      source_description: 'Published by Desk',
    })
  })

  test('an as-of price reports the source that provided its value at that moment', async () => {
    const { operate, ask, at, clock } = await openSources()
    const sourceAt = async (query: string) => {
      const { metadata } = await ask(`latest?by_code=WTI_USD${query}`)
      return [metadata.source, metadata.source_description]
    }
    const before = new Date(clock.now()).toISOString()
    // The agency says the day again that the desk had said.
    await operate('POST', '/observations', {
      observations: [{ code: 'WTI_USD', observed_at: at(18), price: 71.9, source: 'EIA' }],
    })
    expect(await sourceAt('')).toEqual(['EIA', 'Published by EIA'])
    expect(await sourceAt(`&as_of=${before}`)).toEqual(['Desk', 'Published by Desk'])
    // At noon of the fifteenth its own value was the newest: the agency's.
    expect(await sourceAt(`&as_of=${at(15)}`)).toEqual(['EIA', 'Published by EIA'])
  })

  test('a price window reports the sources of all its values and no others', async () => {
    const { operate, ask } = await openSources()
    const textOf = async (query: string) =>
      (await ask(`historical?by_code=WTI_USD&interval=raw&${query}`)).metadata.source_description
    expect(await textOf('start_date=2026-11-13&end_date=2026-11-18')).toBe(
      'Published by Desk; Published by EIA',
    )
    expect(await textOf('start_date=2026-11-13&end_date=2026-11-14')).toBe('Published by EIA')
    expect(await textOf('start_date=2026-11-17&end_date=2026-11-18')).toBe('Published by Desk')
    // Without a row, the source of the newest value is of no account.
    expect(await textOf('start_date=2026-11-10&end_date=2026-11-11')).toBe(
      'Compiled from market reporting',
    )
    // A page only names the sources of the rows on it.
    expect(await textOf('start_date=2026-11-13&end_date=2026-11-18&per_page=2')).toBe(
      'Published by Desk',
    )
    expect((await ask('historical?by_code=WTI_USD&interval=1w')).metadata.source_description).toBe(
      'Published by Desk; Published by EIA',
    )
    // What no one is named for is of the code's own source.
    await operate('POST', '/observations', {
      observations: [{ code: 'WTI_USD', observed_at: '2026-11-19T12:00:00Z', price: 71.9 }],
    })
    expect(await textOf('start_date=2026-11-18&end_date=2026-11-19')).toBe(
      'Compiled from market reporting; Published by Desk',
    )
  })

  test('every price row contains its source in every format', async () => {
    const { ask, get, key } = await openSources()
    const days = 'by_code=WTI_USD&interval=raw&start_date=2026-11-14&end_date=2026-11-17'
    const expected = ['Desk', 'Desk', 'EIA', 'EIA']
    const { prices } = await ask(`historical?${days}`)
    expect(prices.map(row => row.source)).toEqual(expected)
    expect(prices.map(row => row.data_source)).toEqual(expected)
    const dear = await ask(`historical?${days}&currency=USD`)
    expect(dear.prices.map(row => row.source)).toEqual(expected)
    const token = key()
    const linesOf = async (form: string) =>
      (await (await get(`/v1/prices/historical?${days}&${form}`, token)).text()).trim().split('\n')
    expect((await linesOf('format=csv')).slice(1).map(line => line.split(',')[7])).toEqual(expected)
    expect((await linesOf('format=ndjson')).map(line => JSON.parse(line).source)).toEqual(expected)
    // A bar answers the price of its last value.
    const weeks = await ask('historical?by_code=WTI_USD&interval=1w&start_date=2026-11-09')
    expect(weeks.prices.map(row => row.source)).toEqual(['Desk', 'EIA'])
  })

  test('the latest price reports its source wherever it is shown', async () => {
    const { ask, get, key } = await openSources()
    const token = key('scale')
    const dataOf = async (path: string) =>
      ((await (await get(path, token)).json()) as { data: Listed }).data
    for (const row of [
      await ask('latest?by_code=WTI_USD'),
      (await dataOf('/v1/prices?by_code=WTI_USD')).prices[0],
      (await dataOf('/v1/demo/prices/WTI_USD')) as unknown as Row,
      (await dataOf('/v1/demo/prices?codes=WTI_USD')).prices[0],
      (await dataOf('/v1/prices/all?category=crude_oil')).prices.WTI_USD,
      (await dataOf('/v1/prices/excel-latest?codes=WTI_USD&format=json')).rows[0],
      (await dataOf('/v1/market-brief?codes=WTI_USD')).commodities[0],
    ])
      expect({ source: row?.source, dataSource: row?.data_source ?? 'Desk' }).toEqual({
        source: 'Desk',
        dataSource: 'Desk',
      })
    expect((await ask('widget?codes=WTI_USD')).attribution).toEndWith(': Published by Desk')
    expect((await ask('widget/WTI_USD')).attribution).toEndWith(': Published by Desk')
  })

  test('is of the value that is served, not of one in quarantine', async () => {
    const { operate, ask } = await openSources()
    await operate('POST', '/observations', {
      observations: [
        { code: 'WTI_USD', observed_at: '2026-11-19T12:00:00Z', price: 71.9, source: 'EIA' },
      ],
    })
    expect((await ask('latest?by_code=WTI_USD')).source).toBe('EIA')
    await operate('POST', '/quarantine', {
      code: 'WTI_USD',
      from: '2026-11-19',
      to: '2026-11-19',
      reason: 'misprint',
    })
    const { source, metadata } = await ask('latest?by_code=WTI_USD')
    expect([source, metadata.source]).toEqual(['Desk', 'Desk'])
  })

  test('a window of bars reports only the sources of the values in its bars', async () => {
    const { operate, ask } = await openSources()
    const textOf = async (query: string) =>
      (await ask(`historical?by_code=WTI_USD&${query}`)).metadata.source_description
    expect(await textOf('interval=1d&start_date=2026-11-13&end_date=2026-11-15')).toBe(
      'Published by EIA',
    )
    // The week ends in the range, which cuts it.
    expect(await textOf('interval=1w&start_date=2026-11-09&end_date=2026-11-15')).toBe(
      'Published by EIA',
    )
    expect(await textOf('interval=1w&start_date=2026-11-16&end_date=2026-11-22')).toBe(
      'Published by Desk',
    )
    expect(await textOf('interval=1M&start_date=2026-11-15&end_date=2026-11-16')).toBe(
      'Published by Desk; Published by EIA',
    )
    await operate('POST', '/quarantine', {
      code: 'WTI_USD',
      from: '2026-11-13',
      to: '2026-11-15',
      reason: 'misprint',
    })
    expect(await textOf('interval=1M')).toBe('Published by Desk')
  })

  test('an as-of window reports the sources known at that moment', async () => {
    const { operate, ask, at, clock } = await openSources()
    clock.advance(60_000)
    const before = new Date(clock.now()).toISOString()
    await operate('POST', '/observations', {
      observations: [17, 18].map(day => ({
        code: 'WTI_USD',
        observed_at: at(day),
        price: 71.1 + day / 100,
        source: 'EIA',
      })),
    })
    const known = async (query: string) => {
      const { prices, metadata } = await ask(
        `historical?by_code=WTI_USD&interval=raw&start_date=2026-11-17&end_date=2026-11-18${query}`,
      )
      return [...prices.map(row => row.source), metadata.source_description]
    }
    expect(await known('')).toEqual(['EIA', 'EIA', 'Published by EIA'])
    expect(await known(`&as_of=${before}`)).toEqual(['Desk', 'Desk', 'Published by Desk'])
  })

  test('a spread reports the sources of its component prices', async () => {
    const { operate, get, key, at } = await openSources()
    await operate('POST', '/observations', {
      observations: [{ code: 'BRENT_CRUDE_USD', observed_at: at(18), price: 75.1, source: 'ICE' }],
    })
    const answer = await (await get('/v1/spreads/basis?id=wti_brent', key('scale'))).json()
    expect(JSON.stringify(answer)).toContain(
      '"source_description":"Published by Desk; Published by ICE"',
    )
  })

  test('a value without its own source reports the attribution that the operator set for the code', async () => {
    const { operate, ask, at, clock } = await openSources()
    await operate('PATCH', '/series/BRENT_CRUDE_USD', { attribution: 'By the desk of the house' })
    await operate('POST', '/observations', {
      observations: [{ code: 'BRENT_CRUDE_USD', observed_at: at(17), price: 75.1 }],
    })
    clock.advance(1000)
    const before = new Date(clock.now()).toISOString()
    await operate('POST', '/observations', {
      observations: [{ code: 'BRENT_CRUDE_USD', observed_at: at(18), price: 75.2, source: 'ICE' }],
    })
    const { metadata } = await ask(`latest?by_code=BRENT_CRUDE_USD&as_of=${before}`)
    expect(metadata.source_description).toBe('By the desk of the house')
    const window = await ask(
      'historical?by_code=BRENT_CRUDE_USD&interval=raw&start_date=2026-11-17&end_date=2026-11-17',
    )
    expect(window.metadata.source_description).toBe('By the desk of the house')
  })
})
