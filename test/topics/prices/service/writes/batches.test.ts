import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { rehearse, transact } from '../../../../../src/database/database.ts'
import { isoInstant } from '../../../../../src/lib/time/instant.ts'
import { runs } from '../../../../support/full.ts'
import { openTestInstance, startAt } from '../../../../support/instance/instance.ts'

const dayMs = 86_400_000
const hourMs = 3_600_000

/** An instance with batches of WTI by day. */
function openBatches() {
  const instance = openTestInstance()
  const { batches, batchStore, observations, catalogue, db } = instance.services
  const { id: seriesId } = catalogue.named('WTI_USD')!
  const at = (day: number) => startAt - (30 - day) * dayMs
  const points = (values: Record<number, number>) =>
    Object.entries(values).map(([day, value]) => ({ seriesId, observedAt: at(Number(day)), value }))
  const push = (values: Record<number, number>, source?: string) => {
    instance.clock.advance(1000)
    return batches.record(
      { kind: 'push', actor: 'test', ...(source && { source }) },
      points(values),
    ).batch
  }
  const values = () =>
    Object.fromEntries(
      observations
        .oldestFirst(seriesId, at(0), at(40))
        .map(row => [Math.round((row.observedAt - at(0)) / dayMs), row.value]),
    )
  const asOf = (moment: number) =>
    Object.fromEntries(
      observations
        .asOf(seriesId, at(0), at(40), moment, 1000)
        .map(row => [Math.round((row.observedAt - at(0)) / dayMs), row.value]),
    )
  const undo = (id: number, onlyUntouched = false) => {
    instance.clock.advance(1000)
    return batches.undo(batchStore.find(id)!, { actor: 'test' }, onlyUntouched)
  }
  return { ...instance, seriesId, at, push, points, values, asOf, undo, db }
}

describe('a batch', () => {
  test('has its counts, its series and its biggest changes', () => {
    const { push, services, seriesId, at } = openBatches()
    push({ 1: 70, 2: 71, 3: 71.5 })
    const { id } = push({ 2: 78.1, 3: 71.5, 4: 72 })
    const batch = services.batchStore.find(id)!
    expect(batch).toMatchObject({ kind: 'push', inserted: 1, revised: 1, unchanged: 1, removed: 0 })
    expect(batch.biggest[0]).toEqual({
      code: 'WTI_USD',
      observedAt: at(2),
      before: 71,
      after: 78.1,
      percent: 10,
    })
    expect(services.batchStore.series(id)).toEqual([
      { seriesId, points: 2, firstAt: at(2), lastAt: at(4) },
    ])
  })

  test('of a new source is written after an attempt that was rolled back, as by a full disk or a rehearsal', () => {
    const { push, services, db, seriesId } = openBatches()
    const fails = (source: string) =>
      transact(db, () => {
        push({ 1: 70 }, source)
        throw new Error('database or disk is full')
      })
    const attempts = {
      Desk: () => expect(() => fails('Desk')).toThrow('full'),
      Trial: () => rehearse(db, () => push({ 2: 70 }, 'Trial')),
    }
    for (const [day, [source, attempt]] of Object.entries(attempts).entries()) {
      attempt()
      expect(push({ [day]: 71 }, source)).toMatchObject({ inserted: 1 })
      expect(services.valueSources.ofNewest(seriesId)?.name).toBe(source)
    }
  })

  test('undoing a batch writes new revisions, and past reads still return the values served in between', () => {
    const { push, undo, values, asOf, clock, services } = openBatches()
    push({ 1: 70, 2: 71 })
    const { id } = push({ 2: 81.2, 3: 81.3 })
    const between = clock.now()
    expect(undo(id)).toMatchObject({ restored: 1, removed: 1, left: 0 })
    expect(values()).toEqual({ 1: 70, 2: 71 })
    expect(asOf(between)).toEqual({ 1: 70, 2: 81.2, 3: 81.3 })
    expect(services.observations.faults()).toEqual([])
    expect(services.batchStore.find(id)!.undoneAt).toBe(clock.now())
  })

  test('undoing a batch with later changes is refused, or limited on request to its unchanged values', () => {
    const { push, undo, values, at } = openBatches()
    push({ 1: 70, 2: 71 })
    const { id } = push({ 1: 80, 2: 81, 3: 82 })
    push({ 2: 71.5 })
    expect(undo(id)).toEqual({ touched: 1, examples: [`WTI_USD at ${isoInstant(at(2))}`] })
    expect(values()).toEqual({ 1: 80, 2: 71.5, 3: 82 })
    expect(undo(id, true)).toMatchObject({ restored: 1, removed: 1, left: 1 })
    expect(values()).toEqual({ 1: 70, 2: 71.5 })
  })

  test('is undone although a later one wrote there, where that was undone', () => {
    const { push, undo, values } = openBatches()
    push({ 1: 70 })
    const { id } = push({ 1: 80, 2: 81 })
    const wrong = push({ 1: 90, 2: 91 })
    expect(undo(id)).toMatchObject({ touched: 2 })
    undo(wrong.id)
    expect(undo(id)).toMatchObject({ restored: 1, removed: 1, left: 0 })
    expect(values()).toEqual({ 1: 70 })
  })

  test('that was undone comes back when its undo is undone', () => {
    const { push, undo, values } = openBatches()
    push({ 1: 70 })
    const { id } = push({ 1: 80, 2: 81 })
    const undone = undo(id)
    expect('batch' in undone && undo(undone.batch.id)).toMatchObject({ restored: 2, removed: 0 })
    expect(values()).toEqual({ 1: 80, 2: 81 })
  })

  test('names whose its values are, also after they were taken back', async () => {
    const { push, undo, get, key } = openBatches()
    const token = key()
    const named = async () => {
      const body = (await (await get('/v1/prices/latest?by_code=WTI_USD', token)).json()) as {
        data: { metadata: { source: string; source_description: string } }
      }
      const { source, source_description: description } = body.data.metadata
      return [source, description]
    }
    push({ 1: 70 })
    expect(await named()).toEqual(['market_reporting', 'Compiled from market reporting'])
    push({ 2: 71 }, 'EIA')
    expect(await named()).toEqual(['EIA', 'Published by EIA'])
    const { id } = push({ 2: 75 }, 'Desk')
    expect(await named()).toEqual(['Desk', 'Published by Desk'])
    undo(id)
    expect(await named()).toEqual(['EIA', 'Published by EIA'])
  })
})

/** Everything that was ever said of a point, as a list: the naive history. */
interface Said {
  day: number
  value: number | undefined
  at: number
  batch: number
  /** Its source; undefined where an operator set it. */
  source?: string
}

type Step =
  | {
      kind: 'push'
      values: [day: number, value: number][]
      source: string
      replace: boolean
      later: number
    }
  | { kind: 'correct'; day: number; value: number; later: number }
  | { kind: 'remove'; day: number; later: number }
  | { kind: 'undo'; pick: number; onlyUntouched: boolean; later: number }
  | { kind: 'ask'; ago: number; later: number }

const later = fc.constantFrom(0, 0, 1, 1000)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('push' as const),
    values: fc.array(fc.tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 60, max: 64 })), {
      minLength: 1,
      maxLength: 4,
    }),
    source: fc.constantFrom('EIA', 'Desk'),
    replace: fc.constantFrom(false, false, false, true),
    later,
  }),
  fc.record({
    kind: fc.constant('correct' as const),
    day: fc.integer({ min: 0, max: 4 }),
    value: fc.integer({ min: 60, max: 66 }),
    later,
  }),
  fc.record({ kind: fc.constant('remove' as const), day: fc.integer({ min: 0, max: 4 }), later }),
  fc.record({
    kind: fc.constant('undo' as const),
    pick: fc.nat(20),
    onlyUntouched: fc.boolean(),
    later,
  }),
  fc.record({ kind: fc.constant('ask' as const), ago: fc.integer({ min: 0, max: 4000 }), later }),
)

/** More of them: `bun run torture R37`, or SEQUENCES=50000 bun test test/topics/prices/service/writes/batches.test.ts */
const sequences = Number(
  process.env.SEQUENCES ?? (process.env.WELLHEAD_TORTURE === '1' ? 10_000 : runs(1000)),
)
const timeoutMs = Math.max(60_000, 120 * sequences)

test(
  'any batches, corrections, deletions and undos match a naive model in which no source reverts a decision',
  () => {
    const { services, seriesId, at, clock, db } = openBatches()
    const { batches, batchStore, observations, ingest } = services
    let sequence = 0
    const dayOf = (observedAt: number) => Math.round((observedAt - at(0)) / dayMs)
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), steps => {
        for (const table of [
          'observations',
          'observation_revisions',
          'bars',
          'batch_series',
          'doubted_values',
          'batches',
        ])
          db.run(`DELETE FROM ${table}`)
        clock.advance(hourMs)
        const statements: Said[] = []
        const batchIds: number[] = []
        const undoes = new Map<number, number>()
        /** Whether something is left of what was said of a day after a batch. */
        const isTouched = (day: number, id: number) => {
          const own = statements.filter(event => event.day === day)
          const left: number[] = []
          for (const { batch } of own.slice(own.findLastIndex(event => event.batch === id) + 1))
            if (left.length > 0 && undoes.get(batch) === left.at(-1)) left.pop()
            else left.push(batch)
          return left.length > 0
        }
        /** What a day was at a moment, with the batch that said so. */
        const newest = (day: number, moment: number) =>
          statements.findLast(event => event.day === day && event.at <= moment)
        /** What a day was before a batch said anything of it. */
        const before = (day: number, id: number) => {
          const own = statements.filter(event => event.day === day)
          return own[own.findLastIndex(event => event.batch === id) - 1]?.value
        }
        const current = (moment: number) => {
          const days = new Map<number, number>()
          for (const one of statements) {
            if (one.at > moment) continue
            if (one.value === undefined) days.delete(one.day)
            else days.set(one.day, one.value)
          }
          return Object.fromEntries(days)
        }
        for (const one of steps) {
          clock.advance(one.later)
          const now = ingest.snapshotAt() + 1
          clock.advance(Math.max(0, now - clock.now()))
          if (one.kind === 'push') {
            const points = one.values.map(([day, value]) => ({
              seriesId,
              observedAt: at(day),
              value,
            }))
            const { source, replace } = one
            const start = { kind: 'push' as const, actor: 'test', source, replace }
            const { batch, counts } = batches.record(start, points)
            batchIds.push(batch.id)
            let keptCount = 0
            for (const [day, value] of new Map(one.values)) {
              const last = newest(day, Number.POSITIVE_INFINITY)
              if (last?.value === value) continue
              const wasGiven = statements.some(
                said => said.day === day && said.value === value && said.source === source,
              )
              const isKept = !replace && last && last.source === undefined && wasGiven
              if (isKept) keptCount += one.values.filter(([own]) => own === day).length
              else statements.push({ day, value, at: now, batch: batch.id, source })
            }
            const isSingle = new Set(one.values.map(([day]) => day)).size === one.values.length
            if (isSingle)
              expect({ counts: counts.kept, batch: batch.kept }).toEqual({
                counts: keptCount,
                batch: keptCount,
              })
          } else if (one.kind === 'correct') {
            const { day, value } = one
            const last = newest(day, Number.POSITIVE_INFINITY)
            if (last?.value === undefined || last.value === value) continue
            const point = { seriesId, observedAt: at(day), value }
            const { batch } = batches.correct({ kind: 'correction', actor: 'test' }, point)
            batchIds.push(batch.id)
            statements.push({ day, value, at: now, batch: batch.id })
          } else if (one.kind === 'remove') {
            if (newest(one.day, Number.POSITIVE_INFINITY)?.value === undefined) continue
            const start = { kind: 'correction' as const, actor: 'test' }
            const { batch } = batches.remove(start, seriesId, [at(one.day)])
            batchIds.push(batch.id)
            statements.push({ day: one.day, value: undefined, at: now, batch: batch.id })
          } else if (one.kind === 'undo') {
            const id = batchIds[one.pick % Math.max(1, batchIds.length)]
            const batch = id === undefined ? undefined : batchStore.find(id)!
            if (!batch || batch.undoneAt !== null) continue
            const mine = [...new Set(statements.filter(s => s.batch === id).map(s => s.day))]
            const touched = mine.filter(day => isTouched(day, id!))
            const done = batches.undo(batch, { actor: 'test' }, one.onlyUntouched)
            if (touched.length > 0 && !one.onlyUntouched) {
              expect('touched' in done && done.touched).toBe(touched.length)
              continue
            }
            expect('left' in done && done.left).toBe(touched.length)
            if (!('batch' in done)) continue
            batchIds.push(done.batch.id)
            undoes.set(done.batch.id, id!)
            for (const day of mine.filter(own => !touched.includes(own)))
              statements.push({
                day,
                value: before(day, id!),
                at: now,
                batch: done.batch.id,
              })
          } else {
            const moment = clock.now() - one.ago
            const rows = observations.asOf(seriesId, at(0), at(40), moment, 100)
            expect(Object.fromEntries(rows.map(row => [dayOf(row.observedAt), row.value]))).toEqual(
              current(moment),
            )
          }
        }
        const rows = observations.oldestFirst(seriesId, at(0), at(40))
        expect(Object.fromEntries(rows.map(row => [dayOf(row.observedAt), row.value]))).toEqual(
          current(Number.POSITIVE_INFINITY),
        )
        // It looks through the whole catalogue.
        sequence += 1
        if (sequence % 100 === 0) expect(observations.faults()).toEqual([])
      }),
      { numRuns: sequences },
    )
  },
  timeoutMs,
)
