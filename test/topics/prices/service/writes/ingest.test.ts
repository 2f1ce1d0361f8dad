import { expect, test } from 'bun:test'
import { openTestInstance, startAt } from '../../../../support/instance/instance.ts'

const opened = () => {
  const { services, clock } = openTestInstance()
  const series = services.catalogue.resolve('WTI_USD', startAt)!.series
  const write = (value: number, observedAt = startAt) =>
    services.ingest.write([{ seriesId: series.id, observedAt, value }])
  return { ...services, clock, series, write }
}

test('writes before a read are recorded by its moment and later writes after it, even on a stopped clock', () => {
  const { ingest, observations, series, write } = opened()
  const reads: { mark: number; value: number }[] = []
  for (let value = 1; value <= 5; value++) {
    write(value)
    reads.push({ mark: ingest.snapshotAt(), value })
  }
  for (const { mark, value } of reads)
    expect(observations.asOf(series.id, 0, startAt + 1, mark, 1)[0]!.value).toBe(value)
})

test('each transaction has a different instant, also within one millisecond', () => {
  const { ingest, observations, series, write } = opened()
  ingest.snapshotAt()
  for (const value of [1, 2, 3]) write(value)
  expect(observations.vintages(series.id, startAt).map(vintage => vintage.recordedAt)).toEqual([
    startAt + 1,
    startAt + 2,
    startAt + 3,
  ])
})

test('an explicitly given recording time is stored unchanged', () => {
  const { ingest, observations, series } = opened()
  ingest.snapshotAt()
  ingest.write([{ seriesId: series.id, observedAt: 1, value: 1 }], 7)
  ingest.write([{ seriesId: series.id, observedAt: 2, value: 1, recordedAt: 8 }])
  expect(observations.oldestFirst(series.id, 0, 10).map(row => row.recordedAt)).toEqual([7, 8])
})

test('ingest listeners are notified only of changes, and the catalogue tracks the time range of the data', () => {
  const { ingest, catalogue, series, write } = opened()
  const moments: number[] = []
  ingest.listen(changes => moments.push(changes.length))
  expect(catalogue.extent(series)).toBeUndefined()
  write(1)
  write(1)
  write(2)
  write(1, startAt - 5)
  expect(moments).toEqual([1, 1, 1])
  expect(catalogue.extent(series)).toEqual({ firstAt: startAt - 5, lastAt: startAt })
})

test('writes of a listener inside the transaction are committed or rolled back with the observations', () => {
  const { db, ingest, settings, catalogue, observations, series, write } = opened()
  let fails = false
  const extents: (number | undefined)[] = []
  ingest.listenInside(changes => {
    extents.push(catalogue.extent(series)?.lastAt)
    settings.set('heard', String(changes[0]!.inserted.at(-1)?.observedAt))
    if (fails) throw new Error('undone')
  })
  write(1)
  fails = true
  expect(() => write(2, startAt + 5)).toThrow('undone')
  expect(settings.get('heard')).toBe(String(startAt))
  expect(observations.newest(series.id, Number.MAX_SAFE_INTEGER)!.observedAt).toBe(startAt)
  expect(db.inTransaction).toBe(false)
  expect(extents).toEqual([undefined, startAt])
})

test('a value that is deleted and comes back within one millisecond is gone for one in between', () => {
  const { batches, batchStore, observations, series, write } = opened()
  write(70)
  const start = { kind: 'correction', actor: 'test' } as const
  const gone = batches.remove(start, series.id, [startAt])
  const undone = batches.undo(batchStore.find(gone.batch.id)!, { actor: 'test' }, false)
  const back = 'recordedAt' in undone ? undone.recordedAt : 0
  const valueAt = (at: number) => observations.asOf(series.id, 0, startAt + 1, at, 1)[0]?.value
  expect([valueAt(gone.recordedAt - 1), valueAt(gone.recordedAt), valueAt(back)]).toEqual([
    70,
    undefined,
    70,
  ])
  expect(observations.faults()).toEqual([])
  // A push right after a deletion is as short.
  const again = batches.remove(start, series.id, [startAt])
  const pushed = batches.record({ kind: 'push', actor: 'test' }, [
    { seriesId: series.id, observedAt: startAt, value: 71 },
  ])
  expect([valueAt(again.recordedAt), valueAt(pushed.counts.recordedAt)]).toEqual([undefined, 71])
})
