import type { pageParts } from '../../paths.ts'

/**
 * A response of the API that a page renders generically: figures, tables, and a chart where it has
 * dates.
 */
export interface Report {
  text: string
  /** The heading under which the choice of reports lists it. */
  group?: string
  /** `{month}` is a month ago, `{to}` today, `{choice}` what was chosen. */
  path: string
  /** Those for `{choice}`: known values, or those of a field in a response of this instance. */
  choices?: {
    label: string
    values?: readonly string[]
    from?: { path: string; field: string }
  }
}

export interface Part {
  /** Last segment of its address; the first one is the page itself. */
  part: keyof (typeof pageParts)['commodities']
  /** Categories of the catalogue whose series it lists. */
  categories: readonly string[]
  /** Restricts those categories to the codes of the page, where they have others too. */
  codes?: RegExp
  /** Series that it is known by, as figures and a chart; the first is drawn. */
  headline?: readonly string[]
  reports: readonly Report[]
}

const states = ['TX', 'NM', 'ND', 'CO', 'OK', 'WY', 'PA', 'CA', 'LA', 'AK'] as const
const basins = ['permian', 'eagle_ford', 'bakken', 'haynesville', 'anadarko'] as const
const ports = ['SIN', 'RTM', 'FJR', 'ZOS', 'HOU', 'HKG', 'GIB', 'NYC'] as const
const spreadKinds = ['crack', 'basis', 'refining-margin', 'physical-premium', 'margin'] as const
const futures = ['brent', 'wti', 'gasoil', 'natural-gas', 'ttf-gas', 'eu-carbon'] as const

const curveFamilies = ['EXCH_BRENT', 'EXCH_WTI', 'EXCH_GASOIL', 'EXCH_NG', 'EXCH_TTF'] as const

const powerMarkets = [
  'POWER_DA_DE_LU_EUR',
  'POWER_DA_FR_EUR',
  'POWER_DA_NL_EUR',
  'POWER_HH_GB_GBP',
  'POWER_PJM_WESTERN_HUB_USD',
] as const

/** A report of one of the carriers that a list has. */
const ofCarrier = (text: string, list: string, what: 'latest' | 'history'): Report => ({
  text,
  path: `${list}/{choice}/${what}`,
  choices: { label: 'Carrier', from: { path: list, field: 'carrier' } },
})

const grouped = (group: string, reports: readonly Report[]): Report[] =>
  reports.map(report => ({ ...report, group }))

const choosing = (
  text: string,
  path: string,
  label: string,
  values: readonly string[],
): Report => ({ text, path, choices: { label, values } })

export const parts: readonly Part[] = [
  {
    part: '',
    categories: ['crude_oil', 'physical_crude', 'storage'],
    headline: ['WTI_USD', 'BRENT_CRUDE_USD', 'US_CRUDE_STORAGE', 'CUSHING_STORAGE'],
    reports: [
      { text: 'Inventories by product', path: '/v1/ei/oil_inventories/by_product' },
      { text: 'Inventory summary', path: '/v1/ei/oil_inventories/summary' },
      { text: 'Inventories over time', path: '/v1/ei/oil_inventories/historical' },
      { text: 'Latest inventories', path: '/v1/ei/oil_inventories/latest' },
      { text: 'Inventories, all rows', path: '/v1/ei/oil_inventories' },
      { text: 'Cushing by week', path: '/v1/ei/oil_inventories/cushing' },
      { text: 'Cushing and its capacity', path: '/v1/storage/cushing' },
      { text: 'Strategic reserve', path: '/v1/storage/spr' },
      { text: 'By region', path: '/v1/storage/regional' },
      { text: 'All storage', path: '/v1/storage' },
      choosing('Storage history', '/v1/storage/history/{choice}', 'Series', [
        'cushing',
        'spr',
        'total_us',
      ]),
      choosing('Price in context', '/v1/indicators/price-context?commodity={choice}', 'Commodity', [
        'WTI_USD',
        'BRENT_CRUDE_USD',
      ]),
    ],
  },
  {
    part: 'opec',
    categories: ['supply_demand'],
    codes: /^(?!LOAD|SOLAR|WIND)/,
    headline: ['OPEC_PRODUCTION', 'WORLD_OIL_SUPPLY', 'WORLD_OIL_DEMAND', 'OPEC_BASKET_USD'],
    reports: [
      { text: 'By country', path: '/v1/ei/opec_productions/by_country' },
      { text: 'Total', path: '/v1/ei/opec_productions/total' },
      { text: 'Ten largest producers', path: '/v1/ei/opec_productions/top_producers' },
      { text: 'Over time', path: '/v1/ei/opec_productions/historical' },
      { text: 'Latest month', path: '/v1/ei/opec_productions/latest' },
      { text: 'All months and countries', path: '/v1/ei/opec_productions' },
    ],
  },
  {
    part: 'outlooks',
    categories: [],
    headline: ['WTI_USD', 'BRENT_CRUDE_USD', 'NATURAL_GAS_USD', 'US_CRUDE_PRODUCTION'],
    reports: [
      { text: 'Price forecasts', path: '/v1/ei/forecasts/prices' },
      { text: 'Production forecasts', path: '/v1/ei/forecasts/production' },
      { text: 'EIA and IEA compared', path: '/v1/ei/forecasts/compare' },
      { text: 'Forecast and actual', path: '/v1/ei/forecasts/historical' },
      { text: 'Forecast summary', path: '/v1/ei/forecasts/summary' },
      { text: 'Latest forecasts', path: '/v1/ei/forecasts/latest' },
      { text: 'All forecasts', path: '/v1/ei/forecasts' },
      { text: 'Monthly model', path: '/v1/forecasts/monthly' },
      { text: 'Accuracy of the model', path: '/v1/forecasts/monthly/accuracy' },
      { text: 'Accuracy by month', path: '/v1/forecasts/accuracy' },
      { text: 'Archive of the model', path: '/v1/forecasts/monthly/archive' },
    ],
  },
  {
    part: 'gas',
    categories: ['natural_gas', 'lng', 'ngl'],
    headline: ['NATURAL_GAS_USD', 'DUTCH_TTF_EUR', 'JKM_LNG_USD', 'US_NATGAS_STORAGE'],
    reports: [
      choosing('Stocks in context', '/v1/indicators/storage-analytics?code={choice}', 'Series', [
        'US_NATGAS_STORAGE',
        'NATGAS_STORAGE_EAST',
        'NATGAS_STORAGE_MIDWEST',
      ]),
      choosing('30-day average', '/v1/analytics/rolling?code={choice}&window=30', 'Series', [
        'NATURAL_GAS_USD',
        'WTI_USD',
        'BRENT_CRUDE_USD',
      ]),
      {
        text: 'Oil to gas ratio',
        path: '/v1/analytics/spread?spread=gas_oil_ratio&period=90&type=historical',
      },
      { text: 'Fuel switching', path: '/v1/indicators/fuel-switching' },
    ],
  },
  {
    part: 'products',
    categories: ['refined_products', 'retail_fuels', 'biofuels', 'petrochemicals'],
    headline: ['GASOLINE_RBOB_USD', 'ULSD_DIESEL_USD', 'JET_FUEL_USD', 'US_DISTILLATE_STORAGE'],
    reports: [
      choosing('Main spread', '/v1/spreads/{choice}', 'Kind', spreadKinds),
      choosing('All spreads', '/v1/spreads/{choice}/all', 'Kind', spreadKinds),
      { text: 'Gasoil crack', path: '/v1/spreads/gasoil-crack' },
      { text: 'US diesel, retail average', path: '/v1/diesel-prices' },
      choosing('Diesel, state average', '/v1/diesel-prices/states/{choice}', 'State', states),
    ],
  },
  {
    part: 'futures',
    categories: ['futures'],
    headline: ['WTI_FUTURES', 'BRENT_FUTURES', 'NATURAL_GAS_FUTURES', 'TTF_FUTURES'],
    reports: [
      { text: 'Curve structure', path: '/v1/spreads/curve-structure/all' },
      choosing(
        'Structure of a family',
        '/v1/spreads/curve-structure?commodity={choice}',
        'Family',
        curveFamilies,
      ),
      choosing('Continuous', '/v1/futures/{choice}/continuous', 'Family', futures),
      choosing('Daily history', '/v1/futures/{choice}/historical', 'Family', futures),
      choosing('Open, high, low, close', '/v1/futures/{choice}/ohlc', 'Family', futures),
      choosing('Today, every 5 minutes', '/v1/futures/{choice}/intraday', 'Family', futures),
      choosing('Calendar spreads', '/v1/futures/{choice}/spreads', 'Family', futures),
    ],
  },
  {
    part: 'power',
    categories: ['power', 'carbon', 'supply_demand'],
    codes: /^(?!OPEC|US_|WORLD_)/,
    headline: ['POWER_DE_EUR', 'POWER_UK_GBP', 'POWER_PJM_WEST_USD', 'EU_CARBON_EUR'],
    reports: [
      choosing('Day by hour', '/v1/delivery/{choice}', 'Market', powerMarkets),
      choosing(
        'Base and peak by day',
        '/v1/delivery/{choice}/days?start={month}&end={to}',
        'Market',
        powerMarkets,
      ),
      choosing('Cheapest hours', '/v1/delivery/{choice}/cheapest?hours=3', 'Market', powerMarkets),
      choosing(
        'Most expensive hours',
        '/v1/delivery/{choice}/cheapest?hours=3&dearest=true',
        'Market',
        powerMarkets,
      ),
      { text: 'Carbon futures', path: '/v1/futures/eu-carbon' },
      { text: 'Carbon, daily history', path: '/v1/futures/eu-carbon/historical' },
      { text: 'Fuel switching', path: '/v1/indicators/fuel-switching' },
    ],
  },
  {
    part: 'solids',
    categories: ['coal', 'metals', 'list_prices'],
    headline: ['COAL_ARA_USD', 'NEWCASTLE_COAL_USD', 'COPPER_USD', 'GOLD_USD'],
    reports: [],
  },
  {
    part: 'fx',
    categories: ['fx', 'indices', 'freight'],
    headline: ['EUR_USD', 'GBP_USD', 'USD_JPY', 'DOLLAR_INDEX'],
    reports: [],
  },
  {
    part: 'marine',
    categories: ['marine_fuels'],
    headline: ['VLSFO_SIN_USD', 'VLSFO_RTM_USD', 'VLSFO_HOU_USD', 'MARINE_FUEL_INDEX'],
    reports: [
      { text: 'Fuels by port', path: '/v1/prices/marine-fuels/latest' },
      { text: 'Spreads of all ports', path: '/v1/bunker-fuels/spreads' },
      choosing('Prices in a port', '/v1/bunker-fuels/ports/{choice}', 'Port', ports),
      { text: 'All ports', path: '/v1/bunker-fuels/all' },
      { text: 'Latest bunker prices', path: '/v1/bunker-fuels' },
      choosing('History of a port', '/v1/bunker-fuels/historical/{choice}', 'Port', ports),
      choosing(
        'Compare with Rotterdam',
        '/v1/bunker-fuels/compare?ports=RTM,{choice}',
        'Port',
        ports.filter(port => port !== 'RTM'),
      ),
      choosing(
        'Spread to Rotterdam',
        '/v1/bunker-fuels/spreads/ports?from={choice}&to=RTM',
        'Port',
        ports.filter(port => port !== 'RTM'),
      ),
      { text: 'Ports', path: '/v1/marine-ports' },
      { text: 'Ports with prices', path: '/v1/prices/marine-fuels/ports' },
      { text: 'All prices', path: '/v1/prices/marine-fuels' },
      { text: 'Latest by fuel', path: '/v1/marine-fuels/latest' },
      { text: 'History of all ports', path: '/v1/bunker-fuels/historical' },
    ],
  },
  {
    part: 'surcharges',
    categories: ['retail_fuels'],
    codes: /^DIESEL_.._USD$/,
    headline: [
      'DIESEL_US_NATIONAL_USD',
      'ULSD_DIESEL_USD',
      'JET_FUEL_USD',
      'GASOLINE_US_NATIONAL_USD',
    ],
    reports: [
      { text: 'Freight carriers', path: '/v1/fuel-surcharge' },
      { text: 'Parcel carriers', path: '/v1/fuel-surcharge/parcel' },
      ofCarrier('Current surcharge', '/v1/fuel-surcharge', 'latest'),
      ofCarrier('Surcharge over time', '/v1/fuel-surcharge', 'history'),
      ofCarrier('Current parcel surcharge', '/v1/fuel-surcharge/parcel', 'latest'),
      ofCarrier('Parcel surcharge over time', '/v1/fuel-surcharge/parcel', 'history'),
    ],
  },
  {
    part: 'drilling',
    categories: ['drilling'],
    headline: ['US_RIG_COUNT', 'US_OIL_RIG_COUNT', 'US_DUC_WELLS', 'US_FRAC_SPREADS'],
    reports: [
      ...grouped('Productivity', [
        { text: 'Productivity by basin', path: '/v1/ei/drilling_productivities/by_basin' },
        { text: 'Productivity summary', path: '/v1/ei/drilling_productivities/summary' },
        { text: 'Productivity trends', path: '/v1/ei/drilling_productivities/trends' },
        { text: 'Productivity over time', path: '/v1/ei/drilling_productivities/historical' },
        { text: 'Latest productivity', path: '/v1/ei/drilling_productivities/latest' },
        { text: 'Productivity, all rows', path: '/v1/ei/drilling_productivities' },
      ]),
      ...grouped('Rigs', [
        { text: 'Rigs by basin', path: '/v1/ei/rig_counts/by_basin' },
        { text: 'Rigs by state', path: '/v1/ei/rig_counts/by_state' },
        { text: 'Rigs by type', path: '/v1/ei/rig_counts/latest' },
        { text: 'Rig summary', path: '/v1/rig-counts/summary' },
        { text: 'Rig trend', path: '/v1/rig-counts/trends' },
        { text: 'Rigs over time', path: '/v1/ei/rig_counts/historical' },
        { text: 'Latest rigs', path: '/v1/rig-counts/latest' },
        { text: 'Rigs, all rows', path: '/v1/ei/rig_counts' },
      ]),
      ...grouped('Uncompleted wells (DUC)', [
        { text: 'Uncompleted wells', path: '/v1/ei/duc_wells/latest' },
        { text: 'Uncompleted wells by basin', path: '/v1/ei/drilling_productivities/duc_wells' },
        { text: 'Uncompleted wells over time', path: '/v1/ei/duc_wells' },
      ]),
      ...grouped('Frac spreads', [
        { text: 'Frac spreads', path: '/v1/ei/frac_spreads/latest' },
        { text: 'Frac spreads over time', path: '/v1/ei/frac_spreads' },
      ]),
      ...grouped('Activity', [
        { text: 'Activity summary', path: '/v1/drilling-intelligence/summary' },
        choosing(
          'Activity in a basin',
          '/v1/drilling-intelligence/basin/{choice}',
          'Basin',
          basins,
        ),
        { text: 'Activity trends', path: '/v1/drilling-intelligence/trends' },
        { text: 'Latest activity', path: '/v1/drilling-intelligence/latest' },
        { text: 'Activity, all rows', path: '/v1/drilling-intelligence' },
        { text: 'Wells drilled', path: '/v1/drilling-intelligence/wells-drilled' },
        { text: 'Completions', path: '/v1/drilling-intelligence/completions' },
        { text: 'Permits by state', path: '/v1/drilling-intelligence/well-permits' },
      ]),
    ],
  },
  {
    part: 'wells',
    categories: [],
    headline: [
      'TEXAS_WELL_PERMITS',
      'NORTH_DAKOTA_WELL_PERMITS',
      'NEW_MEXICO_WELL_PERMITS',
      'WYOMING_WELL_PERMITS',
    ],
    reports: [
      ...grouped('Production', [
        { text: 'Production summary', path: '/v1/well-production/summary' },
        { text: 'Production by state', path: '/v1/well-production/states' },
        choosing('Production of a state', '/v1/well-production/states/{choice}', 'State', states),
        choosing(
          'Largest wells of a state',
          '/v1/well-production/top-producers?state={choice}',
          'State',
          states,
        ),
        { text: 'National production', path: '/v1/well-production/' },
        { text: 'Cycle time', path: '/v1/well-production/cycle-time' },
        { text: 'Cycle time by cohort', path: '/v1/well-production/cycle-time/cohorts' },
      ]),
      ...grouped('Permits', [
        { text: 'Permits by formation', path: '/v1/ei/well-permits/by-formation' },
        { text: 'Permits by operator', path: '/v1/ei/well-permits/by-operator' },
        { text: 'Permits, all rows', path: '/v1/ei/well-permits' },
        { text: 'Permit summary', path: '/v1/ei/well-permits/summary' },
        { text: 'Latest permits', path: '/v1/ei/well-permits/latest' },
        choosing('Permits of a state', '/v1/ei/well-permits/states/{choice}', 'State', states),
      ]),
      ...grouped('Frac disclosures', [
        { text: 'Frac disclosures', path: '/v1/ei/frac-focus/latest' },
        { text: 'Frac disclosures, all rows', path: '/v1/ei/frac-focus' },
        { text: 'Frac summary', path: '/v1/ei/frac-focus/summary' },
        { text: 'Frac by state', path: '/v1/ei/frac-focus/by-state' },
        { text: 'Frac by operator', path: '/v1/ei/frac-focus/by-operator' },
        { text: 'Chemicals', path: '/v1/ei/frac-focus/by-chemical' },
      ]),
    ],
  },
  {
    part: 'quality',
    categories: [],
    reports: [
      ...grouped('Quality', [
        { text: 'Quality summary', path: '/v1/data-quality/summary' },
        { text: 'Quality reports', path: '/v1/data-quality/reports' },
        { text: 'Price health', path: '/v1/prices/all/health' },
        { text: 'Categories', path: '/v1/commodities/categories' },
        { text: 'Sources', path: '/v1/sources' },
        { text: 'Service health', path: '/v1/health' },
        { text: 'Limits', path: '/v1/meta/limits' },
      ]),
      ...grouped('Prices', [
        { text: 'Newest prices', path: '/v1/prices/latest' },
        { text: 'WTI, past day', path: '/v1/prices/past_day?by_code=WTI_USD' },
        { text: 'WTI, past week', path: '/v1/prices/past_week?by_code=WTI_USD&interval=day' },
        { text: 'WTI, past month', path: '/v1/prices/past_month?by_code=WTI_USD&interval=day' },
        { text: 'WTI, past year', path: '/v1/prices/past_year?by_code=WTI_USD&interval=week' },
        { text: 'WTI in euros', path: '/v1/prices/convert?by_code=WTI_USD&to_currency=EUR' },
        { text: 'Bulk files', path: '/v1/files' },
      ]),
    ],
  },
]
