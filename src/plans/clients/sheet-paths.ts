/**
 * Prefixes of the paths of data, and of nothing of the account but its formulas, which are series,
 * and its usage: for sheets and tools.
 */
export const sheetPaths = [
  '/v1/prices',
  '/v1/commodities',
  '/v1/formulas',
  '/v1/futures',
  '/v1/storage',
  '/v1/spreads',
  '/v1/analytics',
  '/v1/indicators',
  '/v1/fuel-surcharge',
  '/v1/marine-fuels',
  '/v1/marine-ports',
  '/v1/bunker-fuels',
  '/v1/diesel-prices',
  '/v1/natural-gas',
  '/v1/delivery',
  '/v1/status',
  '/v1/ei',
  '/v1/rig-counts',
  '/v1/drilling-intelligence',
  '/v1/well-production',
  '/v1/forecasts',
  '/v1/market-brief',
  '/v1/data-quality',
  '/v1/usage',
]

/** Lists of every code with data. */
const longLists = ['/v1/prices/all', '/v1/commodities', '/v1/commodities/categories']

export const isLongList = (path: string | undefined): boolean =>
  path !== undefined && longLists.includes(path)

export const isSheetPath = (path: string): boolean =>
  sheetPaths.some(start => path === start || path.startsWith(`${start}/`))
