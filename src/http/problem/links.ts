import type { Config } from '../../config/config.ts'
import type { Links } from './refusals.ts'

/** The addresses that bodies link to: as configured, or as the request addressed the server. */
export function linker(
  config: Pick<Config, 'brand' | 'server'>,
): (request: Pick<Request, 'url'>) => Links {
  const byOrigin = new Map<string, Links>()
  const make = (baseUrl: string): Links => {
    const fill = (template: string) => template.replaceAll('{base_url}', baseUrl)
    const { docsUrl, upgradeUrl, signupUrl } = config.brand
    return {
      baseUrl,
      docsUrl: fill(docsUrl),
      upgradeUrl: fill(upgradeUrl),
      signupUrl: fill(signupUrl),
    }
  }
  const fixed = config.server.baseUrl ? make(config.server.baseUrl.replace(/\/$/, '')) : undefined
  return request => {
    if (fixed) return fixed
    // A malformed Host makes an address that is none; its refusal is answered all the same.
    const origin = URL.parse(request.url)?.origin ?? ''
    const cached = byOrigin.get(origin)
    if (cached) return cached
    // The client chooses the Host header, so the cache must stay small.
    if (byOrigin.size >= 100) byOrigin.clear()
    const links = make(origin)
    byOrigin.set(origin, links)
    return links
  }
}
