import { afterAll, describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { createPublisherClient } from '../../../src/feeds/engine/publisher-client.ts'
import { ecb } from '../../../src/feeds/publishers/ecb.ts'
import { FeedFault } from '../../../src/feeds/reading/fault.ts'
import { createManualClock } from '../../../src/lib/time/clock.ts'
import { secondMs } from '../../../src/lib/time/instant.ts'
import { createEgress } from '../../../src/send/egress/egress.ts'
import { createPublisherFetch } from '../../../src/send/feeds/fetch.ts'

let connections = 0
const silent = createServer(() => {
  connections += 1
})
silent.listen(0, '127.0.0.1')
await once(silent, 'listening')
const { port } = silent.address() as AddressInfo
afterAll(() => silent.close())

describe('a publisher that takes a request and never answers', () => {
  test('is waited for no longer than all tries at one request may take', async () => {
    const egress = createEgress(['127.0.0.0/8'])
    const nearTheEnd = 119.9 * secondMs
    const moments = [0]
    const client = createPublisherClient({
      publisher: ecb,
      fetch: createPublisherFetch(egress),
      // The request begins at once, and everything after it close to the end of the two minutes.
      clock: { now: () => 0, monotonic: () => moments.shift() ?? nearTheEnd },
      baseUrl: `http://127.0.0.1:${port}`,
      userAgent: 'Wellhead',
      known: undefined,
      chance: () => 0,
    })
    const fault = await client.get({ url: 'https://www.ecb.europa.eu/x' }).catch(error => error)
    expect(fault).toBeInstanceOf(FeedFault)
    expect(fault).toMatchObject({ code: 'no_answer', message: '127.0.0.1: no response within 1 s' })
    expect({ connections, counted: client.counts.requests }).toEqual({ connections: 1, counted: 1 })
  })
})

describe('a publisher that answers', () => {
  test('a publisher is requested no faster than its rate limit allows', async () => {
    const answering = createHttpServer((_, response) => void response.end('x'))
    answering.listen(0, '127.0.0.1')
    await once(answering, 'listening')
    const clock = createManualClock(0)
    const waits: number[] = []
    const client = createPublisherClient({
      publisher: ecb,
      fetch: createPublisherFetch(createEgress(['127.0.0.0/8'])),
      clock,
      wait: async ms => {
        waits.push(ms)
        clock.advance(ms)
      },
      baseUrl: `http://127.0.0.1:${(answering.address() as AddressInfo).port}`,
      userAgent: 'Wellhead',
      known: undefined,
      chance: () => 0,
    })
    const spacingMs = secondMs / ecb.requestsPerSecond
    await client.get({ url: 'https://www.ecb.europa.eu/x' })
    await client.get({ url: 'https://www.ecb.europa.eu/y' })
    clock.advance(spacingMs / 4)
    await client.get({ url: 'https://www.ecb.europa.eu/z' })
    expect(waits).toEqual([spacingMs, (spacingMs * 3) / 4])
    answering.close()
  })
})
