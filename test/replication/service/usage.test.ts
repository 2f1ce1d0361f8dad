import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createSystemClock } from '../../../src/lib/time/clock.ts'
import { connectNats, type Nats } from '../../../src/replication/nats/connection.ts'
import { createQuotaSlices } from '../../../src/replication/service/quota-slices.ts'
import { prepareStreams } from '../../../src/replication/service/subjects.ts'
import { createUsageReports, type UsageReport } from '../../../src/replication/service/usage.ts'
import { openTestInstance, startAt } from '../../support/instance/instance.ts'
import { needs } from '../../support/needs.ts'
import { type NatsServer, natsServer } from '../../support/servers/nats.ts'

needs('nats-server').describe('the usage that a replica reports', () => {
  let server: NatsServer
  let nats: Nats

  beforeEach(async () => {
    server = await natsServer({ maxPayload: 4096 })
    const { url } = server
    nats = await connectNats({ servers: [url], credentialsFile: '', token: '', name: 'test' })
    await prepareStreams(nats, { copies: 1, keepMs: 3_600_000, events: false })
  })
  afterEach(async () => {
    await nats.close()
    await server.remove()
  })

  test('takes as many messages as the server requires, and each request is in one of them', async () => {
    const { services, key } = openTestInstance()
    const { ids, keys, log, meter } = services
    const state = keys.find(key('enterprise'))!
    const bucket = await nats.bucket('quotas', 1, 0)
    const slices = createQuotaSlices({ bucket, clock: createSystemClock(), log })
    const reports = createUsageReports(nats, meter, slices, { ids, now: () => startAt })
    const endpoints = Array.from({ length: 50 }, (_, n) => `GET /v1/endpoint-${n}`)
    for (const endpoint of endpoints) reports.meter.record(state, endpoint, 200, true, 1)
    await reports.send()
    reports.stop()
    const { state: stream } = await nats.manager.streams.info('wellhead-usage')
    const reported: string[] = []
    for (let seq = 1; seq <= stream.last_seq; seq++) {
      const message = await nats.manager.streams.getMessage('wellhead-usage', { seq })
      const { usage } = message!.json<UsageReport>()
      reported.push(...usage.map(({ endpoint }) => endpoint))
    }
    expect(stream.messages).toBeGreaterThan(1)
    expect(reported).toEqual(endpoints)
  })
})
