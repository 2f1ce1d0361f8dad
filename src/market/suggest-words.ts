/** Words that people use for one another in codes. Ports stand with their short forms and their UN/LOCODE. */
export const synonymGroups: readonly (readonly string[])[] = [
  ['SINGAPORE', 'SIN', 'SGP', 'SGSIN'],
  ['ROTTERDAM', 'RTM', 'NLRTM', 'ARA'],
  ['FUJAIRAH', 'FJR', 'FUJ', 'AEFJR'],
  ['HOUSTON', 'HOU', 'USHOU'],
  ['GIBRALTAR', 'GIB', 'GIGIB'],
  ['ZHOUSHAN', 'ZOS', 'CNZOS'],
  ['STORAGE', 'STOCKS', 'STOCKPILE', 'STOCKPILES', 'INVENTORY', 'INVENTORIES'],
  ['GASOLINE', 'PETROL', 'MOGAS', 'BENZIN'],
  ['JET', 'KEROSENE', 'AVTUR', 'ATF'],
  ['POWER', 'ELECTRICITY', 'ELECTRIC'],
  ['CARBON', 'ETS', 'EMISSION', 'EMISSIONS', 'CO'],
  ['CREDIT', 'CREDITS'],
  ['EU', 'EUROPE', 'EUROPEAN'],
  ['UK', 'BRITAIN', 'BRITISH', 'GB'],
  ['US', 'USA', 'AMERICA', 'AMERICAN'],
  ['NATIONAL', 'AVERAGE'],
  ['HFO', 'HSFO', 'IFO'],
  ['TANKER', 'FREIGHT', 'SHIPPING'],
]

/** A word that may mean others, which never mean it: oil may be crude, but crude is no heating oil. */
export const oneWaySynonyms: ReadonlyMap<string, readonly string[]> = new Map([
  ['OIL', ['CRUDE']],
  ['BUNKER', ['VLSFO', 'FUEL']],
  ['BUNKERS', ['VLSFO', 'FUEL']],
])

/** Short words that stand for several. */
export const spelledOut: ReadonlyMap<string, readonly string[]> = new Map([
  ['NATGAS', ['NATURAL', 'GAS']],
  ['NAT', ['NATURAL']],
  ['HH', ['HENRY', 'HUB']],
  ['NYH', ['NEW', 'YORK', 'HARBOR']],
])

/** The codes that people mean when their words fit several. */
export const benchmarkCodes: ReadonlySet<string> = new Set([
  'WTI_USD',
  'BRENT_CRUDE_USD',
  'NATURAL_GAS_USD',
  'DUTCH_TTF_EUR',
  'JKM_LNG_USD',
  'GASOLINE_USD',
  'DIESEL_USD',
  'HEATING_OIL_USD',
  'JET_FUEL_USD',
  'VLSFO_USD',
  'COAL_USD',
  'EU_CARBON_EUR',
  'GOLD_USD',
  'EUR_USD',
  'GBP_USD',
  'US_RIG_COUNT',
])
