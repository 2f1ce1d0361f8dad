/** A part of a file, both ends included. */
export interface ByteRange {
  first: number
  last: number
}

/**
 * The part of `size` bytes in a `Range` header. Undefined: the whole, because there is no header,
 * or several parts, or another unit. `'none'`: there is no such part.
 */
export function rangeOf(header: string | null, size: number): ByteRange | 'none' | undefined {
  const match = /^bytes=(\d*)-(\d*)$/i.exec(header?.replaceAll(' ', '') ?? '')
  if (!match) return undefined
  const [, from = '', to = ''] = match
  if (from === '' && to === '') return undefined
  if (from === '') {
    const length = Math.min(size, Number(to))
    return length === 0 ? 'none' : { first: size - length, last: size - 1 }
  }
  const first = Number(from)
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (to !== '' && Number(to) < first) return undefined
  return first >= size ? 'none' : { first, last }
}

/**
 * Whether a `Range` header is to be honoured for the file that has this entity tag, and was last
 * modified at this time, as `Last-Modified` has it. Only GET has ranges (RFC 9110).
 */
export function rangeHolds(request: Request, etag: string, modified?: string): boolean {
  if (request.method !== 'GET' || !request.headers.has('range')) return false
  const condition = request.headers.get('if-range')
  return condition === null || condition === etag || condition === modified
}
