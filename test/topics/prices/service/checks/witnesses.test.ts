import { describe, expect, test } from 'bun:test'
import { dayMs, isoDay } from '../../../../../src/lib/time/instant.ts'
import { openTestInstance, startAt } from '../../../../support/instance/instance.ts'

const today = Math.floor(startAt / dayMs) * dayMs

/** An instance in which some codes have a quiet year, and how values of a source come in. */
function quietYear(...codes: string[]) {
  const { services } = openTestInstance()
  const idOf = (code: string) => services.catalogue.named(code)!.id
  for (const code of codes)
    services.ingest.write(
      Array.from({ length: 250 }, (_, i) => ({
        seriesId: idOf(code),
        observedAt: today - (250 - i) * dayMs,
        value: 3 + 0.02 * Math.sin(i),
      })),
    )
  return {
    services,
    /** What became of a value of today: recorded, held for review, or kept as was decided. */
    send(code: string, value: number, source?: string) {
      const start = { kind: 'push', actor: 'test', ...(source && { source }) } as const
      const batch = services.batches.begin(start)
      const { held, kept } = batch.write([{ seriesId: idOf(code), observedAt: today, value }])
      batch.end()
      return held === 1 ? 'held' : kept === 1 ? 'kept' : 'recorded'
    },
    flags: () =>
      services.flaggedValues
        .list({}, 10, 0)
        .map(({ seriesId, status, reason }) =>
          [services.catalogue.byId(seriesId!).code, status, reason].join(' | '),
        ),
  }
}

const [hub, chicago, crude] = ['NATURAL_GAS_USD', 'GAS_CHICAGO_CITYGATE_USD', 'WTI_USD']
const arctic = 15.9

describe('a move that would be held', () => {
  test('is held where nothing else moved', () => {
    const { send, flags } = quietYear(hub, chicago)
    expect(send(hub, arctic)).toBe('held')
    expect(flags()).toHaveLength(1)
    expect(flags()[0]).toContain(`${hub} | waiting | +4`)
  })

  test('is recorded and listed where a series of its category moved alike that day', () => {
    const { send, flags, services } = quietYear(hub, chicago)
    expect(send(chicago, 14)).toBe('held')
    const { id } = services.flaggedValues.list({}, 1, 0)[0]!
    services.flaggedValues.decide(id, 'released', 'test', 'arctic storm', startAt)
    services.ingest.write([
      { seriesId: services.catalogue.named(chicago)!.id, observedAt: today, value: 14 },
    ])
    expect(send(hub, arctic)).toBe('recorded')
    expect(flags()[0]).toContain(`${hub} | flagged`)
    expect(flags()[0]).toEndWith(`, as ${chicago} moved`)
  })

  test('is held where a series of its category moved the other way, or another category did', () => {
    const { send, services } = quietYear(hub, chicago, crude)
    const put = (code: string, value: number) =>
      services.ingest.write([
        { seriesId: services.catalogue.named(code)!.id, observedAt: today, value },
      ])
    put(chicago, 0.6)
    put(crude, 15)
    expect(send(hub, arctic)).toBe('held')
  })

  test('an unusual move that another source confirms is recorded, and the first such value is flagged', () => {
    const { send, flags } = quietYear(hub)
    expect(send(hub, arctic, 'EIA')).toBe('held')
    expect(send(hub, arctic, 'EIA')).toBe('held')
    expect(send(hub, arctic, 'Desk')).toBe('recorded')
    expect(flags()).toHaveLength(1)
    expect(flags()[0]).toContain(`${hub} | flagged`)
    expect(flags()[0]).toEndWith(', as another source says')
  })

  test('an unusual move is recorded when another source confirms it and a related series has one held too', () => {
    const { send, flags } = quietYear(hub, chicago)
    expect(send(chicago, 14, 'EIA')).toBe('held')
    expect(send(hub, arctic, 'EIA')).toBe('held')
    expect(send(hub, arctic, 'Desk')).toBe('recorded')
    expect(flags()[0]).toContain(`${hub} | flagged`)
  })

  test('is recorded where a contract of its future settled alike', () => {
    const { send, flags, services } = quietYear(hub)
    const settled = (daysAgo: number, settlement: number) => ({
      family: 'NATURAL_GAS_FUTURES' as const,
      month: '2027-01',
      tradedOn: isoDay(today - daysAgo * dayMs),
      open: null,
      high: null,
      low: null,
      close: null,
      settlement,
      volume: null,
      openInterest: null,
      source: 'Exchange',
    })
    services.futures.recordDays([settled(1, 3.1), settled(0, 12.4)], startAt)
    expect(send(hub, arctic)).toBe('recorded')
    expect(flags()[0]).toEndWith(', as NATURAL_GAS_FUTURES_2027_01 settled')
  })

  test('by the ratio of two units is held whatever else moved', () => {
    const { send, services } = quietYear(hub, chicago)
    services.ingest.write([
      { seriesId: services.catalogue.named(chicago)!.id, observedAt: today, value: 30 },
    ])
    expect(send(hub, 30)).toBe('held')
    expect(send(chicago, 126, 'EIA')).toBe('held')
    expect(send(hub, 126, 'Desk')).toBe('held')
  })

  test('that was rejected stays out whatever else moved', () => {
    const { send, services } = quietYear(hub, chicago)
    expect(send(hub, arctic)).toBe('held')
    const { id } = services.flaggedValues.list({}, 1, 0)[0]!
    services.flaggedValues.decide(id, 'rejected', 'test', 'typing error', startAt)
    services.ingest.write([
      { seriesId: services.catalogue.named(chicago)!.id, observedAt: today, value: 14 },
    ])
    expect(send(hub, arctic)).toBe('kept')
  })
})
