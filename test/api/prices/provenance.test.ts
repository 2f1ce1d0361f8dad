import { describe, expect, test } from 'bun:test'
import { openTestInstance } from '../../support/instance/instance.ts'

interface Answer {
  data: {
    prices: { created_at: string; metadata?: { source: string } }[]
    metadata: { source: string; source_description: string }
    points: { vintages: { value: number; source: string }[] }[]
  }
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
    expect([path, answer.status]).toEqual([path, 200])
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
    expect([metadata.source, metadata.source_description]).toEqual(['Desk', 'Published by Desk'])
  })

  test('is said of a price as it was known, by whose value it was then', async () => {
    const { operate, ask, at, clock } = await openSources()
    const sourceAt = async (query: string) => {
      const { metadata } = await ask(`latest?by_code=WTI_USD${query}`)
      return [metadata.source, metadata.source_description]
    }
    const before = new Date(clock.now()).toISOString()
    // The agency says the day anew that the desk had said.
    await operate('POST', '/observations', {
      observations: [{ code: 'WTI_USD', observed_at: at(18), price: 71.9, source: 'EIA' }],
    })
    expect(await sourceAt('')).toEqual(['EIA', 'Published by EIA'])
    expect(await sourceAt(`&as_of=${before}`)).toEqual(['Desk', 'Published by Desk'])
    // At noon of the fifteenth its own value was the newest: the agency's.
    expect(await sourceAt(`&as_of=${at(15)}`)).toEqual(['EIA', 'Published by EIA'])
  })

  test('is said of every value of a window, and of no other', async () => {
    const { operate, ask } = await openSources()
    const textOf = async (query: string) =>
      (await ask(`historical?by_code=WTI_USD&interval=raw&${query}`)).metadata.source_description
    expect(await textOf('start_date=2026-11-13&end_date=2026-11-18')).toBe(
      'Published by Desk; Published by EIA',
    )
    expect(await textOf('start_date=2026-11-13&end_date=2026-11-14')).toBe('Published by EIA')
    expect(await textOf('start_date=2026-11-17&end_date=2026-11-18')).toBe('Published by Desk')
    // Of a page, whose its rows are.
    expect(await textOf('start_date=2026-11-13&end_date=2026-11-18&per_page=2')).toBe(
      'Published by Desk',
    )
    expect((await ask('historical?by_code=WTI_USD&interval=1w')).metadata.source_description).toBe(
      'Published by Desk; Published by EIA',
    )
    // What nobody is named for is of the code's own source.
    await operate('POST', '/observations', {
      observations: [{ code: 'WTI_USD', observed_at: '2026-11-19T12:00:00Z', price: 71.9 }],
    })
    expect(await textOf('start_date=2026-11-18&end_date=2026-11-19')).toBe(
      'Compiled from market reporting; Published by Desk',
    )
  })
})
