import type { ResolutionFrom } from '../../delivery/math/terms.ts'
import { sinceEver } from '../../delivery/math/terms.ts'
import type { SeriesTerms } from './terms.ts'

/** The coupled European markets have one day, whatever their own clocks show. */
const coupledZone = 'Europe/Berlin'

/** When the coupled markets went from hours to quarters. */
const hoursThenQuarters: ResolutionFrom[] = [
  { from: '2010-01-01', resolution: 'PT1H' },
  { from: '2025-10-01', resolution: 'PT15M' },
]

const gasDay = { ...delivered('Europe/Berlin'), resolutions: sinceEver('P1D'), dayStarts: '06:00' }

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

/** The code whose daily means a code has on days without a recorded value. */
export const averagedCodeOf = (code: string): string | undefined => averagedCodes[code]

/** The shipped attributes of a code that are not columns of the catalogue. */
export const shippedTermsOf = (code: string): SeriesTerms | undefined =>
  rules.find(([pattern]) => pattern.test(code))?.[1]
