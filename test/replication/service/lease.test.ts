import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createManualClock } from '../../../src/lib/time/clock.ts'
import { connectNats, type Nats } from '../../../src/replication/nats/connection.ts'
import { abandonedMs, createLeaseView, validMs } from '../../../src/replication/service/lease.ts'
import { needs } from '../../support/needs.ts'
import { type NatsServer, natsServer } from '../../support/servers/nats.ts'
import { until } from '../../support/until.ts'

needs('nats-server').describe('the lease of the primary', () => {
  let server: NatsServer
  let nats: Nats
  beforeAll(async () => {
    server = await natsServer()
    const { url } = server
    nats = await connectNats({ servers: [url], credentialsFile: '', token: '', name: 'test' })
  })
  afterAll(async () => {
    await nats?.close()
    await server?.remove()
  })
  let number = 0
  const opened = async () => {
    number += 1
    const bucket = await nats.bucket(`lease-${number}`, 1, 0)
    const clock = createManualClock(0)
    const [primary, standby] = [createLeaseView(bucket, clock), createLeaseView(bucket, clock)]
    await primary.refresh()
    const held = (await primary.take('first', 'http://127.0.0.1:1'))!
    await standby.refresh()
    return { clock, standby, held }
  }

  test('a lease that was not renewed is taken over with the next epoch after its holder stopped writing', async () => {
    const { clock, standby, held } = await opened()
    clock.advance(validMs)
    await standby.refresh()
    expect(held.isValid()).toBe(false)
    expect(standby.isAbandoned()).toBe(false)
    clock.advance(abandonedMs - validMs)
    await standby.refresh()
    expect(standby.isAbandoned()).toBe(true)
    const taken = (await standby.take('second', ''))!
    expect(taken.lease).toEqual({ epoch: 2, holder: 'second', url: '' })
    expect(await held.renew()).toBe(false)
    expect(held.isValid()).toBe(false)
  })

  test('a lease is left to its holder for a while when NATS returns, because it could not be renewed', async () => {
    const { clock, standby, held } = await opened()
    await server.stop()
    clock.advance(2 * abandonedMs)
    await expect(standby.refresh()).rejects.toThrow()
    await server.start()
    const isRead = () =>
      standby.refresh().then(
        () => true,
        () => false,
      )
    await until('the standby reads the lease again', isRead)
    expect(standby.isAbandoned()).toBe(false)
    expect(await held.renew()).toBe(true)
    expect(held.isValid()).toBe(true)
    await standby.refresh()
    clock.advance(abandonedMs)
    await standby.refresh()
    expect(standby.isAbandoned()).toBe(true)
  }, 30_000)
})
