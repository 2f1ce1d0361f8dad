/** The channels that a client may name; one with its language or host has the form `sdk-python`. */
export const channels = [
  'api',
  'dashboard',
  'web',
  'mobile',
  'sdk',
  'cli',
  'mcp',
  'agent',
  'spreadsheet',
  'widget',
  'integration',
] as const

/** The channel of a request, by the header `<prefix>Source`: `api` where it names no known one. */
export function sourceOf(request: Request, headerPrefix: string): string {
  const word = request.headers.get(`${headerPrefix}Source`)?.trim().toLowerCase() ?? ''
  const [channel] = /^[a-z]+(?=$|[-_][a-z0-9]{1,30}$)/.exec(word) ?? []
  return channels.some(word => word === channel) ? word : 'api'
}

const toolNameMax = 100

/** The tool of a request, by the header `<prefix>Tool`. */
export function toolOf(request: Request, headerPrefix: string): string | null {
  const name = request.headers
    .get(`${headerPrefix}Tool`)
    ?.replaceAll(/[^\x20-\x7e]/g, '')
    .trim()
    .slice(0, toolNameMax)
  return name ? name : null
}
