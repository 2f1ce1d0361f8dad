/** Prefixes of the paths that can be returned as a table. */
export const sheetPaths = [
  '/v1/prices',
  '/v1/commodities',
  '/v1/futures',
  '/v1/storage',
  '/v1/spreads',
  '/v1/analytics',
  '/v1/fuel-surcharge',
  '/v1/marine-fuels',
  '/v1/marine-ports',
  '/v1/diesel-prices',
  '/v1/status',
  '/v1/ei',
  '/v1/rig-counts',
  '/v1/forecasts',
]

export const isSheetPath = (path: string): boolean =>
  sheetPaths.some(start => path === start || path.startsWith(`${start}/`))
