import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createLog } from '../../../src/lib/log/log.ts'
import { createSystemClock } from '../../../src/lib/time/clock.ts'
import { connectNats, type Nats } from '../../../src/replication/nats/connection.ts'
import { natsNames } from '../../../src/replication/nats/names.ts'
import { changeHeaders } from '../../../src/replication/service/changes.ts'
import { moveEarlierStreams } from '../../../src/replication/service/earlier-streams.ts'
import { prepareStreams } from '../../../src/replication/service/subjects.ts'
import { needs } from '../../support/needs.ts'
import { type NatsServer, natsServer } from '../../support/servers/nats.ts'

const replicationEpoch = '11111111-2222-4333-8444-555555555555'
const messages = 450

needs('nats-server').describe('streams of a version without a prefix', () => {
  let server: NatsServer
  let nats: Nats

  const bodies = async (stream: string) => {
    const { state } = await nats.manager.streams.info(stream)
    const found: string[] = []
    for (let seq = state.first_seq; seq <= state.last_seq; seq++)
      found.push((await nats.manager.streams.getMessage(stream, { seq }))!.string())
    return found
  }
  const move = (connection: Nats) =>
    moveEarlierStreams(
      connection,
      { replicationEpoch, previousEpochs: [] },
      { message: 0, stream: undefined },
      {
        log: createLog({
          level: 'error',
          format: 'json',
          write: () => {},
          clock: createSystemClock(),
        }),
        noteUnknown: () => {},
      },
    )
  /** A connection on which a message to one stream is lost, and those behind it are not. */
  const losing = (subject: string, lost: number): Nats => {
    let sent = 0
    const jetstream = new Proxy(nats.jetstream, {
      get(target, name) {
        if (name !== 'publish') return Reflect.get(target, name, target)
        return (...args: Parameters<typeof target.publish>) => {
          if (args[0] === subject) sent += 1
          return args[0] === subject && sent === lost
            ? Promise.reject(new Error('timeout'))
            : target.publish(...args)
        }
      },
    })
    return { ...nats, jetstream }
  }

  beforeEach(async () => {
    server = await natsServer()
    const { url } = server
    nats = await connectNats({ servers: [url], credentialsFile: '', token: '', name: 'test' })
    const options = { copies: 1, keepMs: 3_600_000, events: false }
    await prepareStreams({ ...nats, names: natsNames('') }, options)
    await prepareStreams(nats, options)
    for (let n = 0; n < messages; n++) {
      const delta = {
        after: n,
        upTo: n + 1,
        isLast: true,
        readAt: 0,
        tables: [],
        ranges: [],
        counters: {},
      }
      await nats.jetstream.publish('changes', JSON.stringify(delta), {
        msgID: `${replicationEpoch}.${n + 1}`,
        headers: nats.headers({
          [changeHeaders.replicationEpoch]: replicationEpoch,
          [changeHeaders.position]: String(n + 1),
        }),
      })
      await nats.jetstream.publish('usage', `report ${n}`, { msgID: `node.${n}` })
    }
  })
  afterEach(async () => {
    await nats.close()
    await server.remove()
  })

  for (const stream of ['usage', 'changes'])
    test(`are moved whole and in their order although a message of ${stream} was lost on the way`, async () => {
      const [changes, usage] = [await bodies('changes'), await bodies('usage')]
      await expect(move(losing(`wellhead.${stream}`, 250))).rejects.toThrow('timeout')
      // Before the next start a replica has reported, and another client has published a message
      // that is not a change.
      await nats.jetstream.publish('wellhead.usage', 'a report of a newer replica')
      await nats.jetstream.publish('wellhead.changes', 'nothing that Wellhead has published')
      await move(nats)
      const moved = await bodies('wellhead-changes')
      expect(moved.filter(body => body.startsWith('{'))).toEqual(changes)
      const reports = await bodies('wellhead-usage')
      expect(reports.filter(body => body.startsWith('report'))).toEqual(usage)
      for (const name of ['changes', 'usage'])
        await expect(nats.manager.streams.info(name)).rejects.toThrow('not found')
    }, 60_000)
})
