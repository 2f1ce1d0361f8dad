import { t } from '../../../http/answer/schema.ts'
import { instantOf, wordOf } from '../../../http/input/query.ts'
import { textParameter, wordParameter } from '../../../http/input/typed.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { invalidParameter, missingParameter } from '../../../http/problem/problem.ts'
import { CodeProblem } from '../../../http/problem/shape.ts'
import { createSystemClock } from '../../../lib/time/clock.ts'
import type { AnyRecord } from '../service/feed.ts'
import {
  blockOf,
  changeBlocks,
  keepAlive,
  keepAliveMs,
  openFeedStream,
  type StreamRequest,
} from './feed-stream.ts'
import { textsOf } from './record.ts'
import { readerOf, readerQuery, rowsOfPrice } from './request.ts'

const formats = ['sse', 'ndjson'] as const

/** Records that are sent together where nothing lies between them. */
const recordsEach = 500

function momentOf(name: string, text: string | undefined): number {
  const at = instantOf(name, text)
  if (at === undefined) throw missingParameter(name, 'an ISO 8601 time with a zone.')
  return at
}

function speedOf(text: string | undefined): number {
  if (text === undefined || text === '') return 1
  if (text === 'max') return Number.POSITIVE_INFINITY
  const speed = Number(text)
  if (!(speed > 0 && speed < Number.POSITIVE_INFINITY))
    throw invalidParameter('speed', text, 'a number above 0, or max')
  return speed
}

interface Replay extends StreamRequest {
  records: Iterator<AnyRecord | undefined>
  speed: number
  format: (typeof formats)[number]
  /** How long nothing may be sent before a comment is. */
  quietMs: number
}

/** Records that were recorded in a range of time, played as they came. */
export function replayOperation(deps: Context, turn: () => Promise<void>, quietMs = keepAliveMs) {
  const { changes } = deps
  return operation('GET /v1/changes/replay', {
    operationId: 'replayChanges',
    summary: 'Replay changes of prices and datasets',
    description: `Returns the records of a past time range in the order of \`recorded_at\`. The pause before each record is the time since the one before, divided by \`speed\`; \`speed=max\` sends them as fast as they are read. Values that are quarantined, and codes that the account can no longer see, are left out. A server-sent stream ends with \`event: end\`; with \`format=ndjson\` the last line is the last record. Every started ${rowsOfPrice.toLocaleString('en')} records count as the plan's \`export_requests_per_10k_rows\` requests.`,
    access: {
      meter: true,
      queryWorker: true,
      feature: 'bulk_export',
      weighed: true,
      // A stream stays with the main thread.
      isLight: () => true,
    },
    query: {
      from: textParameter('Records from this time on, inclusive.', '2026-11-01T00:00:00Z', {
        required: true,
      }),
      to: textParameter('Records before this time.', '2026-11-02T00:00:00Z', { required: true }),
      speed: textParameter('Speed relative to the original times, or `max`. Default: 1.', 'max'),
      ...readerQuery,
      format: wordParameter(formats, 'Default: `sse`.', 'ndjson', { default: 'sse' }),
    },
    answers: {
      200: t.Union([
        t.String({
          contentMediaType: 'text/event-stream',
          description: '`id` is the cursor, `event` is `change`, `data` the record.',
        }),
        t.String({ contentMediaType: 'application/x-ndjson', description: 'A record a line.' }),
      ]),
      400: CodeProblem,
    },
    handle: ({ query, request, reply, caller, requestContext }) => {
      const [from, to] = [momentOf('from', query.from), momentOf('to', query.to)]
      if (from >= to) throw invalidParameter('from', query.from!, 'a time before to')
      const speed = speedOf(query.speed)
      const format = wordOf('format', query.format, 'sse', formats)
      const reader = readerOf(deps, query, caller, request)
      const records = changes.replay(reader, from, to)
      const replay = { records, speed, format, quietMs }
      return play(deps, { ...replay, caller, request, requestContext, reply, turn })
    },
  })
}

function play(deps: Context, replay: Replay): Response {
  const { records, speed, format, quietMs, ...incoming } = replay
  const { changes, sourceNameOf } = deps
  const isLines = format === 'ndjson'
  const type = isLines ? 'application/x-ndjson' : 'text/event-stream'
  const stream = openFeedStream(deps, incoming, type)
  if (!stream) return new Response('')
  const cursorOf = changes.cursors()
  const { monotonic } = createSystemClock()
  let next: AnyRecord | undefined
  let last: number | undefined
  /** When the next record is due. */
  let dueAt: number | undefined
  let count = 0
  /** Reads up to the next record; there is none at the end, or where the stream has ended. */
  const advance = async () => {
    const step = await stream.next(records)
    next = step?.done ? undefined : step?.value
  }
  const textOf = (batch: readonly AnyRecord[]) =>
    isLines
      ? `${textsOf(batch, cursorOf, sourceNameOf).join('\n')}\n`
      : changeBlocks(batch, cursorOf, sourceNameOf)
  /** Records that are due at once. */
  const take = async (): Promise<AnyRecord[]> => {
    const batch: AnyRecord[] = []
    const at = next?.recordedAt
    while (
      next &&
      batch.length < recordsEach &&
      (speed === Number.POSITIVE_INFINITY || next.recordedAt === at)
    ) {
      batch.push(next)
      await advance()
    }
    return batch
  }
  const nextText = async (): Promise<string | undefined> => {
    await incoming.turn()
    if (!next) await advance()
    if (next) dueAt ??= monotonic() + (next.recordedAt - (last ?? next.recordedAt)) / speed
    while (dueAt !== undefined && dueAt > monotonic() && stream.isOpen()) {
      await stream.wait(Math.min(dueAt - monotonic(), quietMs))
      if (!isLines && stream.isOpen() && dueAt > monotonic()) return keepAlive
    }
    dueAt = undefined
    const batch = stream.isOpen() ? await take() : []
    count += batch.length
    stream.pay(count)
    if (batch.length === 0) {
      stream.end('done')
      return undefined
    }
    last = batch.at(-1)!.recordedAt
    return textOf(batch)
  }
  return stream.send(nextText, reason => (isLines ? '' : blockOf('end', { reason, count })))
}
