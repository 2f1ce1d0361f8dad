import { etagOfShape } from '../../lib/text/etag.ts'
import { isObject } from '../../lib/text/json.ts'
import { textIn } from './own-text.ts'
import type { GivenHeaders } from './rate-headers.ts'

interface IgnoredParameter {
  parameter: string
  nearest: string | null
}

/** The items of the header that names what was ignored: `start;nearest=start_date`. */
const ignoredIn = (header: string): IgnoredParameter[] =>
  header.split(', ').map(item => {
    const [parameter = '', nearest] = item.split(';nearest=')
    return { parameter, nearest: nearest ?? null }
  })

type Fields = Record<string, unknown>

/** The `metadata` of a body, at its top or in its `data`. */
function metadataOf(body: unknown): Fields | undefined {
  if (!isObject(body)) return undefined
  if (isObject(body.metadata)) return body.metadata
  return isObject(body.data) && isObject(body.data.metadata) ? body.data.metadata : undefined
}

/**
 * The JSON text of a response whose `metadata` names the ignored parameters as well; undefined
 * where the response is not JSON or has no `metadata`. Its entity tag changes with its body.
 */
export function withIgnoredParameters(
  value: unknown,
  header: string,
  headers: GivenHeaders,
): string | undefined {
  const text = textIn(value)
  const body = text === undefined ? value : parsed(text)
  const metadata = metadataOf(body)
  if (!metadata) return undefined
  // Copied, because the handler's object may be cached.
  const ignored = { ...metadata, ignored_parameters: ignoredIn(header) }
  const { data } = body as Fields
  const isInData = isObject(data) && data.metadata === metadata
  const named = JSON.stringify(
    isInData
      ? { ...(body as Fields), data: { ...data, metadata: ignored } }
      : { ...(body as Fields), metadata: ignored },
  )
  if (headers.etag !== undefined) headers.etag = etagOfShape(String(headers.etag), named)
  return named
}

function parsed(text: string): unknown {
  if (!text.startsWith('{')) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
