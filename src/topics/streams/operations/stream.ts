import { t } from '../../../http/answer/schema.ts'
import { integerOf } from '../../../http/input/query.ts'
import { textParameter } from '../../../http/input/typed.ts'
import { markFixtures } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { NestedProblem } from '../../../http/problem/shape.ts'
import { after } from '../../../lib/time/clock.ts'
import { secondMs } from '../../../lib/time/instant.ts'
import type { WatchEvent, WatchFeed } from '../../watches/service/feed.ts'
import type { OpenStream, Streams } from '../service/streams.ts'
import { noPlace } from './access.ts'

export interface WatchStreamDeps extends Context {
  /** How long nothing may come before there is a sign of life; 15 s. */
  keepAliveMs?: number
}

const keepAliveDefaultMs = 15 * secondMs
const reconnectMs = 3 * secondMs
/** Events read at a time: the next are read when the client has taken these. */
const eventsEach = 100
/** How long a client that does not read has left when its stream has ended. */
const partingSeconds = 10

/** The feed of the account's watches as it grows. */
export const streamOperations = ({
  gate,
  streams,
  watches,
  watchFeed,
  catalogue,
  connections,
  marks,
  keepAliveMs = keepAliveDefaultMs,
}: WatchStreamDeps) => [
  operation('GET /v1/stream', {
    operationId: 'streamWatchEvents',
    summary: 'Stream watch events',
    description: `Returns the events of \`GET /v1/subscriptions/events\` as server-sent events, first the stored ones and then each new one: \`id\` is the \`seq\`, \`event\` the type, \`data\` the event.

A client that reconnects with \`Last-Event-ID\`, as browsers do by themselves, or with \`since\` misses nothing and gets nothing twice. The first block sets the \`id\` that the stream starts from and has no event. \`: keep-alive\` is sent when nothing else was for 15 s.

The stream ends when its key is revoked, rolled or suspended or loses the feature, and when the service stops. A key has up to ${streams.perKey} of them open; opening one counts as one request in the 60-second window and not against the quota.`,
    access: { meter: false, feature: 'streaming' },
    headers: t.Object({
      'last-event-id': t.Optional(
        t.string('The `id` of the last received event; the stream resumes after it.', '42'),
      ),
    }),
    query: {
      since: textParameter(
        'Only events with a `seq` above this. Default: 0; `now`: only future events.',
        '0',
        { pattern: '^([0-9]{1,15}|now)$', default: '0' },
      ),
    },
    answers: {
      200: t.String({ contentMediaType: 'text/event-stream', examples: [example] }),
      503: NestedProblem,
    },
    handle: ({ request, caller, requestContext, query, reply }) => {
      const accountId = caller.key.account.account.id
      const lastId = request.headers.get('last-event-id')
      const since = sinceOf(
        lastId === null ? 'since' : 'Last-Event-ID',
        lastId ?? query.since,
        () => watchFeed.last(accountId),
      )
      reply.headers['content-type'] = 'text/event-stream; charset=utf-8'
      reply.headers['cache-control'] = 'no-store'
      // Prevents proxies from buffering the response.
      reply.headers['x-accel-buffering'] = 'no'
      const codes = new Set(watches.list(accountId).flatMap(watch => watch.codes))
      const series = [...codes].flatMap(code => catalogue.named(code) ?? [])
      markFixtures(
        reply,
        marks,
        series.map(watchedSeries => ({ series: watchedSeries })),
      )
      if (request.method === 'HEAD') return new Response('')
      const stays = gate.stay(requestContext!)
      const body = streamBody({
        feed: watchFeed,
        accountId,
        since,
        keepAliveMs,
        open: ends =>
          streams.open('events', caller.key.key.id, {
            refusal: () => stays()?.code.toLowerCase(),
            end: ends,
          }),
        parting: () => connections.idle(request, partingSeconds),
      })
      if (typeof body === 'string') throw noPlace(body, streams)
      connections.idle(request, 0)
      return new Response(body)
    },
  }),
]

const example = `id: 42
event: evaluated
data: {"seq":42,"type":"evaluated","code":"BRENT_CRUDE_USD","price":74.25}`

const sinceOf = (name: string, text: string | undefined, last: () => number): number =>
  name === 'since' && text === 'now' ? last() : integerOf(name, text, 0, 0, Number.MAX_SAFE_INTEGER)

const blockOf = (event: WatchEvent): string =>
  `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

interface StreamSource {
  feed: WatchFeed
  accountId: string
  since: number
  keepAliveMs: number
  /** Takes a place; `ends` is called when the stream has to end. */
  open(ends: OpenStream['end']): ReturnType<Streams['open']>
  /** The stream has been ended from this side. */
  parting(): void
}

/** Reads the feed as fast as the client does, and no faster: the rest stays in the database. */
function streamBody({
  feed,
  accountId,
  since,
  keepAliveMs,
  open,
  parting,
}: StreamSource): ReadableStream<Uint8Array> | 'full' | 'stopped' {
  const encoder = new TextEncoder()
  let cursor = since
  let hasEnded = false
  let isWanted = true
  let wake = () => {}
  const finish = () => {
    hasEnded = true
    unlisten()
    release()
    wake()
  }
  const opened = open(() => {
    finish()
    parting()
  })
  if (typeof opened === 'string') return opened
  const release = opened
  const unlisten = feed.listen(accountId, () => wake())

  /** Resolves when something may have come; true when it is only time for a sign of life. */
  const waited = () =>
    new Promise<boolean>(resolve => {
      const stopTimer = after(keepAliveMs, () => resolve(true))
      wake = () => {
        stopTimer()
        resolve(false)
      }
    })
  return new ReadableStream<Uint8Array>({
    start: controller =>
      controller.enqueue(encoder.encode(`retry: ${reconnectMs}\nid: ${cursor}\n\n`)),
    async pull(controller) {
      for (;;) {
        if (hasEnded) return isWanted ? controller.close() : undefined
        const events = feed.after(accountId, cursor, eventsEach)
        if (events.length > 0) {
          cursor = events.at(-1)!.seq
          return controller.enqueue(encoder.encode(events.map(blockOf).join('')))
        }
        if (await waited()) return controller.enqueue(encoder.encode(': keep-alive\n\n'))
      }
    },
    cancel() {
      isWanted = false
      finish()
    },
  })
}
