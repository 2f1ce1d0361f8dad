import { encodedBytesMin } from './encoding.ts'
import type { Text } from './own-text.ts'
import type { GivenHeaders } from './rate-headers.ts'

const yearSeconds = 31_536_000

/**
 * Headers of every response: browsers must not guess the content type, and after https they must
 * stay with https.
 */
export const constantHeaders = (isSecure: boolean): Readonly<Record<string, string>> => ({
  'x-content-type-options': 'nosniff',
  ...(isSecure && { 'strict-transport-security': `max-age=${yearSeconds}` }),
})

/** The type of the texts that handlers make. */
export const jsonType = 'application/json; charset=utf-8'

/** The type of JSON that is made of what handlers answer. */
export const plainJsonType = 'application/json;charset=utf-8'

/** A JSON text that leaves as it is: too short to be encoded, or for a client that takes no coding. */
export const isPlainJson = (text: Text, headers: GivenHeaders, request: Request): boolean =>
  (text.length < encodedBytesMin || request.headers.get('accept-encoding') === null) &&
  (headers['content-type'] === jsonType || headers['content-type'] === plainJsonType) &&
  headers['content-encoding'] === undefined &&
  headers['content-range'] === undefined

/**
 * Adds the headers that every response needs to a text while they are still a plain object:
 * going through the `Headers` of a finished response costs as much as making a short one.
 */
export function createCompletion(isSecure: boolean): (headers: GivenHeaders) => void {
  const constant = Object.entries(constantHeaders(isSecure))
  return headers => {
    for (const [name, value] of constant) headers[name] = value
    const { vary } = headers
    if (vary === undefined) headers.vary = 'Accept-Encoding'
    else if (!String(vary).includes('Accept-Encoding')) headers.vary = `${vary}, Accept-Encoding`
  }
}

const complete = Symbol('complete')

type Marked = Response & { [complete]?: true }

/** Says of an answer that it has every header and is not encoded: nothing on its way checks it. */
export function markComplete(answer: Response): Response {
  const marked: Marked = answer
  marked[complete] = true
  return marked
}

/** False where there is no response, because the connection became a socket. */
export const isComplete = (answer: Marked | undefined): boolean => answer?.[complete] === true
