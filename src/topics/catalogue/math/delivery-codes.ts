import { type ResolutionFrom, sinceEver, weekdayNames } from '../../delivery/math/terms.ts'
import type { SeriesTerms } from './terms.ts'

/** The coupled European markets have one day, whatever their own clocks show. */
const coupledZone = 'Europe/Berlin'

/** When the coupled markets went from hours to quarters. */
const hoursThenQuarters: ResolutionFrom[] = [
  { from: '2010-01-01', resolution: 'PT1H' },
  { from: '2025-10-01', resolution: 'PT15M' },
]

/** Days with sixteen peak hours: on weekdays without a holiday, in California on Saturdays too. */
const hubs = (
  zone: string,
  gateCloses: string,
  publishesAt: string,
  peakHours: string,
  more: SeriesTerms = {},
): SeriesTerms => ({
  ...delivered(zone),
  resolutions: sinceEver('PT1H'),
  gateCloses,
  publishesAt,
  peakHours,
  peakHolidays: true,
  calendar: 'us_power',
  licenseClass: 'view',
  min: -500,
  max: 5500,
  ...more,
})

/** Sold until the evening of the day before; over weekends, on Friday. */
const gasDay = {
  ...delivered('Europe/Berlin'),
  resolutions: sinceEver('P1D'),
  dayStarts: '06:00',
  publishesAt: '18:00',
  horizon: 'P5D',
}

function delivered(zone: string): Pick<SeriesTerms, 'time' | 'zone'> {
  return { time: 'delivery', zone }
}

/** Terms of shipped codes whose values are of delivery periods, by the beginning of the code. */
const rules: readonly (readonly [pattern: RegExp, terms: SeriesTerms])[] = [
  [
    /^POWER_DA_/,
    {
      ...delivered(coupledZone),
      resolutions: hoursThenQuarters,
      gateCloses: '12:00',
      publishesAt: '12:45',
      min: -500,
      max: 4000,
    },
  ],
  [
    /^POWER_HH_GB_/,
    { ...delivered('Europe/London'), resolutions: sinceEver('PT30M'), min: -500, max: 6000 },
  ],
  // The National Electricity Market keeps the time of Brisbane all year.
  [
    /^POWER_AU_/,
    { ...delivered('Australia/Brisbane'), resolutions: sinceEver('PT5M'), min: -1000, max: 25_000 },
  ],
  [
    /^POWER_CAISO_\w+_HUB_USD$/,
    hubs('America/Los_Angeles', '10:00', '13:00', '06:00-22:00', {
      peakDays: [...weekdayNames.slice(0, 6)],
    }),
  ],
  [/^POWER_ERCOT_\w+_HUB_USD$/, hubs('America/Chicago', '10:00', '13:30', '06:00-22:00')],
  [/^POWER_SPP_\w+_HUB_USD$/, hubs('America/Chicago', '09:30', '13:00', '06:00-22:00')],
  // The Midcontinent market keeps eastern standard time all year.
  [/^POWER_MISO_\w+_HUB_USD$/, hubs('Etc/GMT+5', '10:30', '13:30', '07:00-23:00')],
  [/^POWER_PJM_\w+_HUB_USD$/, hubs('America/New_York', '11:00', '13:30', '07:00-23:00')],
  [/^POWER_ISONE_\w+_HUB_USD$/, hubs('America/New_York', '10:30', '13:30', '07:00-23:00')],
  [/^POWER_NYISO_\w+_HUB_USD$/, hubs('America/New_York', '05:00', '11:00', '07:00-23:00')],
  [/^LOAD_AU_/, { ...delivered('Australia/Brisbane'), resolutions: sinceEver('PT5M') }],
  [
    /^(LOAD|WIND|SOLAR)_\w+_FORECAST_MW$/,
    { ...delivered(coupledZone), resolutions: sinceEver('PT15M'), publishesAt: '10:00' },
  ],
  [/^(LOAD|WIND|SOLAR)_DE_LU_MW$/, { ...delivered(coupledZone), resolutions: sinceEver('PT15M') }],
  [/^LOAD_\w+_MW$/, { ...delivered('UTC'), resolutions: sinceEver('PT1H') }],
  [/^GAS_DA_NBP_/, { ...gasDay, zone: 'Europe/London', dayStarts: '05:00' }],
  [/^GAS_DA_/, gasDay],
]

/** Daily codes, and the series of delivery periods whose daily means they have where they lack values. */
const averagedCodes: Readonly<Record<string, string>> = {
  POWER_AUSTRALIA_NSW_AUD: 'POWER_AU_NSW1_AUD',
  POWER_DE_EUR: 'POWER_DA_DE_LU_EUR',
  POWER_ES_EUR: 'POWER_DA_ES_EUR',
  POWER_FR_EUR: 'POWER_DA_FR_EUR',
  POWER_NL_EUR: 'POWER_DA_NL_EUR',
  POWER_PL_EUR: 'POWER_DA_PL_EUR',
  POWER_UK_GBP: 'POWER_HH_GB_GBP',
}

/** The same of codes whose values are the means of peak hours, on days that have any. */
const peakCodes: Readonly<Record<string, string>> = {
  POWER_CAISO_SP15_USD: 'POWER_CAISO_SP15_HUB_USD',
  POWER_ERCOT_NORTH_USD: 'POWER_ERCOT_NORTH_HUB_USD',
  POWER_MISO_INDIANA_USD: 'POWER_MISO_INDIANA_HUB_USD',
  POWER_NEW_ENGLAND_USD: 'POWER_ISONE_INTERNAL_HUB_USD',
  POWER_NYISO_ZONE_J_USD: 'POWER_NYISO_ZONE_J_HUB_USD',
  POWER_PJM_WEST_USD: 'POWER_PJM_WESTERN_HUB_USD',
}

/** Whether the daily means of a code are those of peak hours alone. */
export const isPeakMean = (code: string): boolean => Object.hasOwn(peakCodes, code)

/** The code whose daily means a code has on days without a recorded value. */
export const averagedCodeOf = (code: string): string | undefined =>
  averagedCodes[code] ?? peakCodes[code]

const shippedTerms = new Map<string, SeriesTerms | undefined>()

/** The shipped attributes of a code that are not columns of the catalogue. */
export const shippedTermsOf = (code: string): SeriesTerms | undefined =>
  shippedTerms.getOrInsertComputed(code, () => rules.find(([pattern]) => pattern.test(code))?.[1])
