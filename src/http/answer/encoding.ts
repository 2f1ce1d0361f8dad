import { promisify } from 'node:util'
import { brotliCompress, brotliCompressSync, constants, gzip } from 'node:zlib'
import { weightedNames } from '../input/accept.ts'
import { markedText } from './own-text.ts'
import { wholeBody } from './stream.ts'

/** The encodings of bodies, the best ratio of saving to cost first. */
const codings = ['zstd', 'br', 'gzip'] as const
export type Coding = (typeof codings)[number]

type Bytes = Uint8Array<ArrayBuffer>

/** Shorter bodies would not travel faster. */
export const encodedBytesMin = 1024
/** Up to this size a body is encoded as one piece, as the document is; longer ones go in parts. */
const wholeBytesMax = 2 * 2 ** 20
/** From here on a thread of the runtime encodes a body: of 0.7 MB it takes 6 to 12 ms. */
const elsewhereBytesMin = 64 * 1024
/**
 * Encoded answers that are cached: those with an entity tag, which are requested again and again. In
 * memory they are twice as long.
 */
const cachedCountMax = 2000
const cachedBytesDefault = 4 * 2 ** 20
/**
 * The compression level of each coding, depending on whether the result is cached. Documents and
 * assets are encoded once, so that a high level is worth it. A response that is sent once takes a
 * third of the time with gzip, and is a tenth longer; with zstd it takes two thirds.
 */
const efforts = {
  br: { passing: 4, cached: 9 },
  gzip: { passing: 3, cached: 6 },
  zstd: { passing: 1, cached: 3 },
} as const satisfies Record<Coding, { passing: number; cached: number }>
const brotliEffortBytesMin = 32_768

const compressible =
  /^(?:application\/(?:json|x-ndjson|xml|javascript|openapi)|application\/[\w.+-]+\+(?:json|xml)|image\/svg\+xml|text\/(?!event-stream))/

/**
 * The coding that an `Accept-Encoding` header prefers: by its weights, among equals the cheapest;
 * undefined: the body goes as it is.
 */
export function codingOf(header: string | null): Coding | undefined {
  if (header === null || header === '') return undefined
  const weights = new Map(weightedNames(header).map(({ name, weight }) => [name, weight]))
  const weightOf = (coding: string) =>
    weights.get(coding) ??
    (coding === 'gzip' ? weights.get('x-gzip') : undefined) ??
    weights.get('*') ??
    0
  let best: Coding | undefined
  for (const coding of codings)
    if (weightOf(coding) > 0 && (!best || weightOf(coding) > weightOf(best))) best = coding
  // A client that prefers `identity` gets the body unencoded.
  return best && weightOf(best) >= (weights.get('identity') ?? 0) ? best : undefined
}

const suffix = /-(?:zstd|br|gzip)(?=")/g

/** The entity tag of an encoded body: each encoding is its own representation. */
export const encodedEtag = (etag: string, coding: Coding): string =>
  etag.endsWith('"') ? `${etag.slice(0, -1)}-${coding}"` : etag

/** The entity tags of bodies before they are encoded. */
export const plainEtags = (tags: string): string => tags.replace(suffix, '')

/** Encodes bodies by what the client takes. */
export type Encoder = ReturnType<typeof createEncoder>

/** `cachedBytesMax`: the most bytes of cached encoded bodies. */
export function createEncoder(cachedBytesMax = cachedBytesDefault) {
  /** By coding and entity tag or unchanging address; the first entry is the oldest. */
  const cached = new Map<string, Bytes>()
  let cachedBytes = 0
  /** Encodings in progress, shared by all requests for the same body. */
  const inProgress = new Map<string, Promise<Bytes>>()

  const keep = (key: string, bytes: Bytes) => {
    if (bytes.byteLength > cachedBytesMax / 8) return
    // Another request may have encoded the same body in the meantime.
    cachedBytes += bytes.byteLength - (cached.get(key)?.byteLength ?? 0)
    cached.set(key, bytes)
    for (const [oldest, earlier] of cached) {
      if (cached.size <= cachedCountMax && cachedBytes <= cachedBytesMax) break
      cached.delete(oldest)
      cachedBytes -= earlier.byteLength
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
      return encoded(response, stream as ReadableStream<Bytes>, coding)
    }
    if (begun.byteLength < encodedBytesMin) return answered(response, wholeBody(begun))
    return encoded(response, wholeBody(await compressed(begun, coding, key)), coding)
  }

  const compressed = (
    bytes: Bytes,
    coding: Coding,
    key: string | undefined,
  ): Bytes | Promise<Bytes> => {
    const isCached = key !== undefined
    const whenMade = (body: Bytes) => {
      if (isCached) keep(key, body)
      return body
    }
    if (bytes.byteLength < elsewhereBytesMin) return whenMade(compress(bytes, coding, isCached))
    const making = compressElsewhere(bytes, coding, isCached).then(whenMade)
    if (!isCached) return making
    const shared = making.finally(() => inProgress.delete(key))
    inProgress.set(key, shared)
    return shared
  }

  /** Encodes a body at once where its text is known; undefined: the body must be read first. */
  const ofText = (
    response: Response,
    coding: Coding,
    key: string | undefined,
  ): Response | Promise<Response> | undefined => {
    const text = markedText(response)
    if (text === undefined || text.length > wholeBytesMax) return undefined
    const bytes = typeof text === 'string' ? Buffer.from(text) : text
    if (bytes.byteLength < encodedBytesMin) return response
    const body = compressed(bytes, coding, key)
    return body instanceof Promise
      ? encodedLate(response, body, coding)
      : encoded(response, wholeBody(body), coding)
  }

  return {
    leave(request: Request, response: Response): Response | Promise<Response> {
      const { headers, status } = response
      const etag = headers.get('etag')
      if (status === 304) {
        const coding = codingOf(request.headers.get('accept-encoding'))
        const condition = request.headers.get('if-none-match')
        if (coding && etag && condition?.includes(encodedEtag(etag, coding)))
          headers.set('etag', encodedEtag(etag, coding))
        varyByEncoding(headers)
        // To HEAD, the framework names the length of the body that 304 does not have.
        headers.delete('content-length')
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
      // Only public pages are encoded: pages with personal content stay as they are.
      const isPersonal = headers.get('content-type')!.startsWith('text/html') && etag === null
      if (!coding || isPersonal) return response
      if (request.method === 'HEAD')
        return Number(headers.get('content-length')) < encodedBytesMin
          ? response
          : encodedHead(response, coding)
      const key = keyOf(request, response, etag, coding)
      const ready = key === undefined ? undefined : cached.get(key)
      // Reads the body only if needed, because reading a long text makes it a stream.
      if (ready) return encoded(response, wholeBody(ready), coding)
      const making = key === undefined ? undefined : inProgress.get(key)
      if (making) return encodedLate(response, making, coding)
      return (
        ofText(response, coding, key) ??
        (response.body === null ? response : whole(response, coding, key))
      )
    },
  }
}

/** A response that was derived from another may have the header already. */
function varyByEncoding(headers: Headers): void {
  if (!headers.get('vary')?.includes('Accept-Encoding')) headers.append('vary', 'Accept-Encoding')
}

/** The cache key of an encoded body: its tag or its address cannot change. */
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

/** Compresses short bodies synchronously. */
function compress(bytes: Bytes, coding: Coding, isCached: boolean): Bytes {
  const level = effortOf(coding, isCached)
  if (coding === 'gzip') return Bun.gzipSync(bytes, { level })
  if (coding === 'zstd') return copyOf(Bun.zstdCompressSync(bytes, { level }))
  return copyOf(brotliCompressSync(bytes, brotliOptions(bytes, isCached)))
}

const gzipElsewhere = promisify<Bytes, object, Uint8Array>(gzip)
const brotliElsewhere = promisify<Bytes, object, Uint8Array>(brotliCompress)

/** Compresses in another thread. */
async function compressElsewhere(bytes: Bytes, coding: Coding, isCached: boolean): Promise<Bytes> {
  const level = effortOf(coding, isCached)
  if (coding === 'gzip') return copyOf(await gzipElsewhere(bytes, { level }))
  if (coding === 'zstd') return copyOf(await Bun.zstdCompress(bytes, { level }))
  return copyOf(await brotliElsewhere(bytes, brotliOptions(bytes, isCached)))
}

const effortOf = (coding: Coding, isCached: boolean) =>
  isCached ? efforts[coding].cached : efforts[coding].passing

const brotliOptions = ({ byteLength }: Bytes, isCached: boolean) => ({
  params: {
    [constants.BROTLI_PARAM_QUALITY]: effortOf(
      'br',
      isCached && byteLength >= brotliEffortBytesMin,
    ),
    [constants.BROTLI_PARAM_SIZE_HINT]: byteLength,
  },
})

const copyOf = (bytes: Uint8Array): Bytes => new Uint8Array(bytes)

type Rest = ReadableStreamDefaultReader<Bytes>

/** The buffered beginning of a body, and the stream of the rest. */
export async function beginningOf(
  response: Response,
): Promise<{ begun: Bytes; rest: Rest | undefined }> {
  const reader = response.body!.getReader() as Rest
  const parts: Bytes[] = []
  let bytes = 0
  while (bytes < wholeBytesMax) {
    const { done, value } = await reader.read()
    if (done) return { begun: joined(parts), rest: undefined }
    parts.push(value)
    bytes += value.byteLength
  }
  return { begun: joined(parts), rest: reader }
}

const joined = (parts: readonly Bytes[]): Bytes =>
  parts.length === 1 ? parts[0]! : copyOf(Buffer.concat(parts))

/** The whole body again. */
export const joinedStream = (begun: Bytes, rest: Rest) =>
  new ReadableStream<Bytes>({
    start: controller => controller.enqueue(begun),
    async pull(controller) {
      const { done, value } = await rest.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: reason => rest.cancel(reason),
  })

type Body = Bytes | ReadableStream<Bytes>

function answered({ status, headers }: Response, body: Body): Response {
  headers.delete('content-length')
  return new Response(body, { status, headers })
}

const encodedLate = async (response: Response, body: Promise<Bytes>, coding: Coding) =>
  encoded(response, wholeBody(await body), coding)

function encoded(response: Response, body: Body, coding: Coding): Response {
  markEncoded(response, coding)
  return answered(response, body)
}

/** HEAD has the headers of GET, but no length: nothing is encoded to count it. */
function encodedHead(response: Response, coding: Coding): Response {
  markEncoded(response, coding)
  response.headers.delete('content-length')
  response.headers.set('transfer-encoding', 'chunked')
  return response
}

function markEncoded({ headers }: Response, coding: Coding): void {
  const etag = headers.get('etag')
  if (etag !== null) headers.set('etag', encodedEtag(etag, coding))
  headers.set('content-encoding', coding)
  headers.delete('accept-ranges')
}
