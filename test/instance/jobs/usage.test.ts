import { expect, test } from 'bun:test'
import { createUsageJob } from '../../../src/instance/jobs/usage.ts'
import { openTestInstance } from '../../support/instance/instance.ts'

test('a usage job run stores every waiting key in batches, and the next start finds all counts', async () => {
  const world = openTestInstance()
  const tokens = Array.from({ length: 1_200 }, () => world.key('developer'))
  world.record('WTI_USD', [70, 71], world.clock.now(), 60_000)
  for (const token of tokens)
    expect((await world.get('/v1/prices/latest?by_code=WTI_USD', token)).status).toBe(200)
  await createUsageJob(world.services.meter, world.services.lateCommits).pass()
  expect(world.services.meter.flushSome(1)).toBe(0)
  const rows = world.services.db
    .query('SELECT count(*) AS keys, sum(used) AS used FROM quota_counters')
    .get()
  expect(rows).toEqual({ keys: 1_200, used: 1_200 })
})

test('what a day is reported by is written in slices too, after half a minute', async () => {
  const world = openTestInstance()
  const tokens = Array.from({ length: 30 }, () => world.key('developer'))
  world.record('WTI_USD', [70, 71], world.clock.now(), 60_000)
  const days = () =>
    (world.services.db.query('SELECT count(*) AS n FROM usage_days').get() as { n: number }).n
  const ask = async () => {
    for (const token of tokens) await world.get('/v1/prices/latest?by_code=WTI_USD', token)
  }
  await ask()
  await createUsageJob(world.services.meter, world.services.lateCommits).pass()
  const first = days()
  world.clock.advance(31_000)
  await ask()
  expect(world.services.meter.flushSome(10)).toBe(20)
  expect(days() - first).toBe(10)
  expect(world.services.meter.flushSome(10)).toBe(10)
  expect(world.services.meter.flushSome(10)).toBe(0)
  expect(days() - first).toBe(30)
})
