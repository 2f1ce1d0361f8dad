-- Wellhead's schema for a new database. Times are integer Unix milliseconds (*_at), dates YYYY-MM-DD text (*_on), UTC.
-- Older databases reach this state through src/store/migrations.ts; a test holds the two together.

CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One row per commodity code of the catalogue.
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
  -- Why the catalogue lists the code without data: no_source, discontinued, restricted. NULL: it may have data.
  unavailable_reason TEXT,
  -- A typical value: seeds the fixture world and bounds what validation accepts. Never answered as a price.
  level REAL NOT NULL,
  volatility REAL NOT NULL,
  -- 1 once the fixture world has written to it, so that every answer can say so.
  fixture INTEGER NOT NULL DEFAULT 0,
  -- The futures family that the series is a contract of. Contracts answer to their codes and are not listed: their families are.
  contract_of TEXT REFERENCES series (code)
) STRICT;

CREATE TABLE aliases (
  alias TEXT PRIMARY KEY,
  code TEXT NOT NULL REFERENCES series (code)
) STRICT, WITHOUT ROWID;

-- The current value of each point. WITHOUT ROWID: rows lie in the order they are read (one code, a span of time), and the key is not stored twice.
CREATE TABLE observations (
  series_id INTEGER NOT NULL REFERENCES series (id),
  observed_at INTEGER NOT NULL,
  value REAL NOT NULL,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (series_id, observed_at)
) STRICT, WITHOUT ROWID;

-- What a correction replaced, with the half-open interval [recorded_at, replaced_at) in which it was the known value.
CREATE TABLE observation_revisions (
  series_id INTEGER NOT NULL REFERENCES series (id),
  observed_at INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  value REAL NOT NULL,
  replaced_at INTEGER NOT NULL,
  PRIMARY KEY (series_id, observed_at, recorded_at)
) STRICT, WITHOUT ROWID;

-- Hours and days, written in the transaction that writes their observations. Weeks and months are read from days.
-- span is the length of the bucket in hours (1 or 24), a small integer because it is part of every key.
CREATE TABLE bars (
  series_id INTEGER NOT NULL REFERENCES series (id),
  span INTEGER NOT NULL CHECK (span IN (1, 24)),
  starts_at INTEGER NOT NULL,
  open REAL NOT NULL,
  high REAL NOT NULL,
  low REAL NOT NULL,
  close REAL NOT NULL,
  sum REAL NOT NULL,
  count INTEGER NOT NULL,
  -- Hours of the bucket that have an observation: pages over hours are found by counting days.
  hours INTEGER NOT NULL,
  -- When the last observation of the bucket was made, when the newest was recorded, and when the bucket came to be:
  -- someone who walks the pages of a moment leaves out buckets that were born after it.
  closed_at INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  born_at INTEGER NOT NULL,
  PRIMARY KEY (series_id, span, starts_at)
) STRICT, WITHOUT ROWID;

-- Days of a series that reads leave out and report; both ends inclusive.
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

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT,
  -- SHA-256 of the token; the token itself is never stored.
  token_hash BLOB NOT NULL UNIQUE,
  token_hint TEXT NOT NULL,
  -- The token before a roll that asked for an overlap, until the overlap ends.
  previous_hash BLOB UNIQUE,
  previous_until INTEGER,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER,
  suspended_at INTEGER,
  expires_at INTEGER,
  last_used_at INTEGER,
  read_only INTEGER NOT NULL DEFAULT 0,
  -- JSON arrays of text.
  allowed_ips TEXT NOT NULL DEFAULT '[]',
  allowed_domains TEXT NOT NULL DEFAULT '[]'
) STRICT, WITHOUT ROWID;
CREATE INDEX api_keys_by_account ON api_keys (account_id, created_at);

-- Requests counted in one quota window of one key. Written behind, at most a second late.
CREATE TABLE quota_counters (
  key_id TEXT NOT NULL REFERENCES api_keys (id),
  window TEXT NOT NULL,
  starts_at INTEGER NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (key_id, window, starts_at)
) STRICT, WITHOUT ROWID;

-- What was asked and how it went, added up by key, hour, route and class of status (2, 3, 4, 5).
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

-- How sparingly a key asked on one day (UTC): what the refusal of a used-up quota reports.
CREATE TABLE usage_days (
  key_id TEXT NOT NULL REFERENCES api_keys (id),
  day_on TEXT NOT NULL,
  batchable INTEGER NOT NULL,
  cacheable INTEGER NOT NULL,
  -- Ids of the series asked for, space separated.
  series_ids TEXT NOT NULL,
  PRIMARY KEY (key_id, day_on)
) STRICT, WITHOUT ROWID;

-- The operator's tokens, hashed like API keys.
CREATE TABLE admin_tokens (
  token_hash BLOB PRIMARY KEY,
  token_hint TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;

-- Answers to creating requests that carried an Idempotency-Key, kept 24 hours. `sealed` can be read only with the token that the request
-- came with, which is nowhere at rest: the answer may hold a new token.
CREATE TABLE idempotency (
  key_id TEXT NOT NULL REFERENCES api_keys (id),
  -- SHA-256 of the path and the Idempotency-Key.
  request_hash BLOB NOT NULL,
  sealed BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (key_id, request_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (created_at);

-- How much a place of storage can hold, by the day from which it holds: agencies survey capacities once or twice a year, and a level is
-- judged by the capacity of its own day. In the unit of the series.
CREATE TABLE storage_capacities (
  series_id INTEGER NOT NULL REFERENCES series (id),
  effective_on TEXT NOT NULL,
  capacity REAL NOT NULL CHECK (capacity > 0),
  source TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (series_id, effective_on)
) STRICT, WITHOUT ROWID;

-- Carriers' fuel surcharge tables, each from the day on which it took effect.
CREATE TABLE surcharge_schedules (
  mode TEXT NOT NULL CHECK (mode IN ('ltl', 'parcel')),
  carrier TEXT NOT NULL,
  -- Empty for carriers that have one table for all they carry.
  service_level TEXT NOT NULL,
  valid_from_on TEXT NOT NULL,
  carrier_name TEXT NOT NULL,
  service_name TEXT NOT NULL,
  -- The series whose price of the week the table is read at.
  index_code TEXT NOT NULL,
  -- 1 = Monday ... 7 = Sunday: the day on which a week's price takes effect.
  effective_weekday INTEGER NOT NULL CHECK (effective_weekday BETWEEN 1 AND 7),
  -- JSON [[min, max, percent], ...], ascending without gaps.
  bands TEXT NOT NULL,
  -- Above the last band every further width adds percent; both NULL: the table ends.
  beyond_width REAL,
  beyond_percent REAL,
  -- 1: the weeks that nobody published are matched here as the index comes in. 0: only published weeks are served.
  matched INTEGER NOT NULL,
  -- The carrier's page, and when it was last read.
  source TEXT NOT NULL,
  retrieved_at INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (mode, carrier, service_level, valid_from_on)
) STRICT, WITHOUT ROWID;

-- What each carrier charged from a day on, with the price and the band it was matched to. A row is what was in force: it stays as it is when
-- a table or an index price is corrected later. Names stand in every row because a carrier may change its own.
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
  -- 1: invented by the fixture world.
  fixture INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (mode, carrier, service_level, effective_on)
) STRICT, WITHOUT ROWID;

-- One day of a futures contract by trading date, which an evening session begins on the day before. The contract is a series whose
-- observations follow these rows. Keyed for one contract over dates; a curve is twelve seeks.
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
  -- 1: open to volume follow the ticks of the date as they come in. 0: they were given, and ticks leave them alone.
  from_ticks INTEGER NOT NULL,
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

-- What managed-money traders held of a market's futures on a report date, in contracts (CFTC, disaggregated Commitments of
-- Traders). The net position and its change follow from the rows. Lists run over all markets by date, but the previous report is sought
-- for each row, so the key leads with the market; twenty years of five markets are five thousand rows to sort.
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

-- Notes on days: what moved a market. The id is whoever wrote the note's own, so that the same note again is known.
CREATE TABLE annotations (
  id TEXT PRIMARY KEY,
  annotated_on TEXT NOT NULL,
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  category TEXT NOT NULL,
  -- NULL: of no single commodity.
  commodity TEXT REFERENCES series (code),
  source TEXT NOT NULL,
  recorded_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX annotations_by_day ON annotations (annotated_on, id);

-- Trades of members of the United States Congress as they disclosed them. A disclosure has no number of its own: what was traded is the key,
-- and the day of the disclosure may be corrected.
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
