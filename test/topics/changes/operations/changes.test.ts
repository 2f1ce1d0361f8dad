import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { viewFeeds } from '../../../../src/feeds/publishers/publishers.ts'
import { dayMs, isoDay, isoInstant, isoMillis } from '../../../../src/lib/time/instant.ts'
import { isFull } from '../../../support/full.ts'
import { startAt, type TestInstance } from '../../../support/instance/instance.ts'
import { createFollower, type WireChange } from '../../../support/topics/follower.ts'
import {
  codes,
  opened,
  ownCode,
  pageOf,
  readAll,
} from '../../../support/topics/operations/changes.ts'

const firstAt = startAt - 20 * dayMs
const days = 12

/** The rows of an export for its codes at a moment, and these codes. */
async function exported(
  instance: TestInstance,
  token: string,
  asOf?: string,
): Promise<{ lines: string[]; covered: string[] }> {
  const [lines, covered]: [string[], string[]] = [[], []]
  const { list, unavailableReason } = instance.services.catalogue
  for (const code of [...codes, ownCode]) {
    const series = instance.services.catalogue.named(code)!
    const isServed = list().includes(series) && unavailableReason(series) !== 'discontinued'
    if (!isServed || series.terms?.visibleTo) {
      covered.push(code)
      continue
    }
    const query = new URLSearchParams({
      codes: code,
      start_date: isoDay(firstAt - dayMs),
      end_date: isoDay(startAt + dayMs),
      columns: 'code,observed_at,price',
      ...(asOf !== undefined && { as_of: asOf }),
    })
    const answer = await instance.get(`/v1/export/prices?${query}`, token)
    expect(answer.status).toBe(200)
    const since = answer.headers.get('x-vintage-revision-coverage-since')
    if (asOf !== undefined && since !== null && since > asOf) continue
    covered.push(code)
    lines.push(...(await answer.text()).trim().split('\n').slice(1))
  }
  return { lines: lines.sort(), covered }
}

type Step =
  | { kind: 'push'; code: number; day: number; count: number; value: number; ago: number }
  | { kind: 'correct' | 'remove'; code: number; day: number; value: number }
  | { kind: 'undo'; batch: number }
  | { kind: 'quarantine'; code: number; day: number; count: number }
  | { kind: 'lift'; range: number }
  | { kind: 'retire' | 'hide' | 'show' | 'display' }

const stepsOf = (...audiences: ('retire' | 'hide' | 'show' | 'display')[]) =>
  fc.array(
    fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({
          kind: fc.constant('push' as const),
          code: fc.nat(3),
          day: fc.nat(days - 1),
          count: fc.integer({ min: 1, max: 4 }),
          value: fc.integer({ min: 60, max: 64 }),
          // Mostly now; some were recorded earlier.
          ago: fc.constantFrom(0, 0, 0, 1, 2, 5),
        }),
      },
      fc.record({
        kind: fc.constantFrom('correct' as const, 'remove' as const),
        code: fc.nat(3),
        day: fc.nat(days - 1),
        value: fc.integer({ min: 70, max: 72 }),
      }),
      fc.record({ kind: fc.constant('undo' as const), batch: fc.nat(20) }),
      fc.record({
        kind: fc.constant('quarantine' as const),
        code: fc.nat(3),
        day: fc.nat(days - 1),
        count: fc.nat(2),
      }),
      fc.record({ kind: fc.constant('lift' as const), range: fc.nat(5) }),
      fc.record({ kind: fc.constantFrom(...audiences) }),
    ),
    { minLength: 5, maxLength: 40 },
  )
const steps = stepsOf('retire', 'hide', 'show')

/** Values of days in a row, more than are noted each on its own, for few instants. */
const pastWrites = fc.array(
  fc.record({
    values: fc.array(fc.integer({ min: 60, max: 63 }), { minLength: 1, maxLength: 20 }),
    ago: fc.nat(3),
    limit: fc.integer({ min: 1, max: 30 }),
  }),
  { minLength: 2, maxLength: 8 },
)

/** Does a step as the operator or a source would, a minute after the one before. */
function run(instance: TestInstance, step: Step, batches: number[]): void {
  const { batches: all, batchStore, catalogue, quarantine, seriesChanges } = instance.services
  const idOf = (index: number) => catalogue.named([...codes, ownCode][index]!)!.id
  const actor = 'test'
  instance.clock.advance(60_000)
  switch (step.kind) {
    case 'push': {
      const points = Array.from({ length: step.count }, (_, i) => ({
        seriesId: idOf(step.code),
        observedAt: firstAt + ((step.day + i) % days) * dayMs,
        value: step.value + i,
        ...(step.ago > 0 && { recordedAt: instance.clock.now() - step.ago * 90_000 }),
      }))
      const { batch } = all.record({ kind: 'push', actor, source: `desk ${step.value}` }, points)
      batches.push(batch.id)
      return
    }
    case 'correct':
    case 'remove': {
      const [seriesId, observedAt] = [idOf(step.code), firstAt + step.day * dayMs]
      const start = { kind: 'correction' as const, actor, reason: 'test' }
      const stored = instance.services.observations.between(seriesId, observedAt, observedAt + 1, 1)
      if (stored.length === 0) return
      if (step.kind === 'remove') all.remove(start, seriesId, [observedAt])
      else all.correct(start, { seriesId, observedAt, value: step.value })
      return
    }
    case 'undo': {
      const id = batches[step.batch % Math.max(1, batches.length)]
      const batch = id === undefined ? undefined : batchStore.find(id)
      if (batch && batch.undoneAt === null) all.undo(batch, { actor }, true)
      return
    }
    case 'quarantine': {
      const from = firstAt + step.day * dayMs
      quarantine.add({
        seriesId: idOf(step.code),
        fromOn: isoDay(from),
        toOn: isoDay(from + step.count * dayMs),
        reason: 'test',
        createdAt: instance.clock.now(),
      })
      return
    }
    case 'lift': {
      const range = quarantine.all()[step.range % Math.max(1, quarantine.all().length)]
      if (range) quarantine.remove(range.id)
      return
    }
    default: {
      const series = catalogue.named(ownCode)!
      const { active: _, visibleTo: __, licenseClass: ___, ...terms } = series.terms!
      seriesChanges.put(series, {
        ...terms,
        ...(step.kind === 'retire' && { active: false }),
        ...(step.kind === 'hide' && { visibleTo: ['another account'] }),
        ...(step.kind === 'display' && { licenseClass: 'view' as const }),
      })
    }
  }
}

describe('the feed of changes', () => {
  test('gives the state of an export now and at every earlier moment, whatever happened', async () => {
    const all = stepsOf('retire', 'hide', 'show', 'display')
    await fc.assert(
      fc.asyncProperty(all, fc.integer({ min: 1, max: 10 }), async (all, each) => {
        const { instance, token } = opened()
        const follower = createFollower()
        const batches: number[] = []
        let cursor = 'start'
        for (const [i, step] of all.entries()) {
          run(instance, step, batches)
          if (i % each !== 0) continue
          const read = await readAll(instance, token, cursor)
          follower.take(read.changes)
          cursor = read.cursor
        }
        instance.clock.advance(60_000)
        follower.take((await readAll(instance, token, cursor)).changes)
        const late = createFollower()
        late.take((await readAll(instance, token, 'start', '&limit=7')).changes)
        const end = isoMillis(instance.clock.now())
        const now = await exported(instance, token)
        expect(follower.stateAt(end)).toEqual(now.lines)
        expect(late.stateAt(end)).toEqual(now.lines)
        for (let i = 1; i <= all.length; i += 3) {
          const asOf = isoMillis(startAt + i * 60_000 + 500)
          const { lines, covered } = await exported(instance, token, asOf)
          const isCovered = (line: string) => covered.includes(line.split(',')[0]!)
          expect([asOf, ...follower.stateAt(asOf).filter(isCovered)]).toEqual([asOf, ...lines])
          expect([asOf, ...late.stateAt(asOf).filter(isCovered)]).toEqual([asOf, ...lines])
        }
      }),
      { numRuns: isFull ? 60 : 25 },
    )
  }, 60_000)

  test('has each value that was recorded for the past once, for a reader from the start and for one who follows', async () => {
    await fc.assert(
      fc.asyncProperty(pastWrites, async writes => {
        const { instance, token } = opened()
        const { services, clock } = instance
        const seriesId = services.catalogue.named('WTI_USD')!.id
        const begin = clock.now()
        const seen: WireChange[] = []
        let cursor = 'start'
        const look = async (limit: number) => {
          const page = await pageOf(instance, token, cursor, `&codes=WTI_USD&limit=${limit}`)
          seen.push(...page.changes)
          cursor = page.cursor
          return page.has_more
        }
        for (const { values, ago, limit } of writes) {
          clock.advance(60_000)
          services.ingest.write(
            values.map((value, day) => ({
              seriesId,
              observedAt: firstAt + day * dayMs,
              value,
              // Some at one instant, others each at its own; those of 0 at the time of writing.
              ...(ago > 0 && { recordedAt: begin - (ago === 3 ? day : ago) * 1_000 }),
            })),
          )
          // A reader may stop in the midst of a transaction.
          await look(limit)
        }
        while (await look(3));
        const fresh = (await readAll(instance, token, 'start', '&codes=WTI_USD&limit=7')).changes
        for (const changes of [seen, fresh]) {
          const cursors = changes.map(change => change.cursor)
          expect(cursors).toEqual([...new Set(cursors)].toSorted())
        }
        const names = fresh.map(one => `${one.observed_at} ${one.recorded_at}`)
        expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
        const byCursor = new Map(seen.map(change => [change.cursor, change]))
        for (const { cursor: at, observed_at, value } of fresh)
          expect(byCursor.get(at)).toMatchObject({ observed_at, value })
        const follower = createFollower()
        follower.take(fresh)
        const state = services.observations.oldestFirst(seriesId, firstAt, startAt)
        expect(follower.stateAt(isoMillis(clock.now() + dayMs))).toEqual(
          state.map(one => `WTI_USD,${isoInstant(one.observedAt)},${one.value}`).sort(),
        )
      }),
      { numRuns: isFull ? 200 : 20 },
    )
  }, 120_000)

  /** Records one value for WTI, known since some seconds after the start of the instance. */
  const recordAt = ({ services, clock }: TestInstance, value: number, seconds?: number) => {
    clock.advance(60_000)
    const seriesId = services.catalogue.named('WTI_USD')!.id
    const recordedAt = seconds === undefined ? undefined : startAt + seconds * 1_000
    services.ingest.write([
      { seriesId, observedAt: firstAt, value, ...(recordedAt !== undefined && { recordedAt }) },
    ])
  }

  test('agrees with the export where a value was recorded again for an earlier time, and another between the two', async () => {
    const { instance, token } = opened()
    const follower = createFollower()
    let cursor = 'start'
    for (const [value, seconds] of [[70], [70, 10], [71, 20]] as const) {
      recordAt(instance, value, seconds)
      const read = await readAll(instance, token, cursor)
      follower.take(read.changes)
      cursor = read.cursor
    }
    for (const seconds of [15, 30, 90]) {
      const at = isoMillis(startAt + seconds * 1_000)
      expect([at, ...follower.stateAt(at)]).toEqual([
        at,
        ...(await exported(instance, token, at)).lines,
      ])
    }
  })

  test('never has a value that may not be passed on, neither as it was replaced nor as it was deleted', async () => {
    const { instance, token } = opened()
    const { services, clock } = instance
    const seriesId = services.catalogue.named('WTI_USD')!.id
    services.seriesChanges.add([
      {
        code: 'SHOWN_ONLY',
        terms: {
          name: 'Shown',
          category: 'own',
          unit: 'barrel',
          currency: 'USD',
          decimals: 2,
          licenseClass: 'view',
        },
      },
    ])
    const shownId = services.catalogue.named('SHOWN_ONLY')!.id
    const record = (id: number, day: number, value: number, feed?: string) => {
      clock.advance(60_000)
      const observedAt = firstAt + day * dayMs
      if (feed === undefined) services.ingest.write([{ seriesId: id, observedAt, value }])
      else
        services.batches.record(
          { kind: 'feed', actor: 'feed', feed: { name: feed, periodKind: 0 } },
          [{ seriesId: id, observedAt, value }],
        )
    }
    const [feed] = viewFeeds
    // Below 10 is what must not be passed on.
    for (const value of [9.1, 9.2, 9.3]) record(shownId, 0, value)
    for (const value of [9.4, 9.5]) record(seriesId, 0, value, feed)
    record(seriesId, 1, 9.6, feed)
    record(seriesId, 1, 10.1)
    record(seriesId, 2, 10.2)
    record(seriesId, 2, 9.7, feed)
    record(seriesId, 3, 10.3)
    clock.advance(60_000)
    const start = { kind: 'correction' as const, actor: 'operator', reason: 'test' }
    for (const id of [shownId, seriesId]) services.batches.remove(start, id, [firstAt])
    const { changes } = await readAll(instance, token, 'start')
    const all = [...changes, ...(await readAll(instance, token, 'start', '&limit=100')).changes]
    expect(
      all.flatMap(({ value, previous }) => [value, previous]).filter(is => is && is < 10),
    ).toEqual([])
    const told = changes.map(({ kind, observed_at: at, value }) => [kind, at?.slice(8, 10), value])
    expect(told).toEqual([
      ['added', '01', 10.1],
      ['deleted', '02', null],
      ['added', '03', 10.3],
    ])
  })

  test('has the values that a formula gets when a feed gives its leg a longer cadence', async () => {
    const { instance, token } = opened()
    const { clock, services } = instance
    const terms = { name: 'Desk', category: 'own', unit: 'barrel', currency: 'USD' }
    services.seriesChanges.add([
      { code: 'DESK_LEG', terms },
      { code: 'DESK_TIMES', terms },
      { code: 'DESK_SUM', terms: { ...terms, formula: 'DESK_LEG + DESK_TIMES' } },
    ])
    const pointOf = (code: string, day: number, value: number) => ({
      seriesId: services.catalogue.named(code)!.id,
      observedAt: firstAt + day * dayMs,
      value,
    })
    services.ingest.write([pointOf('DESK_LEG', 0, 10), pointOf('DESK_TIMES', 12, 1)])
    const columns = 'codes=DESK_SUM&columns=code,observed_at,price'
    const exportedLines = async () => {
      const query = `${columns}&start_date=${isoDay(firstAt)}&end_date=${isoDay(startAt)}`
      const answer = await instance.get(`/v1/export/prices?${query}`, token)
      return (await answer.text()).trim().split('\n').slice(1)
    }
    const follower = createFollower()
    const before = await readAll(instance, token, 'start', '&codes=DESK_SUM')
    follower.take(before.changes)
    expect(await exportedLines()).toEqual([])
    clock.advance(60_000)
    // A value of a day counts for 7 days, and one of a month for 93.
    services.batches.record({ kind: 'feed', actor: 'feed', feed: { name: 'ecb', periodKind: 2 } }, [
      pointOf('DESK_LEG', 1, 10.1),
    ])
    follower.take((await readAll(instance, token, before.cursor, '&codes=DESK_SUM')).changes)
    const lines = [`DESK_SUM,${isoInstant(firstAt + 12 * dayMs)},11.1`]
    expect(await exportedLines()).toEqual(lines)
    expect(follower.stateAt(isoMillis(clock.now()))).toEqual(lines)
  })

  test('has the values of formulas that follow from each change of a leg, wherever it is read from', async () => {
    const [spread, nested] = ['DESK_SPREAD', 'DESK_NESTED']
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 10 }), async (all, each) => {
        const { instance, token } = opened()
        const { seriesChanges } = instance.services
        const formulas = [
          { code: spread, formula: 'BRENT_CRUDE_USD - WTI_USD' },
          { code: nested, formula: `max(${spread}, avg(${ownCode}, 3 days))` },
        ]
        for (const { code, formula } of formulas) {
          const terms = { name: code, category: 'own', unit: 'barrel', currency: 'USD', formula }
          seriesChanges.add([{ code, terms }])
        }
        const [follower, late, batches] = [createFollower(), createFollower(), [] as number[]]
        let cursor = 'start'
        for (const [i, step] of all.entries()) {
          run(instance, step, batches)
          if (i === 12) {
            const series = instance.services.catalogue.named(spread)!
            seriesChanges.put(series, { ...series.terms, formula: '2*BRENT_CRUDE_USD - WTI_USD' })
          }
          if (i % each !== 0) continue
          const read = await readAll(instance, token, cursor, '&derived=true&limit=3')
          follower.take(read.changes)
          cursor = read.cursor
        }
        follower.take((await readAll(instance, token, cursor, '&derived=true')).changes)
        late.take((await readAll(instance, token, 'start', '&derived=true&limit=7')).changes)
        const lines: string[] = []
        for (const { code } of formulas) {
          const series = instance.services.catalogue.named(code)!
          if (!instance.services.catalogue.isVisible(series, '')) continue
          const query = `codes=${code}&start_date=${isoDay(firstAt - dayMs)}&columns=code,observed_at,price`
          const answer = await instance.get(`/v1/export/prices?${query}`, token)
          lines.push(...(await answer.text()).trim().split('\n').slice(1))
        }
        const end = isoMillis(instance.clock.now() + 60_000)
        const derived = ({ stateAt }: typeof follower) =>
          stateAt(end).filter(line => line.startsWith('DESK_'))
        expect(derived(follower)).toEqual(lines.sort())
        expect(derived(late)).toEqual(lines)
        const plain = await readAll(instance, token, 'start', '&limit=1000')
        expect(plain.changes.some(change => change.code.startsWith('DESK_'))).toBe(false)
      }),
      { numRuns: isFull ? 60 : 25 },
    )
  }, 60_000)

  test('drops a code that may be displayed only, with its formulas, and has all of it when it may be passed on again', async () => {
    const { instance, token } = opened()
    const { catalogue, ingest, seriesChanges } = instance.services
    const terms = { name: 'Twice', category: 'own', unit: 'barrel', currency: 'USD' }
    seriesChanges.add([{ code: 'DESK_TWICE', terms: { ...terms, formula: `2*${ownCode}` } }])
    const license = (licenseClass: 'open' | 'view') => {
      instance.clock.advance(60_000)
      const series = catalogue.named(ownCode)!
      seriesChanges.put(series, { ...series.terms!, licenseClass })
    }
    const record = (day: number, value: number) => {
      instance.clock.advance(60_000)
      const seriesId = catalogue.named(ownCode)!.id
      ingest.write([{ seriesId, observedAt: firstAt + day * dayMs, value }])
    }
    const follower = createFollower()
    let cursor = 'start'
    const follow = async () => {
      const read = await readAll(instance, token, cursor, '&derived=true')
      follower.take(read.changes)
      cursor = read.cursor
      const late = createFollower()
      late.take((await readAll(instance, token, 'start', '&derived=true')).changes)
      const codesOf = [ownCode, 'DESK_TWICE'].join()
      const query = `codes=${codesOf}&start_date=${isoDay(firstAt)}&columns=code,observed_at,price`
      const answer = await instance.get(`/v1/export/prices?${query}`, token)
      const lines = (await answer.text()).trim().split('\n').slice(1).sort()
      const end = isoMillis(instance.clock.now() + 60_000)
      const own = ({ stateAt }: typeof follower) =>
        stateAt(end).filter(line => line.startsWith(ownCode) || line.startsWith('DESK_TWICE'))
      expect(own(follower)).toEqual(lines)
      expect(own(late)).toEqual(lines)
      return lines.length
    }
    record(1, 60)
    record(2, 61)
    expect(await follow()).toBe(4)
    license('view')
    expect(await follow()).toBe(0)
    record(2, 62)
    record(3, 63)
    expect(await follow()).toBe(0)
    license('open')
    expect(await follow()).toBe(6)
  })

  test('has the values of formulas at a past moment, also those of a leg that was recorded for it later', async () => {
    const { instance, token } = opened()
    const terms = { name: 'Double', category: 'own', unit: 'barrel', currency: 'USD' }
    instance.services.seriesChanges.add([
      { code: 'DESK_DOUBLE', terms: { ...terms, formula: '2*WTI_USD' } },
    ])
    const follower = createFollower()
    let cursor = 'start'
    for (const [value, seconds] of [[70], [71], [72, 90]] as const) {
      recordAt(instance, value, seconds)
      const read = await readAll(instance, token, cursor, '&codes=DESK_DOUBLE&limit=1')
      follower.take(read.changes)
      cursor = read.cursor
    }
    const stateAt = (seconds: number) => follower.stateAt(isoMillis(startAt + seconds * 1_000))
    const line = (value: number) => [`DESK_DOUBLE,${isoInstant(firstAt)},${value}`]
    expect([70, 100, 130].map(stateAt)).toEqual([line(140), line(144), line(142)])
  })

  test('lets others run between the moments of a formula whose past becomes new', () => {
    const { instance } = opened()
    const { changes, seriesChanges } = instance.services
    for (let i = 0; i < 40; i += 1) {
      instance.clock.advance(60_000)
      instance.record('WTI_USD', [70 + i], firstAt + i * 60_000, dayMs)
    }
    const place = changes.newest()
    const terms = { name: 'Double', category: 'own', unit: 'barrel', currency: 'USD' }
    seriesChanges.add([{ code: 'DESK_DOUBLE', terms: { ...terms, formula: '2*WTI_USD' } }])
    const reader = {
      viewer: 'everything',
      tables: new Set<string>(),
      isDerived: true,
      wants: () => true,
    } as const
    const steps = changes.pageInSteps(reader, place, 500)
    let pauses = 0
    let step = steps.next()
    for (; !step.done; step = steps.next()) pauses += 1
    expect(pauses).toBeGreaterThanOrEqual(40)
    expect(step.value).toEqual(changes.page(reader, place, 500))
    expect(step.value.records).toHaveLength(40)
  })

  test('lets others run between transactions of which the reader wants none', () => {
    const { instance } = opened()
    const { changes } = instance.services
    const place = changes.newest()
    for (let i = 0; i < 50; i += 1) {
      instance.clock.advance(1_000)
      instance.record('WTI_USD', [70 + i], firstAt + i * 60_000, dayMs)
    }
    const reader = {
      viewer: 'everything',
      tables: new Set<string>(),
      isDerived: false,
      wants: () => false,
    } as const
    const steps = changes.pageInSteps(reader, place, 500)
    let pauses = 0
    while (!steps.next().done) pauses += 1
    expect(pauses).toBeGreaterThanOrEqual(50)
  })

  test('makes the long history of a new formula window by window, the same by pages of any size', () => {
    const { instance } = opened()
    const { changes, seriesChanges } = instance.services
    const days = 400
    for (let i = 0; i < days; i += 1) {
      instance.clock.advance(1_000)
      instance.record('WTI_USD', [70 + i], startAt - (days - i) * dayMs, dayMs)
    }
    instance.clock.advance(1_000)
    instance.record('WTI_USD', [90], startAt - 390 * dayMs, dayMs)
    const place = changes.newest()
    const terms = { name: 'Mean', category: 'own', unit: 'barrel', currency: 'USD' }
    seriesChanges.add([{ code: 'DESK_MEAN', terms: { ...terms, formula: 'avg(WTI_USD, 3 days)' } }])
    const reader = {
      viewer: 'everything',
      tables: new Set<string>(),
      isDerived: true,
      wants: () => true,
    } as const
    const steps = changes.pageInSteps(reader, place, 10)
    let pauses = 0
    while (!steps.next().done) pauses += 1
    expect(pauses).toBeLessThan(days / 4)
    const read = (limit: number) => {
      const records: unknown[] = []
      for (let end = place; ; ) {
        const page = changes.page(reader, end, limit)
        records.push(...page.records)
        if (!page.hasMore) return records
        end = page.end
      }
    }
    const all = read(10_000)
    expect(all).toHaveLength(days + 3)
    expect(read(7)).toEqual(all)
  })

  test('has in the windows of a long history what exports have as of each moment', async () => {
    const { instance, token } = opened()
    const { catalogue, ingest, seriesChanges } = instance.services
    const [first, second] = codes.map(code => catalogue.named(code)!.id)
    const historyDays = 300
    const historyAt = startAt - historyDays * dayMs
    const moments: number[] = []
    for (let i = 0; i < 40; i += 1) {
      instance.clock.advance(1_000)
      const from = (i * 97) % (historyDays - 50)
      const length = i % 3 === 0 ? 50 : 1
      const seriesId = (i % 2 === 0 ? first : second)!
      ingest.write(
        Array.from({ length }, (_, n) => ({
          seriesId,
          observedAt: historyAt + (from + n) * dayMs,
          value: 50 + ((i * 31 + n * 7) % 100) / 2,
          ...(i % 7 === 6 && { recordedAt: instance.clock.now() - 4_500 }),
        })),
      )
      if (i % 9 === 8) moments.push(instance.clock.now())
    }
    const terms = { name: 'Desk', category: 'own', unit: 'barrel', currency: 'USD' }
    const formula = 'BRENT_CRUDE_USD - avg(WTI_USD, 30 days)'
    seriesChanges.add([{ code: 'DESK_BASIS', terms: { ...terms, formula } }])
    const follower = createFollower()
    const query = '&derived=true&codes=DESK_BASIS'
    follower.take((await readAll(instance, token, 'start', query)).changes)
    for (const moment of moments) {
      const range = `start_date=${isoDay(historyAt)}&as_of=${isoMillis(moment)}`
      const answer = await instance.get(
        `/v1/export/prices?codes=DESK_BASIS&${range}&columns=code,observed_at,price`,
        token,
      )
      const lines = (await answer.text()).trim().split('\n').slice(1).sort()
      expect(lines.length).toBeGreaterThan(0)
      expect(follower.stateAt(isoMillis(moment))).toEqual(lines)
    }
  })
})
