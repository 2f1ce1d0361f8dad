import { dayMs, isoDay, parseDay } from '../../../lib/time/instant.ts'
import { generatedSource } from '../../catalogue/math/catalogue.ts'
import { usStates } from '../../geography/math/us-states.ts'
import { draw, keyOf, uniform } from '../../prices/demo/noise.ts'
import { dayAfter } from '../../prices/math/window.ts'
import type { WellPermit } from '../dataset/permits.ts'
import type { Well } from '../dataset/wells.ts'
import { leaseNames, operatorNames, type PermitState } from './permit-places.ts'

/** The well that documentation and tests name. */
export const sampleWell = { apiNumber: '42329400010000', state: 'TX', county: 'Midland' } as const

/** Draws for one permit. */
const drawsEach = 32
/** Permits of a state on one day; more than any state has. */
const permitsMax = 64
/** Days after which numbers of wells would come again. */
const cycleDays = 1_500
const operatorsEach = 12
const spreadDegrees = 0.17

const pick = <T>(items: readonly T[], at: number): T => items[Math.floor(at * items.length)]!

function weighted<T extends { weight: number }>(items: readonly T[], at: number): T {
  let rest = at * items.reduce((sum, item) => sum + item.weight, 0)
  for (const item of items) {
    rest -= item.weight
    if (rest < 0) return item
  }
  return items[0]!
}

/** How the same company also signs. */
const otherSpelling = (operator: string) =>
  operator
    .replace(', LLC', ' L.L.C.')
    .replace(', LP', ' L.P.')
    .replace(', Inc.', ' Inc')
    .replace(' Co.', ' Company')

/** Public land is surveyed in townships; these states were granted otherwise. */
const unsurveyed: readonly string[] = ['TX', 'PA', 'WV', 'NY', 'KY', 'OH']
const prefixOf = new Map(usStates.map(state => [state.code, state.apiPrefix]))

/** The permits of a state that are dated on a day: the same for a seed at any time. */
export function permitsOn(
  seed: number,
  state: PermitState,
  day: string,
  count: number,
  fetchedAt: number,
): WellPermit[] {
  const key = keyOf(`${seed}/permits/${state.code}`)
  const dayNumber = parseDay(day)! / dayMs
  return Array.from({ length: Math.min(count, permitsMax) }, (_, i) =>
    permitOf(key, state, day, dayNumber, i, fetchedAt),
  )
}

function permitOf(
  key: number,
  state: PermitState,
  day: string,
  dayNumber: number,
  i: number,
  fetchedAt: number,
): WellPermit {
  const slot = (dayNumber % cycleDays) * permitsMax + i
  const at = (n: number) => uniform(key, slot * drawsEach + n)
  const county = weighted(state.counties, at(0))
  const operator =
    operatorNames[(key + Math.floor(operatorsEach * at(1) ** 2) * 7) % operatorNames.length]!
  const [formation, lease] = [pick(county.formations, at(2)), pick(leaseNames, at(3))]
  const api = `${prefixOf.get(state.code)}-${county.code}-${String(slot).padStart(5, '0')}`
  const surveyed = !unsurveyed.includes(state.code)
  const section = 1 + Math.floor(36 * at(4))
  const type = at(5)
  return {
    state: state.code,
    permitOn: day,
    permitNumber: `${dayNumber}${String(i).padStart(2, '0')}`,
    permitType:
      type < 0.88
        ? 'new_drill'
        : type < 0.94
          ? 'recompletion'
          : type < 0.98
            ? 'reentry'
            : 'sidetrack',
    permitStatus: 'approved',
    apiNumber: `${api.replaceAll('-', '')}0000`,
    apiNumberRaw: api,
    county: county.name,
    operator: at(7) < 0.2 ? otherSpelling(operator) : operator,
    operatorNumber: String(100_000 + (draw(key, slot * drawsEach + 8) % 900_000)),
    wellName: `${lease.toUpperCase()} ${section}${at(10) < 0.4 ? ' UNIT' : ''}`,
    wellNumber: `${1 + Math.floor(12 * at(11))}H`,
    wellType: typeOf(state, at),
    formation,
    totalDepth: Math.round((6_500 + 6_500 * at(13)) / 10) * 10,
    latitude: round6(county.latitude + (2 * at(14) - 1) * spreadDegrees),
    longitude: round6(county.longitude + (2 * at(15) - 1) * spreadDegrees),
    section: surveyed ? String(section) : null,
    township: surveyed ? `${1 + Math.floor(30 * at(16))}N` : null,
    range: surveyed ? `${1 + Math.floor(40 * at(17))}W` : null,
    source: generatedSource,
    sourceUrl: '',
    fetchedAt,
    dataAsOfOn: isoDay(fetchedAt),
  }
}

const typeOf = (state: PermitState, at: (n: number) => number): 'oil' | 'gas' | 'injection' =>
  at(12) < 0.04 ? 'injection' : at(6) < state.gas ? 'gas' : 'oil'

/** The purpose of a well by its number, as on its permit. */
export function wellTypeOf(
  seed: number,
  state: PermitState,
  apiNumber: string,
): 'oil' | 'gas' | 'injection' {
  if (apiNumber === sampleWell.apiNumber) return 'oil'
  const key = keyOf(`${seed}/permits/${state.code}`)
  const slot = Number(apiNumber.slice(5, 10))
  return typeOf(state, n => uniform(key, slot * drawsEach + n))
}

const round6 = (degrees: number) => Math.round(degrees * 1e6) / 1e6

/** The first permit of all: that of the well that documentation and tests name. */
export function samplePermit(
  seed: number,
  state: PermitState,
  day: string,
  fetchedAt: number,
): WellPermit {
  const [permit] = permitsOn(seed, state, day, 1, fetchedAt)
  const county = state.counties.find(candidate => candidate.name === sampleWell.county)!
  return {
    ...permit!,
    permitNumber: `${permit!.permitNumber}S`,
    permitType: 'new_drill',
    wellType: 'oil',
    apiNumber: sampleWell.apiNumber,
    apiNumberRaw: '42-329-40001',
    county: county.name,
    formation: county.formations[0]!,
    latitude: county.latitude,
    longitude: county.longitude,
  }
}

/** States of which the days of every well are known. */
const followedStates: readonly string[] = ['TX', 'AK', 'NM', 'ND']
/** Permits that are never used. */
const unused = 0.12
const daysTo = { spud: [25, 170], completion: [60, 190], production: [4, 60] } as const

/**
 * A well as it is on a day; undefined for permits of no new well, and in states where wells are
 * not followed.
 */
export function wellOf(seed: number, permit: WellPermit, today: string): Well | undefined {
  if (
    permit.permitType !== 'new_drill' ||
    permit.apiNumber === null ||
    !followedStates.includes(permit.state)
  )
    return undefined
  const wellDays = daysOf(seed, permit.apiNumber, permit.permitOn)
  return {
    apiNumber: permit.apiNumber,
    state: permit.state,
    operator: permit.operator,
    name: `${permit.wellName} ${permit.wellNumber}`,
    county: permit.county,
    formation: permit.formation,
    latitude: permit.latitude,
    longitude: permit.longitude,
    permitOn: permit.permitOn,
    ...upTo(wellDays, today),
    source: generatedSource,
  }
}

/** A well as it is on a later day. */
export const wellOn = (seed: number, well: Well, today: string): Well => ({
  ...well,
  ...upTo(daysOf(seed, well.apiNumber, well.permitOn!), today),
})

interface WellDays {
  spudOn: string
  completedOn: string
  firstProductionOn: string
}

function daysOf(seed: number, apiNumber: string, permitOn: string): WellDays | undefined {
  const key = keyOf(`${seed}/wells/${apiNumber}`)
  if (apiNumber !== sampleWell.apiNumber && uniform(key, 0) < unused) return undefined
  // Most take about the middle of the range.
  const after = (day: string, [least, most]: readonly [number, number], n: number) =>
    dayAfter(
      day,
      Math.round(least + ((most - least) * (uniform(key, n) + uniform(key, n + 1))) / 2),
    )
  const spudOn = after(permitOn, daysTo.spud, 1)
  const completedOn = after(spudOn, daysTo.completion, 3)
  return { spudOn, completedOn, firstProductionOn: after(completedOn, daysTo.production, 5) }
}

function upTo(
  wellDays: WellDays | undefined,
  today: string,
): Pick<Well, 'spudOn' | 'completedOn' | 'firstProductionOn'> {
  const past = (day: string | undefined) => (day !== undefined && day <= today ? day : null)
  return {
    spudOn: past(wellDays?.spudOn),
    completedOn: past(wellDays?.completedOn),
    firstProductionOn: past(wellDays?.firstProductionOn),
  }
}
