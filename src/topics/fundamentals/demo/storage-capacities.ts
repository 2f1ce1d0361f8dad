import { type DemoData, writtenAtOnce } from '../../../demo/demo-data.ts'
import { isoDay, parseDay } from '../../../lib/time/instant.ts'
import { generatedSource } from '../../catalogue/math/catalogue.ts'
import { roundTo } from '../../prices/math/format.ts'
import type { StorageCapacity } from '../dataset/storage-capacities.ts'
import type { StorageCapacityStore } from '../store/storage-capacities.ts'

/** Invented capacities in million barrels at the first survey, and what each half-year adds. */
const places: readonly (readonly [code: string, first: number, halfYearly: number])[] = [
  ['CUSHING_STORAGE', 75.1, 0.16],
  ['US_CRUDE_STORAGE', 652.4, 1.7],
  ['PADD1_CRUDE_STORAGE', 18.2, -0.05],
  ['PADD2_CRUDE_STORAGE', 166.9, 0.12],
  ['PADD3_CRUDE_STORAGE', 372.6, 1.6],
  ['PADD4_CRUDE_STORAGE', 35.8, 0.06],
  ['PADD5_CRUDE_STORAGE', 64.3, -0.03],
  ['SPR_STORAGE', 714, 0],
  ['SPR_BRYAN_MOUND_STORAGE', 247.1, 0],
  ['SPR_BIG_HILL_STORAGE', 170.1, 0],
  ['SPR_WEST_HACKBERRY_STORAGE', 220.8, 0],
  ['SPR_BAYOU_CHOCTAW_STORAGE', 76, 0],
]

const firstYear = 2014
/** Surveys are of the last days of March and September. */
const surveyDays = ['03-31', '09-30']

/** Working capacities as two surveys a year would have them. */
export function createStorageCapacityData(
  capacities: StorageCapacityStore,
  seriesIdOf: (code: string) => number | undefined,
): DemoData {
  /** Surveys count as published on their own day. */
  const publish = (from: number, to: number): number => {
    const due = surveysUpTo(isoDay(to)).filter(
      ({ day }) => parseDay(day)! >= from && parseDay(day)! < to,
    )
    if (due.length === 0) return 0
    const rows: StorageCapacity[] = places.flatMap(([code, first, halfYearly]) => {
      const seriesId = seriesIdOf(code)
      if (seriesId === undefined) return []
      return due.map(({ day, index }) => ({
        seriesId,
        effectiveOn: day,
        capacity: roundTo(first + index * halfYearly, 3),
        source: generatedSource,
      }))
    })
    // Capacities imported for the same day are kept.
    const missing = rows.filter(
      row => capacities.on(row.seriesId, row.effectiveOn)?.effectiveOn !== row.effectiveOn,
    )
    if (missing.length > 0) capacities.write(missing, to)
    return missing.length
  }
  return {
    percent: 1,
    generate: now => writtenAtOnce(() => publish(Number.NEGATIVE_INFINITY, now)),
    publish,
  }
}

function surveysUpTo(today: string): { day: string; index: number }[] {
  const years = Array.from(
    { length: Math.max(0, Number(today.slice(0, 4)) - firstYear + 1) },
    (_, i) => firstYear + i,
  )
  return years
    .flatMap(year => surveyDays.map(day => `${year}-${day}`))
    .map((day, index) => ({ day, index }))
    .filter(({ day }) => day <= today)
}
