import { expect, test } from 'bun:test'
import { readsNow } from '../../../../../src/database/dataset-reads.ts'
import { nextTurn } from '../../../../../src/lib/process/loop-turns.ts'
import { dayMs } from '../../../../../src/lib/time/instant.ts'
import { createFuturesStore } from '../../../../../src/topics/futures/store/futures.ts'
import { createComparison } from '../../../../../src/topics/prices/service/checks/comparison.ts'
import { createDecisions } from '../../../../../src/topics/prices/service/checks/decisions.ts'
import { createGuards } from '../../../../../src/topics/prices/service/checks/guards.ts'
import { createDecisionStore } from '../../../../../src/topics/prices/store/decisions.ts'
import { openTestInstance, startAt } from '../../../../support/instance/instance.ts'

const today = Math.floor(startAt / dayMs) * dayMs

test('a comparison of many points lets others run', async () => {
  const { services } = openTestInstance()
  const seriesId = services.catalogue.named('WTI_USD')!.id
  const pointsOf = (count: number, value: (i: number) => number) =>
    Array.from({ length: count }, (_, i) => ({
      seriesId,
      observedAt: today - (count - i) * dayMs,
      value: value(i),
    }))
  services.ingest.write(pointsOf(250, i => 70 + 0.1 * Math.sin(i)))
  let ms = 0
  const compare = createComparison({
    observations: services.observations,
    catalogue: services.catalogue,
    newGuards: () =>
      createGuards({
        catalogue: services.catalogue,
        observations: services.observations,
        flags: services.flaggedValues,
        settlements: createFuturesStore(readsNow(services.db)),
        rates: () => [],
        now: () => startAt,
      }),
    decisions: createDecisions({
      store: createDecisionStore(services.db),
      flags: services.flaggedValues,
      observations: services.observations,
      now: () => startAt,
    }),
    sources: services.valueSources,
    stopwatch: { monotonic: () => (ms += 10) },
  })
  let isOver = false
  const compared = compare(pointsOf(3_000, i => 70 + 0.1 * Math.cos(i))).finally(() => {
    isOver = true
  })
  let turns = 0
  for (; !isOver; turns += 1) await nextTurn()
  expect(turns).toBeGreaterThanOrEqual(6)
  expect(await compared).toMatchObject({ inserted: 2_750, revised: 250, unchanged: 0, held: 0 })
})
