import countiesText from '../../../../fixtures/demo/permit-counties.tsv' with { type: 'text' }
import statesText from '../../../../fixtures/demo/permit-states.tsv' with { type: 'text' }
import operatorsText from '../../../../fixtures/demo/well-operators.tsv' with { type: 'text' }
import { tsvRows } from '../../../lib/text/tsv.ts'

/** The places of generated permits. Counties and formations are real; operators are not. */
export interface PermitCounty {
  name: string
  /** In API numbers. */
  code: string
  latitude: number
  longitude: number
  /** Permits in relation to the other counties of the state. */
  weight: number
  formations: readonly string[]
}

export interface PermitState {
  code: string
  /** Permits on a working day where the catalogue has no series of them. */
  daily: number
  /** Share of wells that are drilled for gas. */
  gas: number
  counties: readonly PermitCounty[]
  /** The agency publishes a quarter at a time, so late that its list is always behind. */
  isQuarterly?: true
}

const counties = tsvRows<'state' | keyof PermitCounty>(countiesText)

export const statePlaces: readonly PermitState[] = tsvRows<'code' | 'daily' | 'gas' | 'quarterly'>(
  statesText,
).map(({ code, daily, gas, quarterly }) => ({
  code,
  daily: Number(daily),
  gas: Number(gas),
  counties: counties
    .filter(county => county.state === code)
    .map(({ state: _, ...county }) => ({
      ...county,
      latitude: Number(county.latitude),
      longitude: Number(county.longitude),
      weight: Number(county.weight),
      formations: county.formations.split(','),
    })),
  ...(quarterly === 'true' && { isQuarterly: true as const }),
}))

/** Companies that do not exist. */
export const operatorNames: readonly string[] = tsvRows<'name'>(operatorsText).map(
  ({ name }) => name,
)

export const leaseNames: readonly string[] =
  'Bradford,Sorenson,Holloway,Pruitt,Guidry,Yarbrough,McCandless,Tillery,Vance,Okafor,Lindqvist,Barragan,Culpepper,Dvorak,Estes,Fontenot,Gaskill,Hruska,Ibarra,Jessup,Kettleman,Lovelady,Moffat,Nygaard,Ortega,Pettibone,Quarles,Rademacher,Stovall,Truitt,Ulrich,Villarreal,Wainscott,Yoder,Zapata,Ashcroft,Beaumont,Castellano,Donnelly,Everhart'.split(
    ',',
  )
