import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs } from '../../../../src/lib/time/instant.ts'
import { frozenRun, unitBreakOf } from '../../../../src/topics/condition/math/faults.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'

const daysOf = (values: readonly number[]) =>
  values.map((close, i) => ({ startsAt: i * dayMs, close, low: close, high: close }))
/** Values that change every day. */
const walk = (length: number, level = 2) =>
  Array.from({ length }, (_, i) => Number((level * (1 + 0.01 * Math.sin(i) + i / 5000)).toFixed(4)))
const runOf = (length: number, value = 2.5) => Array.from({ length }, () => value)

describe('a frozen series', () => {
  test('has stood at one value for eight days, and three times as long as ever before', () => {
    expect(frozenRun(daysOf([...walk(50), ...runOf(7)]))).toBeUndefined()
    expect(frozenRun(daysOf([...walk(50), ...runOf(8)]))).toEqual({
      value: 2.5,
      days: 8,
      sinceAt: 50 * dayMs,
    })
    const honest = [...walk(50), ...runOf(5, 2.4), ...walk(20)]
    expect(frozenRun(daysOf([...honest, ...runOf(15)]))).toBeUndefined()
    expect(frozenRun(daysOf([...honest, ...runOf(16)]))).toMatchObject({ days: 16 })
    expect(frozenRun(daysOf([...honest, ...runOf(16), 2.6]))).toBeUndefined()
    expect(frozenRun([])).toBeUndefined()
  })

  test('does not stand still while its days move', () => {
    const days = daysOf(runOf(20)).map(day => ({ ...day, high: day.close + 0.1 }))
    expect(frozenRun(days)).toBeUndefined()
  })
})

describe('a unit break', () => {
  test('is a level that changes by the ratio of two units and stays there', () => {
    for (const factor of [42, 1 / 42, 100, 0.01, 6.2898, 10, 1000]) {
      const values = [...walk(40), ...walk(20).map(value => value * factor)]
      expect(unitBreakOf(daysOf(values))).toMatchObject({ startsAt: 40 * dayMs, days: 20 })
    }
  })

  test('is not reported for a single day, a market move, or a series that often leaps', () => {
    const single = walk(60)
    single[30] = single[30]! * 42
    expect(unitBreakOf(daysOf(single))).toBeUndefined()
    expect(
      unitBreakOf(daysOf([...walk(40), ...walk(20).map(value => value * 2.2)])),
    ).toBeUndefined()
    const leaping = Array.from({ length: 60 }, (_, i) => (i % 3 === 0 ? 10 : 100))
    expect(unitBreakOf(daysOf(leaping))).toBeUndefined()
    expect(unitBreakOf(daysOf([...walk(40), -2, ...walk(20)]))).toBeUndefined()
  })
})

/** An instance with heating oil that has been frozen for five months, and sound gasoline. */
function withFrozen() {
  const instance = openTestInstance()
  const { record, services, get, key } = instance
  const lastAt = startAt - hourMs
  record('HEATING_OIL_USD', [...walk(100), ...runOf(150)], lastAt, dayMs)
  record('GASOLINE_USD', walk(250), lastAt, dayMs)
  const token = key()
  const ask = async (path: string) =>
    ((await (await get(path, token)).json()) as { data: Record<string, unknown> }).data
  const series = (code: string) => services.catalogue.named(code)!
  return { ...instance, ask, series }
}

test('a series that is frozen for months is reported as a fault', async () => {
  const { ask, services, series } = withFrozen()
  expect(services.seriesFaults.of(series('HEATING_OIL_USD'))).toEqual([
    {
      code: 'HEATING_OIL_USD',
      kind: 'frozen',
      sinceOn: '2026-06-24',
      points: 150,
      description: 'HEATING_OIL_USD is 2.5 in every value since 2026-06-24 (150)',
    },
  ])
  expect(services.seriesFaults.of(series('GASOLINE_USD'))).toEqual([])
  const report = await ask('/v1/data-quality/reports/HEATING_OIL_USD')
  expect(report).toMatchObject({ status: 'critical', metrics: { timeliness: 0 } })
  expect((await ask('/v1/data-quality/reports/GASOLINE_USD')).status).toBe('healthy')
  const status = await ask('/v1/status')
  expect(status).toMatchObject({
    status: 'degraded',
    data: { frozen: ['HEATING_OIL_USD'], unit_breaks: [] },
  })
  expect(JSON.stringify(status.components)).toContain('Frozen: HEATING_OIL_USD.')
})

test('a series with a constant value is no longer reported as frozen once its operator turns the check off', async () => {
  const { services, series } = withFrozen()
  expect(services.seriesFaults.codes().frozen).toEqual(['HEATING_OIL_USD'])
  services.seriesChanges.put(series('HEATING_OIL_USD'), { guards: { repeat: 'off' } })
  expect(services.seriesFaults.codes().frozen).toEqual([])
})

test('a series that moves again is no longer reported as frozen, and a change of unit is reported', () => {
  const { services, series, record, clock } = withFrozen()
  clock.advance(dayMs)
  record('HEATING_OIL_USD', [2.6], clock.now() - hourMs, dayMs)
  expect(services.seriesFaults.codes()).toMatchObject({ stopped: [], frozen: [], broken: [] })
  record(
    'GASOLINE_USD',
    walk(250)
      .slice(-6)
      .map(value => value * 42),
    clock.now() + 4 * dayMs,
    dayMs,
  )
  clock.advance(5 * dayMs)
  expect(services.seriesFaults.of(series('GASOLINE_USD'))).toContainEqual(
    expect.objectContaining({ kind: 'unit_break', points: 6 }),
  )
})

test('values that should have come by now are missing before the series is stale', () => {
  const { services, series, clock } = withFrozen()
  services.seriesChanges.put(series('GASOLINE_USD'), { cadence: 'daily' })
  const missing = () =>
    services.seriesFaults.of(series('GASOLINE_USD')).find(fault => fault.kind === 'missing')
      ?.points ?? 0
  const moments: number[] = []
  // From Friday on; once the series is stale, it is reported as stopped instead.
  for (let look = 0; look < 24; look += 1) {
    moments.push(missing())
    clock.advance(6 * hourMs)
  }
  expect({ first: moments[0], max: Math.max(...moments) }).toEqual({ first: 0, max: 1 })
})

test('an active code does not hide a stopped code of the same cadence', async () => {
  const { services, record, clock } = openTestInstance()
  const of = (code: string) => services.catalogue.named(code)!
  const [live, dead] = services.catalogue
    .list()
    .filter(
      series =>
        series.unavailableReason === null &&
        series.source === of('EUR_SEK').source &&
        series.category === 'fx' &&
        series.cadence === of('EUR_SEK').cadence,
    )
  record(live!.code, [10, 10.1], clock.now() - hourMs, dayMs)
  record(dead!.code, [10, 10.1], clock.now() - 60 * dayMs, dayMs)
  const feed = services.freshness.feeds().find(feed => feed.codes > 0)
  expect(feed).toMatchObject({ status: 'delayed', codes: 2, staleCodes: 1 })
})

describe('a series that stops', () => {
  /** Two codes of one feed: a daily one, and one of another cadence. */
  function withTwo(cadence: 'daily' | 'monthly') {
    const instance = openTestInstance()
    const { services } = instance
    const of = (code: string) => services.catalogue.named(code)!
    services.seriesChanges.put(of('USD_AED'), { cadence })
    const feed = () => services.freshness.feeds().find(feed => feed.codes > 0)!
    return { ...instance, of, feed, codes: services.seriesFaults.codes }
  }

  test('a stopped series is reported according to its cadence until a new value arrives', async () => {
    const { record, codes, of, services, clock, get, key } = withTwo('daily')
    record('USD_KZT', [520, 521], startAt - hourMs, dayMs)
    record('USD_AED', [3.67, 3.68], startAt - hourMs, dayMs)
    expect(codes()).toMatchObject({ stopped: [], stoppedAlone: [] })
    clock.advance(7 * dayMs)
    record('USD_KZT', [522], clock.now() - hourMs, dayMs)
    expect(codes()).toMatchObject({ stopped: ['USD_AED'], stoppedAlone: ['USD_AED'] })
    expect(services.seriesFaults.of(of('USD_AED'))).toEqual([
      {
        code: 'USD_AED',
        kind: 'stopped',
        sinceOn: '2026-11-20',
        points: 4,
        description: 'USD_AED has stopped: its last value is from 2026-11-20',
      },
    ])
    const { data } = (await (await get('/v1/status', key())).json()) as {
      data: { data: object; components: { name: string; status: string; message: string }[] }
    }
    expect(data.data).toMatchObject({ stopped: ['USD_AED'] })
    const ingest = data.components.find(({ name }) => name === 'ingest')!
    expect({ status: ingest.status, message: ingest.message }).toEqual({
      status: 'degraded',
      message: 'Stopped: USD_AED.',
    })
    record('USD_AED', [3.67], clock.now() - hourMs, dayMs)
    expect(codes()).toMatchObject({ stopped: [], stoppedAlone: [] })
  })

  test('a stopped series is reported according to its release days', () => {
    const { record, codes, of, services, clock } = withTwo('daily')
    services.seriesChanges.put(of('USD_AED'), { releaseDays: ['fri'], cadence: 'weekly' })
    record('USD_AED', [3.67], startAt - 2 * dayMs, dayMs)
    const stoppedOn = []
    for (let day = 0; day < 40; day += 1) {
      if (codes().stopped.length > 0) stoppedOn.push(new Date(clock.now()).toISOString())
      clock.advance(dayMs)
    }
    // The value of Wednesday the 18th was published on Friday, so the limit is the end of the
    // Friday three weeks later.
    expect(stoppedOn[0]).toBe('2026-12-12T15:00:00.000Z')
  })

  test('a stopped series is not hidden by an active monthly series of the same feed', () => {
    const { record, codes, feed, clock } = withTwo('monthly')
    record('USD_KZT', [520], startAt - hourMs, dayMs)
    record('USD_AED', [3.67], startAt - hourMs, dayMs)
    expect({ status: feed().status, staleCodes: feed().staleCodes }).toEqual({
      status: 'current',
      staleCodes: 0,
    })
    clock.advance(10 * dayMs)
    expect({ status: feed().status, staleCodes: feed().staleCodes }).toEqual({
      status: 'stale',
      staleCodes: 1,
    })
    expect(codes()).toMatchObject({ stopped: ['USD_KZT'], stoppedAlone: ['USD_KZT'] })
  })

  test('a stopped monthly series is not hidden by an active daily series', () => {
    const { record, codes, feed, clock } = withTwo('monthly')
    record('USD_AED', [3.67], startAt - hourMs, dayMs)
    clock.advance(150 * dayMs)
    record('USD_KZT', [520], clock.now() - hourMs, dayMs)
    expect({ status: feed().status, staleCodes: feed().staleCodes }).toEqual({
      status: 'stale',
      staleCodes: 1,
    })
    expect(codes()).toMatchObject({ stopped: ['USD_AED'], stoppedAlone: ['USD_AED'] })
  })

  test('a stopped series is not reported once its operator declares that no more values will come', () => {
    const { record, codes, of, feed, services, clock } = withTwo('daily')
    record('USD_AED', [3.67], startAt - 60 * dayMs, dayMs)
    expect({ status: feed().status, stopped: codes().stopped }).toEqual({
      status: 'stale',
      stopped: ['USD_AED'],
    })
    services.seriesChanges.put(of('USD_AED'), { guards: { stop: 'off' } })
    expect({ status: feed().status, stopped: codes().stopped }).toEqual({
      status: 'current',
      stopped: [],
    })
    record('USD_KZT', [520], clock.now() - 60 * dayMs, dayMs)
    expect({ status: feed().status, staleCodes: feed().staleCodes }).toEqual({
      status: 'stale',
      staleCodes: 1,
    })
  })
})

test('a gap inside a session is reported, and the quality report of the series is not complete', async () => {
  const { record, services, ask, series } = withFrozen()
  const step = 5 * 60_000
  const gapOf = () =>
    services.seriesFaults.of(series('WTI_USD')).find(fault => fault.kind === 'gap')
  // Thursday and today from 09:00 to 15:00 UTC, today without 11:05 to 11:55.
  record('WTI_USD', walk(73, 70), startAt - dayMs, step)
  record('WTI_USD', walk(25, 70), startAt - 4 * hourMs, step)
  record('WTI_USD', walk(37, 70), startAt, step)
  expect(gapOf()).toEqual({
    code: 'WTI_USD',
    kind: 'gap',
    sinceOn: '2026-11-20',
    points: 11,
    description:
      'WTI_USD lacks 11 of 146 values of its cadence, the last before 2026-11-20T12:00:00Z',
  })
  expect(await ask('/v1/data-quality/reports/WTI_USD')).toMatchObject({
    completeness: 92.47,
    issues: [
      {
        severity: 'warning',
        description:
          'Missing in the sessions of the last days: 11 of 146 values of its cadence, the last before 2026-11-20T12:00:00Z.',
        affected_points: 11,
      },
    ],
  })
  record('WTI_USD', walk(11, 70), startAt - 3 * hourMs - step, step)
  expect(gapOf()).toBeUndefined()
})
