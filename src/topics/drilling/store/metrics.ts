import type { Database, SQLQueryBindings } from 'bun:sqlite'
import { keptCount } from '../../../database/kept-counts.ts'
import { lazy } from '../../../database/statement.ts'

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

/** A count of one region. */
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

/** What is counted of drilling in basins and states, in one list. */
export interface DrillingMetricStore {
  /** Newest first, within a day by metric and region. */
  page(filter: MetricFilter, limit: number, offset: number): MetricRow[]
  count(filter: MetricFilter): number
  /** Of one region, oldest first; `toOn` is exclusive. */
  ofRegion(metric: DrillingMetric, region: string, fromOn: string, toOn: string): RegionCount[]
  /** The value before that of a day. */
  before(metric: DrillingMetric, region: string, day: string): number | undefined
}

/** Where each metric stands, and which rows of its table have it. */
const places: Readonly<
  Record<DrillingMetric, { table: string; column: string; condition?: string }>
> = {
  rig_count: { table: 'rig_counts', column: 'total', condition: "span = 'week'" },
  frac_spreads: { table: 'frac_spreads', column: 'active' },
  duc_wells: { table: 'duc_wells', column: 'duc' },
  wells_drilled: { table: 'duc_wells', column: 'drilled', condition: 'drilled IS NOT NULL' },
  completions: { table: 'duc_wells', column: 'completed', condition: 'completed IS NOT NULL' },
}

export function createDrillingMetricStore(db: Database): DrillingMetricStore {
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
    page(filter, limit, offset) {
      const arms = metricsOf(filter).map(
        metric => `SELECT '${metric}' AS metric, region, counted_on AS countedOn, ${places[metric].column} AS value, source, recorded_at AS recordedAt
          FROM ${places[metric].table} WHERE ${whereOf(metric, filter)}`,
      )
      return lazy<MetricRow>(
        db,
        `${arms.join(' UNION ALL ')} ORDER BY countedOn DESC, metric DESC, region DESC LIMIT ?4 OFFSET ?5`,
      ).all(...bound(filter), limit, offset)
    },
    count: filter =>
      metricsOf(filter).reduce((sum, metric) => {
        const sql = `SELECT count(*) AS n FROM ${places[metric].table} WHERE ${whereOf(metric, filter)}`
        return sum + keptCount(db, sql)(...bound(filter))
      }, 0),
    ofRegion(metric, region, fromOn, toOn) {
      const { table, column, condition = 'TRUE' } = places[metric]
      return lazy<RegionCount>(
        db,
        `SELECT counted_on AS "on", ${column} AS value, source FROM ${table}
         WHERE region = ? AND counted_on >= ? AND counted_on < ? AND ${condition} ORDER BY counted_on`,
      ).all(region, fromOn, toOn)
    },
    before(metric, region, day) {
      const { table, column, condition = 'TRUE' } = places[metric]
      return lazy<{ value: number }>(
        db,
        `SELECT ${column} AS value FROM ${table} WHERE region = ? AND counted_on < ? AND ${condition} ORDER BY counted_on DESC LIMIT 1`,
      ).get(region, day)?.value
    },
  }
}
