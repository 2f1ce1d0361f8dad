import { expect, test } from 'bun:test'
import { createRunner } from '../../../src/instance/jobs/runner.ts'
import { dayMs, hourMs } from '../../../src/lib/time/instant.ts'
import { openSourceInstance, row, rowServer } from '../../support/topics/sources.ts'

test('a clock that is moved far stops where a source is due, and every sync happens at its time', async () => {
  const instance = openSourceInstance()
  const times: number[] = []
  const { url, stop } = rowServer(() => {
    times.push(instance.clock.now())
    return Response.json([{ ...row, timestamp: instance.clock.now() }])
  })
  await instance.make({ source_type: 'api', scraper_config: { url, interval_minutes: 360 } })
  const start = instance.clock.now()
  const jobs = createRunner([instance.job], instance.clock, instance.services.log)
  await jobs.tick()
  await instance.job.settled()
  await jobs.advance(instance.clock, start + 2 * dayMs + hourMs)
  stop()
  expect(times).toEqual(Array.from({ length: 9 }, (_, i) => start + i * 6 * hourMs))
  const accountId = instance.services.keys.find(instance.token)!.account.account.id
  expect(
    instance.services.dataSources.rows(
      accountId,
      { fuelType: undefined, port: undefined, region: undefined, since: 0 },
      100,
    ),
  ).toHaveLength(9)
})

test('a pass does not wait for slow sources, and no more than four are read at a time', async () => {
  const instance = openSourceInstance()
  const waiting: (() => void)[] = []
  let most = 0
  let open = 0
  const { url, stop } = rowServer(async () => {
    most = Math.max(most, ++open)
    await new Promise<void>(done => waiting.push(done))
    open -= 1
    return Response.json([row])
  })
  for (let i = 0; i < 10; i += 1)
    await instance.make({ source_type: 'api', scraper_config: { url } })
  await instance.job.pass()
  await instance.job.pass()
  const ended = instance.job.settled()
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  while (!isOver) {
    await new Promise<void>(done => setImmediate(done))
    waiting.shift()?.()
  }
  stop()
  expect(most).toBeLessThanOrEqual(4)
  const sources = instance.services.dataSources.list(
    instance.services.keys.find(instance.token)!.account.account.id,
  )
  expect(sources.map(source => source.successfulSyncs)).toEqual(Array(10).fill(1))
})

test('stopping the service aborts a running source sync and records no trace of it', async () => {
  const instance = openSourceInstance()
  let reached = () => {}
  const request = new Promise<void>(done => {
    reached = done
  })
  const { url, stop } = rowServer(() => {
    reached()
    return new Promise<Response>(() => {})
  })
  const id = await instance.make({ source_type: 'api', scraper_config: { url } })
  await instance.job.pass()
  await request
  instance.services.sourceSync.halt()
  await instance.job.settled()
  stop()
  expect(instance.source(id)).toMatchObject({
    status: 'pending',
    failedSyncs: 0,
    nextSyncAt: instance.clock.now(),
    lastSyncAt: null,
  })
  expect(instance.services.dataSources.logs(instance.source(id))).toEqual([])
})

test('what removed sources leave is dropped in slices, and others keep theirs', async () => {
  const instance = openSourceInstance()
  const count = (table: string) =>
    (instance.services.db.query(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n
  const rows = Array.from({ length: 5000 }, (_, i) => ({ ...row, timestamp: 1_700_000_000 + i }))
  const { url, stop } = rowServer(() => Response.json(rows))
  const [gone, kept] = [
    await instance.make({ source_type: 'api', scraper_config: { url } }),
    await instance.make({ source_type: 'api', scraper_config: { url } }),
  ]
  await instance.syncAll()
  stop()
  expect(count('data_source_rows')).toBe(10_000)
  await instance.ask('DELETE', `/v1/data-sources/${gone}`)
  expect(instance.services.dataSources.sweep()).toBe(true)
  expect(count('data_source_rows')).toBe(8000)
  await instance.job.pass()
  expect([count('data_source_rows'), count('data_sources'), count('data_source_syncs')]).toEqual([
    5000, 1, 1,
  ])
  expect(instance.services.dataSources.newestRows(instance.source(kept), 9000)).toHaveLength(5000)
})
