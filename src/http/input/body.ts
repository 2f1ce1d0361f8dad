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

const takesData = (path: string) =>
  path === '/admin/v1/observations' || path.startsWith('/admin/v1/datasets/')

/** The fields of a page's form. */
export async function readForm(request: Request): Promise<URLSearchParams> {
  return new URLSearchParams(await readBodyText(request, formBytesMax))
}

/**
 * The body as JSON, whatever its content type says; undefined when there is none. Newline-delimited
 * JSON stays text. Refuses what is too long, too slow, not UTF-8 or not JSON.
 */
export async function readBody(request: Request, path: string): Promise<unknown> {
  const text = await readBodyText(request, takesData(path) ? importBytesMax : bodyBytesMax)
  if (text.trim() === '') return undefined
  if (request.headers.get('content-type')?.startsWith('application/x-ndjson')) return text
  try {
    return JSON.parse(text)
  } catch {
    throw new Problem('MALFORMED_JSON', 'The body is not valid JSON.')
  }
}

/**
 * The body as it came, for what is signed byte by byte. Refuses what is too long, too slow or not
 * UTF-8.
 */
export async function readBodyText(request: Request, bytesMax = bodyBytesMax): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > bytesMax) throw tooLarge(bytesMax)
  const text = await within(bodyDeadlineMs, readText(request, bytesMax))
  if (text === undefined)
    throw new Problem(
      'MALFORMED_REQUEST',
      `The body did not arrive within ${bodyDeadlineMs / 1000} seconds.`,
    )
  return text
}

const tooLarge = (bytesMax: number) =>
  new Problem(
    'PAYLOAD_TOO_LARGE',
    `The body is larger than the ${bytesMax / 2 ** 20} MB accepted here.`,
    { max_bytes: bytesMax },
  )

async function readText(request: Request, bytesMax: number): Promise<string> {
  if (!request.body) return ''
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw tooLarge(bytesMax)
    chunks.push(chunk)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch {
    throw new Problem('MALFORMED_JSON', 'The body is not valid UTF-8.')
  }
}
