import { expect, test } from 'bun:test'
import { hourMs } from '../../../../src/lib/time/instant.ts'
import { createFormulaHistory } from '../../../../src/topics/changes/service/formula-history.ts'
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
