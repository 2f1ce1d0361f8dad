import { type Clock, sleep } from '../../lib/time/clock.ts'
import { dayMs, minuteMs, secondMs } from '../../lib/time/instant.ts'
import { NoReply, type PublisherFetch, type PublisherReply } from '../../send/feeds/fetch.ts'
import type {
  Publisher,
  PublisherAnswer,
  PublisherClient,
  PublisherRequest,
} from '../publishers/publisher.ts'
import { FeedFault } from '../reading/fault.ts'

/** What a client has requested and received so far. */
export interface RequestCounts {
  requests: number
  bytes: number
}

export interface CountedClient extends PublisherClient {
  counts: RequestCounts
  /** Values to store for the next run, once this one is finished. */
  toStore(): ReadonlyMap<string, string>
}

export interface PublisherClientOptions {
  publisher: Publisher
  fetch: PublisherFetch
  clock: Clock
  /** The address of a mirror, used instead of the publisher's hosts; empty: there is no mirror. */
  baseUrl: string
  userAgent: string
  /** Values that the last finished run stored; undefined: everything is read again. */
  known: ReadonlyMap<string, string> | undefined
  /** A number of [0, 1) that differs between instances. */
  chance: () => number
  /** Waits the given milliseconds before the publisher is polled again; absent: in real time. */
  wait?: ((ms: number) => Promise<void>) | undefined
  /** The most attempts at a request whose failure may be temporary. */
  attemptsMax?: number
}

const bodyBytesMax = 128 * 1024 * 1024
const redirectsMax = 5
const attemptsDefault = 5
/** A longer `Retry-After` of a publisher is taken for a mistake and cut to this. */
const notBeforeMaxMs = dayMs
/** All attempts at one request together. */
const patienceMs = 2 * minuteMs
const firstPauseMs = secondMs
const longestPauseMs = 20 * secondMs

/**
 * Creates the client of one publisher. It keeps to the publisher's rate limit and hosts and retries
 * temporary failures. The key is added to the address only while the request is sent.
 */
export function createPublisherClient(options: PublisherClientOptions): CountedClient {
  const { publisher, clock, known, wait = sleep, attemptsMax = attemptsDefault } = options
  const counts: RequestCounts = { requests: 0, bytes: 0 }
  const toStore = new Map<string, string>()
  let lastAt = Number.NEGATIVE_INFINITY

  /** Waits until the publisher's rate allows one more request. */
  const paced = async () => {
    const waitMs = lastAt + secondMs / publisher.requestsPerSecond - clock.monotonic()
    if (waitMs > 0) await wait(waitMs)
    lastAt = clock.monotonic()
    counts.requests += 1
  }

  const send = async (request: PublisherRequest, mayBeUnchanged: boolean, endsAt: number) => {
    let url = addressOf(request.url, options)
    for (let redirects = 0; ; redirects++) {
      const address = new URL(url)
      if (request.secret) address.searchParams.append(request.secret.name, request.secret.value)
      await paced()
      const headers = {
        'User-Agent': options.userAgent,
        Accept: '*/*',
        ...request.headers,
        ...(mayBeUnchanged && conditions(known, request.url)),
      }
      const reply = await options.fetch.get(address.href, headers, endsAt - clock.monotonic())
      const { location } = reply.headers
      if (reply.status < 300 || reply.status === 304 || reply.status >= 400 || !location) {
        return { reply, url }
      }
      reply.leave()
      if (redirects === redirectsMax)
        throw new FeedFault('http_status', 'there are too many redirects')
      url = addressOf(new URL(location, url).href, options)
    }
  }

  /** Retries until the publisher answers, or fails in a way that is not temporary. */
  const answered = async (request: PublisherRequest, mayBeUnchanged: boolean) => {
    const endsAt = clock.monotonic() + patienceMs
    for (let attempt = 1; ; attempt++) {
      const isWorth = (waitMs: number) =>
        attempt < attemptsMax && clock.monotonic() + waitMs < endsAt
      let waitMs = pause(attempt, options.chance)
      try {
        const { reply, url } = await send(request, mayBeUnchanged, endsAt)
        if (reply.status === 200 || (reply.status === 304 && mayBeUnchanged)) return { reply, url }
        const wanted = retryAfter(reply.headers['retry-after'], clock.now())
        const fault = await faultOf(reply, wanted && clock.now() + Math.min(wanted, notBeforeMaxMs))
        waitMs = wanted ?? waitMs
        if (fault.code !== 'unavailable' || !isWorth(waitMs)) throw fault
      } catch (error) {
        if (!(error instanceof NoReply)) throw error
        if (error.refused) throw new FeedFault('foreign_address', error.message)
        if (!isWorth(waitMs)) throw new FeedFault('no_answer', error.message)
      }
      await wait(waitMs)
    }
  }

  const get = async (request: PublisherRequest): Promise<PublisherAnswer | undefined> => {
    const isConditional = request.ifChanged === true
    for (let attempt = 1; ; attempt++) {
      const { reply, url } = await answered(request, isConditional && known !== undefined)
      if (reply.status === 304) {
        reply.leave()
        keepValidators(request.url, known, toStore)
        return undefined
      }
      try {
        const bytes = await wholeOf(reply, counts)
        if (isConditional) keepHeaders(request.url, reply.headers, toStore)
        return { url: published(url, request.url, options), headers: reply.headers, bytes }
      } catch (error) {
        if (!(error instanceof NoReply)) throw error
        // One cut body may be a fault of the network; two are what the publisher sends.
        if (attempt === 2) throw new FeedFault('cut_short', error.message)
        await wait(pause(attempt, options.chance))
      }
    }
  }

  return {
    counts,
    toStore: () => toStore,
    get: get as PublisherClient['get'],
    async stream(request) {
      const { reply } = await answered(request, false)
      return counted(reply.body, counts)
    },
    stored: name => known?.get(`kept ${name}`),
    store: (name, value) => void toStore.set(`kept ${name}`, value),
  }
}

/**
 * The address to request: at the mirror, where one is configured, otherwise at one of the
 * publisher's hosts.
 */
function addressOf(href: string, { publisher, baseUrl }: PublisherClientOptions): string {
  const url = new URL(href)
  const isOwn = publisher.hosts.includes(url.hostname)
  if (baseUrl === '') {
    if (!isOwn) throw foreign(url)
    url.protocol = 'https:'
    return url.href
  }
  const base = new URL(baseUrl)
  if (url.origin === base.origin) return url.href
  if (!isOwn) throw foreign(url)
  return `${base.origin}${base.pathname.replace(/\/$/, '')}${url.pathname}${url.search}`
}

const foreign = (url: URL) =>
  new FeedFault('foreign_address', `it leads to ${url.hostname}, which is not the publisher's`)

/**
 * The address of a response for resolving its links: a mirror counts as the publisher's own host.
 */
const published = (asked: string, wanted: string, { baseUrl }: PublisherClientOptions): string =>
  baseUrl === '' || new URL(asked).origin === new URL(baseUrl).origin ? wanted : asked

function conditions(
  known: ReadonlyMap<string, string> | undefined,
  url: string,
): Record<string, string> {
  const tag = known?.get(`etag ${url}`)
  const modified = known?.get(`modified ${url}`)
  return {
    ...(tag !== undefined && { 'If-None-Match': tag }),
    ...(modified !== undefined && { 'If-Modified-Since': modified }),
  }
}

function keepHeaders(
  url: string,
  headers: Readonly<Record<string, string>>,
  marks: Map<string, string>,
): void {
  if (headers.etag) marks.set(`etag ${url}`, headers.etag)
  if (headers['last-modified']) marks.set(`modified ${url}`, headers['last-modified'])
}

function keepValidators(
  url: string,
  known: ReadonlyMap<string, string> | undefined,
  marks: Map<string, string>,
): void {
  for (const name of [`etag ${url}`, `modified ${url}`]) {
    const value = known?.get(name)
    if (value !== undefined) marks.set(name, value)
  }
}

async function* counted(
  body: AsyncIterable<Uint8Array>,
  counts: RequestCounts,
): AsyncIterable<Uint8Array> {
  try {
    for await (const piece of body) {
      counts.bytes += piece.length
      yield piece
    }
  } catch (error) {
    throw error instanceof NoReply ? new FeedFault('cut_short', error.message) : error
  }
}

async function wholeOf(reply: PublisherReply, counts: RequestCounts): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of reply.body) {
    bytes += piece.length
    counts.bytes += piece.length
    if (bytes > bodyBytesMax) {
      reply.leave()
      throw new FeedFault('too_long', `the answer is longer than ${bodyBytesMax / 2 ** 20} MB`)
    }
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

const errorBytesMax = 4096

/** Converts an error response to a fault. Its body is only used to classify the error. */
async function faultOf(reply: PublisherReply, notBefore: number | undefined): Promise<FeedFault> {
  const { status } = reply
  let text = ''
  try {
    for await (const piece of reply.body) {
      text += Buffer.from(piece).toString('latin1')
      if (text.length > errorBytesMax) break
    }
  } catch {
    // The status is enough for the message.
  }
  reply.leave()
  const isKey = /api.?key/i.test(text) && !/limit|throttl|rate/i.test(text)
  if (status === 401 || ((status === 403 || status === 400) && isKey)) {
    return new FeedFault(
      'unauthorized',
      `the publisher does not accept the key (${status})`,
      status,
    )
  }
  // Throttled keys get 403 too.
  const code = isUnavailable(status) || status === 403 ? 'unavailable' : 'http_status'
  return new FeedFault(code, `the publisher answered ${status}`, status, notBefore)
}

const isUnavailable = (status: number): boolean =>
  status >= 500 || status === 408 || status === 425 || status === 429

/** Milliseconds of `Retry-After`: seconds, or a date. */
function retryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  if (/^\d{1,6}$/.test(header.trim())) return Number(header) * secondMs
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

/** Doubles each time, plus up to half of it by chance, so that instances do not poll together. */
const pause = (attempt: number, chance: () => number): number => {
  const whole = Math.min(longestPauseMs, firstPauseMs * 2 ** (attempt - 1))
  return whole / 2 + (whole / 2) * chance()
}
