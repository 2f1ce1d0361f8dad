import { expect, test } from 'bun:test'
import { usageJob } from '../../src/jobs/usage.ts'
import { house } from '../house.ts'

test('a pass writes every key that waits, in slices, and what was counted is found by the next start', async () => {
  const world = house()
  const tokens = Array.from({ length: 1_200 }, () => world.key('developer'))
  world.record('WTI_USD', [70, 71], world.clock.now(), 60_000)
  for (const token of tokens) expect((await world.get('/v1/prices/latest?by_code=WTI_USD', token)).status).toBe(200)
  await usageJob(world.services.meter).pass()
  expect(world.services.meter.flushSome(1)).toBe(0)
  const rows = world.services.db.query('SELECT count(*) AS keys, sum(used) AS used FROM quota_counters').get()
  expect(rows).toEqual({ keys: 1_200, used: 1_200 })
})
