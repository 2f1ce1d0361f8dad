import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { DayUsage } from '../../src/plans/efficiency.ts'
import { efficiency, reduceUsage } from '../../src/plans/efficiency.ts'

const day = (
  requests: number,
  distinctCodes: number,
  batchable: number,
  cacheable: number,
): DayUsage => ({
  requests,
  distinctCodes,
  batchable,
  cacheable,
})

const table: [DayUsage, number][] = [
  [day(0, 0, 0, 0), 100],
  [day(50, 1, 0, 0), 100],
  // Forty single-code requests over twenty codes would have been two.
  [day(50, 20, 40, 0), 24],
  // Over five codes, eight.
  [day(50, 5, 40, 0), 36],
  // More codes than a request takes: still twenty to a request.
  [day(50, 400, 40, 0), 24],
  // One code cannot be batched with itself.
  [day(50, 1, 40, 0), 100],
  [day(50, 1, 0, 25), 50],
  [day(50, 1, 0, 50), 0],
  [day(50, 20, 20, 30), 2],
  [day(3, 1, 0, 1), 66.7],
]
test.each(table)('the efficiency of %j is %d', (usage, score) => {
  expect(efficiency(usage)).toEqual({
    requestsToday: usage.requests,
    distinctCodes: usage.distinctCodes,
    batchableRequests: usage.batchable,
    cacheableRequests: usage.cacheable,
    score,
  })
})

test('the score stays within 0 and 100 and falls as more requests could have been spared', () => {
  const usages = fc
    .tuple(fc.nat(1000), fc.nat(1000), fc.nat(1000), fc.nat(500))
    .map(([plain, batchable, cacheable, codes]) =>
      day(plain + batchable + cacheable, codes, batchable, cacheable),
    )
  fc.assert(
    fc.property(usages, usage => {
      const { score } = efficiency(usage)
      expect(score >= 0 && score <= 100).toBe(true)
      if (usage.requests > usage.cacheable + usage.batchable) {
        expect(efficiency({ ...usage, cacheable: usage.cacheable + 1 }).score).toBeLessThanOrEqual(
          score,
        )
      }
    }),
  )
})

test('suggestions name the largest saving first and are never empty', () => {
  const actions = (usage: DayUsage) => reduceUsage(usage).map(reduction => reduction.action)
  expect(actions(day(50, 20, 40, 5))).toEqual([
    'batch_codes',
    'conditional_requests',
    'watch_events',
    'scheduled_deliveries',
  ])
  expect(actions(day(50, 20, 5, 40))).toEqual([
    'conditional_requests',
    'batch_codes',
    'watch_events',
    'scheduled_deliveries',
  ])
  expect(actions(day(50, 1, 40, 0))).toEqual(['watch_events', 'scheduled_deliveries'])
  expect(reduceUsage(day(50, 20, 40, 0))[0]!.description).toContain("38 of today's 50 requests")
})
