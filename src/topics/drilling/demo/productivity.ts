import { dayMs, parseDay } from '../../../lib/time/instant.ts'
import { createPath, type Path } from '../../prices/demo/path.ts'
import type { World } from '../../prices/demo/world.ts'
import type { Productivity } from '../dataset/counts.ts'
import { basinKeys } from '../math/drilling.ts'
import { type Yield, yields } from './basins.ts'
import { monthBefore, regionRow, surveyRigs } from './count-rows.ts'

/** Rigs become better and fields grow, from a level that holds for this year. */
const [levelYear, yearDays, betterAYear, moreAYear] = [2026, 365.25, 0.03, 0.02]
const yieldHalfLifeDays = 400
const [newWellWeight, totalWeight] = [0.06, 0.03]

/** Drilling productivity by basin and month. */
export function productivityRows(
  seed: number,
  world: World,
): (days: readonly string[]) => Productivity[] {
  const paths = new Map<string, Path>()

  const factor = (name: string, day: string, weight: number): number => {
    const path = paths.getOrInsertComputed(name, () =>
      createPath(seed, `drilling/${name}`, yieldHalfLifeDays, false),
    )
    const out = new Float64Array(1)
    path.addTo(out, parseDay(day)! / dayMs, weight, true)
    return Math.exp(out[0]!)
  }

  const yieldOn = (basin: string, day: string): Yield => {
    const years = (parseDay(day)! - Date.UTC(levelYear, 0, 1)) / (yearDays * dayMs)
    const level = yields[basin]!
    const better = Math.exp(betterAYear * years) * factor(`${basin}/rig`, day, newWellWeight)
    const more = (of: string) =>
      Math.exp(moreAYear * years) * factor(`${basin}/${of}`, day, totalWeight)
    return {
      newWellOil: Math.round(level.newWellOil * better),
      newWellGas: Math.round(level.newWellGas * better),
      totalOil: Math.round(level.totalOil * more('oil')),
      totalGas: Math.round(level.totalGas * more('gas')),
    }
  }

  return days => {
    if (days.length === 0) return []
    const rigsOn = surveyRigs(world, days)
    return days.flatMap(day =>
      Object.keys(yields).map(basin => {
        const [before, now] = [yieldOn(basin, monthBefore(day)), yieldOn(basin, day)]
        const rigs = rigsOn(day)[basinKeys.indexOf(basin)]!
        return {
          ...regionRow(basin, day),
          ...now,
          rigs,
          // The change of all wells is the gain from new ones minus the decline of old ones.
          legacyOil: now.totalOil - before.totalOil - rigs * now.newWellOil,
          legacyGas: now.totalGas - before.totalGas - rigs * now.newWellGas,
        }
      }),
    )
  }
}
