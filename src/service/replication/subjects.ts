import type { Nats } from '../../send/nats/connection.ts'

/** The stream of what every commit changed. */
export const changesStream = 'changes'
/** The newest price of every code. */
export const pricesStream = 'prices'
export const eventsStream = 'events'
/** What replicas have answered, for the primary to count. */
export const usageStream = 'usage'
/** The object store of snapshots. */
export const snapshotBucket = 'wellhead-snapshots'

/** What stands in the headers of a message of the stream of changes. */
export const changeHeaders = {
  /** Whose commits they are: another one begins a history that does not continue the last. */
  lineage: 'Wellhead-Lineage',
  /** The lineage that it took over from, where it did. */
  continues: 'Wellhead-Continues',
  /** Up to which change the stream has everything with this message. */
  position: 'Wellhead-Position',
} as const

/** Whose commits the stream ends with; undefined where it has none. */
export async function lastLineage(nats: Pick<Nats, 'manager'>): Promise<string | undefined> {
  const { state } = await nats.manager.streams.info(changesStream)
  if (state.messages === 0) return undefined
  const last = await nats.manager.streams.getMessage(changesStream, { seq: state.last_seq })
  return last?.header.get(changeHeaders.lineage)
}

/** A consumer that went with its server is missed after two heartbeats, and another one is made. */
export const consumeEach = { expires: 5000, idle_heartbeat: 1000 }

const nanosecondsEachMs = 1_000_000
/** How long the stream recognises a message that is sent twice. */
const duplicateWindowMs = 120_000

/** A word as one part of a subject. */
const token = (word: string) => word.replace(/[^A-Za-z0-9_-]/g, '_') || '_'

export const priceSubject = (category: string, code: string) =>
  `${pricesStream}.${token(category)}.${token(code)}`

export const eventSubject = (type: string) =>
  `${eventsStream}.${type.split('.').map(token).join('.')}`

export interface StreamOptions {
  copies: number
  keepMs: number
  events: boolean
}

/** Makes the streams that are not there, and gives those that are what the settings say. */
export async function prepareStreams(
  { manager }: Nats,
  { copies, keepMs, events }: StreamOptions,
): Promise<void> {
  const shared = {
    num_replicas: copies,
    duplicate_window: duplicateWindowMs * nanosecondsEachMs,
  }
  const wanted = [
    { name: changesStream, subjects: [changesStream], max_age: keepMs * nanosecondsEachMs },
    { name: pricesStream, subjects: [`${pricesStream}.>`], max_msgs_per_subject: 1 },
    { name: usageStream, subjects: [usageStream], max_age: keepMs * nanosecondsEachMs },
    ...(events
      ? [
          {
            name: eventsStream,
            subjects: [`${eventsStream}.>`],
            max_age: keepMs * nanosecondsEachMs,
          },
        ]
      : []),
  ]
  const names = new Set<string>()
  for await (const { config } of manager.streams.list()) names.add(config.name)
  for (const stream of wanted) {
    if (names.has(stream.name)) await manager.streams.update(stream.name, { ...shared, ...stream })
    else await manager.streams.add({ ...shared, ...stream })
  }
}
