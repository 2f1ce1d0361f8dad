import type { SQLQueryBindings } from 'bun:sqlite'
import type { DatasetReads } from '../../../database/dataset-reads.ts'
import type { Declared } from '../../../datasets/dataset.ts'
import { ducWells, fracSpreads, rigCounts } from '../dataset/counts.ts'

export const drillingMetrics = [
  'rig_count',
  'frac_spreads',
  'duc_wells',
  'wells_drilled',
  'completions',
] as const
export type DrillingMetric = (typeof drillingMetrics)[number]

/** One count of a basin or a state, whatever it counts. */
export interface MetricRow {
  metric: DrillingMetric
  region: string
  countedOn: string
  value: number
  source: string
  recordedAt: number
}

export interface RegionCount extends Pick<MetricRow, 'value' | 'source'> {
  /** Its day. */
  on: string
}

export interface MetricFilter {
  /** Undefined: all of them. */
  metric?: DrillingMetric | undefined
  /** Undefined: every basin and state. */
  regions: readonly string[] | undefined
  fromOn: string
  /** Exclusive. */
  toOn: string
}

/** The table of each metric, and the condition for its rows. */
const places: Readonly<
  Record<DrillingMetric, { of: Declared; column: string; condition?: string }>
> = {
  rig_count: { of: rigCounts, column: 'total', condition: "span = 'week'" },
  frac_spreads: { of: fracSpreads, column: 'active' },
  duc_wells: { of: ducWells, column: 'duc' },
  wells_drilled: { of: ducWells, column: 'drilled', condition: 'drilled IS NOT NULL' },
  completions: { of: ducWells, column: 'completed', condition: 'completed IS NOT NULL' },
}

const tableOf = (metric: DrillingMetric): string => places[metric].of.tables[0]!.name

/** All drilling counts of basins and states, in one list. */
export function createDrillingMetricStore(reads: DatasetReads) {
  const whereOf = (metric: DrillingMetric, filter: MetricFilter): string => {
    // By day: the plus hides the regions, by which everything would be read and sorted.
    const regions = filter.regions
      ? '+region IN (SELECT value FROM json_each(?3))'
      : "region <> 'US' AND ?3 IS NULL"
    const { condition } = places[metric]
    return `counted_on >= ?1 AND counted_on < ?2 AND ${regions}${condition ? ` AND ${condition}` : ''}`
  }
  const metricsOf = ({ metric }: MetricFilter): readonly DrillingMetric[] =>
    metric ? [metric] : drillingMetrics
  const bound = ({ fromOn, toOn, regions }: MetricFilter): SQLQueryBindings[] => [
    fromOn,
    toOn,
    regions ? JSON.stringify(regions) : null,
  ]

  return {
    /** Newest first, within a day by metric and region. */
    page(filter: MetricFilter, limit: number, offset: number) {
      const arms = metricsOf(filter).map(
        metric => `SELECT '${metric}' AS metric, region, counted_on AS countedOn, ${places[metric].column} AS value, source, recorded_at AS recordedAt
          FROM ${tableOf(metric)} WHERE ${whereOf(metric, filter)}`,
      )
      return reads
        .statement<MetricRow>(
          `${arms.join(' UNION ALL ')} ORDER BY countedOn DESC, metric DESC, region DESC LIMIT ?4 OFFSET ?5`,
          ...new Set(metricsOf(filter).map(metric => places[metric].of)),
        )
        .all(...bound(filter), limit, offset)
    },
    count: (filter: MetricFilter) =>
      metricsOf(filter).reduce((sum, metric) => {
        const sql = `SELECT count(*) AS n FROM ${tableOf(metric)} WHERE ${whereOf(metric, filter)}`
        return sum + reads.count(sql, places[metric].of)(...bound(filter))
      }, 0),
    /** The rows of one region, oldest first; `toOn` is exclusive. */
    ofRegion(metric: DrillingMetric, region: string, fromOn: string, toOn: string) {
      const { of, column, condition = 'TRUE' } = places[metric]
      return reads
        .statement<RegionCount>(
          `SELECT counted_on AS "on", ${column} AS value, source FROM ${tableOf(metric)}
         WHERE region = ? AND counted_on >= ? AND counted_on < ? AND ${condition} ORDER BY counted_on`,
          of,
        )
        .all(region, fromOn, toOn)
    },
    /** The value before that of a day. */
    before(metric: DrillingMetric, region: string, day: string) {
      const { of, column, condition = 'TRUE' } = places[metric]
      return reads
        .statement<{ value: number }>(
          `SELECT ${column} AS value FROM ${tableOf(metric)} WHERE region = ? AND counted_on < ? AND ${condition} ORDER BY counted_on DESC LIMIT 1`,
          of,
        )
        .get(region, day)?.value
    },
  }
}
