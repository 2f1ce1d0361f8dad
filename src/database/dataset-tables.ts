import type { Database } from 'bun:sqlite'

/** A table that files, pushes and feeds bring rows of, beside prices. */
export interface DatasetTable {
  name: string
  /** The dataset whose rows they are; others may change them as well. */
  dataset: string
  /** What tells its rows apart, as whoever brings them does. */
  key: readonly string[]
  /**
   * The other part of a row, under a number that SQLite gives it when it is written: it counts with
   * that row.
   */
  isNumbered?: true
}

/**
 * In the order in which rows are put back: what refers to a row is looked at before the row. What is
 * counted, indexed or placed beside them follows them, and what stations of permits say of when they
 * were read stays.
 */
export const datasetTables: readonly DatasetTable[] = [
  {
    name: 'frac_chemicals',
    dataset: 'frac-chemicals',
    key: ['disclosure_id', 'substance_id', 'purpose'],
  },
  { name: 'frac_disclosures', dataset: 'frac-disclosures', key: ['reference'] },
  { name: 'well_permits', dataset: 'well-permits', key: ['id'], isNumbered: true },
  { name: 'well_permit_papers', dataset: 'well-permits', key: ['state_code', 'reference'] },
  { name: 'well_production', dataset: 'well-production', key: ['api_number', 'month'] },
  { name: 'wells', dataset: 'wells', key: ['api_number'] },
  { name: 'state_production', dataset: 'state-production', key: ['state_code', 'month'] },
  { name: 'rig_counts', dataset: 'rig-counts', key: ['region', 'counted_on'] },
  { name: 'frac_spreads', dataset: 'frac-spreads', key: ['region', 'counted_on'] },
  { name: 'duc_wells', dataset: 'duc-wells', key: ['region', 'counted_on'] },
  {
    name: 'drilling_productivities',
    dataset: 'drilling-productivity',
    key: ['region', 'counted_on'],
  },
  { name: 'futures_days', dataset: 'futures-settlements', key: ['series_id', 'traded_on'] },
  { name: 'futures_ticks', dataset: 'futures-ticks', key: ['series_id', 'traded_at'] },
  { name: 'storage_capacities', dataset: 'storage-capacities', key: ['series_id', 'effective_on'] },
  { name: 'opec_productions', dataset: 'opec-productions', key: ['country', 'month'] },
  {
    name: 'outlook_forecasts',
    dataset: 'outlooks',
    key: ['source', 'series_id', 'period', 'published_on'],
  },
  {
    name: 'surcharge_schedules',
    dataset: 'surcharge-schedules',
    key: ['mode', 'carrier', 'service_level', 'valid_from_on'],
  },
  {
    name: 'surcharges',
    dataset: 'surcharges',
    key: ['mode', 'carrier', 'service_level', 'effective_on'],
  },
  { name: 'diesel_stations', dataset: 'diesel-stations', key: ['reference'] },
  { name: 'cot_reports', dataset: 'cftc-positions', key: ['market', 'reported_on'] },
  { name: 'annotations', dataset: 'annotations', key: ['id'] },
  {
    name: 'congressional_trades',
    dataset: 'congressional-trades',
    key: ['member', 'ticker', 'transaction_type', 'transacted_on', 'amount_range'],
  },
]

export const columnsOf = (db: Database, table: string): string[] =>
  db
    .query<{ name: string }, [string]>('SELECT name FROM pragma_table_info(?)')
    .all(table)
    .map(column => column.name)

/** SQL for the key of a row as a JSON list. */
export const keySql = ({ key }: DatasetTable, row: string): string =>
  `json_array(${key.map(column => `${row}.${column}`).join(', ')})`

/** SQL for a row as a JSON object of its columns. */
export const rowSql = (columns: readonly string[], row: string): string =>
  `json_object(${columns.map(column => `'${column}', ${row}.${column}`).join(', ')})`
