import type { Database } from 'bun:sqlite'

/** A row of a dataset by the columns of its import; times in Unix ms under names in `_at`. */
export type DatasetRow = Readonly<Record<string, string | number | null>>

const day = 86_400_000
/** The table of a schedule as imports write it: `0=0;1.2=1;1.25`. */
const bandsText = `(SELECT group_concat(json_extract(value, '$[0]') || '=' || json_extract(value, '$[2]'), ';')
  || ';' || json_extract(bands, '$[#-1][1]') FROM json_each(bands))
  || CASE WHEN beyond_width IS NULL THEN '' ELSE ';+' || beyond_width || '=' || beyond_percent END`
const service = `carrier, carrier_name, mode, service_level,
  CASE service_name WHEN '' THEN NULL ELSE service_name END AS service_name`

/**
 * How the rows of each dataset are read again, in the columns and the units that its import takes.
 * Where answers show numbers, the order is theirs: rows that come in again get the same ones.
 */
const queries: Readonly<Record<string, string>> = {
  'futures-settlements': `
    SELECT s.code AS contract, d.traded_on, CASE d.from_ticks WHEN 0 THEN d.open END AS open,
      CASE d.from_ticks WHEN 0 THEN d.high END AS high, CASE d.from_ticks WHEN 0 THEN d.low END AS low,
      CASE d.from_ticks WHEN 0 THEN d.close END AS close, d.settlement,
      CASE d.from_ticks WHEN 0 THEN d.volume END AS volume, d.open_interest,
      CASE d.from_ticks WHEN 0 THEN d.quoted_at END AS quoted_at, d.source, d.recorded_at
    FROM futures_days d JOIN series s ON s.id = d.series_id
    WHERE d.from_ticks = 0 OR d.settlement IS NOT NULL ORDER BY s.code, d.traded_on`,
  'futures-ticks': `
    SELECT s.code AS contract, t.traded_at, t.price, t.volume, t.source, t.recorded_at
    FROM futures_ticks t JOIN series s ON s.id = t.series_id ORDER BY s.code, t.traded_at`,
  'storage-capacities': `
    SELECT s.code, c.effective_on, c.capacity, c.source, c.recorded_at
    FROM storage_capacities c JOIN series s ON s.id = c.series_id ORDER BY s.code, c.effective_on`,
  surcharges: `
    SELECT ${service}, effective_on AS effective_date, percent AS surcharge_percent, index_code, index_price,
      band_min, band_max, source, retrieved_at, recorded_at
    FROM surcharges WHERE fixture = 0 ORDER BY mode, carrier, service_level, effective_on`,
  'surcharge-schedules': `
    SELECT ${service}, valid_from_on AS valid_from, index_code, effective_weekday, ${bandsText} AS bands,
      matched AS match, source, retrieved_at, recorded_at
    FROM surcharge_schedules ORDER BY mode, carrier, service_level, valid_from_on`,
  'cftc-positions': `
    SELECT market, reported_on AS report_date, managed_money_long, managed_money_short, open_interest, source,
      recorded_at
    FROM cot_reports ORDER BY market, reported_on`,
  annotations: `
    SELECT id, annotated_on AS date, title, description, category, commodity_code AS commodity, source, recorded_at
    FROM annotations ORDER BY annotated_on, id`,
  'congressional-trades': `
    SELECT member, ticker, transaction_type, amount_range, transacted_on AS transaction_date,
      disclosed_on AS disclosure_date, source, recorded_at
    FROM congressional_trades ORDER BY transacted_on, member, ticker, transaction_type, amount_range`,
  'oil-inventories': `
    SELECT s.code AS series, date(o.observed_at / 1000, 'unixepoch') AS date, o.value AS level,
      'million_barrels' AS unit, o.recorded_at
    FROM inventory_records r JOIN series s ON s.id = r.series_id
      JOIN observations o ON o.series_id = r.series_id AND o.observed_at = r.starts_at
    WHERE o.observed_at % ${day} = 0 ORDER BY r.id`,
  'opec-productions': `
    SELECT country, month, bpd AS production, 'barrels_per_day' AS unit, source, recorded_at
    FROM opec_productions ORDER BY id`,
  outlooks: `
    SELECT f.source, s.code AS commodity, f.period, f.value, f.published_on, f.recorded_at
    FROM outlook_forecasts f JOIN series s ON s.id = f.series_id WHERE f.fixture = 0 ORDER BY f.id`,
  'rig-counts': `
    SELECT CASE span WHEN 'month' THEN substr(counted_on, 1, 7) ELSE counted_on END AS date, region, oil, gas, misc,
      total, source, recorded_at
    FROM rig_counts ORDER BY counted_on, region`,
  'frac-spreads': `
    SELECT counted_on AS date, region, active AS active_spreads, source, recorded_at
    FROM frac_spreads ORDER BY counted_on, region`,
  'duc-wells': `
    SELECT substr(counted_on, 1, 7) AS month, region, duc AS duc_count, drilled AS wells_drilled,
      completed AS completions, source, recorded_at
    FROM duc_wells ORDER BY counted_on, region`,
  'drilling-productivity': `
    SELECT substr(counted_on, 1, 7) AS month, region AS basin, rigs AS rig_count, new_well_oil AS new_well_oil_production,
      new_well_gas AS new_well_gas_production, legacy_oil AS legacy_oil_change, legacy_gas AS legacy_gas_change,
      total_oil AS total_oil_bpd, total_gas AS total_gas_mcfd, source, recorded_at
    FROM drilling_productivities ORDER BY counted_on, region`,
  'well-permits': `
    SELECT p.state_code AS state, f.permit_on AS permit_date, p.permit_number,
      coalesce(nullif(p.api_number_raw, ''), p.api_number) AS api_number, p.operator_raw AS operator, p.operator_number,
      nullif(w.name, '') AS well_name, p.well_number, pt.name AS permit_type, p.permit_status, wt.name AS well_type,
      county.label AS county, p.formation_raw AS formation, p.total_depth, p.latitude, p.longitude, p.section, p.township,
      p.range, p.source, nullif(p.source_url, '') AS source_url, p.fetched_at, p.data_as_of_on AS data_as_of,
      p.recorded_at
    FROM well_permits f JOIN well_permit_papers p ON p.id = f.id
      JOIN permit_terms pt ON pt.id = f.permit_type_id JOIN permit_terms wt ON wt.id = f.well_type_id
      JOIN permit_well_names w ON w.id = f.well_name_id LEFT JOIN permit_terms county ON county.id = f.county_id
    ORDER BY f.id`,
  'frac-disclosures': `
    SELECT reference AS disclosure_id, api_number, state_code AS state, county, operator, nullif(well_name, '') AS well_name,
      started_on AS job_start_date, ended_on AS job_end_date, latitude, longitude,
      water_gallons AS total_base_water_volume, non_water_gallons AS total_base_non_water_volume, source, recorded_at
    FROM frac_disclosures ORDER BY id`,
  'frac-chemicals': `
    SELECT d.reference AS disclosure_id, s.name AS chemical_name, nullif(s.cas_number, '') AS cas_number, c.purpose,
      c.concentration_percent, c.mass_lbs, c.source, c.recorded_at
    FROM frac_chemicals c JOIN frac_disclosures d ON d.id = c.disclosure_id
      JOIN frac_substances s ON s.id = c.substance_id
    ORDER BY c.disclosure_id, c.substance_id, c.purpose`,
  'diesel-stations': `
    SELECT reference, name, address, state_code AS state, latitude, longitude, price, 'gallon' AS unit,
      replace(fuel_types, ' ', ';') AS fuel_types, observed_at, source, recorded_at
    FROM diesel_stations ORDER BY id`,
  wells: `
    SELECT api_number, operator, name AS well_name, county, formation, latitude, longitude, permit_on AS permit_date,
      spud_on AS spud_date, completed_on AS completion_date, first_production_on AS first_production_date, source,
      recorded_at
    FROM wells ORDER BY api_number`,
  'well-production': `
    SELECT api_number, month, oil_bbl, gas_mcf, water_bbl, days_producing, source, recorded_at
    FROM well_production ORDER BY api_number, month`,
  'state-production': `
    SELECT state_code AS state, month, oil_bbl, gas_mcf, water_bbl, 
      CASE provisional WHEN 1 THEN 'true' ELSE 'false' END AS provisional, source, recorded_at
    FROM state_production ORDER BY state_code, month`,
}

/** The names of the datasets whose rows can be read again, in the order in which they go in. */
export const readableDatasets: readonly string[] = [
  ...Object.keys(queries).filter(name => name !== 'wells' && name !== 'well-production'),
  // What wells produced is told of wells that are known.
  'wells',
  'well-production',
]

/** The columns of such rows. */
export const datasetRowColumns = (db: Database, dataset: string): string[] =>
  db.query(queries[dataset]!).columnNames

/** Every row of a dataset, one after the other; the database must not be written to meanwhile. */
export const datasetRows = (db: Database, dataset: string): Iterable<DatasetRow> =>
  db.query<DatasetRow, []>(queries[dataset]!).iterate()

/** Rows of a dataset that follow each other in time, such as the counts of a region. */
export type DatasetLines = ReturnType<typeof datasetLines>

export interface LineOfRows {
  dataset: string
  /** What its rows have in these columns. */
  line: Readonly<Record<string, string>>
  /** The column that they are in the order of. */
  time: string
}

export function datasetLines(db: Database) {
  // Names of columns are those of the queries above; only values come from elsewhere.
  const sqlOf = ({ dataset, line, time }: LineOfRows, condition: string) =>
    `SELECT * FROM (${queries[dataset]!}) WHERE ${Object.keys(line)
      .map((column, i) => `${column} = ?${i + 1} AND `)
      .join('')}${time} ${condition}`
  const ask = (line: LineOfRows, condition: string, ...bounds: (string | number)[]) =>
    db
      .query<DatasetRow, (string | number)[]>(sqlOf(line, condition))
      .all(...Object.values(line.line), ...bounds)
  return {
    /** The newest rows before a moment, oldest first. */
    before: (line: LineOfRows, until: string | number, limit: number) =>
      ask(line, `< ? ORDER BY ${line.time} DESC LIMIT ?`, until, limit).reverse(),
    /** From one moment to another, both inclusive, oldest first. */
    between: (line: LineOfRows, from: string | number, to: string | number) =>
      ask(line, `BETWEEN ? AND ? ORDER BY ${line.time}`, from, to),
  }
}
