import { expect, test } from 'bun:test'
import { createFeedWriter, type WritingRun } from '../../../src/feeds/engine/writer.ts'
import type { MapEntry } from '../../../src/feeds/publishers/map.ts'
import { createFeedStore } from '../../../src/feeds/store/feeds.ts'
import { openTestInstance } from '../../support/instance/instance.ts'

const entry: MapEntry = {
  sourceId: 'RWTC',
  target: { code: 'WTI_USD' },
  unit: '',
  factor: '1',
  kind: 'day',
  at: '',
  note: '',
}

test('a repeated feed read does not overwrite corrected, deleted or undone values', () => {
  const { services, clock } = openTestInstance()
  const { batches, batchStore, catalogue, db, flaggedValues, observations } = services
  const store = createFeedStore(db)
  const writer = createFeedWriter({
    ...services,
    catalogue: {
      find: code => catalogue.named(code),
      nearest: code => catalogue.suggest(code)[0]?.code,
    },
    store,
    sources: services.valueSources,
  })
  const send = (rows: Readonly<Record<string, string>>, dryRun = false) => {
    clock.advance(1000)
    const run: WritingRun = {
      feed: 'eia',
      feedNumber: store.state('eia').number,
      batch: (name, periodKind) =>
        batches.begin({ kind: 'feed', actor: `feed ${name}`, feed: { name, periodKind } }),
      now: clock.now(),
      dryRun,
      winsOver: () => true,
    }
    const sent = Object.entries(rows).map(([period, text]) => ({ period, text }))
    return writer.writeSeries(
      { entry, unit: undefined, rows: sent, blanks: 0, faults: [], covers: undefined },
      run,
    )
  }
  const { id: seriesId } = catalogue.named('WTI_USD')!
  const values = () => observations.oldestFirst(seriesId, 0, clock.now()).map(({ value }) => value)
  const first = { '2026-11-16': '70.1', '2026-11-17': '70.4', '2026-11-18': '70.9' }
  expect(send(first)).toMatchObject({ inserted: 3, kept: 0 })
  expect(send({ '2026-11-18': '71.9', '2026-11-19': '71.2' })).toMatchObject({
    inserted: 1,
    revised: 1,
  })
  batches.undo(batchStore.list({}, 1, 0)[0]!, { actor: 'test' }, false)
  const point = (day: string, value: number) => ({ seriesId, observedAt: Date.parse(day), value })
  const start = { kind: 'correction', actor: 'test', reason: 'typing' } as const
  batches.correct(start, point('2026-11-17', 70.5))
  batches.remove(start, seriesId, [Date.parse('2026-11-16')])
  const decided = [70.5, 70.9]
  expect(values()).toEqual(decided)

  const batchCount = batchStore.total({})
  const again = { ...first, '2026-11-18': '71.9', '2026-11-19': '71.2' }
  const left = { inserted: 0, revised: 0, unchanged: 0, kept: 4 }
  expect(send(again, true)).toMatchObject(left)
  expect(flaggedValues.total({ status: 'kept' })).toBe(0)
  expect(send(again)).toMatchObject(left)
  expect(send(again)).toMatchObject(left)
  expect(values()).toEqual(decided)
  // A run without new values has no batch, and its left-out values are listed once.
  expect(batchStore.total({})).toBe(batchCount)
  expect(flaggedValues.total({ status: 'kept' })).toBe(4)

  expect(send({ ...again, '2026-11-17': '70.6', '2026-11-20': '71.4' })).toMatchObject({
    inserted: 1,
    revised: 1,
    kept: 3,
  })
  expect(values()).toEqual([70.6, 70.9, 71.4])
})
