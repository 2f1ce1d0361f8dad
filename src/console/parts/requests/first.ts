import { chartPath, homeChartPath, homeCodes } from './chart-path.ts'

export const mePath = '/v1/users/me'
export const layoutPath = '/v1/prices/board/layout'
export const layoutsPath = '/v1/prices/board/layouts'
export const boardPath = '/v1/prices/board'

/**
 * What the page at an address requests in any case, for a signed-in person: the document has it
 * requested while the scripts load.
 */
export function firstRequests(
  { pathname, searchParams }: URL,
  now: number,
  isEvaluation: boolean,
): string[] {
  const [, page, name] = pathname.split('/')
  if (page === 'market') return [mePath, layoutPath, layoutsPath]
  if (page === '' && isEvaluation)
    return [mePath, boardPath, ...homeCodes.map(code => homeChartPath(code, now))]
  if (page === 'series' && name && name !== 'formulas')
    return [mePath, chartPath(name, Object.fromEntries(searchParams), now)]
  return [mePath]
}
