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
  fixture INTEGER NOT NULL DEFAULT 0
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
