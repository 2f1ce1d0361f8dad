-- Wellhead's schema for a new database. src/database/migrations.sql brings a database of an older
-- version to this state; a test holds the two together.
--
-- Each section is a topic and has a heading (#). How columns are named:
--   *_at, *_until   a moment in integer Unix milliseconds; *_until is when a state ends
--   *_on            a day as text YYYY-MM-DD: UTC, or local where a comment says so
--   id              names a row: a number if only the service uses it, text if callers see it
--   number          the row number of a table whose id is text; it rises, so it orders the rows
--   *_id            refers to an id, of a row here or of something that has no table
--   *_number        refers to a row by its number (alert_number); others say whose number it is
--   *_code          refers to a series by its code, or is the code of a state
-- Yes and no is an integer 0 or 1 with a CHECK, JSON is text with a CHECK of json_valid. All tables
-- are STRICT. WITHOUT ROWID: rows are stored in the order of their key, which is how they are read,
-- and the key is not stored a second time.

-- # Catalogue: the codes that name prices.

-- One row for each commodity code.
CREATE TABLE series (
  id INTEGER PRIMARY KEY,
  code TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  category TEXT NOT NULL,
  currency TEXT,
  unit TEXT NOT NULL,
  decimals INTEGER NOT NULL,
  cadence TEXT NOT NULL,
  source TEXT NOT NULL,
  description TEXT NOT NULL,
  -- Why the catalogue lists the code without data: no_source, discontinued, restricted. NULL: it
  -- may have data.
  unavailable_reason TEXT,
  -- A typical value. The invented world starts from it and validation takes its bounds from it. It
  -- is never answered as a price.
  level REAL NOT NULL,
  volatility REAL NOT NULL,
  -- 1: the invented world has written to it, and every answer says so.
  fixture INTEGER NOT NULL DEFAULT 0 CHECK (fixture IN (0, 1)),
  -- The futures family that the series is a contract of. Contracts answer to their codes and are
  -- not listed: their families are.
  family_code TEXT REFERENCES series (code)
) STRICT;

CREATE TABLE aliases (
  alias TEXT PRIMARY KEY,
  code TEXT NOT NULL REFERENCES series (code)
) STRICT, WITHOUT ROWID;

-- What the operator says of series: all of an own one, and what is otherwise with a shipped one.
CREATE TABLE series_terms (
  series_id INTEGER PRIMARY KEY REFERENCES series (id),
  -- 1: the series is the operator's own. 0: it is shipped.
  own INTEGER NOT NULL CHECK (own IN (0, 1)),
  -- JSON object of the terms that are set.
  terms TEXT NOT NULL CHECK (json_valid(terms)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- # Prices: observations, what corrections replaced, and the bars that are read in their place.

-- The current value of each point. Reads want one series and a span of time.
CREATE TABLE observations (
  series_id INTEGER NOT NULL REFERENCES series (id),
  observed_at INTEGER NOT NULL,
  value REAL NOT NULL,
  recorded_at INTEGER NOT NULL,
  -- Numbers of value_sources and of batches; 0: not recorded.
  source_id INTEGER NOT NULL DEFAULT 0,
  batch_id INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (series_id, observed_at)
) STRICT, WITHOUT ROWID;

-- Values that a correction replaced, each with the half-open interval [recorded_at, replaced_at) in
-- which it was the current value.
CREATE TABLE observation_revisions (
  series_id INTEGER NOT NULL REFERENCES series (id),
  observed_at INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  value REAL NOT NULL,
  replaced_at INTEGER NOT NULL,
  source_id INTEGER NOT NULL DEFAULT 0,
  batch_id INTEGER NOT NULL DEFAULT 0,
  -- The batch that replaced or removed it.
  next_batch_id INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (series_id, observed_at, recorded_at)
) STRICT, WITHOUT ROWID;

-- Bars of a day, and of the hours of those days in which some hour has more than one observation:
-- the hours of all other days are their observations. Written in the transaction that writes the
-- observations. Weeks and months are added up from days. span is the length in hours (1 or 24), a
-- small integer because it is part of every key.
CREATE TABLE bars (
  series_id INTEGER NOT NULL REFERENCES series (id),
  span INTEGER NOT NULL CHECK (span IN (1, 24)),
  starts_at INTEGER NOT NULL,
  close REAL NOT NULL,
  -- When the last observation of the bar was made, and when the newest was recorded.
  closed_at INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  -- NULL, in the bar of one observation: as close.
  open REAL,
  high REAL,
  low REAL,
  sum REAL,
  -- NULL: 1.
  count INTEGER,
  -- Hours of the bar that have an observation: a page of hours is found by adding up days. NULL: 1.
  hours INTEGER,
  -- When the bar was created; NULL: as recorded_at. Pages that are read as of a moment leave out
  -- bars that were created later.
  born_at INTEGER,
  PRIMARY KEY (series_id, span, starts_at)
) STRICT, WITHOUT ROWID;

-- The sources of observations, by a small number that each observation carries. Number 0 has no
-- source: values that the service generated, and those from before sources were recorded.
CREATE TABLE value_sources (
  id INTEGER PRIMARY KEY,
  -- feed: a public source that is read. named: the name that came with the values.
  kind TEXT NOT NULL CHECK (kind IN ('feed', 'named')),
  name TEXT NOT NULL,
  -- The period that a value is of: 0 a day, 1 a week, 2 a month, 3 a quarter, 4 a year.
  period_kind INTEGER NOT NULL,
  UNIQUE (kind, name, period_kind)
) STRICT;

-- Which sources a series ever had values of.
CREATE TABLE series_sources (
  series_id INTEGER NOT NULL REFERENCES series (id),
  source_id INTEGER NOT NULL REFERENCES value_sources (id),
  PRIMARY KEY (series_id, source_id)
) STRICT, WITHOUT ROWID;

-- Writes that belong together: a file, a push, the run of a feed, a correction. Observations carry
-- the number of their batch, or 0.
CREATE TABLE batches (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('file', 'push', 'feed', 'correction', 'undo', 'release')),
  -- Who it was, as the audit trail has it.
  actor TEXT NOT NULL,
  -- NULL: prices.
  dataset TEXT,
  source_id INTEGER REFERENCES value_sources (id),
  -- The id in feed_runs.
  feed_run_id TEXT,
  file_name TEXT,
  sha256 TEXT,
  reason TEXT,
  undoes_id INTEGER REFERENCES batches (id),
  started_at INTEGER NOT NULL,
  -- NULL: under way, or cut short.
  finished_at INTEGER,
  inserted INTEGER NOT NULL DEFAULT 0,
  revised INTEGER NOT NULL DEFAULT 0,
  unchanged INTEGER NOT NULL DEFAULT 0,
  removed INTEGER NOT NULL DEFAULT 0,
  superseded INTEGER NOT NULL DEFAULT 0,
  rejected INTEGER NOT NULL DEFAULT 0,
  held INTEGER NOT NULL DEFAULT 0,
  -- JSON list of the ten biggest changes.
  biggest TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(biggest)),
  undone_at INTEGER,
  -- 1: what stood before its rows of datasets is not kept any more, so it cannot be undone.
  forgotten INTEGER NOT NULL DEFAULT 0 CHECK (forgotten IN (0, 1)),
  -- Values that were left out because an operator had replaced or removed them.
  kept INTEGER NOT NULL DEFAULT 0
) STRICT;
-- Every import looks whether an operator has decided anything.
CREATE INDEX batches_of_decisions ON batches (kind) WHERE kind IN ('correction', 'undo');

-- Where in each series a batch wrote: its points are looked for between these ends alone.
CREATE TABLE batch_series (
  batch_id INTEGER NOT NULL REFERENCES batches (id),
  series_id INTEGER NOT NULL REFERENCES series (id),
  points INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  PRIMARY KEY (batch_id, series_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX batch_series_by_series ON batch_series (series_id, batch_id);

-- The rows of datasets as they were before a batch wrote them, which is needed to undo the batch.
-- The key identifies the row, as a list. Only triggers that are made from the tables add changes, at
-- the end, so nothing is checked: the first change of a row counts.
CREATE TABLE batch_rows (
  id INTEGER PRIMARY KEY,
  batch_id INTEGER NOT NULL,
  subject TEXT NOT NULL,
  key TEXT NOT NULL,
  -- An object of its columns; NULL: there was no row.
  before TEXT
) STRICT;
CREATE INDEX batch_rows_by_batch ON batch_rows (batch_id);

-- The batch for which that is written: a row only while its transaction is under way.
CREATE TABLE batch_under_way (
  batch_id INTEGER PRIMARY KEY REFERENCES batches (id)
) STRICT;

-- Values that checks found suspicious. waiting: held, not recorded. flagged: recorded, and
-- listed. kept: sent again by the source whose value an operator had replaced or removed, and left out.
-- The others are decided: released ones were recorded then, rejected ones never are.
CREATE TABLE doubted_values (
  id INTEGER PRIMARY KEY,
  -- Null where it is a number of a row of a dataset.
  series_id INTEGER REFERENCES series (id),
  observed_at INTEGER NOT NULL,
  value REAL NOT NULL,
  -- The value before it in time, as it was then.
  before REAL,
  rule TEXT NOT NULL,
  reason TEXT NOT NULL,
  source_id INTEGER NOT NULL,
  batch_id INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('waiting', 'flagged', 'released', 'rejected', 'kept')),
  doubted_at INTEGER NOT NULL,
  decided_at INTEGER,
  decided_by TEXT,
  decision_reason TEXT,
  -- For a row: its key and its numbers, both as JSON, the column of the suspicious number, and the
  -- row as it was sent, from which it is written when it is released.
  dataset TEXT,
  line TEXT,
  numbers TEXT,
  doubted_column TEXT,
  fields TEXT,
  -- A feed that sends the same value again is one suspicion.
  UNIQUE (series_id, observed_at, value),
  CHECK ((series_id IS NULL) = (dataset IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX doubted_rows ON doubted_values (dataset, line, observed_at, numbers) WHERE dataset IS NOT NULL;
CREATE INDEX doubted_values_by_status ON doubted_values (status, id);

-- Days of a series that reads leave out and name in the answer; both ends inclusive.
CREATE TABLE quarantine (
  id INTEGER PRIMARY KEY,
  series_id INTEGER NOT NULL REFERENCES series (id),
  from_on TEXT NOT NULL,
  to_on TEXT NOT NULL,
  reason TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  CHECK (from_on <= to_on)
) STRICT;
CREATE INDEX quarantine_by_series ON quarantine (series_id, from_on);

-- The earliest value of a series whose time has not come; its events follow then.
CREATE TABLE prices_ahead (
  series_id INTEGER PRIMARY KEY REFERENCES series (id),
  due_at INTEGER NOT NULL
) STRICT;
CREATE INDEX prices_ahead_by_time ON prices_ahead (due_at);

-- # Changes: what became known, in the order in which it was written.

-- Which values a transaction recorded: of a series those of some times that were recorded, or
-- removed, at some times. The values are those of observations and their revisions, so the log costs
-- a row for each series and transaction. written_at is the instant of the transaction: no two
-- transactions have the same, and it orders the feed of changes.
CREATE TABLE price_changes (
  written_at INTEGER NOT NULL,
  series_id INTEGER NOT NULL REFERENCES series (id),
  -- Both ends are inclusive.
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  recorded_from INTEGER NOT NULL,
  recorded_to INTEGER NOT NULL,
  PRIMARY KEY (written_at, series_id, first_at, recorded_from)
) STRICT, WITHOUT ROWID;
-- All others are found by the time of their transaction.
CREATE INDEX price_changes_of_the_past ON price_changes
  (series_id, recorded_to, recorded_from, first_at, last_at)
  WHERE recorded_from < written_at;

-- What else changed which values of a series are served, and to which accounts.
CREATE TABLE change_events (
  written_at INTEGER NOT NULL,
  series_id INTEGER NOT NULL REFERENCES series (id),
  kind TEXT NOT NULL CHECK (kind IN ('quarantined', 'released', 'terms')),
  -- JSON object: the days, or who saw the series before and who sees it since.
  details TEXT NOT NULL CHECK (json_valid(details)),
  PRIMARY KEY (written_at, series_id, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX change_events_by_series ON change_events (series_id, written_at);

-- When rows of datasets were written or removed that are recorded at an instant: the rows themselves
-- and their earlier versions are found by it.
CREATE TABLE dataset_changes (
  written_at INTEGER NOT NULL,
  -- The table.
  subject TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  -- A number of batches; NULL: unknown.
  batch_id INTEGER,
  PRIMARY KEY (written_at, subject, recorded_at)
) STRICT, WITHOUT ROWID;
CREATE INDEX dataset_changes_by_recording ON dataset_changes (subject, recorded_at);

-- Rows that were recorded at an instant of which other rows were noted already: only these belong to
-- the later transaction. Filled by triggers.
CREATE TABLE late_rows (
  -- 0: the transaction under way has not noted it yet.
  written_at INTEGER NOT NULL DEFAULT 0,
  subject TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  -- As in dataset_revisions.
  key TEXT NOT NULL,
  -- Whether the instant had a row of the key before.
  is_rewrite INTEGER NOT NULL,
  PRIMARY KEY (written_at, subject, recorded_at, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX late_rows_by_recording ON late_rows (subject, recorded_at, key);

-- The lines of the feed: another one begins after a restored backup, because the cursors that were
-- given out after the backup are of records that do not exist any more.
CREATE TABLE change_lines (
  number INTEGER PRIMARY KEY,
  token TEXT NOT NULL UNIQUE,
  -- The last written_at that it shares with the line before it.
  begins_after INTEGER NOT NULL
) STRICT;
INSERT INTO change_lines (token, begins_after)
  VALUES (lower(hex(randomblob(3))), -50779978334208);

-- # Fundamentals: stocks, storage, production of OPEC, and forecasts.

-- The ids under which days of the weekly inventories are answered; the levels themselves are
-- observations. An id is assigned once, in the transaction that writes the day, and never changes:
-- days that are imported later, also older ones, get the next ids.
CREATE TABLE inventory_records (
  id INTEGER PRIMARY KEY,
  series_id INTEGER NOT NULL REFERENCES series (id),
  -- Midnight of the day, as in its bar.
  starts_at INTEGER NOT NULL,
  UNIQUE (series_id, starts_at)
) STRICT;
-- Lists run backwards over all series.
CREATE INDEX inventory_records_by_day ON inventory_records (starts_at DESC, id);

-- How much a storage site can hold, from a day on: agencies survey capacities once or twice a year,
-- and a level is compared with the capacity on its day. In the unit of the series.
CREATE TABLE storage_capacities (
  series_id INTEGER NOT NULL REFERENCES series (id),
  effective_on TEXT NOT NULL,
  capacity REAL NOT NULL CHECK (capacity > 0),
  source TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (series_id, effective_on)
) STRICT, WITHOUT ROWID;

-- Crude oil that each country of OPEC produced, by month (YYYY-MM), in barrels a day. The id is the
-- one that answers show: assigned once, in the order of the months.
CREATE TABLE opec_productions (
  id INTEGER PRIMARY KEY,
  country TEXT NOT NULL,
  month TEXT NOT NULL,
  bpd INTEGER NOT NULL CHECK (bpd >= 0),
  source TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  UNIQUE (country, month)
) STRICT;
CREATE INDEX opec_productions_by_month ON opec_productions (month DESC, id);

-- Forecasts of agencies for a series in a month (2026-12) or quarter (2026-Q4), as published. The
-- id is the one that answers show: assigned once, in the order of publication.
CREATE TABLE outlook_forecasts (
  id INTEGER PRIMARY KEY,
  source TEXT NOT NULL,
  series_id INTEGER NOT NULL REFERENCES series (id),
  period TEXT NOT NULL,
  value REAL NOT NULL,
  published_on TEXT NOT NULL,
  -- Last day of the period: after it the forecast can be judged.
  target_on TEXT NOT NULL,
  -- 1: written by the invented world; source then names the agency that it stands for.
  fixture INTEGER NOT NULL CHECK (fixture IN (0, 1)),
  recorded_at INTEGER NOT NULL,
  UNIQUE (source, series_id, period, published_on)
) STRICT;
CREATE INDEX outlook_forecasts_by_publication ON outlook_forecasts (published_on DESC, id);
CREATE INDEX outlook_forecasts_by_target
  ON outlook_forecasts (target_on DESC, published_on DESC, id);

-- This service's own forecasts of the mean price of a month (YYYY-MM), published at the beginning
-- of each month. They are never changed: accuracy is measured on them.
CREATE TABLE monthly_forecasts (
  series_id INTEGER NOT NULL REFERENCES series (id),
  month TEXT NOT NULL,
  published_at INTEGER NOT NULL,
  value REAL NOT NULL,
  low REAL NOT NULL,
  high REAL NOT NULL,
  data_points INTEGER NOT NULL,
  -- When it was computed. Long after published_at where it was computed later, from the closes
  -- before published_at alone.
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (series_id, month, published_at)
) STRICT, WITHOUT ROWID;

-- # Futures: days and ticks of single contracts.

-- One day of a futures contract by trading date, which an evening session begins on the day before.
-- The contract is a series whose observations follow these rows. The key serves one contract over
-- dates; a curve is twelve seeks.
CREATE TABLE futures_days (
  series_id INTEGER NOT NULL REFERENCES series (id),
  traded_on TEXT NOT NULL,
  -- NULL where the source has nothing but a settlement.
  open REAL,
  high REAL,
  low REAL,
  close REAL,
  -- What the exchange published; NULL until it has, never made from the close.
  settlement REAL,
  volume INTEGER,
  open_interest INTEGER,
  -- 1: open, high, low, close and volume are computed from the ticks of the date. 0: the source had
  -- them, and ticks do not change them.
  from_ticks INTEGER NOT NULL CHECK (from_ticks IN (0, 1)),
  -- When the close was quoted: what freshness is measured from.
  quoted_at INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  source TEXT NOT NULL,
  PRIMARY KEY (series_id, traded_on),
  CHECK (close IS NOT NULL OR settlement IS NOT NULL)
) STRICT, WITHOUT ROWID;

-- Trades of a contract within its sessions, every five minutes or as the source has them.
CREATE TABLE futures_ticks (
  series_id INTEGER NOT NULL REFERENCES series (id),
  traded_at INTEGER NOT NULL,
  price REAL NOT NULL,
  volume INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  source TEXT NOT NULL,
  PRIMARY KEY (series_id, traded_at)
) STRICT, WITHOUT ROWID;

-- # Fuels: surcharges of carriers, and filling stations.

-- Carriers' fuel surcharge tables, each from the day on which it took effect.
CREATE TABLE surcharge_schedules (
  mode TEXT NOT NULL CHECK (mode IN ('ltl', 'parcel')),
  carrier TEXT NOT NULL,
  -- Empty for carriers with one table for all services.
  service_level TEXT NOT NULL,
  valid_from_on TEXT NOT NULL,
  carrier_name TEXT NOT NULL,
  service_name TEXT NOT NULL,
  -- The series whose weekly price selects the band.
  index_code TEXT NOT NULL,
  -- 1 = Monday ... 7 = Sunday: the day on which a week's price takes effect.
  effective_weekday INTEGER NOT NULL CHECK (effective_weekday BETWEEN 1 AND 7),
  -- JSON [[min, max, percent], ...], ascending without gaps.
  bands TEXT NOT NULL CHECK (json_valid(bands)),
  -- Above the last band, every further beyond_width adds beyond_percent. Both NULL: the table ends.
  beyond_width REAL,
  beyond_percent REAL,
  -- 1: weeks that the carrier did not publish are computed from the index price. 0: only published
  -- weeks are answered.
  matched INTEGER NOT NULL CHECK (matched IN (0, 1)),
  -- The carrier's page, and when it was last read.
  source TEXT NOT NULL,
  retrieved_at INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (mode, carrier, service_level, valid_from_on)
) STRICT, WITHOUT ROWID;

-- What each carrier charged from a day on, with the index price and the band that it follows from.
-- A row says what was in force: it does not change when a table or an index price is corrected
-- later. Names are in every row because a carrier may change them.
CREATE TABLE surcharges (
  mode TEXT NOT NULL CHECK (mode IN ('ltl', 'parcel')),
  carrier TEXT NOT NULL,
  service_level TEXT NOT NULL,
  effective_on TEXT NOT NULL,
  carrier_name TEXT NOT NULL,
  service_name TEXT NOT NULL,
  percent REAL NOT NULL,
  index_code TEXT NOT NULL,
  index_price REAL NOT NULL,
  band_min REAL NOT NULL,
  band_max REAL NOT NULL,
  source TEXT NOT NULL,
  retrieved_at INTEGER NOT NULL,
  -- 1: written by the invented world.
  fixture INTEGER NOT NULL CHECK (fixture IN (0, 1)),
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (mode, carrier, service_level, effective_on)
) STRICT, WITHOUT ROWID;

-- Filling stations that sell diesel, each with its newest price. The reference is the source's own
-- name for the station.
CREATE TABLE diesel_stations (
  id INTEGER PRIMARY KEY,
  reference TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  address TEXT NOT NULL,
  state_code TEXT NOT NULL,
  latitude REAL NOT NULL,
  longitude REAL NOT NULL,
  -- USD per gallon.
  price REAL NOT NULL CHECK (price > 0),
  -- Space separated.
  fuel_types TEXT NOT NULL,
  observed_at INTEGER NOT NULL,
  source TEXT NOT NULL,
  recorded_at INTEGER NOT NULL
) STRICT;
-- Where the stations are, in millionths of a degree.
CREATE VIRTUAL TABLE diesel_station_places USING rtree_i32(id, south, north, west, east);

-- # Analytics: what explains prices: positions, notes, disclosures.

-- What managed-money traders held of a market's futures on a report date, in contracts (CFTC,
-- disaggregated Commitments of Traders). The net position and its change follow from the rows.
-- Lists are ordered by date over all markets, but each row needs the report before it, so the key
-- leads with the market; twenty years of five markets are five thousand rows to sort.
CREATE TABLE cot_reports (
  market TEXT NOT NULL,
  reported_on TEXT NOT NULL,
  managed_money_long INTEGER NOT NULL,
  managed_money_short INTEGER NOT NULL,
  open_interest INTEGER NOT NULL,
  source TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (market, reported_on)
) STRICT, WITHOUT ROWID;

-- Notes on days: what moved a market. The id is the writer's own, so that importing the same note
-- twice keeps one row.
CREATE TABLE annotations (
  id TEXT PRIMARY KEY,
  annotated_on TEXT NOT NULL,
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  category TEXT NOT NULL,
  -- NULL: the note is about no single commodity.
  commodity_code TEXT REFERENCES series (code),
  source TEXT NOT NULL,
  recorded_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX annotations_by_day ON annotations (annotated_on, id);

-- Trades of members of the United States Congress as they disclosed them. A disclosure has no id:
-- the trade is the key, and the day of the disclosure may be corrected.
CREATE TABLE congressional_trades (
  member TEXT NOT NULL,
  ticker TEXT NOT NULL,
  transaction_type TEXT NOT NULL,
  transacted_on TEXT NOT NULL,
  amount_range TEXT NOT NULL,
  disclosed_on TEXT NOT NULL,
  source TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (member, ticker, transaction_type, transacted_on, amount_range)
) STRICT, WITHOUT ROWID;
CREATE INDEX congressional_trades_by_disclosure ON congressional_trades (disclosed_on);

-- # Drilling: rigs, crews, permits, wells, what is pumped into them and what comes out.
-- A region is US, a basin in lower case, a state in upper case, or OTHER for the states that a
-- source adds up. Keys lead with the region, because histories and the count before are sought; a
-- second index serves lists of all regions by date.

-- Active rotary rigs on the day of a count.
CREATE TABLE rig_counts (
  region TEXT NOT NULL,
  counted_on TEXT NOT NULL,
  total INTEGER NOT NULL,
  -- By what is drilled for; NULL where a source has only the total.
  oil INTEGER,
  gas INTEGER,
  misc INTEGER,
  -- week: one count. month: the mean of a month's counts, dated in its middle.
  span TEXT NOT NULL CHECK (span IN ('week', 'month')),
  source TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (region, counted_on),
  CHECK (coalesce(oil + gas + misc, total) = total)
) STRICT, WITHOUT ROWID;
-- With the span: lists that leave out monthly means are counted in the index alone.
CREATE INDEX rig_counts_by_day ON rig_counts (counted_on, region, span);

-- Active hydraulic fracturing crews.
CREATE TABLE frac_spreads (
  region TEXT NOT NULL,
  counted_on TEXT NOT NULL,
  active INTEGER NOT NULL,
  source TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (region, counted_on)
) STRICT, WITHOUT ROWID;
CREATE INDEX frac_spreads_by_day ON frac_spreads (counted_on, region);

-- Wells that are drilled but not completed, with how many were drilled and completed in the month;
-- months are dated in their middle.
CREATE TABLE duc_wells (
  region TEXT NOT NULL,
  counted_on TEXT NOT NULL,
  duc INTEGER NOT NULL,
  drilled INTEGER,
  completed INTEGER,
  source TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (region, counted_on)
) STRICT, WITHOUT ROWID;
CREATE INDEX duc_wells_by_day ON duc_wells (counted_on, region);

-- What new wells add and old wells lose in a month: oil in barrels a day, gas in thousand cubic
-- feet a day.
CREATE TABLE drilling_productivities (
  region TEXT NOT NULL,
  counted_on TEXT NOT NULL,
  rigs INTEGER NOT NULL,
  new_well_oil REAL NOT NULL,
  new_well_gas REAL NOT NULL,
  legacy_oil REAL NOT NULL,
  legacy_gas REAL NOT NULL,
  total_oil REAL NOT NULL,
  total_gas REAL NOT NULL,
  source TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (region, counted_on)
) STRICT, WITHOUT ROWID;
CREATE INDEX drilling_productivities_by_day ON drilling_productivities (counted_on, region);

-- What permits are sorted and counted by: states, counties, operators, formations, types of permit
-- and of well. One table, so that one number names any of them in the rows and in the counts below.
CREATE TABLE permit_terms (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (
    kind IN ('state', 'county', 'operator', 'formation', 'permit_type', 'well_type')
  ),
  -- Normalised for comparison: upper case, without Inc. or LLC; a county after its state
  -- (TX/REAGAN).
  name TEXT NOT NULL,
  -- As answers show it.
  label TEXT NOT NULL,
  permits INTEGER NOT NULL,
  UNIQUE (kind, name)
) STRICT;

-- Names of wells, each once: most leases have several wells. Parts of a name are found through
-- trigrams.
CREATE TABLE permit_well_names (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;
CREATE VIRTUAL TABLE permit_well_name_text USING fts5(
  name,
  content = 'permit_well_names',
  content_rowid = 'id',
  tokenize = 'trigram'
);

-- The columns that permits are found by; short rows, because a search by place reads one for each
-- well in its box. The texts are in well_permit_papers. Every *_id is a row of permit_terms
-- (well_name_id of permit_well_names). They are not declared as foreign keys: those rows are never
-- deleted, and eight look-ups would be a third of what it costs to write a permit.
CREATE TABLE well_permits (
  id INTEGER PRIMARY KEY,
  permit_on TEXT NOT NULL,
  state_id INTEGER NOT NULL,
  county_id INTEGER,
  operator_id INTEGER NOT NULL,
  formation_id INTEGER,
  permit_type_id INTEGER NOT NULL,
  well_type_id INTEGER NOT NULL,
  well_name_id INTEGER NOT NULL
) STRICT;
-- Each of these four has every column that a search may filter by as well: two million permits are
-- counted without reading a row.
CREATE INDEX well_permits_by_state
  ON well_permits (
    state_id, permit_on, permit_type_id, well_type_id, county_id, operator_id, formation_id
  );
CREATE INDEX well_permits_by_county
  ON well_permits (
    county_id, permit_on, permit_type_id, well_type_id, state_id, operator_id, formation_id
  );
CREATE INDEX well_permits_by_operator
  ON well_permits (
    operator_id, permit_on, permit_type_id, well_type_id, state_id, county_id, formation_id
  );
CREATE INDEX well_permits_by_formation
  ON well_permits (
    formation_id, permit_on, permit_type_id, well_type_id, state_id, county_id, operator_id
  );
CREATE INDEX well_permits_by_well_name ON well_permits (well_name_id);
CREATE INDEX well_permits_by_day ON well_permits (permit_on);

-- The rest of a permit, one row for each of well_permits. The reference is the permit's number in
-- its state or, without one, its well and day.
CREATE TABLE well_permit_papers (
  id INTEGER PRIMARY KEY REFERENCES well_permits (id),
  state_code TEXT NOT NULL,
  reference TEXT NOT NULL,
  permit_number TEXT,
  permit_status TEXT NOT NULL,
  -- Fourteen digits; raw is what the source wrote.
  api_number TEXT,
  api_number_raw TEXT NOT NULL,
  operator_raw TEXT NOT NULL,
  operator_number TEXT,
  well_number TEXT,
  formation_raw TEXT,
  -- Feet.
  total_depth INTEGER,
  latitude REAL,
  longitude REAL,
  section TEXT,
  township TEXT,
  range TEXT,
  source TEXT NOT NULL,
  source_url TEXT NOT NULL,
  fetched_at INTEGER NOT NULL,
  data_as_of_on TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  UNIQUE (state_code, reference)
) STRICT;
CREATE INDEX well_permit_papers_by_api_number
  ON well_permit_papers (api_number) WHERE api_number IS NOT NULL;

-- Where wells are to be drilled and on which day since 1970-01-01 that was permitted. Millionths of
-- a degree are integers and therefore exact.
CREATE VIRTUAL TABLE well_permit_places USING rtree_i32(
  id,
  south,
  north,
  west,
  east,
  first_day,
  last_day
);

-- How many permits a search finds and where in time a page of them lies, without walking the
-- permits; written in the transaction that writes them. All permits (term 0) and states are counted
-- by month (2026-11), formations by year (2026), each by type of permit and of well too; counties
-- and operators by year and with 0 for the types, because by type they would have a row for nearly
-- every permit.
CREATE TABLE permit_periods (
  term_id INTEGER NOT NULL,
  period TEXT NOT NULL,
  state_id INTEGER NOT NULL,
  permit_type_id INTEGER NOT NULL,
  well_type_id INTEGER NOT NULL,
  permits INTEGER NOT NULL,
  PRIMARY KEY (term_id, period, state_id, permit_type_id, well_type_id)
) STRICT, WITHOUT ROWID;

-- When a state's list of permits was last read, also if it had nothing new: without it, a list
-- without new permits would look like one that was not read.
CREATE TABLE permit_reads (
  state_code TEXT PRIMARY KEY,
  read_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The fluids that were pumped into a well when it was fractured, as its operator disclosed them.
-- The reference is the registry's id of the disclosure.
CREATE TABLE frac_disclosures (
  id INTEGER PRIMARY KEY,
  reference TEXT NOT NULL UNIQUE,
  api_number TEXT NOT NULL,
  state_code TEXT NOT NULL,
  county TEXT NOT NULL,
  operator TEXT NOT NULL,
  -- Normalised for comparison.
  operator_key TEXT NOT NULL,
  well_name TEXT NOT NULL,
  started_on TEXT NOT NULL,
  ended_on TEXT NOT NULL,
  latitude REAL,
  longitude REAL,
  -- Gallons.
  water_gallons REAL,
  non_water_gallons REAL,
  source TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  CHECK (started_on <= ended_on)
) STRICT;
CREATE INDEX frac_disclosures_by_day ON frac_disclosures (ended_on);
CREATE INDEX frac_disclosures_by_state ON frac_disclosures (state_code, ended_on);
CREATE INDEX frac_disclosures_by_operator ON frac_disclosures (operator_key, ended_on);
CREATE INDEX frac_disclosures_by_well ON frac_disclosures (api_number);
CREATE INDEX frac_disclosures_by_latitude ON frac_disclosures (latitude, longitude);
CREATE VIRTUAL TABLE frac_disclosure_text USING fts5(
  operator,
  well_name,
  county,
  content = 'frac_disclosures',
  content_rowid = 'id',
  tokenize = 'trigram'
);

-- Each substance once, with the number of disclosures that name it.
CREATE TABLE frac_substances (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  -- Empty where the registry has none or the operator keeps it secret.
  cas_number TEXT NOT NULL,
  disclosures INTEGER NOT NULL,
  UNIQUE (name, cas_number)
) STRICT;

CREATE TABLE frac_chemicals (
  disclosure_id INTEGER NOT NULL REFERENCES frac_disclosures (id),
  substance_id INTEGER NOT NULL REFERENCES frac_substances (id),
  purpose TEXT NOT NULL,
  -- Percent of the whole fluid, by mass.
  concentration_percent REAL,
  mass_lbs REAL,
  source TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (disclosure_id, substance_id, purpose)
) STRICT, WITHOUT ROWID;
CREATE INDEX frac_chemicals_by_substance ON frac_chemicals (substance_id, disclosure_id);

-- Wells with the days of their life: permitted, spudded, completed, first production. NULL: not
-- yet, or not known.
CREATE TABLE wells (
  api_number TEXT PRIMARY KEY,
  state_code TEXT NOT NULL,
  operator TEXT NOT NULL,
  name TEXT NOT NULL,
  county TEXT,
  formation TEXT,
  latitude REAL,
  longitude REAL,
  permit_on TEXT,
  spud_on TEXT,
  completed_on TEXT,
  first_production_on TEXT,
  source TEXT NOT NULL,
  recorded_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- Cycle times read the days of a state's wells from it, and nothing of the wells themselves.
CREATE INDEX wells_by_state ON wells (state_code, first_production_on, permit_on, spud_on, completed_on, source);

-- What one well produced in a month (YYYY-MM), in barrels and thousand cubic feet; NULL: not
-- reported.
CREATE TABLE well_production (
  api_number TEXT NOT NULL,
  month TEXT NOT NULL,
  oil_bbl REAL CHECK (oil_bbl >= 0),
  gas_mcf REAL CHECK (gas_mcf >= 0),
  water_bbl REAL CHECK (water_bbl >= 0),
  days_producing INTEGER,
  source TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (api_number, month)
) STRICT, WITHOUT ROWID;

-- The oil of each well by year, written in the transaction that writes its months. The wells with
-- most oil in some months are found among those with most in the years, without reading the months
-- of every well of a state.
CREATE TABLE well_production_years (
  api_number TEXT NOT NULL,
  year TEXT NOT NULL,
  state_code TEXT NOT NULL,
  oil_bbl REAL NOT NULL,
  PRIMARY KEY (api_number, year)
) STRICT, WITHOUT ROWID;
CREATE INDEX well_production_years_best
  ON well_production_years (state_code, year, oil_bbl DESC, api_number);

-- How many wells of a state have a row for a month, written with the rows, so that no request has
-- to count them.
CREATE TABLE well_production_months (
  state_code TEXT NOT NULL,
  month TEXT NOT NULL,
  wells INTEGER NOT NULL,
  -- The source of the rows written last.
  source TEXT NOT NULL,
  PRIMARY KEY (state_code, month)
) STRICT, WITHOUT ROWID;

-- The production of states in a month, as agencies publish it: all wells, also those that have no
-- row. The country is the sum of its states and is not stored.
CREATE TABLE state_production (
  state_code TEXT NOT NULL,
  month TEXT NOT NULL,
  oil_bbl REAL NOT NULL,
  gas_mcf REAL NOT NULL,
  water_bbl REAL,
  -- 1: not every operator has filed yet.
  provisional INTEGER NOT NULL CHECK (provisional IN (0, 1)),
  source TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (state_code, month)
) STRICT, WITHOUT ROWID;
-- For a month of all states, and for the newest month.
CREATE INDEX state_production_by_month ON state_production (month);

-- # Accounts: who uses the service, how they sign in, and whom they act with.

CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  plan TEXT NOT NULL,
  -- Add-on ids, space separated.
  add_ons TEXT NOT NULL DEFAULT '',
  trial_started_at INTEGER,
  trial_ends_at INTEGER,
  email_confirmed_at INTEGER,
  suspended_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Accounts that are over. Their rows stay for the books; erased: without the person.
CREATE TABLE closed_accounts (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  closed_at INTEGER NOT NULL,
  erased_at INTEGER
) STRICT, WITHOUT ROWID;

-- Further addresses that a person has confirmed by accepting an invitation sent there.
CREATE TABLE account_addresses (
  email TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  confirmed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX account_addresses_by_account ON account_addresses (account_id);

-- How people sign in. A password is its argon2id hash.
CREATE TABLE passwords (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  hash TEXT NOT NULL,
  changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The secrets that make the codes of two-factor authentication.
CREATE TABLE second_factors (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  -- Sealed with the master key.
  secret BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  -- NULL: its first code was not given yet, and signing in does not ask for one.
  confirmed_at INTEGER,
  -- The time step of the last code that was used: no code is good twice.
  last_step INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- Each stands for a code once.
CREATE TABLE recovery_codes (
  -- SHA-256; the code itself is never stored.
  code_hash BLOB PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX recovery_codes_by_account ON recovery_codes (account_id);

-- Links that sign a person in once.
CREATE TABLE sign_in_links (
  -- SHA-256 of the token; the token itself is never stored.
  token_hash BLOB PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  -- 1: it was mailed to the account's address, so using it confirms the address.
  mailed INTEGER NOT NULL CHECK (mailed IN (0, 1)),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_links_by_account ON sign_in_links (account_id, created_at);

-- One row for each session token. A token is signed, so no hash is stored; the row can end it
-- before it expires.
CREATE TABLE sessions (
  -- The token's jti.
  id TEXT PRIMARY KEY,
  -- All tokens that came from one sign-in by refreshing.
  family_id TEXT NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  method TEXT NOT NULL CHECK (method IN ('password', 'link', 'provider')),
  begun_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ended_at INTEGER,
  -- 1: a refresh replaced it. If it is used again, a copy of it was stolen, and the whole family
  -- ends.
  replaced INTEGER NOT NULL DEFAULT 0 CHECK (replaced IN (0, 1))
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_family ON sessions (family_id);
CREATE INDEX sessions_by_account ON sessions (account_id);
CREATE INDEX sessions_by_end ON sessions (expires_at);

-- Who people are at the company's identity provider: an address may change, a subject does not.
CREATE TABLE oidc_identities (
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  -- By their groups at the newest sign-in.
  is_operator INTEGER NOT NULL CHECK (is_operator IN (0, 1)),
  PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX oidc_identities_by_account ON oidc_identities (account_id, issuer);

-- Which session of the provider a sign-in came from, so that the provider can end it.
CREATE TABLE oidc_sessions (
  family_id TEXT PRIMARY KEY,
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  -- NULL where the provider does not name it.
  provider_session TEXT
) STRICT, WITHOUT ROWID;

-- People who share one account: that of one of their admins, whose plan counts for all.
CREATE TABLE organizations (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  account_id TEXT NOT NULL UNIQUE REFERENCES accounts (id),
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE organization_members (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  -- NULL until the person has accepted: no one joins without consent. An account is in one
  -- organization at most.
  account_id TEXT UNIQUE REFERENCES accounts (id),
  email TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('admin', 'member', 'read_only')),
  joined_at INTEGER NOT NULL,
  UNIQUE (organization_id, email)
) STRICT, WITHOUT ROWID;

CREATE TABLE organization_invitations (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('admin', 'member', 'read_only')),
  message TEXT,
  -- The member who is listed already and has yet to accept; NULL: accepting adds the member.
  member_id TEXT REFERENCES organization_members (id) ON DELETE CASCADE,
  -- SHA-256 of the token in the invitation's e-mail.
  token_hash BLOB NOT NULL UNIQUE,
  invited_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  accepted_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX organization_invitations_by_organization
  ON organization_invitations (organization_id, created_at);

-- # Keys: API keys, their usage, and the answers to repeated requests.

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  -- session: stands for everybody who is signed in to the account, so that their requests are
  -- counted like those of a key. Its id is the account's, no token opens it, and it is never
  -- listed.
  kind TEXT NOT NULL DEFAULT 'api' CHECK (kind IN ('api', 'session')),
  name TEXT,
  -- SHA-256 of the token; the token itself is never stored.
  token_hash BLOB NOT NULL UNIQUE,
  token_hint TEXT NOT NULL,
  -- The token before a roll with an overlap, until the overlap ends.
  previous_hash BLOB UNIQUE,
  previous_until INTEGER,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER,
  suspended_at INTEGER,
  expires_at INTEGER,
  read_only INTEGER NOT NULL DEFAULT 0 CHECK (read_only IN (0, 1)),
  -- JSON arrays of text.
  allowed_ips TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(allowed_ips)),
  allowed_domains TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(allowed_domains)),
  scopes TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(scopes))
) STRICT, WITHOUT ROWID;
CREATE INDEX api_keys_by_account ON api_keys (account_id, created_at);

-- Requests counted in one quota window of one key. Written at most a second late.
CREATE TABLE quota_counters (
  key_id TEXT NOT NULL REFERENCES api_keys (id),
  window TEXT NOT NULL,
  starts_at INTEGER NOT NULL,
  used INTEGER NOT NULL,
  -- When the key was last used. It is here and not in api_keys because this short row is written
  -- anyway.
  last_used_at INTEGER NOT NULL,
  PRIMARY KEY (key_id, window, starts_at)
) STRICT, WITHOUT ROWID;

-- Requests added up by key, hour, route and class of status (2, 3, 4, 5).
CREATE TABLE usage_hours (
  key_id TEXT NOT NULL REFERENCES api_keys (id),
  hour_at INTEGER NOT NULL,
  endpoint TEXT NOT NULL,
  status_class INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  metered INTEGER NOT NULL,
  duration_us INTEGER NOT NULL,
  PRIMARY KEY (key_id, hour_at, endpoint, status_class)
) STRICT, WITHOUT ROWID;

-- How many requests of a key on one day could have been batched or cached: a refusal for a used-up
-- quota reports it.
CREATE TABLE usage_days (
  key_id TEXT NOT NULL REFERENCES api_keys (id),
  day_on TEXT NOT NULL,
  batchable INTEGER NOT NULL,
  cacheable INTEGER NOT NULL,
  -- Ids of the series asked for, space separated.
  series_ids TEXT NOT NULL,
  PRIMARY KEY (key_id, day_on)
) STRICT, WITHOUT ROWID;

-- The shares of a quota window that its owner was warned about, so that each warning is sent once
-- however often the service starts.
CREATE TABLE usage_warnings (
  key_id TEXT NOT NULL REFERENCES api_keys (id),
  starts_at INTEGER NOT NULL,
  percent INTEGER NOT NULL,
  PRIMARY KEY (key_id, starts_at, percent)
) STRICT, WITHOUT ROWID;

-- Answers to requests that carried an Idempotency-Key, kept 24 hours. `sealed` can be decrypted
-- only with the token of the request, which is stored nowhere: the answer may hold a new token.
-- Commands on the machine have no token: theirs need the master key and the Idempotency-Key.
CREATE TABLE idempotency (
  -- Who asked: the id of an API key, `token ` and the id of an admin token, or `command ` and a user.
  owner TEXT NOT NULL,
  -- SHA-256 of the path and the Idempotency-Key.
  request_hash BLOB NOT NULL,
  sealed BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (owner, request_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (created_at);

-- # Billing: subscriptions to plans, invoices, and requests bought in addition to a plan.

-- Plans that accounts pay for. A row is one subscription from its beginning to its end; its periods
-- are in its invoices. Accounts whose plan the operator set by hand have none.
CREATE TABLE subscriptions (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  plan TEXT NOT NULL,
  billing_period TEXT NOT NULL CHECK (billing_period IN ('monthly', 'yearly')),
  -- The price of the running period, in cents of USD; the next period costs what the plan table says
  -- by then.
  price_cents INTEGER NOT NULL CHECK (price_cents >= 0),
  -- 1: the price was agreed with the operator and stays from period to period.
  agreed INTEGER NOT NULL CHECK (agreed IN (0, 1)),
  status TEXT NOT NULL CHECK (status IN ('active', 'past_due', 'cancelled')),
  -- The ends of all periods are counted from this moment.
  anchor_at INTEGER NOT NULL,
  starts_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL,
  cancel_at_period_end INTEGER NOT NULL CHECK (cancel_at_period_end IN (0, 1)),
  cancelled_at INTEGER,
  -- The plan that replaces this one at the end of the period.
  pending_plan TEXT,
  pending_billing_period TEXT CHECK (pending_billing_period IN ('monthly', 'yearly')),
  past_due_at INTEGER,
  ended_at INTEGER,
  -- manual: this service makes periods and invoices. Otherwise the processor does, and provider_ref
  -- is its id of the subscription.
  provider TEXT NOT NULL,
  provider_ref TEXT UNIQUE,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  -- The rest of the price of replaced subscriptions; the next invoices are less by it.
  credit_cents INTEGER NOT NULL DEFAULT 0 CHECK (credit_cents >= 0),
  CHECK (starts_at < ends_at),
  CHECK ((status = 'cancelled') = (ended_at IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX subscriptions_running ON subscriptions (account_id) WHERE ended_at IS NULL;
CREATE INDEX subscriptions_by_account ON subscriptions (account_id, created_at);
CREATE INDEX subscriptions_by_end ON subscriptions (ends_at) WHERE ended_at IS NULL;
CREATE INDEX subscriptions_by_credit ON subscriptions (account_id)
  WHERE ended_at IS NOT NULL AND credit_cents > 0;

-- Every invoice; only its payment changes. The invoice number counts without gaps.
CREATE TABLE invoices (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  subscription_id TEXT REFERENCES subscriptions (id),
  invoice_number TEXT NOT NULL UNIQUE,
  amount_cents INTEGER NOT NULL,
  currency TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('draft', 'open', 'paid', 'void', 'uncollectible')),
  starts_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL,
  -- JSON [{description, amountCents}, ...] that add up to the amount.
  lines TEXT NOT NULL CHECK (json_valid(lines)),
  billed_to TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- After this moment it is overdue.
  due_at INTEGER NOT NULL,
  paid_at INTEGER,
  attempts INTEGER NOT NULL,
  next_attempt_at INTEGER,
  last_error TEXT,
  provider TEXT NOT NULL,
  provider_ref TEXT UNIQUE,
  refunded_cents INTEGER NOT NULL DEFAULT 0
    CHECK (refunded_cents >= 0),
  -- At the bank of the payer; 'lost': the money went back.
  dispute TEXT CHECK (dispute IN ('open', 'won', 'lost'))
) STRICT;
CREATE INDEX invoices_by_account ON invoices (account_id, created_at, number);
-- Unpaid invoices are few.
CREATE INDEX invoices_open ON invoices (due_at) WHERE status = 'open';
CREATE INDEX invoices_by_subscription ON invoices (subscription_id) WHERE status = 'open';

-- Requests bought in addition to a plan. `remaining` is written at most a second late, like
-- quota_counters.
CREATE TABLE credit_purchases (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  pack_id TEXT NOT NULL,
  quantity INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  amount_cents INTEGER NOT NULL,
  currency TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'completed', 'failed')),
  invoice_id TEXT REFERENCES invoices (id),
  created_at INTEGER NOT NULL,
  expires_after_days INTEGER,
  completed_at INTEGER,
  expires_at INTEGER,
  remaining INTEGER NOT NULL CHECK (remaining BETWEEN 0 AND requests),
  -- Requests that expired unused.
  lapsed INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX credit_purchases_by_account ON credit_purchases (account_id) WHERE remaining > 0;
CREATE INDEX credit_purchases_by_expiry ON credit_purchases (expires_at) WHERE remaining > 0;
CREATE INDEX credit_purchases_pending ON credit_purchases (created_at) WHERE status = 'pending';
CREATE INDEX credit_purchases_by_invoice ON credit_purchases (invoice_id);

-- The account's customer at the payment processor, and its payment method.
CREATE TABLE billing_customers (
  account_id TEXT NOT NULL REFERENCES accounts (id),
  provider TEXT NOT NULL,
  provider_ref TEXT,
  -- The processor's id; NULL: the first method that the customer has.
  payment_method_id TEXT,
  -- The address that the processor has; NULL: none was sent.
  email TEXT,
  PRIMARY KEY (account_id, provider)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX billing_customers_by_ref
  ON billing_customers (provider, provider_ref) WHERE provider_ref IS NOT NULL;

-- Events of the payment processor that were handled, kept for as long as they might be sent again.
CREATE TABLE processor_events (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  received_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX processor_events_by_age ON processor_events (received_at);

-- # Alerts: conditions on prices, and each time one was met.

-- Conditions on the price of a code. An account has few alerts and a code may have many: evaluation
-- and triggers go by the number, which is short and rises.
CREATE TABLE alerts (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  series_id INTEGER NOT NULL REFERENCES series (id),
  name TEXT NOT NULL,
  -- price, or what is measured of the daily closes; the JSON object in condition has the rest.
  kind TEXT NOT NULL,
  condition TEXT NOT NULL CHECK (json_valid(condition)),
  -- No price outside [low, high] can make it fire; infinite where any price can. The index skips
  -- alerts by them.
  low REAL NOT NULL,
  high REAL NOT NULL,
  -- JSON object.
  metadata TEXT CHECK (json_valid(metadata)),
  webhook_url TEXT,
  cooldown_minutes INTEGER NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  -- Prices received before this moment do not fire it: the alert is newer, or its condition was
  -- changed.
  armed_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  -- The alert is not shown any more; its row stays until its triggers have been deleted, in slices.
  removed_at INTEGER
) STRICT;
CREATE INDEX alerts_by_account ON alerts (account_id, number) WHERE removed_at IS NULL;
CREATE INDEX alerts_watched
  ON alerts (series_id, number, low, high) WHERE enabled = 1 AND removed_at IS NULL;
CREATE INDEX alerts_removed ON alerts (number) WHERE removed_at IS NOT NULL;

-- The columns that change each time an alert fires, in a separate table: a price on which one alert
-- in ten fires would otherwise rewrite all of alerts.
CREATE TABLE alert_counters (
  alert_number INTEGER PRIMARY KEY REFERENCES alerts (number),
  trigger_count INTEGER NOT NULL,
  last_triggered_at INTEGER,
  -- Moment of the trigger that the cooldown runs from; NULL after the condition was changed.
  cooling_from INTEGER
) STRICT;

-- One row each time an alert fired. The UNIQUE key makes it fire once for an observation, however
-- often that is judged. Rows are in the order in which they were written: ordered by alert, a price
-- on which a hundred thousand alerts fire would touch nearly every page of the table.
CREATE TABLE alert_triggers (
  alert_number INTEGER NOT NULL REFERENCES alerts (number),
  -- For alerts on daily values, midnight of the day.
  observed_at INTEGER NOT NULL,
  series_id INTEGER NOT NULL,
  id TEXT NOT NULL,
  account_id TEXT NOT NULL,
  triggered_at INTEGER NOT NULL,
  price REAL NOT NULL,
  value REAL NOT NULL,
  threshold REAL NOT NULL,
  -- The condition at that moment, in words.
  condition TEXT NOT NULL,
  -- Space separated.
  channels TEXT NOT NULL,
  -- JSON object of what was measured.
  metadata TEXT CHECK (json_valid(metadata)),
  UNIQUE (alert_number, observed_at, series_id)
) STRICT;
CREATE INDEX alert_triggers_by_account
  ON alert_triggers (account_id, triggered_at, alert_number, observed_at);

-- Prices that alerts are still to be judged by, written in the transaction that recorded them:
-- after a crash, evaluation continues from here.
CREATE TABLE alert_prices (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  -- The code that alerts watch.
  series_id INTEGER NOT NULL,
  -- The series that the price is of: for a futures family, its front contract.
  priced_series_id INTEGER NOT NULL,
  observed_at INTEGER NOT NULL,
  value REAL NOT NULL,
  -- When this service received it.
  received_at INTEGER NOT NULL
) STRICT;
CREATE INDEX alert_prices_by_series ON alert_prices (series_id, number);

-- # Watches: codes that are evaluated on a schedule, and the results.

-- Codes that are evaluated every interval_seconds for an account.
CREATE TABLE watches (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT,
  -- JSON list.
  codes TEXT NOT NULL CHECK (json_valid(codes)),
  interval_seconds INTEGER NOT NULL,
  deliver_webhook INTEGER NOT NULL CHECK (deliver_webhook IN (0, 1)),
  threshold_percent REAL,
  source TEXT NOT NULL,
  tool_name TEXT,
  last_evaluated_at INTEGER,
  -- When the watch is due next; after a stop of any length it runs once. NULL: paused.
  next_run_at INTEGER,
  -- JSON object: what the last run read, by code.
  seen TEXT NOT NULL CHECK (json_valid(seen)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  -- The watch is not shown any more; its row stays while events refer to it.
  removed_at INTEGER
) STRICT;
CREATE INDEX watches_by_account ON watches (account_id, number) WHERE removed_at IS NULL;
CREATE INDEX watches_due ON watches (next_run_at, number) WHERE next_run_at IS NOT NULL;
CREATE INDEX watches_removed ON watches (removed_at) WHERE removed_at IS NOT NULL;

-- One feed for each account that has had watches. A seq is never used again, even when all events
-- are deleted.
CREATE TABLE watch_feeds (
  number INTEGER PRIMARY KEY,
  account_id TEXT NOT NULL UNIQUE REFERENCES accounts (id),
  last_seq INTEGER NOT NULL
) STRICT;

-- The results of each run of a watch, code by code; seq counts the events of one feed. A busy
-- account has a million of them a day, so they hold numbers instead of ids and codes, and nothing
-- that follows from other columns.
CREATE TABLE watch_events (
  feed_number INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  watch_number INTEGER NOT NULL REFERENCES watches (number),
  type TEXT NOT NULL CHECK (type IN ('evaluated', 'threshold_crossed', 'stale')),
  series_id INTEGER NOT NULL,
  price REAL,
  previous_price REAL,
  observed_at INTEGER,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (feed_number, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX watch_events_by_watch ON watch_events (watch_number, seq);
CREATE INDEX watch_events_by_time ON watch_events (created_at);

-- # Deliveries: prices that are mailed on a schedule.

-- Prices that are mailed at a local time. The number orders those created in one millisecond.
CREATE TABLE scheduled_deliveries (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT,
  -- JSON array, in the order of the lines.
  commodity_codes TEXT NOT NULL CHECK (json_valid(commodity_codes)),
  cadence TEXT NOT NULL CHECK (cadence IN ('daily', 'weekdays', 'weekly')),
  weekday INTEGER CHECK (weekday BETWEEN 1 AND 7),
  -- Local wall time HH:MM.
  delivery_time TEXT NOT NULL,
  time_zone TEXT NOT NULL,
  -- NULL: the account's own address at the time.
  recipient_email TEXT,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  source TEXT NOT NULL,
  deliveries_count INTEGER NOT NULL DEFAULT 0,
  last_delivered_on TEXT,
  -- The next run and its local day; NULL while paused.
  next_delivery_at INTEGER,
  next_on TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  CHECK ((cadence = 'weekly') = (weekday IS NOT NULL)),
  CHECK ((next_delivery_at IS NULL) = (next_on IS NULL))
) STRICT;
CREATE INDEX scheduled_deliveries_by_account ON scheduled_deliveries (account_id, number);
-- The rows that are due.
CREATE INDEX scheduled_deliveries_due
  ON scheduled_deliveries (next_delivery_at) WHERE next_delivery_at IS NOT NULL;

-- Every time that a delivery was due or was requested, and how it ended. The message itself is in
-- the outbox.
CREATE TABLE scheduled_delivery_runs (
  number INTEGER PRIMARY KEY,
  -- Sorts by time: the outbox uses it as event_id.
  id TEXT NOT NULL UNIQUE,
  delivery_number INTEGER NOT NULL REFERENCES scheduled_deliveries (number) ON DELETE CASCADE,
  trigger TEXT NOT NULL CHECK (trigger IN ('scheduled', 'manual')),
  local_on TEXT NOT NULL,
  recipient TEXT NOT NULL,
  -- pending includes what is being sent: attempts and leases are in the outbox.
  status TEXT NOT NULL CHECK (status IN ('pending', 'sent', 'skipped', 'suppressed')),
  error TEXT,
  created_at INTEGER NOT NULL,
  sent_at INTEGER
) STRICT;
-- A local day has one scheduled run, however often it is dispatched.
CREATE UNIQUE INDEX scheduled_delivery_runs_once
  ON scheduled_delivery_runs (delivery_number, local_on) WHERE trigger = 'scheduled';
-- The last run of a delivery.
CREATE INDEX scheduled_delivery_runs_by_delivery
  ON scheduled_delivery_runs (delivery_number, number);
-- Runs whose message is not sent yet.
CREATE INDEX scheduled_delivery_runs_pending
  ON scheduled_delivery_runs (created_at) WHERE status = 'pending';
CREATE INDEX scheduled_delivery_runs_by_age ON scheduled_delivery_runs (created_at);

-- # Webhooks: endpoints of accounts, what signs for them, and how many events a month had.

-- Endpoints of accounts that receive events. The counts at the end are updated in the transaction
-- that records an attempt.
CREATE TABLE webhooks (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  url TEXT NOT NULL,
  -- JSON arrays of text: event names as subscribed, with aliases and patterns; codes; states.
  -- Empty: all.
  events TEXT NOT NULL CHECK (json_valid(events)),
  commodity_filters TEXT NOT NULL CHECK (json_valid(commodity_filters)),
  state_filters TEXT NOT NULL CHECK (json_valid(state_filters)),
  description TEXT,
  -- JSON array of conditions.
  conditions TEXT NOT NULL CHECK (json_valid(conditions)),
  condition_logic TEXT NOT NULL CHECK (condition_logic IN ('any', 'all')),
  debug_mode INTEGER NOT NULL CHECK (debug_mode IN (0, 1)),
  active INTEGER NOT NULL CHECK (active IN (0, 1)),
  -- Why the service switched it off; NULL when its owner did.
  disabled_reason TEXT,
  -- Sealed. The previous secret signs as well until previous_secret_until.
  secret BLOB NOT NULL,
  secret_hint TEXT NOT NULL,
  previous_secret BLOB,
  previous_secret_until INTEGER,
  signature_scheme TEXT NOT NULL CHECK (signature_scheme IN ('timestamped', 'body')),
  ordered INTEGER NOT NULL CHECK (ordered IN (0, 1)),
  honor_retry_after INTEGER NOT NULL CHECK (honor_retry_after IN (0, 1)),
  rate_limit_per_second INTEGER NOT NULL,
  timeout_seconds INTEGER NOT NULL,
  max_retries INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  delivered INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  -- Messages that failed since the last 2xx, without those that failed for no fault of the
  -- receiver.
  failed_in_a_row INTEGER NOT NULL DEFAULT 0,
  last_status TEXT CHECK (last_status IN ('success', 'failed')),
  last_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX webhooks_by_account ON webhooks (account_id, created_at);

-- Signs events for URLs that are none of the account's endpoints (an alert's webhook_url). Created
-- when it is first needed.
CREATE TABLE webhook_account_secrets (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  -- Sealed.
  secret BLOB NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Events of an account in a calendar month, counted against its plan's allowance. Written at most a
-- second late.
CREATE TABLE webhook_months (
  account_id TEXT NOT NULL REFERENCES accounts (id),
  starts_at INTEGER NOT NULL,
  events INTEGER NOT NULL,
  PRIMARY KEY (account_id, starts_at)
) STRICT, WITHOUT ROWID;

-- # Outbox: everything that must leave the machine, and what became of it.

-- A lane is one receiver of messages: a webhook endpoint, the e-mail, the SMS. Lanes are small
-- numbers because every index of the outbox begins or ends with one.
CREATE TABLE outbox_lanes (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  lane TEXT NOT NULL,
  UNIQUE (kind, lane)
) STRICT;

-- The bytes that are sent, apart from the messages: an event for a thousand endpoints is stored
-- once, and a change of a message's state does not write them again. `uses` counts the messages
-- that refer to a body; an index over them would cost every message.
CREATE TABLE outbox_bodies (
  id INTEGER PRIMARY KEY,
  uses INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;

CREATE TABLE outbox (
  number INTEGER PRIMARY KEY,
  -- Sorts by time, and so does event_id: their indexes grow at one end, which makes a hundred
  -- thousand messages a second possible.
  id TEXT NOT NULL UNIQUE,
  lane_id INTEGER NOT NULL REFERENCES outbox_lanes (id),
  account_id TEXT,
  event_id TEXT NOT NULL,
  event_type TEXT NOT NULL,
  body_id INTEGER NOT NULL,
  -- What the message is about, for the part of the service that posted it.
  ref TEXT,
  -- Written out: for IN, SQLite builds a list of more than two values again for every row, a quarter
  -- of the cost of a message.
  state TEXT NOT NULL CHECK (
    state = 'pending' OR state = 'leased' OR state = 'retry'
      OR state = 'delivered' OR state = 'failed' OR state = 'skipped'
  ),
  due_at INTEGER NOT NULL,
  -- When a message of an ordered lane is tried again. due_at does not change, so the message stays
  -- first in its lane.
  hold_until INTEGER,
  -- attempts: all, the one under way included. tries: those that count towards the retry schedule
  -- since the message was last queued. rescues: those in a row that this service itself cut short.
  attempts INTEGER NOT NULL DEFAULT 0,
  tries INTEGER NOT NULL DEFAULT 0,
  rescues INTEGER NOT NULL DEFAULT 0,
  -- Set where the message allows fewer retries than its lane.
  max_retries INTEGER,
  lease_token TEXT,
  lease_until INTEGER,
  -- The last attempt that ended; last_error also says why a message was not sent.
  status_code INTEGER,
  duration_ms INTEGER,
  last_error TEXT,
  created_at INTEGER NOT NULL,
  settled_at INTEGER,
  -- The W3C trace context of the work that posted it; NULL where that belonged to no trace.
  traceparent TEXT,
  -- An event that is posted twice is one message.
  UNIQUE (event_id, lane_id)
) STRICT;
-- Messages that wait in a lane.
CREATE INDEX outbox_waiting ON outbox (lane_id, due_at) WHERE state IN ('pending', 'retry');
-- Messages that a process which ended left under way: a handful.
CREATE INDEX outbox_leased ON outbox (lease_until) WHERE state = 'leased';
-- The log of a lane, newest first.
CREATE INDEX outbox_by_lane ON outbox (lane_id, number);
-- Messages whose retention is over.
CREATE INDEX outbox_settled ON outbox (settled_at) WHERE settled_at IS NOT NULL;

-- Every attempt that ended.
CREATE TABLE outbox_attempts (
  message_number INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  ended_at INTEGER NOT NULL,
  status_code INTEGER,
  duration_ms INTEGER NOT NULL,
  error TEXT,
  -- JSON of headers, the beginning of the answer, timing and TLS, for webhooks in debug mode.
  debug TEXT CHECK (json_valid(debug)),
  PRIMARY KEY (message_number, attempt)
) STRICT, WITHOUT ROWID;

-- Messages that a demo instance captured instead of sending them; the newest thousand of a channel.
CREATE TABLE inbox (
  number INTEGER PRIMARY KEY,
  channel TEXT NOT NULL CHECK (channel IN ('email', 'sms')),
  -- The message's own event_id: a repeated attempt is captured once.
  event_id TEXT NOT NULL,
  recipient TEXT NOT NULL,
  subject TEXT,
  text TEXT NOT NULL,
  html TEXT,
  -- JSON array.
  attachments TEXT NOT NULL CHECK (json_valid(attachments)),
  captured_at INTEGER NOT NULL,
  UNIQUE (channel, event_id)
) STRICT;

-- # Messages: e-mail and text messages to people: addresses, consent, preferences, notifications.

-- Addresses, in lower case, that no mail is sent to: a server reported a permanent failure, or the
-- operator added them.
CREATE TABLE mail_suppressions (
  address TEXT PRIMARY KEY,
  reason TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The answer of an address to e-mails that an account has scheduled for it. Addresses of the account
-- itself need not agree; an address that has declined gets none.
CREATE TABLE mail_recipients (
  account_id TEXT NOT NULL REFERENCES accounts (id),
  -- In lower case.
  address TEXT NOT NULL,
  asked_at INTEGER,
  confirmed_at INTEGER,
  declined_at INTEGER,
  PRIMARY KEY (account_id, address)
) STRICT, WITHOUT ROWID;

-- E-mails of an account on a day (UTC), by address; kept for that day.
CREATE TABLE mail_days (
  sent_on TEXT NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  address TEXT NOT NULL,
  -- 1: the address is outside the account.
  stranger INTEGER NOT NULL CHECK (stranger IN (0, 1)),
  letters INTEGER NOT NULL,
  PRIMARY KEY (sent_on, account_id, address)
) STRICT, WITHOUT ROWID;

-- The phone number of an account, verified or not, and the code that was sent to verify it.
CREATE TABLE phones (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  phone_number TEXT NOT NULL,
  country TEXT NOT NULL,
  added_at INTEGER NOT NULL,
  verified_at INTEGER,
  -- Consent holds for this number only and is deleted with it.
  opted_in_at INTEGER,
  -- HMAC-SHA-256 under the master key: six digits could be guessed from a plain hash.
  code_hash BLOB,
  code_sent_at INTEGER,
  code_expires_at INTEGER,
  wrong_tries INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
-- Finds the account when a provider refuses a number permanently.
CREATE INDEX phones_by_phone_number ON phones (phone_number);

CREATE TABLE sms_settings (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  -- Local wall time HH:MM, both or none.
  quiet_from TEXT,
  quiet_to TEXT,
  time_zone TEXT NOT NULL,
  messages_per_day_max INTEGER NOT NULL,
  -- JSON array of text.
  alert_types TEXT NOT NULL CHECK (json_valid(alert_types))
) STRICT, WITHOUT ROWID;

-- Text messages, counted towards the maximum of a day, of a month and of a phone number. Their text
-- is in the outbox.
CREATE TABLE sms_messages (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  purpose TEXT NOT NULL CHECK (purpose IN ('alert', 'verification', 'test')),
  phone_number TEXT NOT NULL,
  posted_at INTEGER NOT NULL,
  -- 1: it was not sent in the end, and does not count.
  failed INTEGER NOT NULL DEFAULT 0 CHECK (failed IN (0, 1))
) STRICT, WITHOUT ROWID;
CREATE INDEX sms_messages_by_account ON sms_messages (account_id, posted_at);
CREATE INDEX sms_messages_by_phone_number ON sms_messages (phone_number, posted_at);
CREATE INDEX sms_messages_by_age ON sms_messages (posted_at);

-- The notifications that an account wants, by channel. Created when it is first changed.
CREATE TABLE notification_preferences (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  email_enabled INTEGER NOT NULL CHECK (email_enabled IN (0, 1)),
  email_price_alerts INTEGER NOT NULL CHECK (email_price_alerts IN (0, 1)),
  email_weekly_digest INTEGER NOT NULL CHECK (email_weekly_digest IN (0, 1)),
  email_product_updates INTEGER NOT NULL CHECK (email_product_updates IN (0, 1)),
  sms_enabled INTEGER NOT NULL CHECK (sms_enabled IN (0, 1)),
  sms_price_alerts INTEGER NOT NULL CHECK (sms_price_alerts IN (0, 1)),
  push_enabled INTEGER NOT NULL CHECK (push_enabled IN (0, 1))
) STRICT, WITHOUT ROWID;

-- What happened in an account, kept 90 days. The number orders rows of one millisecond.
CREATE TABLE notifications (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  type TEXT NOT NULL,
  title TEXT NOT NULL,
  message TEXT NOT NULL,
  -- JSON object.
  data TEXT CHECK (json_valid(data)),
  created_at INTEGER NOT NULL,
  read_at INTEGER
) STRICT;
CREATE INDEX notifications_by_account ON notifications (account_id, created_at, number);
-- The unread count is read most often, and most notifications have been read.
CREATE INDEX notifications_unread ON notifications (account_id) WHERE read_at IS NULL;
CREATE INDEX notifications_by_age ON notifications (created_at);

-- # Sources: where accounts get their private prices from.

-- An account's own sources of marine fuel prices.
CREATE TABLE data_sources (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  -- Any word: a type that this version cannot sync is kept, with an error that says so.
  source_type TEXT NOT NULL,
  -- pending: not synced yet. error: failed, and tried again if that may help. failed: given up.
  status TEXT NOT NULL CHECK (status IN ('active', 'paused', 'error', 'pending', 'failed')),
  -- JSON object.
  scraper_config TEXT CHECK (json_valid(scraper_config)),
  -- A JSON object, sealed by the vault; credential_id changes whenever the credentials do.
  credentials BLOB,
  credential_id TEXT,
  last_sync_at INTEGER,
  -- NULL: it is not synced on a schedule.
  next_sync_at INTEGER,
  successful_syncs INTEGER NOT NULL DEFAULT 0,
  failed_syncs INTEGER NOT NULL DEFAULT 0,
  failed_in_a_row INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  -- Rises with every change by its owner, so that a sync which began before the change is
  -- recognised.
  revision INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  -- The source is not shown any more; its row stays until its data rows have been deleted, in slices.
  removed_at INTEGER
) STRICT;
CREATE INDEX data_sources_by_account ON data_sources (account_id, number) WHERE removed_at IS NULL;
CREATE INDEX data_sources_due
  ON data_sources (next_sync_at) WHERE next_sync_at IS NOT NULL AND removed_at IS NULL;
CREATE INDEX data_sources_removed ON data_sources (number) WHERE removed_at IS NOT NULL;

-- Marine fuel prices of a source, visible to its account alone. USD or another currency per metric
-- ton.
CREATE TABLE data_source_rows (
  source_number INTEGER NOT NULL REFERENCES data_sources (number),
  observed_at INTEGER NOT NULL,
  fuel_type TEXT NOT NULL,
  port TEXT NOT NULL,
  region TEXT,
  currency TEXT NOT NULL,
  price REAL NOT NULL,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (source_number, observed_at, fuel_type, port)
) STRICT, WITHOUT ROWID;

-- How the newest syncs of a source ended.
CREATE TABLE data_source_syncs (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  source_number INTEGER NOT NULL REFERENCES data_sources (number),
  -- What started it.
  trigger TEXT NOT NULL CHECK (trigger IN ('schedule', 'push', 'operator')),
  status TEXT NOT NULL CHECK (status IN ('success', 'failed')),
  received INTEGER NOT NULL,
  inserted INTEGER NOT NULL,
  revised INTEGER NOT NULL,
  unchanged INTEGER NOT NULL,
  rejected INTEGER NOT NULL,
  -- JSON list of the first reasons why rows were rejected.
  rejections TEXT NOT NULL CHECK (json_valid(rejections)),
  error TEXT,
  duration_ms INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  completed_at INTEGER NOT NULL
) STRICT;
CREATE INDEX data_source_syncs_by_source ON data_source_syncs (source_number, number);

-- # Feeds: the data that this instance fetches from publishers.

-- Settings that the operator changed by a command or a request, instead of the configuration file.
CREATE TABLE feed_settings (
  name TEXT PRIMARY KEY,
  -- JSON object of what is set, without the key; NULL: nothing but the pause.
  settings TEXT CHECK (json_valid(settings)),
  -- The key, sealed by the vault.
  secret BLOB,
  paused_at INTEGER,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Every feed that ever ran, by a small number that observations refer to it by.
CREATE TABLE feeds (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  -- When it is tried next on its schedule.
  next_at INTEGER,
  -- The last release of which a run has read something new.
  served_at INTEGER,
  last_new_at INTEGER,
  consecutive_failures INTEGER NOT NULL DEFAULT 0
) STRICT;

-- What each run read and wrote, and how it ended.
CREATE TABLE feed_runs (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  feed TEXT NOT NULL,
  trigger TEXT NOT NULL CHECK (trigger IN ('schedule', 'operator', 'start')),
  started_at INTEGER NOT NULL,
  -- NULL: under way, or cut short by the end of the process; the next start closes it.
  finished_at INTEGER,
  result TEXT CHECK (result IN ('new', 'unchanged', 'failed', 'held')),
  requests INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  rows_read INTEGER NOT NULL DEFAULT 0,
  inserted INTEGER NOT NULL DEFAULT 0,
  revised INTEGER NOT NULL DEFAULT 0,
  unchanged INTEGER NOT NULL DEFAULT 0,
  rejected INTEGER NOT NULL DEFAULT 0,
  held INTEGER NOT NULL DEFAULT 0,
  newest_period TEXT,
  problem_code TEXT,
  problem TEXT,
  -- Values that were left out because an operator had replaced or removed them.
  kept INTEGER NOT NULL DEFAULT 0,
  -- What the publisher changed, as JSON: [{"code":"resolution_changed","message":"..."}].
  notes TEXT
) STRICT;
CREATE INDEX feed_runs_by_feed ON feed_runs (feed, number);
CREATE INDEX feed_runs_open ON feed_runs (number) WHERE finished_at IS NULL;

-- Entity tags and dates of publishers' files, so that only what has changed is fetched.
CREATE TABLE feed_marks (
  feed TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (feed, name)
) STRICT, WITHOUT ROWID;

-- What the last finished run received for each line of a map, to compare the next answer with.
CREATE TABLE feed_lines (
  feed TEXT NOT NULL,
  source_id TEXT NOT NULL,
  target TEXT NOT NULL,
  rows INTEGER NOT NULL,
  covers_on TEXT,
  newest_period TEXT,
  PRIMARY KEY (feed, source_id, target)
) STRICT, WITHOUT ROWID;

-- Which feed wrote the row under a key of a dataset.
CREATE TABLE feed_rows (
  dataset TEXT NOT NULL,
  key TEXT NOT NULL,
  feed_number INTEGER NOT NULL REFERENCES feeds (number),
  PRIMARY KEY (dataset, key)
) STRICT, WITHOUT ROWID;

-- Which codes a person wants on the board: a list of groups with name and codes. Created when it is
-- first chosen.
CREATE TABLE board_layouts (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  groups TEXT NOT NULL CHECK (json_valid(groups)),
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Named layouts of an account, which every member of its organization sees.
CREATE TABLE shared_layouts (
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  groups TEXT NOT NULL CHECK (json_valid(groups)),
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (account_id, name)
) STRICT, WITHOUT ROWID;

-- How a person wants the console to look. Created when it is first chosen.
CREATE TABLE display_preferences (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  scheme TEXT NOT NULL,
  density TEXT NOT NULL,
  time_zone TEXT NOT NULL,
  number_format TEXT NOT NULL,
  move_colours TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- # Vintages: what datasets said before. Triggers of src/store/vintage.ts write both tables.

-- Rows that others took the place of: known from recorded_at until superseded_at. The key as a JSON
-- array, the row as a JSON object by column. Where both times are one, an import of earlier versions
-- took the row's time away: it only holds its place in the feed of changes.
CREATE TABLE dataset_revisions (
  subject TEXT NOT NULL,
  key TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  superseded_at INTEGER NOT NULL,
  fields TEXT NOT NULL CHECK (json_valid(fields)),
  PRIMARY KEY (subject, key, recorded_at)
) STRICT, WITHOUT ROWID;

CREATE INDEX dataset_revisions_by_recording ON dataset_revisions (subject, recorded_at);
CREATE INDEX dataset_revisions_by_end ON dataset_revisions (subject, superseded_at);

-- Since when what was known of a table is known itself.
CREATE TABLE dataset_coverage (
  subject TEXT PRIMARY KEY,
  since_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The feed of changes finds rows by when they were recorded.
CREATE INDEX annotations_by_recording ON annotations (recorded_at);
CREATE INDEX congressional_trades_by_recording ON congressional_trades (recorded_at);
CREATE INDEX cot_reports_by_recording ON cot_reports (recorded_at);
CREATE INDEX diesel_stations_by_recording ON diesel_stations (recorded_at);
CREATE INDEX drilling_productivities_by_recording ON drilling_productivities (recorded_at);
CREATE INDEX duc_wells_by_recording ON duc_wells (recorded_at);
CREATE INDEX frac_chemicals_by_recording ON frac_chemicals (recorded_at);
CREATE INDEX frac_disclosures_by_recording ON frac_disclosures (recorded_at);
CREATE INDEX frac_spreads_by_recording ON frac_spreads (recorded_at);
CREATE INDEX futures_days_by_recording ON futures_days (recorded_at);
CREATE INDEX futures_ticks_by_recording ON futures_ticks (recorded_at);
CREATE INDEX opec_productions_by_recording ON opec_productions (recorded_at);
CREATE INDEX outlook_forecasts_by_recording ON outlook_forecasts (recorded_at);
CREATE INDEX rig_counts_by_recording ON rig_counts (recorded_at);
CREATE INDEX state_production_by_recording ON state_production (recorded_at);
CREATE INDEX storage_capacities_by_recording ON storage_capacities (recorded_at);
CREATE INDEX surcharge_schedules_by_recording ON surcharge_schedules (recorded_at);
CREATE INDEX surcharges_by_recording ON surcharges (recorded_at);
CREATE INDEX well_permit_papers_by_recording ON well_permit_papers (recorded_at);
CREATE INDEX well_production_by_recording ON well_production (recorded_at);
CREATE INDEX wells_by_recording ON wells (recorded_at);

-- # Operator: settings of this instance and the tokens of its operators.

CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Tokens of the operator, hashed like API keys.
CREATE TABLE admin_tokens (
  token_hash BLOB PRIMARY KEY,
  token_hint TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER,
  id TEXT,
  -- Null: that of the first start, or of a rotation.
  name TEXT,
  role TEXT NOT NULL DEFAULT 'all' CHECK (role IN ('read', 'data', 'people', 'all'))
) STRICT, WITHOUT ROWID;

-- Who did what to which thing: one chain of entries, each with the hash of itself and of the one
-- before. AUTOINCREMENT keeps the number of the newest, so that a lost end shows too.
CREATE TABLE audit_entries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  noted_at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  account_id TEXT,
  action TEXT NOT NULL,
  thing TEXT NOT NULL,
  place TEXT,
  outcome TEXT NOT NULL,
  -- JSON, as it was hashed.
  details TEXT,
  hash BLOB NOT NULL
) STRICT;

-- What the chain begins with: the last entry that was taken out because of its age.
CREATE TABLE audit_anchor (
  entry_id INTEGER NOT NULL,
  hash BLOB NOT NULL
) STRICT;
INSERT INTO audit_anchor (entry_id, hash) VALUES (0, zeroblob(32));

CREATE TRIGGER audit_entries_stay BEFORE UPDATE ON audit_entries
BEGIN
  SELECT raise(ABORT, 'entries of the audit trail are not changed');
END;
CREATE TRIGGER audit_entries_last BEFORE DELETE ON audit_entries
WHEN OLD.id > (SELECT entry_id FROM audit_anchor)
BEGIN
  SELECT raise(ABORT, 'entries of the audit trail are not taken out');
END;

-- # Condition: times in which a part of the service was not as it should be, for ninety days.

CREATE TABLE incidents (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  part TEXT NOT NULL,
  -- The worst that it came to.
  status TEXT NOT NULL CHECK (status IN ('degraded', 'down')),
  message TEXT,
  began_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;

-- # Replication: changes that replicas of this database need. Empty without replicas.

-- Which rows a commit changed, written in it: by triggers, which exist only while changes are
-- logged, and for observations by ranges. What the rows hold is read when it is published.
CREATE TABLE changes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- The table. observations stands for revisions and bars of the same range, too.
  subject TEXT NOT NULL,
  -- JSON array of the key of a row; for observations of series, first and last moment.
  key TEXT NOT NULL CHECK (json_valid(key))
) STRICT;

-- Up to which change the stream had everything, and when: changes are deleted some hours later.
CREATE TABLE publications (
  number INTEGER PRIMARY KEY,
  published_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The identity of this instance among the others, which is not replicated.
CREATE TABLE replication_state (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
