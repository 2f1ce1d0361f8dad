import { dayMs, isoDay } from '../../src/lib/time/instant.ts'
import {
  followSeries,
  type GuardState,
  type MoveLimits,
  type Previous,
} from '../../src/topics/prices/math/guards.ts'
import { openTestInstance } from './instance/instance.ts'
import type { RealSeries } from './real-series.ts'

/** The limits of the guards were fitted on values before it, and are judged on those after. */
export const fittedUntil = Date.parse('2015-01-01')
const now = Date.parse('2027-01-01')
/** So many values an instance learns from when it starts. */
const learntValues = 250
/** Before so many values of a series nothing is put in their place. */
const learntMin = 30

export interface FalseHold {
  name: string
  at: number
  before: number | undefined
  value: number
  rule: string
  reason: string
}

/** The honest values of a file that would be held if it was imported alone, into an empty instance. */
export function falseHolds(
  { name, series, values }: RealSeries,
  limits?: MoveLimits,
): { held: FalseHold[]; listed: number } {
  const state = followSeries(series, [], limits)
  const held: FalseHold[] = []
  let listed = 0
  for (const { observedAt: at, value } of values) {
    const flags = state.judge(at, value, state.last, now)
    const flag = flags.find(({ action }) => action === 'hold')
    if (flag) {
      const { rule, reason } = flag
      held.push({ name, at, before: state.last?.value, value, rule, reason })
      state.hold(at, value)
    } else {
      state.take(at, value)
      if (flags.length > 0) listed += 1
    }
  }
  return { held, listed }
}

/** A place in a series where something may go wrong. */
export interface Place {
  real: RealSeries
  /** The time of the value. */
  at: number
  state: GuardState
  all: readonly RealSeries[]
  chance(below: number): number
}

/** The faulty value that replaces a value; undefined where it would not be a fault. */
type Fault = (value: number, place: Place) => number | undefined

export interface FaultKind {
  name: string
  /** Whether at least 95% are held; of the others the figure is reported. */
  isDetectable: boolean
  of: Fault
}

const times =
  (factor: number): Fault =>
  value =>
    value === 0 ? undefined : value * factor

const ratioOf = (a: number, b: number): number =>
  a > 0 && b > 0 ? Math.max(a / b, b / a) : Number.POSITIVE_INFINITY

/** Two neighbouring digits change places, and the value by a factor within bounds. */
const transposed =
  (from: number, to: number): Fault =>
  (value, { chance }) => {
    const text = String(value)
    const digits = [...text].flatMap((char, i) => (/\d/.test(char) ? [i] : []))
    const faults = digits.slice(1).flatMap((second, i) => {
      const chars = [...text]
      const first = digits[i]!
      ;[chars[first], chars[second]] = [chars[second]!, chars[first]!]
      const fault = Number(chars.join(''))
      const ratio = ratioOf(value, fault)
      return ratio >= from && ratio < to ? [fault] : []
    })
    return faults.length > 0 ? faults[chance(faults.length)] : undefined
  }

/** The value that another series has at the same time, if it is so many times apart. */
const ofAnother =
  (apart: number, isOther: (own: RealSeries, other: RealSeries) => boolean): Fault =>
  (value, { real, at, all, chance }) => {
    const others = all.filter(other => other !== real && isOther(real, other))
    const other = others.length > 0 ? others[chance(others.length)]! : undefined
    const moment = real.values[at]!.observedAt
    const fault = other?.values.findLast(({ observedAt }) => observedAt <= moment)?.value
    return fault !== undefined && fault !== value && ratioOf(value, fault) >= apart
      ? fault
      : undefined
  }

/** The value that the series itself had some values earlier. */
const ofEarlier =
  (steps: number, apart: number): Fault =>
  (value, { real, at }) => {
    const fault = real.values[at - steps]?.value
    return fault !== undefined && fault !== 0 && ratioOf(value, fault) >= apart ? fault : undefined
  }

const kinds = (isDetectable: boolean, all: readonly [name: string, of: Fault][]): FaultKind[] =>
  all.map(([name, of]) => ({ name, isDetectable, of }))

export const faultKinds: readonly FaultKind[] = [
  ...kinds(true, [
    ['a decimal point to the right (× 10)', times(10)],
    ['a decimal point to the left (÷ 10)', times(0.1)],
    ['cents for dollars (× 100)', times(100)],
    ['dollars for cents (÷ 100)', times(0.01)],
    ['thousands for ones (× 1000)', times(1000)],
    ['ones for thousands (÷ 1000)', times(0.001)],
    ['barrels for gallons (× 42)', times(42)],
    ['gallons for barrels (÷ 42)', times(1 / 42)],
    ['cubic metres for barrels (× 6.29)', times(6.2898)],
    ['barrels for cubic metres (÷ 6.29)', times(1 / 6.2898)],
    ['tonnes for barrels (× 7.33)', times(7.33)],
    ['barrels for tonnes (÷ 7.33)', times(1 / 7.33)],
    ['gallons for litres (× 3.79)', times(3.7854)],
    ['litres for gallons (÷ 3.79)', times(1 / 3.7854)],
    ['megawatt hours for gigajoules (× 3.6)', times(3.6)],
    ['gigajoules for megawatt hours (÷ 3.6)', times(1 / 3.6)],
    ['yen for dollars (× 151.3)', times(151.3)],
    ['the other sign', times(-1)],
    ['zero', value => (value === 0 ? undefined : 0)],
    [
      'a decimal comma that is dropped (71,20 as 7120)',
      value => {
        const decimals = String(value).split('.')[1]?.length ?? 0
        return decimals > 0 ? value * 10 ** decimals : undefined
      },
    ],
    ['two digits that change places, a factor of 3 or more', transposed(3, 1000)],
    ['the value of another series, a factor of 2 or more', ofAnother(2, () => true)],
    [
      'the value of another series of the category, a factor of 2 or more',
      ofAnother(2, (own, other) => own.category === other.category),
    ],
  ]),
  ...kinds(false, [
    ['kilograms for pounds (× 2.2)', times(2.2046)],
    ['pounds for kilograms (÷ 2.2)', times(1 / 2.2046)],
    ['twice as much', times(2)],
    ['half as much', times(0.5)],
    ['half as much again', times(1.5)],
    ['two digits that change places, a factor of 2 to 3', transposed(2, 3)],
    ['two digits that change places, a factor of 1.5 to 2', transposed(1.5, 2)],
    ['two digits that change places, a factor of 1.2 to 1.5', transposed(1.2, 1.5)],
    ['two digits that change places, less', transposed(1.000_001, 1.2)],
    ['the value of 250 values earlier, a factor of 1.5 or more', ofEarlier(250, 1.5)],
    ['the value of one value earlier, a factor of 1.02 or more', ofEarlier(2, 1.02)],
    [
      'the value of another series of the category, a factor of 1.2 to 2',
      (value, place) => {
        const fault = ofAnother(1.2, (own, other) => own.category === other.category)(value, place)
        return fault !== undefined && ratioOf(value, fault) < 2 ? fault : undefined
      },
    ],
    ['a typing error of 2%', times(1.02)],
  ]),
]

/** How many of so many faults are held, and how many are at least listed, of values in a time. */
export function measureFaults(
  { of }: FaultKind,
  all: readonly RealSeries[],
  { from, to, count, limits }: { from: number; to: number; count: number; limits?: MoveLimits },
): { tried: number; held: number; flagged: number } {
  const chance = createChance()
  const spans = all.flatMap(real => {
    const isWithin = ({ observedAt }: Previous) => observedAt >= from && observedAt < to
    const first = Math.max(learntMin, real.values.findIndex(isWithin))
    const end = real.values.findLastIndex(isWithin) + 1
    return end - first >= 20 ? [{ real, first, end }] : []
  })
  let [tried, held, flagged] = [0, 0, 0]
  // Some kinds are possible at few places only.
  for (let left = 40 * count; left > 0 && tried < count; left -= 1) {
    const { real, first, end } = spans[chance(spans.length)]!
    const at = first + chance(end - first)
    const { observedAt, value } = real.values[at]!
    const known = real.values.slice(Math.max(0, at - learntValues), at)
    const state = followSeries(real.series, known, limits)
    const fault = of(value, { real, at, state, all, chance })
    if (fault === undefined) continue
    tried += 1
    const flags = state.judge(observedAt, fault, state.last, now)
    if (flags.some(({ action }) => action === 'hold')) held += 1
    if (flags.length > 0) flagged += 1
  }
  return { tried, held, flagged }
}

/** The same chances on every run. */
export function createChance(): (below: number) => number {
  let seed = 7
  return below => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff
    return Math.floor((seed / 0x80000000) * below)
  }
}

/**
 * The honest values after 2015 that would be held in one instance that all files are fed to, day by
 * day: those of a folder are of one source, and series of a category bear each other out.
 */
export function heldTogether(all: readonly RealSeries[]): string[] {
  const { services } = openTestInstance({}, now)
  const terms = { unit: 'unit', decimals: 6, min: -1e9, max: 1e9 }
  const added = services.seriesChanges.add(
    all.map(({ category, cadence }, i) => ({
      code: `REAL_${i}`,
      terms: { ...terms, category, cadence },
    })),
  )
  const sourceOf = (i: number) => all[i]!.name.split(/[/ ]/)[0]!
  const points = all.flatMap(({ values }, i) =>
    values.map(value => ({ ...value, seriesId: added[i]!.id, source: sourceOf(i) })),
  )
  const [learnt, judged] = [fittedUntil - 400 * dayMs, fittedUntil]
  const recent = points.filter(({ observedAt }) => observedAt >= learnt)
  services.ingest.write(recent.filter(({ observedAt }) => observedAt < judged))
  const days = Map.groupBy(
    recent.filter(({ observedAt }) => observedAt >= judged),
    ({ observedAt, source }) => `${isoDay(observedAt)} ${source}`,
  )
  for (const [, ofDay] of [...days].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const batch = services.batches.begin({ kind: 'push', actor: 'test', source: ofDay[0]!.source })
    batch.write(ofDay.map(({ source: _, ...point }) => point))
    batch.end()
  }
  const nameOf = new Map(added.map(({ id }, i) => [id, all[i]!.name]))
  return services.flaggedValues
    .list({ status: 'waiting' }, 1000, 0)
    .map(({ seriesId, observedAt, reason }) =>
      [nameOf.get(seriesId!), isoDay(observedAt), reason].join(' '),
    )
    .toReversed()
}
