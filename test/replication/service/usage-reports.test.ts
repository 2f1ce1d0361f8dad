import { expect, test } from 'bun:test'
import type { QuotaSlices } from '../../../src/replication/service/quota-slices.ts'
import { createUsageReports, type UsageReport } from '../../../src/replication/service/usage.ts'
import type { SetAside } from '../../../src/topics/keys/service/replica-usage.ts'
import { openTestInstance } from '../../support/instance/instance.ts'

test('a slice that arrives while another message is on its way is returned as well', async () => {
  const { services } = openTestInstance()
  const early: SetAside = { keyId: 'early', kind: 'monthly_counter', startsAt: 0, requests: 1 }
  const late: SetAside = { ...early, keyId: 'late' }
  const leaving = [early]
  const arrived = Promise.withResolvers<void>()
  const slices = { giveUp: () => leaving.splice(0), settled: () => arrived.promise }
  const published: UsageReport[] = []
  const accepted = Promise.withResolvers<void>()
  const nats = {
    names: { usage: { subject: 'usage' } },
    messageBytesMax: () => 1_000_000,
    jetstream: {
      publish(_subject: string, text: string) {
        published.push(JSON.parse(text))
        return accepted.promise
      },
    },
  }
  const reports = createUsageReports(
    nats as unknown as Parameters<typeof createUsageReports>[0],
    services.meter,
    slices as unknown as QuotaSlices,
    { ids: services.ids, now: services.clock.now },
  )
  const sent = reports.send()
  const givenUp = reports.giveUp()
  leaving.push(late)
  arrived.resolve()
  const ended = givenUp.then(() => reports.send())
  // Without waiting for the message, `ended` would be the message that is on its way.
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
  accepted.resolve()
  await Promise.all([sent, ended])
  reports.stop()
  expect(published.map(({ returned }) => returned)).toEqual([[early], [late]])
})
