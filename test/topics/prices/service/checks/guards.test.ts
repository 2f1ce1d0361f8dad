import { expect, test } from 'bun:test'
import { readsNow } from '../../../../../src/database/dataset-reads.ts'
import { dayMs } from '../../../../../src/lib/time/instant.ts'
import { createFuturesStore } from '../../../../../src/topics/futures/store/futures.ts'
import { createGuards } from '../../../../../src/topics/prices/service/checks/guards.ts'
import { openTestInstance, startAt } from '../../../../support/instance/instance.ts'

const today = Math.floor(startAt / dayMs) * dayMs

test('the rates that suspicious values are compared with are read once a write', () => {
  const { services } = openTestInstance()
  const seriesId = services.catalogue.named('WTI_USD')!.id
  const asked: string[] = []
  const guards = createGuards({
    catalogue: services.catalogue,
    observations: services.observations,
    flags: services.flaggedValues,
    settlements: createFuturesStore(readsNow(services.db)),
    rates(currency) {
      asked.push(currency)
      return [[1.17, 'USD and EUR']]
    },
    now: () => startAt,
  })
  const values = (from: number, of: (i: number) => number) =>
    Array.from({ length: 100 }, (_, i) => ({
      seriesId,
      observedAt: today - (from - i) * dayMs,
      value: of(i),
    }))
  const moving = (i: number) => (i % 2 === 0 ? 70 : 280)
  expect(guards.judge(values(400, i => 70 + 0.1 * Math.sin(i))).flagged).toEqual([])
  expect(asked).toEqual([])
  expect(guards.judge(values(300, moving)).flagged.length).toBeGreaterThan(10)
  expect(asked).toEqual(['USD'])
  guards.judge(values(200, moving))
  expect(asked).toEqual(['USD', 'USD'])
})
