import { openDatabase, readAtOnce } from '../database/database.ts'
import { openedWorkerConfig } from '../http/query-workers/config-copy.ts'
import { openServices, type Services } from '../instance/services/services.ts'
import { createRandomIds } from '../lib/ids.ts'
import { createLog, reportLost } from '../lib/log/log.ts'
import { createOutput } from '../lib/process/output.ts'
import { errorMessage } from '../lib/text/error-message.ts'
import { createSystemClock, sleep } from '../lib/time/clock.ts'
import { connectNats, type Nats, type NatsSettings } from '../replication/nats/connection.ts'
import { createUnknownMessageLog } from '../replication/service/changes.ts'
import { moveEarlierStreams } from '../replication/service/earlier-streams.ts'
import { followDelta } from '../replication/service/follow.ts'
import {
  type ConflictKind,
  createPublisher,
  StreamConflict,
} from '../replication/service/publisher.ts'
import { createSnapshotCheck, storeSnapshot } from '../replication/service/snapshots.ts'
import { eventSubject, prepareStreams, priceSubject } from '../replication/service/subjects.ts'
import { receiveUsage, type UsagePlace, type UsageReport } from '../replication/service/usage.ts'
import type { Delta } from '../replication/store/delta.ts'
import { createDeltaReader } from '../replication/store/delta-reader.ts'
import { createOutgoingEvents } from '../replication/store/outgoing-events.ts'
import { createPriceTexts } from '../topics/prices/operations/texts.ts'

/** The arguments of this thread, from the main thread. */
export interface PublisherStart {
  task: 'publish' | 'snapshot'
  databasePath: string
  /** The configuration of a worker. */
  config: unknown
  nats: NatsSettings
  replicationEpoch: string
  previousEpochs: readonly string[]
  continues: string | undefined
  endedEpochs: readonly string[]
  /** The last change when this process opened the database. */
  lastChange: number
  /** The last message of the usage stream that is counted here. */
  usageTaken: UsagePlace
}

/** A message to the main thread. */
export type FromPublisher =
  | { kind: 'position'; position: number; last: number }
  | { kind: 'fault'; message: string; conflict?: ConflictKind }
  | { kind: 'usage'; place: UsagePlace; report: UsageReport }
  | { kind: 'snapshot'; sequence: number }
  | { kind: 'snapshot_missing' }

const idleMs = 10
const retryMs = 1000
/** How often the stream and the snapshots are checked. */
const checkEachMs = { stream: 2000, snapshot: 10_000 }
const fetchedMax = 500
const fetchedWithinMs = 2000

declare const self: {
  onmessage: ((event: { data: PublisherStart }) => void) | null
  postMessage(message: FromPublisher): void
}

self.onmessage = ({ data }) =>
  void (data.task === 'publish' ? publishFromOpening(data) : snapshot(data))

/** A database that does not open now may open later: a thread that ended would not be replaced. */
async function publishFromOpening(start: PublisherStart): Promise<void> {
  for (;;) {
    try {
      return await publish(start)
    } catch (error) {
      self.postMessage({ kind: 'fault', message: errorMessage(error) })
      await sleep(retryMs)
    }
  }
}

async function snapshot(start: PublisherStart): Promise<void> {
  try {
    const nats = await connectNats(start.nats)
    const { copies } = openedWorkerConfig(start.config).nats
    const { sequence } = await storeSnapshot(nats, start.databasePath, copies)
    await nats.close()
    self.postMessage({ kind: 'snapshot', sequence })
  } catch (error) {
    self.postMessage({ kind: 'fault', message: errorMessage(error) })
  }
}

/** Publishes until the process ends, over its own read-only connection. */
async function publish(start: PublisherStart): Promise<void> {
  const config = openedWorkerConfig(start.config)
  const clock = createSystemClock()
  const db = openDatabase(start.databasePath, { readonly: true })
  const output = createOutput(process.stderr, 'Standard error')
  const log = createLog({ ...config.log, write: output.put, clock })
  output.onLost(reportLost(log))
  const masterKey = 'a publisher opens nothing that is sealed'
  const open = () =>
    readAtOnce(db, () =>
      openServices({ db, config, clock, ids: createRandomIds(), log, masterKey }),
    )
  let services: Services | undefined
  const reader = createDeltaReader(db, clock.now)
  const { keepMs, copies, events } = config.nats
  const noteUnknown = { changes: createUnknownMessageLog(log), usage: createUnknownMessageLog(log) }
  let { usageTaken } = start
  let lastChange: number | undefined = start.lastChange
  for (;;) {
    let nats: Nats | undefined
    try {
      nats = await connectNats(start.nats)
      services ??= open()
      await prepareStreams(nats, { copies, keepMs, events })
      const { replicationEpoch, previousEpochs, continues, endedEpochs } = start
      await moveEarlierStreams(nats, { replicationEpoch, previousEpochs }, usageTaken, {
        log,
        noteUnknown: noteUnknown.changes,
      })
      const feed = createPublicFeed(nats, services, events)
      await feed.learn()
      await feed.prices(
        services.catalogue.list().map(series => series.id),
        reader.last(),
      )
      const publisher = await createPublisher({
        nats,
        reader,
        replicationEpoch,
        previousEpochs,
        continues,
        endedEpochs,
        lastChange: lastChange ?? reader.last(),
        published: delta => feed.publish(delta),
        noteUnknown: noteUnknown.changes,
      })
      // From here on the stream only has changes of this process.
      lastChange = undefined
      const receiving = receiveUsage(
        nats,
        usageTaken,
        (place, report) => {
          usageTaken = place
          self.postMessage({ kind: 'usage', place, report })
        },
        noteUnknown.usage,
      )
      let broken: unknown
      receiving.then(
        () => {
          broken = new Error('the usage stream is no longer read')
        },
        error => {
          broken = error
        },
      )
      const madeAt = await streamsMadeAt(nats, events)
      const hasSnapshot = createSnapshotCheck(nats, copies, replicationEpoch)
      // The snapshot that is taken at the start contains changes that the stream lacks.
      await hasSnapshot(publisher.position())
      let [checkedAt, snapshotCheckedAt] = [clock.monotonic(), clock.monotonic()]
      for (let reportedAt = Number.NEGATIVE_INFINITY; ; ) {
        if (broken !== undefined) throw broken
        const messages = await publisher.pass()
        if (clock.monotonic() - checkedAt > checkEachMs.stream) {
          await publisher.check()
          await feed.check()
          if ((await streamsMadeAt(nats, events)) !== madeAt) throw new Error('stream_recreated')
          checkedAt = clock.monotonic()
        }
        if (clock.monotonic() - snapshotCheckedAt > checkEachMs.snapshot) {
          if (!(await hasSnapshot(publisher.position())))
            self.postMessage({ kind: 'snapshot_missing' })
          snapshotCheckedAt = clock.monotonic()
        }
        if (messages > 0 || clock.monotonic() - reportedAt > retryMs) {
          reportedAt = clock.monotonic()
          const [position, last] = [publisher.position(), reader.last()]
          self.postMessage({ kind: 'position', position, last })
        }
        if (messages === 0) await sleep(idleMs)
      }
    } catch (error) {
      const conflict = error instanceof StreamConflict ? error.kind : undefined
      self.postMessage({
        kind: 'fault',
        message: errorMessage(error),
        ...(conflict && { conflict }),
      })
      await nats?.close().catch(() => undefined)
      // Retries when the stream has messages of another database, because they may be removed.
      if (conflict && conflict !== 'foreign') return
    }
    await sleep(retryMs)
  }
}

/**
 * When the other streams were created: one that was deleted must be created again.
 */
async function streamsMadeAt({ manager, names }: Nats, events: boolean): Promise<string> {
  const streams = [names.prices, names.usage, ...(events ? [names.events] : [])]
  const infos = await Promise.all(streams.map(({ stream }) => manager.streams.info(stream)))
  return infos.map(({ created }) => created).join(' ')
}

/**
 * Subjects have no access control by account, so series that are restricted to some accounts are
 * not published.
 */
const nobody = ''

/** Publishes for programs that are not replicas: the newest price of each code, and events. */
function createPublicFeed(nats: Nats, services: Services, withEvents: boolean) {
  const { catalogue, latestPrices, clock } = services
  const { row } = createPriceTexts(latestPrices)
  const pricesStream = nats.names.prices.stream
  const lastTexts = new Map<string, string>()
  const outgoing = createOutgoingEvents(services.db)
  const prices = async (seriesIds: readonly number[], change: number) => {
    const published: Promise<unknown>[] = []
    for (const seriesId of seriesIds) {
      const series = catalogue.byId(seriesId)
      const { code, category } = series
      const subject = priceSubject(nats.names, category, code)
      if (!catalogue.isVisible(series, nobody)) {
        if (lastTexts.delete(subject))
          await nats.manager.streams.purge(pricesStream, { filter: subject })
        continue
      }
      const resolved = catalogue.resolve(code, clock.now())
      const rendered = resolved && row(resolved)
      if (!rendered || lastTexts.get(subject) === rendered.text) continue
      lastTexts.set(subject, rendered.text)
      // A price that is published again after an interruption is the same message.
      const msgID = `${code}.${change}.${Bun.hash(rendered.text).toString(36)}`
      published.push(nats.jetstream.publish(subject, rendered.text, { msgID }))
    }
    await Promise.all(published)
  }
  const publishEvents = async (delta: Delta) => {
    for (const { id, type, accountId, body } of outgoing(delta)) {
      const bytes = Buffer.byteLength(body)
      // A program that reads events expects each in one message, and the others must not wait for
      // it.
      if (bytes > nats.messageBytesMax()) {
        services.log.warn('event_not_published', { event: id, type, bytes })
        continue
      }
      await nats.jetstream.publish(eventSubject(nats.names, type), body, {
        msgID: id,
        headers: nats.headers({ 'Wellhead-Account': accountId }),
      })
    }
  }
  return {
    prices,
    /** Reads the stream, so that a start publishes no price again. */
    async learn(): Promise<void> {
      const { state } = await nats.manager.streams.info(pricesStream)
      const consumer = await nats.jetstream.consumers.get(pricesStream)
      for (let at = 0, isAny = state.messages > 0; isAny && at < state.last_seq; ) {
        isAny = false
        const messages = await consumer.fetch({
          max_messages: fetchedMax,
          expires: fetchedWithinMs,
        })
        for await (const message of messages) {
          isAny = true
          at = message.seq
          lastTexts.set(message.subject, message.string())
          if (at >= state.last_seq) break
        }
      }
    },
    /** Throws if prices were removed from the stream. */
    async check(): Promise<void> {
      const { state } = await nats.manager.streams.info(pricesStream)
      if (state.messages < lastTexts.size)
        throw new Error(`the stream ${pricesStream} lacks prices that were published`)
    },
    async publish(delta: Delta): Promise<void> {
      const changed = followDelta(services, delta)
      await prices(changed, delta.upTo)
      if (withEvents) await publishEvents(delta)
    },
  }
}
