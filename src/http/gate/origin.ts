/**
 * Whether a request comes from a page of this site, according to the browser: by Sec-Fetch-Site,
 * which no page can forge, and over plain http, where browsers do not send that, by an Origin of
 * the same host. Reads may also come from an address typed in.
 */
export function isOwnPage(request: Request): boolean {
  const reads = request.method === 'GET' || request.method === 'HEAD'
  const site = request.headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin' || (reads && site === 'none')
  const origin = request.headers.get('origin')
  if (origin === null) return reads
  return URL.canParse(origin) && new URL(origin).host === new URL(request.url).host
}

/**
 * Whether a page of this site made the request, and not someone who typed its address or a program
 * that has the cookie only. Over plain http, where browsers send no Sec-Fetch-Site, they name the
 * page in Origin or Referer.
 */
export function isMadeByOwnPage(request: Request): boolean {
  const site = request.headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin'
  const page = request.headers.get('origin') ?? request.headers.get('referer') ?? ''
  return URL.canParse(page) && new URL(page).host === new URL(request.url).host
}

/**
 * The page that made the request: its Origin, else its Referer. `example.com` allows its subdomains
 * too.
 */
export function fromAllowedDomain(domains: readonly string[], request: Request): boolean {
  const source = request.headers.get('origin') ?? request.headers.get('referer') ?? ''
  const host = URL.canParse(source) ? new URL(source).hostname : ''
  return domains.some(domain => host === domain || host.endsWith(`.${domain}`))
}
