import { minuteMs } from '../../../lib/time/instant.ts'
import {
  basins,
  country,
  ducWellCode,
  fracSpreadCode,
  rigCountCode,
} from '../../drilling/math/drilling.ts'
import { states } from '../../drilling/math/states.ts'
import type { Observation } from '../math/bars.ts'
import { type Depth, depthOf } from './history-depth.ts'
import type { WorldSeries } from './series.ts'
import type { World } from './world.ts'

/** Codes that are parts of a whole. Their sum may be less than the whole. */
export interface RegionGroup {
  whole: string
  parts: readonly string[]
}

/** The groups of the drilling codes: each whole by basin, and rigs by state too. */
export const drillingGroups: readonly RegionGroup[] = [
  ...[rigCountCode, fracSpreadCode, ducWellCode].map(codeOf => ({
    whole: codeOf(country)!,
    parts: basins.flatMap(basin => codeOf(basin.key) ?? []),
  })),
  { whole: rigCountCode(country)!, parts: states.map(state => rigCountCode(state.code)!) },
]

/** Codes of one release come out within ten minutes of each other. */
const releaseSpreadMs = 11 * minuteMs

/**
 * Adds regions that sum up: the share of each part follows a random path, and all parts together
 * with the rest are the whole, in whole numbers. The wholes are unchanged.
 */
export function withRegions(
  world: World,
  series: readonly WorldSeries[],
  groups = drillingGroups,
  ofHistory = depthOf,
): World {
  const byCode = new Map(
    series.filter(series => series.available).map(series => [series.code, series]),
  )
  const groupOf = new Map<string, Apportioned>()
  for (const { whole, parts } of groups) {
    const shippedParts = parts.filter(code => byCode.has(code))
    if (!byCode.has(whole) || shippedParts.length === 0) continue
    const group = apportioned(
      world,
      byCode.get(whole)!,
      shippedParts.map(code => byCode.get(code)!),
    )
    for (const code of shippedParts) groupOf.set(code, group)
  }

  const observations = (code: string, from: number, to: number, depth?: Depth): Observation[] => {
    const observations = world.observations(code, from, to, depth)
    const group = groupOf.get(code)
    if (!group || observations.length === 0) return observations
    const { places, columns } = group(from, to, depth)
    const values = columns.get(code)!
    return observations.map(value => {
      const place = places.get(value.observedAt)
      return place === undefined ? value : { ...value, value: values[place]! }
    })
  }
  return {
    observations,
    history(code, now) {
      const series = byCode.get(code)
      if (!series || !groupOf.has(code)) return world.history(code, now)
      const depth = ofHistory(series, now)
      return observations(code, depth.from, now, depth)
    },
  }
}

/** Values of each part of a group, and the place of an instant among them. */
interface Shares {
  places: ReadonlyMap<number, number>
  columns: ReadonlyMap<string, Float64Array>
}

type Apportioned = (from: number, to: number, depth?: Depth) => Shares

const spansKept = 8

function apportioned(world: World, whole: WorldSeries, parts: readonly WorldSeries[]): Apportioned {
  const levels = parts.reduce((sum, part) => sum + part.level, 0)
  const restShare = Math.max(0, whole.level - levels) / levels
  // The codes of a group need the same few spans, one code after the other.
  const kept = new Map<string, Shares>()

  const compute = (from: number, to: number, depth?: Depth): Shares => {
    const at = (code: string) =>
      world.observations(code, from - releaseSpreadMs, to + releaseSpreadMs, depth)
    const raw = parts.map(
      part =>
        new Map(at(part.code).map(observation => [observation.observedAt, observation.value])),
    )
    const wholes = at(whole.code)
    const columns = parts.map(() => new Float64Array(wholes.length))
    for (const [place, { observedAt, value }] of wholes.entries()) {
      const weights = raw.map(ofPart => ofPart.get(observedAt) ?? 0)
      const rest = restShare * weights.reduce((sum, weight) => sum + weight, 0)
      const shares = apportion(value, [...weights, rest])
      for (const [i, column] of columns.entries()) column[place] = shares[i]!
    }
    return {
      places: new Map(wholes.map(({ observedAt }, place) => [observedAt, place])),
      columns: new Map(parts.map((part, i) => [part.code, columns[i]!])),
    }
  }

  return (from, to, depth) => {
    const span = JSON.stringify([from, to, depth])
    const shares = kept.get(span) ?? compute(from, to, depth)
    kept.delete(span)
    kept.set(span, shares)
    if (kept.size > spansKept) kept.delete(kept.keys().next().value!)
    return shares
  }
}

/**
 * `total` in whole numbers that add up to it, by `weights`: each gets the whole part of its share,
 * and the largest remainders one more.
 */
export function apportion(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((all, weight) => all + weight, 0)
  if (sum <= 0) return weights.map((_, i) => (i === weights.length - 1 ? total : 0))
  const exact = weights.map(weight => (total * weight) / sum)
  const shares = exact.map(Math.floor)
  const order = exact
    .map((share, i) => [share - shares[i]!, i] as const)
    .sort(([a, i], [b, j]) => b - a || i - j)
  const missing = total - shares.reduce((all, share) => all + share, 0)
  for (const [, i] of order.slice(0, missing)) shares[i]! += 1
  return shares
}
