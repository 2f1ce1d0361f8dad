import { within } from '../../lib/time/clock.ts'
import { Problem } from '../problem/problem.ts'

const bodyBytesMax = 2 ** 20
/**
 * Data comes in larger pieces; a batch of this size is still one transaction of a fraction of a
 * second.
 */
const importBytesMax = 16 * 2 ** 20
const formBytesMax = 2 ** 14
const bodyDeadlineMs = 15_000
/**
 * Far more levels than any operation has. The runtime parses a body of a hundred thousand levels
 * within milliseconds, but then takes seconds to serialize it, during which nothing else is
 * answered.
 */
const nestingMax = 64
const typeCharactersMax = 100

const takesData = (path: string) =>
  path.startsWith('/admin/v1/observations') || path.startsWith('/admin/v1/datasets/')

/** The fields of a page's form. */
export async function readForm(request: Request): Promise<URLSearchParams> {
  return new URLSearchParams(await readBodyText(request, formBytesMax))
}

/** The type of a body that holds points as numbers: how an import reaches a running server. */
export const pointBlockType = 'application/vnd.wellhead.points'

/**
 * The body as JSON, whatever its content type; undefined when there is none. Newline-delimited JSON
 * stays text, and binary data stays bytes. Refuses bodies that are too long, too slow, not UTF-8 or
 * not JSON.
 */
export async function readBody(request: Request, path: string): Promise<unknown> {
  if (takesData(path) && request.headers.get('content-type') === pointBlockType)
    return readBodyBytes(request, importBytesMax)
  const text = await readBodyText(request, takesData(path) ? importBytesMax : bodyBytesMax)
  if (text.trim() === '') return undefined
  if (request.headers.get('content-type')?.startsWith('application/x-ndjson')) return text
  const body = parsed(text, request)
  if (isNestedDeeper(body, nestingMax))
    throw new Problem(
      'MALFORMED_JSON',
      `The body must be nested at most ${nestingMax} levels deep.`,
      { max_depth: nestingMax },
    )
  return body
}

function parsed(text: string, request: Request): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    refuseCompressed(request)
    const type = request.headers.get('content-type') ?? ''
    if (/^(?:application\/x-www-form-urlencoded|multipart\/|text\/(?:xml|csv|html))/.test(type))
      throw new Problem(
        'MALFORMED_JSON',
        `The body must be JSON with Content-Type: application/json; got ${type.slice(0, typeCharactersMax)}.`,
      )
    throw new Problem('MALFORMED_JSON', invalidJson(error))
  }
}

/** The fault that the parser found, in a sentence. */
function invalidJson(error: unknown): string {
  const found = error instanceof Error ? error.message.replace(/^JSON Parse error: /, '') : ''
  const reason =
    found === 'Unexpected EOF' ? 'it ends too early' : `${found[0]?.toLowerCase()}${found.slice(1)}`
  return `The body must be valid JSON; ${reason}.`
}

/** Whether a value has objects and lists in more levels than `max`. It looks no deeper than that. */
function isNestedDeeper(value: unknown, max: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (max === 0) return true
  for (const name in value)
    if (isNestedDeeper((value as Record<string, unknown>)[name], max - 1)) return true
  return false
}

/**
 * The unchanged body, for signatures over its bytes. Refuses bodies that are too long, too slow or
 * not UTF-8.
 */
export async function readBodyText(request: Request, bytesMax = bodyBytesMax): Promise<string> {
  const bytes = await readBodyBytes(request, bytesMax)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    refuseCompressed(request)
    throw new Problem('MALFORMED_JSON', 'The body is not valid UTF-8.')
  }
}

/** Explains a body that cannot be read by its coding, where it has one (RFC 9110). */
function refuseCompressed({ headers }: Request): void {
  const coding = headers.get('content-encoding') ?? 'identity'
  if (!/\b(?:gzip|compress|deflate|br|zstd)\b/i.test(coding)) return
  throw new Problem(
    'UNSUPPORTED_CONTENT_ENCODING',
    `The body must be sent without Content-Encoding; got ${coding}.`,
    {},
    { headers: { 'accept-encoding': 'identity' } },
  )
}

async function readBodyBytes(request: Request, bytesMax: number): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > bytesMax) throw tooLarge(bytesMax)
  const bytes = await within(bodyDeadlineMs, readBytes(request, bytesMax))
  if (bytes === undefined)
    throw new Problem(
      'MALFORMED_REQUEST',
      `The body did not arrive within ${bodyDeadlineMs / 1000} seconds.`,
    )
  return bytes
}

const tooLarge = (bytesMax: number) =>
  new Problem('PAYLOAD_TOO_LARGE', `The body must be at most ${sizeOf(bytesMax)} long.`, {
    max_bytes: bytesMax,
  })

const sizeOf = (bytes: number) =>
  bytes < 2 ** 20 ? `${bytes / 2 ** 10} KB` : `${bytes / 2 ** 20} MB`

async function readBytes(request: Request, bytesMax: number): Promise<Uint8Array> {
  // The runtime holds a body to the length that its request names.
  if (request.headers.has('content-length')) return request.bytes()
  if (!request.body) return new Uint8Array(0)
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request.body) {
    length += chunk.byteLength
    if (length > bytesMax) throw tooLarge(bytesMax)
    chunks.push(chunk)
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
}
