const printOf = (text: string): string =>
  Bun.hash.wyhash(text).toString(36) + Bun.hash.crc32(text).toString(36)

/** A strong entity tag over the bytes of a body. */
export const strongEtag = (text: string): string => `"${printOf(text)}"`

/**
 * A strong entity tag of a resource that can be changed, in two parts: of the fields that are set,
 * and of the whole body. Fields in `counted` change as the resource is used.
 */
export function resourceEtag(resource: object, counted?: RegExp): string {
  const set = JSON.stringify(resource, (name, value) => (counted?.test(name) ? undefined : value))
  return `"${printOf(set)}.${printOf(JSON.stringify(resource))}"`
}

/** The entity tag of a body that is sent in another shape: what is set stays the same. */
export const etagOfShape = (etag: string, body: string): string =>
  etag.replace(/[^".]+"$/, `${printOf(body)}"`)

/** Entity tags by what is set in a resource, in whatever shape and with whatever use it was sent. */
export const etagsOfSet = (tags: string): string => tags.replace(/\.\w+(?=")/g, '')
