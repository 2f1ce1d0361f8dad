/**
 * Words that people use for one another in codes. Ports stand with their short forms and their
 * UN/LOCODE.
 */
export const synonymGroups: readonly (readonly string[])[] = [
  ['SINGAPORE', 'SIN', 'SGP', 'SGSIN'],
  ['ROTTERDAM', 'RTM', 'NLRTM', 'ARA'],
  ['FUJAIRAH', 'FJR', 'FUJ', 'AEFJR'],
  ['HOUSTON', 'HOU', 'USHOU'],
  ['GIBRALTAR', 'GIB', 'GIGIB'],
  ['ZHOUSHAN', 'ZOS', 'CNZOS'],
  ['STORAGE', 'STOCK', 'STOCKS', 'STOCKPILE', 'STOCKPILES', 'INVENTORY', 'INVENTORIES'],
  ['GASOLINE', 'PETROL', 'MOGAS', 'BENZIN'],
  ['JET', 'KEROSENE', 'AVTUR', 'ATF'],
  ['POWER', 'ELECTRICITY', 'ELECTRIC'],
  ['CARBON', 'EMISSION', 'EMISSIONS'],
  ['NATIONAL', 'AVERAGE'],
  ['HFO', 'HSFO', 'IFO'],
  ['TANKER', 'FREIGHT', 'SHIPPING'],
  ['EU', 'EUROPE', 'EUROPEAN'],
  ['UK', 'BRITAIN', 'BRITISH', 'GB'],
  ['US', 'USA', 'AMERICA', 'AMERICAN'],
  ['ARAB', 'SAUDI', 'ARABIAN'],
  ['ASIA', 'ASIAN'],
  ['AUSTRALIA', 'AUSTRALIAN'],
  ['CANADA', 'CANADIAN'],
  ['CHINA', 'CHINESE'],
  ['COLOMBIA', 'COLOMBIAN'],
  ['FRANCE', 'FRENCH'],
  ['GERMANY', 'GERMAN'],
  ['INDIA', 'INDIAN'],
  ['INDONESIA', 'INDONESIAN'],
  ['ITALY', 'ITALIAN'],
  ['JAPAN', 'JAPANESE'],
  ['NETHERLANDS', 'DUTCH', 'HOLLAND'],
  ['POLAND', 'POLISH'],
  ['RUSSIA', 'RUSSIAN'],
  ['SPAIN', 'SPANISH'],
]

/** One-way synonyms: oil may mean crude, but crude does not mean heating oil. */
export const oneWaySynonyms: readonly (readonly [string, readonly string[]])[] = [
  ['OIL', ['CRUDE']],
  ['BUNKER', ['VLSFO', 'FUEL']],
  ['BUNKERS', ['VLSFO', 'FUEL']],
  ['API', ['ARA']],
  ['TEXAS', ['ERCOT']],
  ['US', ['USD']],
  ['UK', ['GBP']],
  ['EU', ['EUR']],
]

/** Abbreviations and the words that they mean. */
export const spelledOut: ReadonlyMap<string, readonly string[]> = new Map([
  ['NATGAS', ['NATURAL', 'GAS']],
  ['NG', ['NATURAL', 'GAS']],
  ['NAT', ['NATURAL']],
  ['HH', ['HENRY', 'HUB']],
  ['NYH', ['NEW', 'YORK', 'HARBOR']],
  ['ETS', ['CARBON']],
])

/** Words with a digit inside, which would otherwise be split into letters and digits. */
export const rewritten: readonly (readonly [string, string])[] = [['CO2', 'CARBON']]

/** Common filler words that hardly distinguish one price from another. */
export const fillers: ReadonlySet<string> = new Set([
  'PRICE',
  'PRICES',
  'SPOT',
  'RATE',
  'COST',
  'QUOTE',
  'MARKET',
  'CURRENT',
  'LATEST',
  'LIVE',
  'TODAY',
  'DAILY',
  'COMMODITY',
  'BENCHMARK',
  'PER',
  'BBL',
  'BARREL',
  'GALLON',
  'GAL',
  'TON',
  'TONNE',
  'MMBTU',
  'OZ',
  'OUNCE',
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
  'HFO_380_SIN_USD',
  'COAL_USD',
  'EU_CARBON_EUR',
  'GOLD_USD',
  'EUR_USD',
  'GBP_USD',
  'US_RIG_COUNT',
])
