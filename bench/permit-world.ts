import type { WellPermit } from '../src/topics/drilling/dataset/permits.ts'
import { permitStates } from '../src/topics/geography/math/us-states.ts'

/** Shares of the states that drill most; the others have the rest in equal parts. */
const stateShares: Readonly<Record<string, number>> = {
  TX: 0.38,
  OK: 0.1,
  NM: 0.07,
  PA: 0.06,
  WY: 0.06,
  CA: 0.05,
  ND: 0.05,
  CO: 0.05,
  LA: 0.04,
  KS: 0.04,
}
const countiesEach = 100
const formationsEach = 10
const operatorsAll = 3_000
/** Operators that work in one state. */
const operatorsEach = 300
const leasesAll = 400_000
const years = 20
const permitTypes = [
  'new_drill',
  'new_drill',
  'new_drill',
  'new_drill',
  'recompletion',
  'reentry',
  'sidetrack',
]
const wellTypes = ['oil', 'oil', 'oil', 'gas', 'gas', 'injection', 'disposal']
const operatorWords =
  'Energy,Operating,Resources,Petroleum,Exploration,Oil,Production,Partners,Natural Gas,Ventures,Minerals,Basin'.split(
    ',',
  )
const leaseWords = 'UNIT,STATE,FEDERAL,RANCH,FEE,TRUST,ESTATE,LANDS,UNIVERSITY,COM'.split(',')
const dayMs = 86_400_000

export interface PermitWorld {
  /** Permits `[from, to)` of `total`, oldest first, the last of them today. */
  permits(from: number, to: number, total: number): WellPermit[]
  /** Uniform in [0, 1), the same in every run. */
  next(): number
}

/** A made-up register, the same in every run. */
export function permitWorld(now: number): PermitWorld {
  let state = 7
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  /**
   * Small numbers more often than large ones: of a hundred, 0 comes every twentieth time with 1.5
   * and every tenth with 2.
   */
  const skewed = (count: number, power: number) => Math.floor(count * next() ** power)
  const rest =
    (1 - Object.values(stateShares).reduce((a, b) => a + b, 0)) /
    (permitStates.length - Object.keys(stateShares).length)
  let sum = 0
  const upTo = (share: number) => {
    sum += share
    return sum
  }
  const places = permitStates.map(permitState => ({
    ...permitState,
    upTo: upTo(stateShares[permitState.code] ?? rest),
    counties: Array.from({ length: countiesEach }, (_, i) => ({
      index: i,
      name: `${permitState.name} County ${i + 1}`,
      latitude:
        permitState.box.south +
        0.3 +
        next() * (permitState.box.north - permitState.box.south - 0.6),
      longitude:
        (permitState.code === 'AK' ? -165 : permitState.box.west) +
        0.3 +
        next() *
          (permitState.box.east - (permitState.code === 'AK' ? -165 : permitState.box.west) - 0.6),
    })),
  }))
  const placeAt = () => {
    const at = next()
    return places.find(place => at < place.upTo) ?? places[0]!
  }
  const today = Math.floor(now / dayMs)
  const permit = (i: number, total: number): WellPermit => {
    const place = placeAt()
    const [county, lease] = [place.counties[skewed(countiesEach, 1.5)]!, skewed(leasesAll, 2)]
    const operator = (places.indexOf(place) * 97 + skewed(operatorsEach, 2)) % operatorsAll
    const day = new Date((today - Math.floor(years * 365 * (1 - (i + 1) / total))) * dayMs)
      .toISOString()
      .slice(0, 10)
    const api = `${place.apiPrefix}${String(county.index * 2 + 1).padStart(3, '0')}${String(Math.floor((i / total) * 99_999)).padStart(5, '0')}0000`
    return {
      state: place.code,
      permitOn: day,
      permitNumber: String(1_000_000 + i),
      permitStatus: 'approved',
      permitType: permitTypes[Math.floor(next() * permitTypes.length)]!,
      wellType: wellTypes[Math.floor(next() * wellTypes.length)]!,
      apiNumber: api,
      apiNumberRaw: api,
      county: county.name,
      operator: `Op ${operator.toString(26).toUpperCase()} ${operatorWords[operator % operatorWords.length]!}, LLC`,
      operatorNumber: null,
      wellName: `${lease.toString(30).toUpperCase()} ${leaseWords[lease % leaseWords.length]!}`,
      wellNumber: `${(i % 40) + 1}H`,
      formation: `${place.code} Bench ${skewed(formationsEach, 1.5)}`,
      totalDepth: 9_000 + Math.floor(next() * 12_000),
      latitude: Math.round((county.latitude + (next() + next() - 1) * 0.25) * 1e6) / 1e6,
      longitude: Math.round((county.longitude + (next() + next() - 1) * 0.25) * 1e6) / 1e6,
      section: null,
      township: null,
      range: null,
      source: 'bench',
      sourceUrl: '',
      fetchedAt: now,
      dataAsOfOn: day,
    }
  }
  return {
    next,
    permits: (from, to, total) =>
      Array.from({ length: to - from }, (_, k) => permit(from + k, total)),
  }
}
