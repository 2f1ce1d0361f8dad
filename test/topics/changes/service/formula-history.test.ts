import { expect, test } from 'bun:test'
import { dayMs, hourMs } from '../../../../src/lib/time/instant.ts'
import { createFormulaHistory } from '../../../../src/topics/changes/service/formula-history.ts'
import { createServedHistory } from '../../../../src/topics/changes/service/history.ts'
import { createVintageReader } from '../../../../src/topics/changes/store/vintages.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'

test('the moments of a formula over a code with one long import are each read once', () => {
  const { services } = openTestInstance()
  const { catalogue, changeLog: log, db, formulas, ingest } = services
  const seriesId = catalogue.named('WTI_USD')!.id
  const count = 4_000
  const firstAt = startAt - count * hourMs
  ingest.write(
    Array.from({ length: count }, (_, i) => {
      const observedAt = firstAt + i * hourMs
      return { seriesId, observedAt, value: 60 + i, recordedAt: observedAt + 1 }
    }),
  )
  const reader = createVintageReader(db)
  let vintagesRead = 0
  const vintages: typeof reader = {
    ...reader,
    *all(...range) {
      for (const vintage of reader.all(...range)) {
        vintagesRead += 1
        yield vintage
      }
    },
  }
  const { momentsOf } = createFormulaHistory({ log, vintages, formulas, catalogue })
  const steps = momentsOf([seriesId], firstAt, startAt)
  let step = steps.next()
  while (!step.done) step = steps.next()
  expect(step.value.map(({ at }) => at)).toEqual(
    Array.from({ length: count }, (_, i) => firstAt + i * hourMs + 1),
  )
  expect(vintagesRead).toBe(count)
})

test('two readers of two formula histories do not make the windows of each other again', () => {
  const { services } = openTestInstance()
  const { catalogue, changeLog: log, db, formulas, ingest, seriesChanges } = services
  const terms = { name: 'Desk', category: 'own', unit: 'barrel', currency: 'USD' }
  const made = ['DESK_A', 'DESK_B'].map(code => ({
    code,
    terms: { ...terms, formula: 'WTI_USD + 1' },
  }))
  seriesChanges.add(made)
  const leg = catalogue.named('WTI_USD')!
  ingest.write([{ seriesId: leg.id, observedAt: startAt, value: 60 }])
  let viewsMade = 0
  const counted: typeof formulas = {
    ...formulas,
    viewAt(...of) {
      viewsMade += 1
      return formulas.viewAt(...of)
    },
  }
  const vintages = createVintageReader(db)
  const { repeatedRecords } = createFormulaHistory({ log, vintages, formulas: counted, catalogue })
  const served = createServedHistory(log.events.ofSeries)
  const whole = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER }
  const read = (code: string) => {
    const segment = { writtenAt: startAt + hourMs, rank: 0, series: catalogue.named(code)! }
    return [...repeatedRecords(segment, whole, [], served, true)].filter(Boolean).length
  }
  const codes = ['DESK_A', 'DESK_B', 'DESK_A', 'DESK_B']
  expect(codes.map(read)).toEqual([1, 1, 1, 1])
  expect(viewsMade).toBe(2)
})

test('a reader gets no record twice from a window that began where another reader was', () => {
  const { services } = openTestInstance()
  const { catalogue, changeLog: log, db, formulas, ingest, seriesChanges } = services
  const terms = { name: 'Desk', category: 'own', unit: 'barrel', currency: 'USD' }
  seriesChanges.add([{ code: 'DESK_A', terms: { ...terms, formula: 'WTI_USD + 1' } }])
  const seriesId = catalogue.named('WTI_USD')!.id
  const firstAt = startAt - 600 * dayMs
  const times = Array.from({ length: 600 }, (_, i) => firstAt + i * dayMs)
  ingest.write(times.map((observedAt, i) => ({ seriesId, observedAt, value: i })))
  const vintages = createVintageReader(db)
  const { repeatedRecords } = createFormulaHistory({ log, vintages, formulas, catalogue })
  const served = createServedHistory(log.events.ofSeries)
  const segment = { writtenAt: startAt + hourMs, rank: 0, series: catalogue.named('DESK_A')! }
  const readFrom = (from: number) =>
    repeatedRecords(segment, { from, to: Number.MAX_SAFE_INTEGER }, [], served, true).flatMap(
      record => (record ? [record.observedAt] : []),
    )
  expect(readFrom(times[500]!).take(3).toArray()).toEqual(times.slice(500, 503))
  expect(readFrom(Number.MIN_SAFE_INTEGER).toArray()).toEqual(times)
})
