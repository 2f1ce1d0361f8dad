const pathCharactersMax = 2_000
const ownOrigin = 'http://localhost'

/** Browsers treat a backslash as a slash, and two slashes at the start as another host. */
const startsOnThisSite = (path: string): boolean => /^\/(?![/\\])/.test(path)

/**
 * The path and query of a page of this site, safe as a `Location`; undefined for text that would
 * lead elsewhere. The result is checked too, because normalizing `/.//example.com` yields
 * `//example.com`.
 */
export function ownPath(text: string | undefined): string | undefined {
  if (text === undefined || text.length > pathCharactersMax || !startsOnThisSite(text))
    return undefined
  const url = URL.parse(text, ownOrigin)
  if (url?.origin !== ownOrigin) return undefined
  const path = `${url.pathname}${url.search}`
  return startsOnThisSite(path) ? path : undefined
}
