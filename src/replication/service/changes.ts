import type { MsgHdrs } from '@nats-io/transport-node'
import { schemaVersion } from '../../database/migrations.ts'
import type { Log } from '../../lib/log/log.ts'
import type { Nats } from '../nats/connection.ts'
import type { Delta } from '../store/delta.ts'

/** What stands in the headers of a message of the stream of changes. */
export const changeHeaders = {
  /** Whose commits they are: another one begins a history that does not continue the last. */
  lineage: 'Wellhead-Lineage',
  /** The lineage that it took over from, where it did: a copy of that one goes on with this. */
  continues: 'Wellhead-Continues',
  /** Lineages that ended for this one, the newest first: who publishes as one of them is replaced. */
  ends: 'Wellhead-Ends',
  /** The version of the schema that its rows are of. */
  schema: 'Wellhead-Schema',
  /** Up to which change the stream has everything with this message. */
  position: 'Wellhead-Position',
} as const

/** A message of the stream of changes, as a copy publishes it. */
export interface Change {
  lineage: string
  continues: string | undefined
  ends: readonly string[]
  position: number
  /** Undefined: an earlier version published it, which did not say. */
  schema: number | undefined
  delta: Delta
}

/** Why rows of another schema cannot be applied here; undefined: they are of this one. */
export function schemaFault({ schema }: Change): string | undefined {
  if (schema === undefined || schema === schemaVersion) return undefined
  const what = `it is of schema ${schema}, and this program has schema ${schemaVersion}`
  return schema > schemaVersion
    ? `${what}: run the version of the primary here`
    : `${what}: run this version on the primary`
}

const lineageForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const positionForm = /^\d{1,15}$/

/** A message as a copy publishes it; a text says why no copy has published this one. */
export function readChange(headers: MsgHdrs | undefined, text: () => string): Change | string {
  const header = (name: string) => headers?.get(name) ?? ''
  const lineage = header(changeHeaders.lineage)
  if (!lineageForm.test(lineage)) return `its ${changeHeaders.lineage} is not that of a copy`
  const position = header(changeHeaders.position)
  if (!positionForm.test(position)) return `its ${changeHeaders.position} is not a change`
  const delta = deltaOf(text())
  if (!delta) return 'its body is not what a commit changed'
  const reached = delta.isLast ? delta.upTo : delta.after
  if (reached !== Number(position)) return `its body does not reach its ${changeHeaders.position}`
  const continued = header(changeHeaders.continues)
  return {
    lineage,
    continues: continued === '' ? undefined : continued,
    ends: header(changeHeaders.ends).split(' ').filter(Boolean),
    position: reached,
    schema: positionForm.test(header(changeHeaders.schema))
      ? Number(header(changeHeaders.schema))
      : undefined,
    delta,
  }
}

function deltaOf(text: string): Delta | undefined {
  let value: Partial<Delta> | null
  try {
    value = JSON.parse(text) as Partial<Delta> | null
  } catch {
    return undefined
  }
  const isDelta =
    typeof value === 'object' &&
    value !== null &&
    Number.isInteger(value.after) &&
    Number.isInteger(value.upTo) &&
    typeof value.isLast === 'boolean' &&
    Array.isArray(value.tables) &&
    Array.isArray(value.ranges) &&
    typeof value.counters === 'object'
  return isDelta ? (value as Delta) : undefined
}

/** Whether a change says that the lineage ended for the one that it is of. */
export const endsLineage = ({ continues, ends }: Change, lineage: string): boolean =>
  continues === lineage || ends.includes(lineage)

/** Messages that no copy has published: each is named once in the log. */
export type Strangers = (stream: string, message: number, why: string) => void

const namedMax = 20

/** Names each message once, and of a flood the first ones. */
export function createStrangers(log: Log): Strangers {
  let named = 0
  let until = 0
  return (stream, message, why) => {
    if (message <= until) return
    until = message
    named += 1
    if (named > namedMax) return
    log.warn('stream_message_skipped', {
      stream,
      sequence: message,
      message: `Message ${message} of the stream ${stream} was not published by Wellhead and is skipped: ${why}.${named === namedMax ? ' Further ones are skipped without a line.' : ''}`,
    })
  }
}

/** How the stream of changes ends, seen by a copy that publishes. */
export interface StreamEnd {
  /** When the stream was made: another one of the same name has another moment. */
  created: string
  /** The last message, whoever published it. */
  lastSequence: number
  /** Up to which change the stream has this copy's commits; undefined: it has none. */
  position: number | undefined
  /** The lineage of that change, which may be one that this copy's follows. */
  lineage: string | undefined
  /** That change is of a lineage that took over from another one. */
  hasTakenOver: boolean
  /** The lineage that took over from this copy's. */
  replacedBy: string | undefined
  /** The last lineage of another database, where nothing of this one is in the stream. */
  foreign: string | undefined
}

/** So many messages of others are looked through for the last one of this copy. */
const foreignMax = 1000

/** Looks from the end for the last change of a lineage, or of one that it follows. */
export async function endOfStream(
  { manager }: Pick<Nats, 'manager'>,
  stream: string,
  own: { lineage: string; previousLineages: readonly string[] },
  strangers: Strangers,
): Promise<StreamEnd> {
  const { state, created } = await manager.streams.info(stream)
  const end: StreamEnd = {
    created,
    lastSequence: state.last_seq,
    position: undefined,
    lineage: undefined,
    hasTakenOver: false,
    replacedBy: undefined,
    foreign: undefined,
  }
  const skipped: [number, string][] = []
  let others = 0
  for (let seq = state.last_seq; state.messages > 0 && seq >= state.first_seq; seq--) {
    const message = await manager.streams.getMessage(stream, { seq }).catch(() => null)
    // Taken out by somebody.
    if (!message) continue
    const change = readChange(message.header, () => message.string())
    if (typeof change === 'string') {
      skipped.push([seq, change])
      continue
    }
    const { lineage, position } = change
    if (lineage === own.lineage || own.previousLineages.includes(lineage)) {
      end.position = position
      end.lineage = lineage
      end.hasTakenOver = change.continues !== undefined
      end.foreign = undefined
      break
    }
    if (endsLineage(change, own.lineage)) {
      end.replacedBy = lineage
      break
    }
    end.foreign ??= lineage
    others += 1
    if (others >= foreignMax) break
  }
  for (const [seq, why] of skipped.reverse()) strangers(stream, seq, why)
  return end
}
