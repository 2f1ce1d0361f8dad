import { impersonation } from '../person/impersonation.ts'
import { boot, now } from './boot.ts'
import { chartPath, homeChartPath, homeCodes } from './chart-path.ts'

export const mePath = '/v1/users/me'
export const layoutPath = '/v1/prices/board/layout'
export const layoutsPath = '/v1/prices/board/layouts'
export const boardPath = '/v1/prices/board'

/** What the page at the address asks for in any case. */
function wanted(): string[] {
  if (!boot.isSignedIn || impersonation) return []
  const [, page, name] = location.pathname.split('/')
  if (page === 'market') return [mePath, layoutPath, layoutsPath]
  if (page === '' && boot.isEvaluation)
    return [mePath, boardPath, ...homeCodes.map(code => homeChartPath(code, now()))]
  if (page === 'series' && name && name !== 'formulas')
    return [
      mePath,
      chartPath(name, Object.fromEntries(new URLSearchParams(location.search)), now()),
    ]
  return [mePath]
}

/** Requests that are sent while the script of the first page loads, each for one reader. */
const sent = new Map(
  wanted().map(path => {
    const answer = fetch(path, { headers: { accept: 'application/json' } })
    // Its reader reports a failure, if there is one.
    answer.catch(() => undefined)
    return [path, answer]
  }),
)

/** So long after the document an answer is no longer the newest. */
const freshMs = 10_000

/** The answer to an early request; undefined where there was none. */
export function takeFirst(path: string): Promise<Response> | undefined {
  const answer = performance.now() < freshMs ? sent.get(path) : undefined
  sent.delete(path)
  return answer
}
