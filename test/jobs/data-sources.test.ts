import { expect, test } from 'bun:test'
import { createRunner } from '../../src/jobs/runner.ts'
import { dayMs, hourMs } from '../../src/lib/instant.ts'
import { row, rowServer, sourceDesk } from '../support/sources.ts'

test('a clock that is moved far stops where a source is due, and every sync happens at its time', async () => {
  const desk = sourceDesk()
  const times: number[] = []
  const { url, stop } = rowServer(() => {
    times.push(desk.clock.now())
    return Response.json([{ ...row, timestamp: desk.clock.now() }])
  })
  await desk.make({ source_type: 'api', scraper_config: { url, interval_minutes: 360 } })
  const start = desk.clock.now()
  const jobs = createRunner([desk.job], desk.clock, desk.services.log)
  await jobs.tick()
  await desk.job.settled()
  await jobs.advance(desk.clock, start + 2 * dayMs + hourMs)
  stop()
  expect(times).toEqual(Array.from({ length: 9 }, (_, i) => start + i * 6 * hourMs))
  const accountId = desk.services.keys.find(desk.token)!.account.account.id
  expect(
    desk.services.dataSources.rows(
      accountId,
      { fuelType: undefined, port: undefined, region: undefined, since: 0 },
      100,
    ),
  ).toHaveLength(9)
})

test('a pass does not wait for slow sources, and no more than four are read at a time', async () => {
  const desk = sourceDesk()
  const waiting: (() => void)[] = []
  let most = 0
  let open = 0
  const { url, stop } = rowServer(async () => {
    most = Math.max(most, ++open)
    await new Promise<void>(done => waiting.push(done))
    open -= 1
    return Response.json([row])
  })
  for (let i = 0; i < 10; i += 1) await desk.make({ source_type: 'api', scraper_config: { url } })
  await desk.job.pass()
  await desk.job.pass()
  const ended = desk.job.settled()
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
  const sources = desk.services.dataSources.list(
    desk.services.keys.find(desk.token)!.account.account.id,
  )
  expect(sources.map(one => one.successfulSyncs)).toEqual(Array(10).fill(1))
})

test('a service that stops cuts off what is under way and leaves no trace of it', async () => {
  const desk = sourceDesk()
  let reached = () => {}
  const asked = new Promise<void>(done => {
    reached = done
  })
  const { url, stop } = rowServer(() => {
    reached()
    return new Promise<Response>(() => {})
  })
  const id = await desk.make({ source_type: 'api', scraper_config: { url } })
  await desk.job.pass()
  await asked
  desk.services.sourceSync.halt()
  await desk.job.settled()
  stop()
  expect(desk.source(id)).toMatchObject({
    status: 'pending',
    failedSyncs: 0,
    nextSyncAt: desk.clock.now(),
    lastSyncAt: null,
  })
  expect(desk.services.dataSources.logs(desk.source(id))).toEqual([])
})

test('what removed sources leave is dropped in slices, and others keep theirs', async () => {
  const desk = sourceDesk()
  const count = (table: string) =>
    (desk.services.db.query(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n
  const rows = Array.from({ length: 5000 }, (_, i) => ({ ...row, timestamp: 1_700_000_000 + i }))
  const { url, stop } = rowServer(() => Response.json(rows))
  const [gone, kept] = [
    await desk.make({ source_type: 'api', scraper_config: { url } }),
    await desk.make({ source_type: 'api', scraper_config: { url } }),
  ]
  await desk.syncAll()
  stop()
  expect(count('data_source_rows')).toBe(10_000)
  await desk.ask('DELETE', `/v1/data-sources/${gone}`)
  expect(desk.services.dataSources.sweep()).toBe(true)
  expect(count('data_source_rows')).toBe(8000)
  await desk.job.pass()
  expect([count('data_source_rows'), count('data_sources'), count('data_source_syncs')]).toEqual([
    5000, 1, 1,
  ])
  expect(desk.services.dataSources.newestRows(desk.source(kept), 9000)).toHaveLength(5000)
})
