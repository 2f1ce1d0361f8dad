import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { firstRunSlot } from '../../../src/feeds/engine/feeds.ts'
import type { FeedRun } from '../../../src/feeds/store/feeds.ts'
import { minuteMs, parseDay, parseInstant } from '../../../src/lib/time/instant.ts'
import { openTestInstance, type TestInstance } from '../../support/instance/instance.ts'
import { needs } from '../../support/needs.ts'
import { type Misbehaviour, standIn, standInKey } from '../../support/publishers/stand-in.ts'
import { publishedWorld } from '../../support/publishers/world.ts'
import { until } from '../../support/until.ts'

const now = parseInstant('2026-08-20T12:00:00Z')!
const publishers = await standIn()
afterAll(() => publishers.stop())
beforeEach(() => {
  publishers.world = publishedWorld()
  publishers.today = '2026-08-18'
  publishers.asked.length = 0
})
afterEach(() => {
  publishers.misbehaviour = undefined
  publishers.failFirst.length = 0
  publishers.vintages.clear()
})

/** An instance with some feeds, all of them at the stand-in. */
function reading(settings: Record<string, string>): TestInstance {
  const names = new Set(Object.keys(settings).map(key => key.split('.')[0]!))
  const flags: Record<string, string> = { 'egress.allow': '127.0.0.0/8' }
  for (const name of names) flags[`feeds.${name}.base_url`] = publishers.url
  for (const [key, value] of Object.entries(settings)) {
    if (key.includes('.')) flags[`feeds.${key}`] = value
  }
  return openTestInstance(flags, now)
}

const codes = 'WTI_USD,NATURAL_GAS_USD,CUSHING_STORAGE'
const withEia = (more: Record<string, string> = {}) =>
  reading({ 'eia.key': standInKey, 'eia.codes': codes, 'eia.since': '2017-06-01', ...more })

const run = async (
  { services }: TestInstance,
  name: string,
  options: Parameters<typeof services.feeds.run>[1] = {},
): Promise<FeedRun> => (await services.feeds.run(name, options))!

function valueAt({ services }: TestInstance, code: string, day: string): number | undefined {
  const series = services.catalogue.named(code)!
  const at = parseDay(day)!
  return services.observations.oldestFirst(series.id, at, at + 1)[0]?.value
}

/** All that is held, to compare one state with another. */
const contentOf = ({ services }: TestInstance): string =>
  ['observations', 'observation_revisions', 'opec_productions', 'cot_reports']
    .map(table => {
      try {
        return JSON.stringify(services.db.query(`SELECT * FROM ${table}`).all())
      } catch {
        return ''
      }
    })
    .join('\n')

const sound = ({ services }: TestInstance) => expect(services.observations.faults()).toEqual([])

needs('../shared/data').describe('a feed', () => {
  test('writes each value as it was sent, times the factor of its map', async () => {
    const copy = withEia()
    const first = await run(copy, 'eia')
    // Four times the price on one day alone: an arctic storm, which nothing else bears out.
    expect(first).toMatchObject({ result: 'new', rejected: 0, held: 1, newestPeriod: '2026-08-18' })
    expect(valueAt(copy, 'NATURAL_GAS_USD', '2024-01-12')).toBeUndefined()
    expect(first.requests).toBe(publishers.asked.length)
    expect(valueAt(copy, 'WTI_USD', '2020-04-20')).toBe(-36.98)
    expect(valueAt(copy, 'NATURAL_GAS_USD', '2018-01-05')).toBeUndefined()
    const stocks = publishers.world.agency.get('W_EPC0_SAX_YCUOK_MBBL')!.rows.at(-1)!
    expect(valueAt(copy, 'CUSHING_STORAGE', stocks.period)).toBe(Number(stocks.value) / 1000)
    sound(copy)
  })

  test('a repeated feed read reads fewer rows, changes nothing and finds later corrections', async () => {
    const copy = withEia()
    const first = await run(copy, 'eia')
    const before = contentOf(copy)
    const second = await run(copy, 'eia')
    expect(second).toMatchObject({ result: 'unchanged', inserted: 0, revised: 0 })
    expect(second.rowsRead).toBeLessThan(first.rowsRead / 3)
    expect(contentOf(copy)).toBe(before)
    publishers.world.agency.get('RWTC')!.rows.at(-2)!.value = '80.34'
    const corrected = publishers.world.agency.get('RWTC')!.rows.at(-2)!.period
    copy.clock.advance(minuteMs)
    expect(await run(copy, 'eia')).toMatchObject({ result: 'new', inserted: 0, revised: 1 })
    expect(valueAt(copy, 'WTI_USD', corrected)).toBe(80.34)
    sound(copy)
  })

  test('a trial shows a value also of a publisher that has nothing recent, and writes nothing', async () => {
    const copy = reading({ ecb: '', uk_road_fuel: '' })
    const before = contentOf(copy)
    const newest = [...publishers.world.rates.keys()].at(-1)!
    expect(await copy.services.feeds.test('ecb')).toMatchObject({ sample: { period: newest } })
    expect(await copy.services.feeds.test('uk_road_fuel')).toMatchObject({
      sample: { sourceId: 'ULSP', period: '2026-08-17' },
    })
    expect(contentOf(copy)).toBe(before)
  })

  test('a feed dry run reports the counts of a real run and writes nothing', async () => {
    const copy = withEia()
    const before = contentOf(copy)
    const dry = await run(copy, 'eia', { dryRun: true })
    expect(contentOf(copy)).toBe(before)
    expect(copy.services.feeds.countRuns('eia')).toBe(0)
    const wet = await run(copy, 'eia')
    expect(wet.inserted + wet.held).toBe(dry.inserted)
    expect(wet.rowsRead).toBe(dry.rowsRead)
  })

  test('a dataset dry run reports what would be revised and writes nothing', async () => {
    const copy = reading({ cftc: '', 'cftc.since': '2025-06-01' })
    const first = await run(copy, 'cftc')
    const before = contentOf(copy)
    const same = await run(copy, 'cftc', { since: '2025-06-01', dryRun: true })
    expect({ inserted: same.inserted, revised: same.revised, unchanged: same.unchanged }).toEqual({
      inserted: 0,
      revised: 0,
      unchanged: first.inserted,
    })
    const reports = publishers.world.positions.get('067651')!
    const newest = reports.findLast(report => report.day <= publishers.today)!
    newest.long = String(Number(newest.long) + 1)
    const dry = await run(copy, 'cftc', { since: '2025-06-01', dryRun: true })
    expect({ inserted: dry.inserted, revised: dry.revised, unchanged: dry.unchanged }).toEqual({
      inserted: 0,
      revised: 1,
      unchanged: first.inserted - 1,
    })
    expect(contentOf(copy)).toBe(before)
    const wet = await run(copy, 'cftc', { since: '2025-06-01' })
    expect({ inserted: wet.inserted, revised: wet.revised, unchanged: wet.unchanged }).toEqual({
      inserted: 0,
      revised: 1,
      unchanged: first.inserted - 1,
    })
    expect(contentOf(copy)).not.toBe(before)
  }, 60_000)

  const suspicious: [Misbehaviour, string][] = [
    ['no_rows', 'series_empty'],
    ['ends_earlier', 'went_backwards'],
    ['another_unit', 'unexpected_unit'],
    ['another_header', 'unexpected_header'],
    ['all_zero', 'all_zero'],
    ['half_of_it', 'rows_fell'],
    ['in_the_future', 'future_period'],
  ]
  for (const [misbehaviour, code] of suspicious) {
    test(`holds an answer with ${misbehaviour}, and writes nothing`, async () => {
      const copy = withEia()
      await run(copy, 'eia')
      const before = contentOf(copy)
      publishers.misbehaviour = misbehaviour
      const second = await run(copy, 'eia', { since: '2017-06-01' })
      expect(second).toMatchObject({ result: 'held', problemCode: code, inserted: 0, revised: 0 })
      expect(second.held).toBeGreaterThan(0)
      expect(contentOf(copy)).toBe(before)
      expect(copy.log.join('\n')).toContain('feed_held')
      publishers.misbehaviour = undefined
      expect((await run(copy, 'eia')).result).toBe('unchanged')
    })
  }

  const failing: Misbehaviour[] = [
    'cut_short',
    'maintenance_page',
    'truncated',
    'total_changes',
    'elsewhere',
  ]
  for (const misbehaviour of failing) {
    test(`fails on ${misbehaviour}, and writes nothing`, async () => {
      const copy = withEia({ 'eia.codes': 'WTI_USD', 'eia.since': '1986-01-01' })
      publishers.misbehaviour = misbehaviour
      expect(await run(copy, 'eia')).toMatchObject({ result: 'failed', inserted: 0 })
      expect(contentOf(copy)).toBe(contentOf(withEia()))
      expect(copy.services.feeds.view('eia')!.state).toBe('failing')
    })
  }

  test('a feed rejects a value that is not a number and accepts the other rows', async () => {
    publishers.misbehaviour = 'not_a_number'
    const copy = withEia({ 'eia.codes': 'WTI_USD' })
    const first = await run(copy, 'eia')
    expect(first).toMatchObject({ result: 'new', rejected: 1 })
    expect(first.inserted).toBe(first.rowsRead)
  })

  test('a feed read succeeds after two 500 responses and waits as long as Retry-After says', async () => {
    const copy = withEia({ 'eia.codes': 'WTI_USD', 'eia.since': '2026-06-01' })
    publishers.failFirst.push({ status: 500 }, { status: 500 })
    expect(await run(copy, 'eia')).toMatchObject({ result: 'new', requests: 3 })
    copy.waited.length = 0
    publishers.failFirst.push({ status: 429, retryAfter: '7' })
    await run(copy, 'eia')
    expect(copy.waited).toContain(7000)
  })

  test('an interactive feed test makes at most two attempts', async () => {
    const copy = withEia({ 'eia.codes': 'WTI_USD' })
    publishers.failFirst.push({ status: 500 }, { status: 500 }, { status: 500 })
    expect(await copy.services.feeds.test('eia')).toMatchObject({ fault: { code: 'unavailable' } })
    expect(publishers.asked.length).toBe(2)
    // A second at most.
    expect(copy.waited.every(ms => ms <= 1000)).toBe(true)
  })

  test('a publisher that wants to be left alone for longer than a run waits is left alone', async () => {
    const copy = withEia({ 'eia.codes': 'WTI_USD', 'eia.since': '2026-06-01' })
    publishers.failFirst.push({ status: 503, retryAfter: '7200' })
    expect(await run(copy, 'eia')).toMatchObject({ result: 'failed', requests: 1 })
    const nextRunAt = () => copy.services.feeds.view('eia')!.nextRunAt!
    expect(nextRunAt()).toBeGreaterThanOrEqual(now + 120 * minuteMs)
    copy.clock.set(now + 119 * minuteMs)
    copy.services.feeds.pass()
    expect(publishers.asked).toHaveLength(1)
    copy.clock.set(nextRunAt())
    copy.services.feeds.pass()
    await copy.services.feeds.settled()
    expect(copy.services.feeds.runs('eia', 1, 0)[0]).toMatchObject({ result: 'new' })
  })

  test('a feed run that is requested during another run starts after it', async () => {
    const copy = withEia({ 'eia.codes': 'WTI_USD', 'eia.since': '2026-06-01' })
    const first = copy.services.feeds.begin('eia')!
    expect(copy.services.feeds.begin('eia')).toBeUndefined()
    const second = await run(copy, 'eia')
    expect(first.result).toBe('new')
    expect(second).toMatchObject({ result: 'unchanged', inserted: 0 })
    expect(second.id).not.toBe(first.id)
  })

  test('a feed downloads a file only when it has changed', async () => {
    const copy = reading({ world_bank: '', 'world_bank.codes': 'COAL_AUSTRALIA_USD' })
    expect((await run(copy, 'world_bank')).result).toBe('new')
    const second = await run(copy, 'world_bank')
    expect(second).toMatchObject({ result: 'unchanged', rowsRead: 0 })
    expect(publishers.asked.at(-1)!.status).toBe(304)
  })

  test('shows its key nowhere', async () => {
    const copy = withEia({ 'eia.codes': 'WTI_USD', 'eia.since': '2026-06-01' })
    await run(copy, 'eia')
    publishers.misbehaviour = 'always_500'
    await run(copy, 'eia')
    publishers.misbehaviour = undefined
    copy.services.feeds.configure('fred', { key: standInKey })
    const seen = [
      copy.log.join('\n'),
      JSON.stringify(copy.services.feeds.runs(undefined, 10, 0)),
      JSON.stringify(copy.services.db.query('SELECT * FROM feed_marks').all()),
      JSON.stringify(copy.services.db.query('SELECT * FROM feed_settings').all()),
    ]
    for (const text of seen) expect(text).not.toContain('CANARY')
  }, 90_000)
})

needs('../shared/data').describe('several feeds', () => {
  const both = {
    'eia.key': standInKey,
    'eia.codes': 'WTI_USD',
    'eia.since': '2026-07-01',
    'fred.key': standInKey,
    'fred.codes': 'WTI_USD',
    'fred.since': '2026-07-01',
  }
  const differ = () => {
    publishers.vintages.set('DCOILWTICO 2026-08-10', [{ value: '99.99', from: '2026-08-12' }])
  }
  for (const order of [
    ['eia', 'fred', 'eia'],
    ['fred', 'eia', 'fred'],
  ]) {
    test(`the preferred one wins in the order ${order.join(', ')}`, async () => {
      differ()
      const own = publishers.world.agency
        .get('RWTC')!
        .rows.find(row => row.period === '2026-08-10')!
      const copy = reading(both)
      for (const name of order) await run(copy, name)
      expect(valueAt(copy, 'WTI_USD', '2026-08-10')).toBe(Number(own.value))
      const other = openTestInstance(
        {
          'egress.allow': '127.0.0.0/8',
          'feeds.eia.base_url': publishers.url,
          'feeds.fred.base_url': publishers.url,
          'feeds.prefer': 'WTI_USD: fred eia',
          ...Object.fromEntries(
            Object.entries(both).map(([key, value]) => [`feeds.${key}`, value]),
          ),
        },
        now,
      )
      for (const name of order) await run(other, name)
      expect(valueAt(other, 'WTI_USD', '2026-08-10')).toBe(99.99)
      sound(other)
    })
  }

  test('the preferred one wins also where it began before the other and ends after it', async () => {
    const since = '2026-03-01'
    const copy = reading({
      ecb: '',
      'ecb.codes': 'GBP_NOK',
      'ecb.since': since,
      norges_bank: '',
      'norges_bank.codes': 'GBP_NOK',
      'norges_bank.since': since,
    })
    publishers.failFirst.push({ status: 429, retryAfter: '1' })
    const { promise, resolve } = Promise.withResolvers<void>()
    copy.holdUp = promise
    copy.services.feeds.begin('ecb')
    await until('the feed waits before it tries again', () => copy.waited.length > 0)
    copy.holdUp = undefined
    copy.clock.advance(minuteMs)
    expect((await run(copy, 'norges_bank')).inserted).toBeGreaterThan(0)
    expect(valueAt(copy, 'GBP_NOK', '2026-04-13')).toBe(12.7478)
    resolve()
    await copy.services.feeds.settled()
    // 11.098 kroner and 0.87058 pounds a euro.
    expect(valueAt(copy, 'GBP_NOK', '2026-04-13')).toBeCloseTo(11.098 / 0.87058, 9)
    sound(copy)
  })

  test('a monthly value gives way to a daily value of that month from any source', async () => {
    const copy = withEia({
      'eia.codes': 'WTI_USD',
      'eia.since': '2026-04-10',
      world_bank: '',
      'world_bank.codes': 'WTI_USD,COAL_AUSTRALIA_USD',
    })
    await run(copy, 'world_bank')
    expect(valueAt(copy, 'WTI_USD', '2026-04-01')).toBeDefined()
    // Recordings of one moment rise by a millisecond each.
    const mark = copy.clock.now() + minuteMs / 2
    copy.clock.advance(minuteMs)
    await run(copy, 'eia')
    expect(valueAt(copy, 'WTI_USD', '2026-04-01')).toBeUndefined()
    expect(valueAt(copy, 'WTI_USD', '2026-03-01')).toBeDefined()
    await run(copy, 'world_bank', { since: '2026-01-01' })
    expect(valueAt(copy, 'WTI_USD', '2026-04-01')).toBeUndefined()
    const coal = copy.services.catalogue.named('COAL_AUSTRALIA_USD')!
    const at = parseDay('2026-04-15')!
    copy.services.ingest.write([{ seriesId: coal.id, observedAt: at, value: 110 }])
    expect(valueAt(copy, 'COAL_AUSTRALIA_USD', '2026-04-01')).toBeUndefined()
    const wti = copy.services.catalogue.named('WTI_USD')!
    const april = parseDay('2026-04-01')!
    const then = copy.services.observations.asOf(wti.id, april, april + 1, mark, 10)
    expect(then).toHaveLength(1)
    sound(copy)
  })

  test('a month that waits for a decision gives way to a day of it, too', async () => {
    const copy = withEia({
      'eia.codes': 'NATURAL_GAS_USD',
      'eia.since': '2024-02-01',
      world_bank: '',
      'world_bank.codes': 'NATURAL_GAS_USD',
    })
    const february = parseDay('2024-02-01')!
    const { flaggedValues } = copy.services
    const waiting = () =>
      flaggedValues
        .list({ status: 'waiting' }, 100, 0)
        .filter(({ observedAt, value }) => observedAt === february && value === 17.2)
    const sheet = publishers.world.pinkSheet
    const month = sheet.find(row => row[0] === '2024-02')!
    const column = sheet[0]!.indexOf('Natural gas, US')
    const honest = month[column]!
    try {
      month[column] = '17.2'
      await run(copy, 'world_bank')
    } finally {
      month[column] = honest
    }
    expect(waiting()).toMatchObject([{ rule: 'jump' }])
    await run(copy, 'eia')
    expect(valueAt(copy, 'NATURAL_GAS_USD', '2024-02-01')).toBe(2.15)
    expect(waiting()).toEqual([])
    sound(copy)
  })

  test('FRED is held when the metadata of a series states another unit', async () => {
    const copy = reading({
      'fred.key': standInKey,
      'fred.codes': 'WTI_USD',
      'fred.since': '2026-08-01',
    })
    expect(await run(copy, 'fred')).toMatchObject({ result: 'new' })
    publishers.misbehaviour = 'another_unit'
    copy.clock.advance(minuteMs)
    expect(await run(copy, 'fred', { since: '2026-08-01' })).toMatchObject({
      result: 'held',
      problemCode: 'unexpected_unit',
      problem: 'DCOILWTICO came in Index 2015=100 instead of $/BBL',
      inserted: 0,
      revised: 0,
    })
  })

  test('an as_of value is the one that the publisher had released by then', async () => {
    publishers.vintages.set('DCOILWTICO 2026-08-10', [
      { value: '80.00', from: '2026-08-12' },
      { value: '81.25', from: '2026-08-14' },
    ])
    const copy = reading({
      'fred.key': standInKey,
      'fred.codes': 'WTI_USD',
      'fred.since': '2026-08-01',
    })
    await run(copy, 'fred')
    const { id } = copy.services.catalogue.named('WTI_USD')!
    const at = parseDay('2026-08-10')!
    const knownAt = (moment: string) =>
      copy.services.observations.asOf(id, at, at + 1, parseInstant(moment)!, 1)[0]?.value
    expect([
      knownAt('2026-08-11T23:59:59Z'),
      knownAt('2026-08-13T12:00:00Z'),
      knownAt('2026-08-15T00:00:00Z'),
    ]).toEqual([undefined, 80, 81.25])
    expect(await run(copy, 'fred', { since: '2026-08-01' })).toMatchObject({
      result: 'unchanged',
      revised: 0,
    })
    sound(copy)
  })

  test('positions, forecasts and wells go into their datasets, and the second opinion fills in only', async () => {
    const copy = reading({
      cftc: '',
      'eia.key': standInKey,
      'eia.codes': 'outlooks,opec-productions,drilling-productivity,duc-wells,rig-counts',
      jodi: '',
      'jodi.since': '2026-01-01',
    })
    expect(await run(copy, 'cftc')).toMatchObject({ result: 'new', rejected: 0 })
    const first = await run(copy, 'eia')
    expect(first).toMatchObject({ result: 'new', rejected: 0 })
    const production = (month: string) =>
      copy.services.opec.ofMonth(month).find(row => row.country === 'Saudi Arabia')
    expect(production('2026-06')).toMatchObject({ source: 'EIA' })
    // The agency's value for August is held: it is a thousandth of July's.
    expect(production('2026-08')).toBeUndefined()
    expect(await run(copy, 'jodi')).toMatchObject({ inserted: 1, revised: 0 })
    expect(production('2026-08')).toMatchObject({ source: 'JODI' })
    expect(production('2026-06')).toMatchObject({ source: 'EIA' })
    expect(await run(copy, 'eia')).toMatchObject({ result: 'unchanged', inserted: 0, revised: 0 })
  }, 60_000)
})

describe('a feed that may not be read', () => {
  test('a feed that may not be read reports the reason and requests nothing', async () => {
    const copy = reading({ 'eia.codes': 'WTI_USD', 'lbma.codes': 'GOLD_AM_USD' })
    const states = copy.services.feeds.list().map(view => [view.feed.publisher.name, view.state])
    expect(Object.fromEntries(states)).toMatchObject({
      eia: 'needs_key',
      lbma: 'needs_license',
      ecb: 'off',
    })
    for (const [name, code] of [
      ['eia', 'needs_key'],
      ['lbma', 'needs_license'],
      ['ecb', 'off'],
    ] as const) {
      expect(await run(copy, name)).toMatchObject({
        result: 'failed',
        problemCode: code,
        requests: 0,
      })
    }
    expect(publishers.asked).toEqual([])
    // No publisher was contacted: neither a failed run nor a failure of the feed.
    expect(copy.services.feeds.runs(undefined, 10, 0)).toEqual([])
    expect(copy.services.feeds.list().map(view => view.consecutiveFailures)).not.toContain(1)
  })

  test('no publisher is contacted when feeds are disabled, not even for a test', async () => {
    const copy = openTestInstance(
      {
        'egress.allow': '127.0.0.0/8',
        'feeds.enabled': 'false',
        'feeds.ecb.base_url': publishers.url,
      },
      now,
    )
    expect(await copy.services.feeds.test('ecb')).toMatchObject({
      fault: { message: expect.stringContaining('feeds.enabled is false') },
    })
    expect(await run(copy, 'ecb')).toMatchObject({ result: 'failed', problemCode: 'off' })
    expect(publishers.asked).toEqual([])
  })

  test('reaches no address of this machine that is not opened', async () => {
    const copy = openTestInstance({ 'feeds.ecb.base_url': publishers.url }, now)
    expect(await run(copy, 'ecb')).toMatchObject({ result: 'failed' })
    expect(publishers.asked).toEqual([])
  })
})

needs('../shared/data').describe('by itself', () => {
  const gas = () => reading({ eia_wngsr: '', 'eia_wngsr.codes': 'US_NATGAS_STORAGE' })
  const passAt = async (copy: TestInstance, at: number) => {
    copy.clock.set(at)
    copy.services.feeds.pass()
    await copy.services.feeds.settled()
  }

  test('a start catches up on missed releases once and within a minute', async () => {
    const copy = gas()
    copy.services.feeds.start()
    await passAt(copy, now + minuteMs)
    await passAt(copy, now + 2 * minuteMs)
    const runs = copy.services.feeds.runs('eia_wngsr', 10, 0)
    expect(runs.map(run => [run.trigger, run.result])).toEqual([['start', 'new']])
  })

  test('a release is read when it comes out, and tried every few minutes until it does', async () => {
    const copy = gas()
    publishers.today = '2026-01-16'
    await run(copy, 'eia_wngsr')
    const release = parseInstant('2026-08-20T14:30:00Z')!
    await passAt(copy, release - minuteMs)
    expect(copy.services.feeds.countRuns('eia_wngsr')).toBe(1)
    await passAt(copy, release + minuteMs)
    await passAt(copy, release + 3 * minuteMs)
    publishers.today = '2026-08-18'
    await passAt(copy, release + 8 * minuteMs)
    await passAt(copy, release + 60 * minuteMs)
    const runs = copy.services.feeds.runs('eia_wngsr', 10, 0)
    expect(runs.map(run => [run.trigger, run.result]).toReversed()).toEqual([
      ['operator', 'new'],
      ['schedule', 'unchanged'],
      ['schedule', 'new'],
    ])
  })

  test('a late release is reported exactly once', async () => {
    const copy = gas()
    publishers.today = '2026-01-16'
    await run(copy, 'eia_wngsr')
    const lateAt = parseInstant('2026-08-21T14:30:00Z')!
    for (const at of [lateAt, lateAt + 5 * minuteMs, lateAt + 60 * minuteMs]) await passAt(copy, at)
    expect(copy.services.feeds.view('eia_wngsr')).toMatchObject({
      state: 'late',
      expectedBy: lateAt,
    })
    const lateLines = copy.log.filter(line => line.includes('"feed_late"'))
    expect(lateLines).toHaveLength(1)
    expect(lateLines[0]).toContain('"release":"2026-08-20T14:30:00Z"')
  })

  test('a release that does not come is late until something does, whatever is due after it', async () => {
    const copy = gas()
    publishers.today = '2026-01-16'
    await run(copy, 'eia_wngsr')
    const lateAt = parseInstant('2026-08-21T14:30:00Z')!
    const weekMs = 7 * 24 * 60 * minuteMs
    const late = { state: 'late', expectedBy: lateAt }
    for (const at of [
      lateAt,
      lateAt + weekMs - 24 * 60 * minuteMs + 10 * minuteMs,
      lateAt + weekMs,
    ]) {
      await passAt(copy, at)
      expect(copy.services.feeds.view('eia_wngsr')).toMatchObject(late)
    }
    expect(copy.log.filter(line => line.includes('"feed_late"'))).toHaveLength(1)
    publishers.today = '2026-08-18'
    await passAt(copy, lateAt + weekMs + 70 * minuteMs)
    expect(copy.services.feeds.view('eia_wngsr')!.state).toBe('ok')
  })

  test('instances that start together spread their first feed reads over different seconds', () => {
    const first = gas()
    first.services.feeds.start()
    const at = first.services.feeds.nextDue(now)
    expect(at - now).toBeGreaterThanOrEqual(2_000)
    expect(at - now).toBeLessThan(60_000)
  })

  test('a paused feed is not read unless a run is requested', async () => {
    const copy = gas()
    copy.services.feeds.pause('eia_wngsr')
    copy.services.feeds.start()
    await passAt(copy, now + minuteMs)
    expect(copy.services.feeds.countRuns('eia_wngsr')).toBe(0)
    expect((await run(copy, 'eia_wngsr')).result).toBe('new')
    expect(copy.services.feeds.view('eia_wngsr')!.state).toBe('paused')
    copy.services.feeds.resume('eia_wngsr')
    expect(copy.services.feeds.view('eia_wngsr')!.state).toBe('ok')
  })

  test('a run that the end of the process left open is closed by the next start', () => {
    const copy = gas()
    copy.services.db.run(
      "INSERT INTO feed_runs (id, feed, trigger, started_at) VALUES ('x', 'ecb', 'schedule', 1)",
    )
    copy.services.feeds.closeOpenRuns()
    expect(copy.services.feeds.runs('ecb', 1, 0)[0]).toMatchObject({
      result: 'failed',
      problemCode: 'interrupted',
      finishedAt: now,
    })
  })
})

needs('../shared/data').describe('what answers say of a feed', () => {
  test('feed values carry their publisher and attribution, and view-only data stays out of the demo data', async () => {
    const copy = reading({
      'eia.key': standInKey,
      'eia.codes': 'WTI_USD',
      'eia.since': '2026-06-01',
      'lbma.license': 'accept',
      'lbma.codes': 'GOLD_AM_USD',
    })
    await run(copy, 'eia')
    await run(copy, 'lbma')
    const token = copy.key()
    const latest = async (code: string) =>
      JSON.stringify(await (await copy.get(`/v1/prices/latest?by_code=${code}`, token)).json())
    expect(await latest('WTI_USD')).toContain('"source":"U.S. Energy Information Administration"')
    expect(await latest('WTI_USD')).toContain(
      '"source_description":"Source: U.S. Energy Information Administration"',
    )
    expect(await latest('GOLD_AM_USD')).toContain('"license_class":"view"')
    const sources = await copy.get('/v1/sources')
    expect(sources.status).toBe(200)
    expect(await sources.json()).toMatchObject({
      sources: [
        { publisher: 'U.S. Energy Information Administration', license_class: 'open', codes: 1 },
        { license_class: 'view', codes: 1 },
      ],
    })
    const admin = copy.services.adminTokens.rotate()
    const file = await copy.get('/admin/v1/export?codes=WTI_USD,GOLD_AM_USD', undefined, {
      authorization: `Bearer ${admin}`,
    })
    const text = await file.text()
    expect(text).toContain('WTI_USD,2026-08-18')
    expect(text).not.toContain('GOLD_AM_USD')
  })
})

test('an instance catches up in the same slot after every start, and instances in different ones', () => {
  expect(firstRunSlot('prices-1', '/var/lib/wellhead')).toBe(
    firstRunSlot('prices-1', '/var/lib/wellhead'),
  )
  const slots = Array.from({ length: 28 }, (_, i) => firstRunSlot('prices-1', `/srv/${i}`))
  expect(slots.every(slot => slot >= 0 && slot < 28)).toBe(true)
  expect(new Set(slots).size).toBeGreaterThan(10)
})
