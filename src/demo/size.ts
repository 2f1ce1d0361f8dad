import type { Config } from '../config/config.ts'
import { dayMs } from '../lib/time/instant.ts'
import { codesOf } from '../topics/analytics/math/spread.ts'
import { isIntraday } from '../topics/catalogue/math/catalogue.ts'
import type { PermitReach } from '../topics/drilling/demo/permits.ts'
import type { Reach } from '../topics/futures/demo/published.ts'
import {
  type Depth,
  depthOf,
  everyCodeFrom,
  leadingCodes,
  lookBackFrom,
} from '../topics/prices/demo/history-depth.ts'
import type { WorldSeries } from '../topics/prices/demo/series.ts'
import { analyticsSpreads, spreads } from '../topics/units/math/identities.ts'

/** How much demo data is generated; parts that a size does not name are generated completely. */
export interface WorldSize {
  /** Whether a code of the catalogue has data; of the others nothing is ever published. */
  has(series: Pick<WorldSeries, 'code' | 'category'>): boolean
  /** The data that is generated for a code at `now`. */
  depthOf(series: WorldSeries, now: number): Depth
  /** How far the bars and ticks of futures reach back. */
  futures?: Reach
  permits?: PermitReach
  /** Days of delivery periods. */
  powerDays?: number
  /** Days of drilling counts. */
  countedDays?: number
  /** Months of production of wells and states. */
  productionMonths?: number
  /** Publications of agencies, one a month. */
  outlooks?: number
}

const whole: WorldSize = { has: () => true, depthOf }

/** A year, and the month before it that changes over a year are against. */
const smallDays = 400
const smallHourlyDays = 10
const smallRawDays = 2

/**
 * Categories whose codes appear in one another's responses: counts, stocks, balances, front months.
 */
const connectedCategories = ['crude_oil', 'drilling', 'futures', 'storage', 'supply_demand']

/** Some of every other category: what forecasts, surcharges, ports and generators are about first. */
const namedCodes = `
ALUMINUM_USD COPPER_USD SILVER_USD COAL_ARA_USD COAL_USD CAPP_COAL_USD ETHANOL_USD
EU_CARBON_EUR GERMANY_CARBON_EUR UK_CARBON_GBP DOLLAR_INDEX CRUDE_VOLATILITY_INDEX
DIESEL_US_NATIONAL_USD DIESEL_CA_USD DIESEL_NY_USD DIESEL_TX_USD GASOLINE_US_NATIONAL_USD
DIESEL_LIST_B7_DKK DIESEL_LIST_STANDARD_DKK DUTCH_TTF_EUR NATURAL_GAS_GBP GAS_WAHA_USD
FORTIES_USD BONNY_LIGHT_USD JET_FUEL_USD GASOIL_USD NAPHTHA_NWE_USD JKM_LNG_USD LNG_JAPAN_SPOT_USD
METHANOL_USGC_USD AMMONIA_TAMPA_USD PROPANE_USD BUTANE_USD POWER_DE_EUR POWER_ERCOT_NORTH_USD
POWER_DA_DE_LU_EUR POWER_DA_FR_EUR POWER_DA_NL_EUR POWER_HH_GB_GBP POWER_AU_NSW1_AUD
POWER_PJM_WESTERN_HUB_USD
TANKER_VLCC_MEG_CHINA_USD EUR_GBP USD_CAD USD_CHF USD_CNY USD_DKK USD_JPY USD_NOK
HSFO_USD MGO_USD VLSFO_USD HFO_380_USD MGO_05S_USD
HFO_380_SIN_USD MGO_05S_SIN_USD VLSFO_SIN_USD HFO_380_RTM_USD MGO_05S_RTM_USD VLSFO_RTM_USD
`
  .trim()
  .split(/\s+/)

const smallCodes: ReadonlySet<string> = new Set([
  ...leadingCodes,
  ...namedCodes,
  ...[...Object.values(spreads).flat(), ...analyticsSpreads].flatMap(codesOf),
])

/** Seasons are read of these, and the range of five years. */
const isOfYears = ({ code, category }: WorldSeries): boolean =>
  category === 'storage' || leadingCodes.includes(code)

function smallDepthOf(series: WorldSeries, now: number): Depth {
  const from = isOfYears(series)
    ? everyCodeFrom
    : Math.min(now - smallDays * dayMs, lookBackFrom(series, now))
  if (!isIntraday(series.cadence) && series.cadence !== 'twice_daily')
    return { from, hourlyFrom: from, rawFrom: from }
  return { from, hourlyFrom: now - smallHourlyDays * dayMs, rawFrom: now - smallRawDays * dayMs }
}

/** The volume of gas in storage says what its filling level says already. */
const isStorageVolume = (code: string): boolean => /^GAS_STORAGE_(?!EU_)\w+_TWH$/.test(code)

const small: WorldSize = {
  has: ({ code, category }) =>
    (connectedCategories.includes(category) && !isStorageVolume(code)) || smallCodes.has(code),
  depthOf: smallDepthOf,
  futures: { wholeCurveDays: 40, nearMonthsDays: 100, tickDays: 4 },
  permits: { days: smallDays, wholeDays: 10 },
  powerDays: 9,
  countedDays: smallDays,
  productionMonths: 15,
  outlooks: 14,
}

export const worldSizes: Readonly<Record<Config['dev']['world'], WorldSize>> = { whole, small }
