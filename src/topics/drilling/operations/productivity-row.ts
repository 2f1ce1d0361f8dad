import { t } from '../../../http/answer/schema.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { Stamp } from '../../energy/operations/answer.ts'
import type { DucWells, Productivity } from '../dataset/counts.ts'
import { percentChange, type Trend, trendOf } from '../math/change.ts'
import { storedBasins } from '../math/drilling.ts'
import type { Numbered, RegionalStore } from '../store/regional.ts'

/** The list that records are numbered in. */
export const productivityList = storedBasins.map(basin => basin.key)

export const Basin = t.String({ examples: ['permian'] })
export const SurveyDay = t.date('Middle of the month.', '2026-11-15')
export const Month = t.String({ examples: ['2026-11'] })

export const ProductivityRecord = t.object('DrillingProductivity', {
  id: t.String({ examples: ['1'] }),
  basin: Basin,
  new_well_oil_production: t.number('Of the new wells of one rig, barrels a day.', 1410),
  new_well_gas_production: t.number(
    'Of the new wells of one rig, thousand cubic feet a day.',
    2650,
  ),
  legacy_oil_change: t.number('Of older wells against the month before, barrels a day.', -348200),
  legacy_gas_change: t.number('Of older wells, thousand cubic feet a day.', -642800),
  total_oil_bpd: t.number('Of all wells, barrels a day.', 6550000),
  total_gas_mcfd: t.number('Of all wells, thousand cubic feet a day.', 27500000),
  duc_count: t.integerOrNull(
    'Drilled but uncompleted wells; null if there are none for the basin and month.',
    890,
  ),
  rig_count: t.integer('Rigs active in the month.', 251),
  date: SurveyDay,
  month: Month,
  source: t.String({ examples: ['EIA'] }),
  timestamp: Stamp,
})

/** Records as they are answered, alongside the wells that wait: each day is read once. */
export function productivityRecords(
  rows: readonly Numbered<Productivity>[],
  duc: RegionalStore<DucWells>,
) {
  const days = new Map<string, ReadonlyMap<string, number>>()
  const ducOf = (region: string, day: string): number | null => {
    const countsByRegion = days.getOrInsertComputed(
      day,
      () => new Map(duc.on(day).map(row => [row.region, row.duc])),
    )
    return countsByRegion.get(region) ?? null
  }
  return rows.map(row => ({
    id: String(row.id),
    basin: row.region,
    new_well_oil_production: row.newWellOil,
    new_well_gas_production: row.newWellGas,
    legacy_oil_change: row.legacyOil,
    legacy_gas_change: row.legacyGas,
    total_oil_bpd: row.totalOil,
    total_gas_mcfd: row.totalGas,
    duc_count: ducOf(row.region, row.countedOn),
    rig_count: row.rigs,
    date: row.countedOn,
    month: row.countedOn.slice(0, 7),
    source: row.source,
    timestamp: isoInstant(row.recordedAt),
  }))
}

const trendMetrics = [
  'new_well_oil_production',
  'new_well_gas_production',
  'total_oil_bpd',
  'total_gas_mcfd',
  'duc_count',
] as const
type Measured = Record<(typeof trendMetrics)[number], number | null>

/**
 * The change of each metric of a basin from one month to another; metrics missing in either month
 * are left out.
 */
export function productivityTrends(basin: string, from: Measured, to: Measured) {
  return trendMetrics.flatMap(metric => {
    const [before, now] = [from[metric], to[metric]]
    if (before === null || now === null) return []
    const trend: Trend = trendOf(before, now)
    return { basin, metric, trend, change_percent: percentChange(before, now) ?? null }
  })
}
