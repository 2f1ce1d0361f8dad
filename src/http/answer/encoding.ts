import { brotliCompressSync, constants } from 'node:zlib'
import { markedText } from './own-text.ts'
import { lateBody } from './stream.ts'

/** How a body may be encoded, the cheapest for what it saves first. */
const codings = ['zstd', 'br', 'gzip'] as const
export type Coding = (typeof codings)[number]

/** Shorter bodies would not travel faster. */
export const encodedBytesMin = 1024
/** Up to here a body is held and encoded as one, as the document is; what is longer goes in parts. */
const wholeBytesMax = 2 * 2 ** 20
/** Encoded answers that are kept: those with an entity tag, which are asked for again and again. */
const keptCountMax = 2000
const keptBytesDefault = 32 * 2 ** 20
/** Documents and assets are encoded once, so that effort is worth it. */
const brotliEffort = { passing: 4, kept: 9 } as const
const brotliEffortBytesMin = 32_768

const compressible =
  /^(?:application\/(?:json|x-ndjson|xml|javascript|openapi)|application\/[\w.+-]+\+(?:json|xml)|image\/svg\+xml|text\/(?!event-stream))/

/**
 * The coding that an `Accept-Encoding` header prefers: by its weights, among equals the cheapest;
 * undefined: the body goes as it is.
 */
export function codingOf(header: string | null): Coding | undefined {
  if (header === null || header === '') return undefined
  const weights = new Map<string, number>()
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map(text => text.trim())
    const weight = parameters.find(parameter => parameter.startsWith('q='))
    weights.set(name, weight === undefined ? 1 : Number(weight.slice(2)))
  }
  const weightOf = (coding: string) =>
    weights.get(coding) ??
    (coding === 'gzip' ? weights.get('x-gzip') : undefined) ??
    weights.get('*') ??
    0
  let best: Coding | undefined
  for (const coding of codings)
    if (weightOf(coding) > 0 && (!best || weightOf(coding) > weightOf(best))) best = coding
  // What is preferred as it is stays so.
  return best && weightOf(best) >= (weights.get('identity') ?? 0) ? best : undefined
}

const suffix = /-(?:zstd|br|gzip)(?=")/g

/** The entity tag of an encoded body: each encoding is a representation of its own. */
export const encodedEtag = (etag: string, coding: Coding): string =>
  etag.endsWith('"') ? `${etag.slice(0, -1)}-${coding}"` : etag

/** Encodes bodies by what the client takes. */
export interface Encoder {
  /** Makes the tags of a conditional request those of the bodies before they are encoded. */
  arrive(request: Request): void
  /** `isLate`: the answer may have been made after the turn of its request. */
  leave(request: Request, response: Response, isLate: boolean): Response | Promise<Response>
}

/** `keptBytesMax`: of encoded bodies that are kept for the next who asks. */
export function createEncoder(keptBytesMax = keptBytesDefault): Encoder {
  /** By coding and entity tag or unchanging address; the first is what was made longest ago. */
  const kept = new Map<string, Uint8Array<ArrayBuffer>>()
  let keptBytes = 0
  const conditions = new WeakMap<Request, string>()

  const keep = (key: string, body: Uint8Array<ArrayBuffer>) => {
    if (body.byteLength > keptBytesMax / 8) return
    kept.set(key, body)
    keptBytes += body.byteLength
    for (const [oldest, { byteLength }] of kept) {
      if (kept.size <= keptCountMax && keptBytes <= keptBytesMax) break
      kept.delete(oldest)
      keptBytes -= byteLength
    }
  }

  const whole = async (
    response: Response,
    coding: Coding,
    key: string | undefined,
  ): Promise<Response> => {
    const { begun, rest } = await beginningOf(response)
    if (rest) {
      const stream = joinedStream(begun, rest).pipeThrough(
        // `brotli` is what the stream calls it.
        new CompressionStream((coding === 'br' ? 'brotli' : coding) as 'gzip'),
      )
      return encoded(response, stream as ReadableStream<Uint8Array<ArrayBuffer>>, coding)
    }
    if (begun.byteLength < encodedBytesMin) return answered(response, lateBody(begun))
    return encoded(response, lateBody(compressed(begun, coding, key)), coding)
  }

  const compressed = (bytes: Uint8Array<ArrayBuffer>, coding: Coding, key: string | undefined) => {
    const body = compress(bytes, coding, key !== undefined)
    if (key !== undefined) keep(key, body)
    return body
  }

  /** What is known to be made of a text is encoded at once; undefined: its body must be read. */
  const ofText = (
    response: Response,
    coding: Coding,
    key: string | undefined,
    isLate: boolean,
  ): Response | undefined => {
    const text = markedText(response)
    if (text === undefined || text.length > wholeBytesMax) return undefined
    const bytes = Buffer.from(text)
    if (bytes.byteLength < encodedBytesMin) return response
    const body = compressed(bytes, coding, key)
    return encoded(response, isLate ? lateBody(body) : body, coding)
  }

  return {
    arrive(request) {
      const condition = request.headers.get('if-none-match')
      if (condition === null || !suffix.test(condition)) return
      suffix.lastIndex = 0
      conditions.set(request, condition)
      request.headers.set('if-none-match', condition.replace(suffix, ''))
    },
    leave(request, response, isLate) {
      const { headers, status } = response
      const etag = headers.get('etag')
      if (status === 304) {
        const coding = codingOf(request.headers.get('accept-encoding'))
        const condition = conditions.get(request)
        if (coding && etag && condition?.includes(encodedEtag(etag, coding)))
          headers.set('etag', encodedEtag(etag, coding))
        varyByEncoding(headers)
        return response
      }
      if (
        !compressible.test(headers.get('content-type') ?? '') ||
        headers.has('content-encoding') ||
        headers.has('content-range') ||
        headers.get('cache-control')?.includes('no-transform') ||
        status < 200 ||
        status === 204
      )
        return response
      varyByEncoding(headers)
      const coding = codingOf(request.headers.get('accept-encoding'))
      // Pages are encoded where they are for everybody: what a person's page says stays as it is.
      const isPersonal = headers.get('content-type')!.startsWith('text/html') && etag === null
      if (!coding || isPersonal || request.method === 'HEAD') return response
      const key = keyOf(request, response, etag, coding)
      const ready = key === undefined ? undefined : kept.get(key)
      // Not before it is needed: looking at the body of a long text makes a stream of it.
      if (ready) return encoded(response, isLate ? lateBody(ready) : ready, coding)
      return (
        ofText(response, coding, key, isLate) ??
        (response.body === null ? response : whole(response, coding, key))
      )
    },
  }
}

/** An answer that was made anew of another may say so already. */
function varyByEncoding(headers: Headers): void {
  if (!headers.get('vary')?.includes('Accept-Encoding')) headers.append('vary', 'Accept-Encoding')
}

/** Under what an encoded body may be used again: what its tag or its address says cannot change. */
function keyOf(
  request: Request,
  { headers, status }: Response,
  etag: string | null,
  coding: Coding,
): string | undefined {
  if (status !== 200) return undefined
  if (etag !== null && !etag.startsWith('W/')) return `${coding} ${etag}`
  return headers.get('cache-control')?.includes('immutable')
    ? `${coding} ${request.url}`
    : undefined
}

function compress(
  bytes: Uint8Array<ArrayBuffer>,
  coding: Coding,
  isKept: boolean,
): Uint8Array<ArrayBuffer> {
  if (coding === 'gzip') return Bun.gzipSync(bytes)
  if (coding === 'zstd') return own(Bun.zstdCompressSync(bytes))
  const effort =
    isKept && bytes.byteLength >= brotliEffortBytesMin ? brotliEffort.kept : brotliEffort.passing
  return own(
    brotliCompressSync(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: effort,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength,
      },
    }),
  )
}

const own = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(bytes)

type Rest = ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>

/** The body as far as it is held, and what of it is still to come. */
export async function beginningOf(
  response: Response,
): Promise<{ begun: Uint8Array<ArrayBuffer>; rest: Rest | undefined }> {
  const reader = response.body!.getReader() as Rest
  const parts: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  while (bytes < wholeBytesMax) {
    const { done, value } = await reader.read()
    if (done) return { begun: joined(parts), rest: undefined }
    parts.push(value)
    bytes += value.byteLength
  }
  return { begun: joined(parts), rest: reader }
}

const joined = (parts: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> =>
  parts.length === 1 ? parts[0]! : own(Buffer.concat(parts))

/** The whole body again. */
export const joinedStream = (begun: Uint8Array<ArrayBuffer>, rest: Rest) =>
  new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: controller => controller.enqueue(begun),
    async pull(controller) {
      const { done, value } = await rest.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: reason => rest.cancel(reason),
  })

type Body = Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>

function answered({ status, headers }: Response, body: Body): Response {
  headers.delete('content-length')
  return new Response(body, { status, headers })
}

function encoded(response: Response, body: Body, coding: Coding): Response {
  const { headers } = response
  const etag = headers.get('etag')
  if (etag !== null) headers.set('etag', encodedEtag(etag, coding))
  headers.set('content-encoding', coding)
  headers.delete('accept-ranges')
  return answered(response, body)
}
