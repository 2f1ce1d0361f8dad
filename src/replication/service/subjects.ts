import type { Nats } from '../nats/connection.ts'
import type { NatsNames, StreamName } from '../nats/names.ts'

/** A consumer that went with its server is missed after two heartbeats, and another one is made. */
export const consumeEach = { expires: 5000, idle_heartbeat: 1000 }

const nanosecondsEachMs = 1_000_000
/** How long the stream recognises a message that is sent twice. */
const duplicateWindowMs = 120_000

/** A word as one part of a subject. */
const token = (word: string) => word.replace(/[^A-Za-z0-9_-]/g, '_') || '_'

export const priceSubject = ({ prices }: NatsNames, category: string, code: string) =>
  `${prices.subject}.${token(category)}.${token(code)}`

export const eventSubject = ({ events }: NatsNames, type: string) =>
  `${events.subject}.${type.split('.').map(token).join('.')}`

export interface StreamOptions {
  copies: number
  keepMs: number
  events: boolean
}

/** Creates missing streams, and updates the settings of existing ones. */
export async function prepareStreams(
  { manager, names }: Pick<Nats, 'manager' | 'names'>,
  { copies, keepMs, events }: StreamOptions,
): Promise<void> {
  const shared = {
    num_replicas: copies,
    duplicate_window: duplicateWindowMs * nanosecondsEachMs,
  }
  const retained = { max_age: keepMs * nanosecondsEachMs }
  const single = ({ stream, subject }: StreamName) => ({ name: stream, subjects: [subject] })
  const many = ({ stream, subject }: StreamName) => ({ name: stream, subjects: [`${subject}.>`] })
  const wanted = [
    { ...single(names.changes), ...retained },
    { ...many(names.prices), max_msgs_per_subject: 1 },
    { ...single(names.usage), ...retained },
    ...(events ? [{ ...many(names.events), ...retained }] : []),
  ]
  const present = await streamNames({ manager })
  for (const stream of wanted) {
    if (present.has(stream.name))
      await manager.streams.update(stream.name, { ...shared, ...stream })
    else await manager.streams.add({ ...shared, ...stream })
  }
}

/** The streams that there are. */
export async function streamNames({ manager }: Pick<Nats, 'manager'>): Promise<Set<string>> {
  const present = new Set<string>()
  for await (const { config } of manager.streams.list()) present.add(config.name)
  return present
}
