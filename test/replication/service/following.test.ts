import { afterEach, beforeEach, expect, test } from 'bun:test'
import { schemaVersion } from '../../../src/database/migrations.ts'
import { createLog } from '../../../src/lib/log/log.ts'
import { createSystemClock } from '../../../src/lib/time/clock.ts'
import { connectNats, type Nats } from '../../../src/replication/nats/connection.ts'
import { changeHeaders } from '../../../src/replication/service/changes.ts'
import { followStream } from '../../../src/replication/service/following.ts'
import { prepareStreams } from '../../../src/replication/service/subjects.ts'
import { needs } from '../../support/needs.ts'
import { type NatsServer, natsServer } from '../../support/servers/nats.ts'
import { until as waitUntil } from '../../support/until.ts'

const replicationEpoch = '11111111-2222-4333-8444-555555555555'

needs('nats-server').describe('a copy that follows the stream', () => {
  let server: NatsServer
  let nats: Nats
  let following: ReturnType<typeof followStream> | undefined
  const applied: number[] = []
  let stored: { replicationEpoch: string; sequence: number }[] = []

  beforeEach(async () => {
    server = await natsServer()
    nats = await connectNats({
      servers: [server.url],
      credentialsFile: '',
      token: '',
      name: 'test',
    })
    await prepareStreams(nats, { copies: 1, keepMs: 3_600_000, events: false })
    stored = []
    applied.length = 0
  })
  afterEach(async () => {
    following?.stop()
    await nats.close()
    await server.remove()
  })

  const publishPart = (n: number, parts: number, after: number) => {
    const body = JSON.stringify({
      after,
      upTo: after + 1,
      isLast: true,
      readAt: 0,
      tables: [],
      ranges: [],
      counters: {},
    })
    const size = Math.ceil(body.length / parts)
    return nats.jetstream.publish('wellhead.changes', body.slice((n - 1) * size, n * size), {
      headers: nats.headers({
        [changeHeaders.replicationEpoch]: replicationEpoch,
        [changeHeaders.position]: String(n === parts ? after + 1 : after),
        [changeHeaders.schema]: String(schemaVersion),
        [changeHeaders.part]: `${n}/${parts}`,
        [changeHeaders.reaches]: String(after + 1),
      }),
    })
  }
  const publish = (after: number, schema: number) =>
    nats.jetstream.publish(
      'wellhead.changes',
      JSON.stringify({
        after,
        upTo: after + 1,
        isLast: true,
        readAt: 0,
        tables: [],
        ranges: [],
        counters: {},
      }),
      {
        headers: nats.headers({
          [changeHeaders.replicationEpoch]: replicationEpoch,
          [changeHeaders.position]: String(after + 1),
          [changeHeaders.schema]: String(schema),
        }),
      },
    )
  const follow = () => {
    const clock = createSystemClock()
    following = followStream(
      nats,
      {
        replicationEpoch,
        applied: 0,
        message: 0,
        stream: undefined,
        apply: delta => void applied.push(delta.upTo),
      },
      {
        clock,
        log: createLog({ level: 'error', format: 'json', write: () => {}, clock }),
        snapshots: async () => stored,
      },
    )
    return following
  }
  const until = (isSo: () => unknown) => waitUntil('the follower is there', isSo)

  test('a replica applies no change of another schema and continues with a snapshot that includes it', async () => {
    await publish(0, schemaVersion)
    await publish(1, schemaVersion - 1)
    const copy = follow()
    await until(() => copy.fault())
    expect(applied).toEqual([1])
    expect({ ...copy.fault() }).toMatchObject({
      kind: 'cannot_apply',
      message: expect.stringContaining('run this version on the primary'),
    })
    stored = [{ replicationEpoch, sequence: 1 }]
    stored = [{ replicationEpoch, sequence: 2 }, ...stored]
    expect(await copy.ended).toContain('cannot be applied')
  })

  test('joins the parts of a change that was interrupted and sent again in other parts', async () => {
    for (const part of [1, 2]) await publishPart(part, 4, 0)
    for (const part of [1, 2, 3]) await publishPart(part, 3, 0)
    await publish(1, schemaVersion)
    const copy = follow()
    await until(() => applied.length === 2)
    expect({ applied, fault: copy.fault() }).toEqual({ applied: [1, 2], fault: undefined })
  })

  test('applies no change of which a part is missing, and resumes with a snapshot that has it', async () => {
    await publish(0, schemaVersion)
    for (const part of [1, 3, 4]) await publishPart(part, 4, 1)
    const copy = follow()
    await until(() => copy.fault())
    expect(applied).toEqual([1])
    expect({ ...copy.fault() }).toMatchObject({
      kind: 'gap',
      message: expect.stringContaining('lacks parts of change 2'),
    })
    stored = [{ replicationEpoch, sequence: 2 }]
    expect(await copy.ended).toContain('lacks parts')
  })

  test('waits for the newer program where the primary has a newer schema, whatever snapshots there are', async () => {
    stored = [{ replicationEpoch, sequence: 99 }]
    await publish(0, schemaVersion + 1)
    const copy = follow()
    let hasEnded = false
    void copy.ended.then(() => {
      hasEnded = true
    })
    await until(() => copy.fault())
    expect(copy.fault()?.message).toContain('run the version of the primary here')
    await publish(1, schemaVersion + 1)
    expect(hasEnded).toBe(false)
    expect(applied).toEqual([])
  })
})
