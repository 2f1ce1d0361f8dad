-- Append-only: what a released version carried is never edited. Each part brings version - 1 to
-- its version, and its heading says why the schema had to change. schema.sql is the sum of them.

-- Version 2: Feeds keep their settings, their runs, and whose each observation is.
CREATE TABLE feed_settings (
  name TEXT PRIMARY KEY,
  settings TEXT CHECK (json_valid(settings)),
  secret BLOB,
  paused_at INTEGER,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE feeds (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  next_at INTEGER,
  served_at INTEGER,
  last_new_at INTEGER,
  consecutive_failures INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE feed_runs (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  feed TEXT NOT NULL,
  trigger TEXT NOT NULL CHECK (trigger IN ('schedule', 'operator', 'start')),
  started_at INTEGER NOT NULL,
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
  problem TEXT
) STRICT;
CREATE INDEX feed_runs_by_feed ON feed_runs (feed, number);
CREATE INDEX feed_runs_open ON feed_runs (number) WHERE finished_at IS NULL;
CREATE TABLE feed_marks (
  feed TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (feed, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE feed_lines (
  feed TEXT NOT NULL,
  source_id TEXT NOT NULL,
  target TEXT NOT NULL,
  rows INTEGER NOT NULL,
  covers_on TEXT,
  newest_period TEXT,
  PRIMARY KEY (feed, source_id, target)
) STRICT, WITHOUT ROWID;
CREATE TABLE feed_observations (
  series_id INTEGER NOT NULL REFERENCES series (id),
  observed_at INTEGER NOT NULL,
  feed_number INTEGER NOT NULL REFERENCES feeds (number),
  run INTEGER NOT NULL,
  period_kind INTEGER NOT NULL,
  PRIMARY KEY (series_id, observed_at)
) STRICT, WITHOUT ROWID;
CREATE INDEX feed_observations_coarse
  ON feed_observations (series_id, period_kind, observed_at) WHERE period_kind > 0;
CREATE TABLE feed_rows (
  dataset TEXT NOT NULL,
  key TEXT NOT NULL,
  feed_number INTEGER NOT NULL REFERENCES feeds (number),
  PRIMARY KEY (dataset, key)
) STRICT, WITHOUT ROWID;

-- Version 3: A key may be limited to parts of the API.
ALTER TABLE api_keys ADD COLUMN scopes TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(scopes));

-- Version 4: A file says whose database it is, so that no other is taken for ours.
PRAGMA application_id = 0x57656c6c;

-- Version 5: The operator has custom series, and changes of shipped ones.
CREATE TABLE series_terms (
  series_id INTEGER PRIMARY KEY REFERENCES series (id),
  own INTEGER NOT NULL CHECK (own IN (0, 1)),
  terms TEXT NOT NULL CHECK (json_valid(terms)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- Version 6: Unverified recipients get scheduled e-mails only once they agree, and e-mails are counted.
CREATE TABLE mail_recipients (
  account_id TEXT NOT NULL REFERENCES accounts (id),
  address TEXT NOT NULL,
  asked_at INTEGER,
  confirmed_at INTEGER,
  declined_at INTEGER,
  PRIMARY KEY (account_id, address)
) STRICT, WITHOUT ROWID;
CREATE TABLE mail_days (
  sent_on TEXT NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  address TEXT NOT NULL,
  stranger INTEGER NOT NULL CHECK (stranger IN (0, 1)),
  letters INTEGER NOT NULL,
  PRIMARY KEY (sent_on, account_id, address)
) STRICT, WITHOUT ROWID;
-- Addresses that get them already have had every chance to decline.
INSERT INTO mail_recipients (account_id, address, asked_at, confirmed_at)
  SELECT account_id, lower(recipient_email), min(created_at), min(created_at)
  FROM scheduled_deliveries WHERE recipient_email IS NOT NULL
  GROUP BY account_id, lower(recipient_email);

-- Version 7: Each observation names its source and its batch.
ALTER TABLE observations ADD COLUMN source_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE observations ADD COLUMN batch_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE observation_revisions ADD COLUMN source_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE observation_revisions ADD COLUMN batch_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE observation_revisions ADD COLUMN next_batch_id INTEGER NOT NULL DEFAULT 0;
CREATE TABLE value_sources (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('feed', 'named')),
  name TEXT NOT NULL,
  period_kind INTEGER NOT NULL,
  UNIQUE (kind, name, period_kind)
) STRICT;
CREATE TABLE series_sources (
  series_id INTEGER NOT NULL REFERENCES series (id),
  source_id INTEGER NOT NULL REFERENCES value_sources (id),
  PRIMARY KEY (series_id, source_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE batches (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('file', 'push', 'feed', 'correction', 'undo', 'release')),
  actor TEXT NOT NULL,
  dataset TEXT,
  source_id INTEGER REFERENCES value_sources (id),
  feed_run_id TEXT,
  file_name TEXT,
  sha256 TEXT,
  reason TEXT,
  undoes_id INTEGER REFERENCES batches (id),
  started_at INTEGER NOT NULL,
  finished_at INTEGER,
  inserted INTEGER NOT NULL DEFAULT 0,
  revised INTEGER NOT NULL DEFAULT 0,
  unchanged INTEGER NOT NULL DEFAULT 0,
  removed INTEGER NOT NULL DEFAULT 0,
  superseded INTEGER NOT NULL DEFAULT 0,
  rejected INTEGER NOT NULL DEFAULT 0,
  held INTEGER NOT NULL DEFAULT 0,
  biggest TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(biggest)),
  undone_at INTEGER
) STRICT;
CREATE TABLE batch_series (
  batch_id INTEGER NOT NULL REFERENCES batches (id),
  series_id INTEGER NOT NULL REFERENCES series (id),
  points INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  PRIMARY KEY (batch_id, series_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX batch_series_by_series ON batch_series (series_id, batch_id);
INSERT INTO value_sources (kind, name, period_kind)
  SELECT DISTINCT 'feed', f.name, o.period_kind
  FROM feed_observations o JOIN feeds f ON f.number = o.feed_number;
INSERT INTO series_sources (series_id, source_id)
  SELECT DISTINCT o.series_id, s.id FROM feed_observations o
  JOIN feeds f ON f.number = o.feed_number
  JOIN value_sources s ON s.kind = 'feed' AND s.name = f.name AND s.period_kind = o.period_kind;
UPDATE observations SET source_id = s.id
  FROM feed_observations o
  JOIN feeds f ON f.number = o.feed_number
  JOIN value_sources s ON s.kind = 'feed' AND s.name = f.name AND s.period_kind = o.period_kind
  WHERE o.series_id = observations.series_id AND o.observed_at = observations.observed_at;
DROP TABLE feed_observations;

-- Version 8: Suspicious values are held for review.
CREATE TABLE doubted_values (
  id INTEGER PRIMARY KEY,
  series_id INTEGER NOT NULL REFERENCES series (id),
  observed_at INTEGER NOT NULL,
  value REAL NOT NULL,
  before REAL,
  rule TEXT NOT NULL,
  reason TEXT NOT NULL,
  source_id INTEGER NOT NULL,
  batch_id INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('waiting', 'flagged', 'released', 'rejected')),
  doubted_at INTEGER NOT NULL,
  decided_at INTEGER,
  decided_by TEXT,
  decision_reason TEXT,
  UNIQUE (series_id, observed_at, value)
) STRICT;
CREATE INDEX doubted_values_by_status ON doubted_values (status, id);

-- Version 9: The bar of one observation says once what it says, and days without dense hours have no hour bars.
CREATE TABLE narrow_bars (
  series_id INTEGER NOT NULL REFERENCES series (id),
  span INTEGER NOT NULL CHECK (span IN (1, 24)),
  starts_at INTEGER NOT NULL,
  close REAL NOT NULL,
  closed_at INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  open REAL,
  high REAL,
  low REAL,
  sum REAL,
  count INTEGER,
  hours INTEGER,
  born_at INTEGER,
  PRIMARY KEY (series_id, span, starts_at)
) STRICT, WITHOUT ROWID;
INSERT INTO narrow_bars
  SELECT series_id, span, starts_at, close, closed_at, recorded_at,
    CASE WHEN count > 1 THEN open END, CASE WHEN count > 1 THEN high END,
    CASE WHEN count > 1 THEN low END, CASE WHEN count > 1 THEN sum END,
    CASE WHEN count > 1 THEN count END, CASE WHEN count > 1 THEN hours END,
    CASE WHEN count > 1 OR born_at <> recorded_at THEN born_at END
  FROM bars b
  WHERE span = 24 OR EXISTS (SELECT 1 FROM bars d WHERE d.series_id = b.series_id AND d.span = 24
    AND d.starts_at = b.starts_at - ((b.starts_at % 86400000) + 86400000) % 86400000 AND d.count > d.hours)
  ORDER BY series_id, span, starts_at;
DROP TABLE bars;
ALTER TABLE narrow_bars RENAME TO bars;

-- Version 10: Who did what is kept in a chain, and the operator has tokens with names and roles.
ALTER TABLE admin_tokens ADD COLUMN id TEXT;
ALTER TABLE admin_tokens ADD COLUMN name TEXT;
ALTER TABLE admin_tokens ADD COLUMN role TEXT NOT NULL DEFAULT 'all'
  CHECK (role IN ('read', 'data', 'people', 'all'));
UPDATE admin_tokens SET id = lower(hex(randomblob(16)));
CREATE TABLE audit_entries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  noted_at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  account_id TEXT,
  action TEXT NOT NULL,
  thing TEXT NOT NULL,
  place TEXT,
  outcome TEXT NOT NULL,
  details TEXT,
  hash BLOB NOT NULL
) STRICT;

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

-- Version 11: People choose the codes of their board, in groups, and find them on every device.
CREATE TABLE board_layouts (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  groups TEXT NOT NULL CHECK (json_valid(groups)),
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Version 12: Signing in may ask for a code besides.
CREATE TABLE second_factors (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  secret BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  confirmed_at INTEGER,
  last_step INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TABLE recovery_codes (
  code_hash BLOB PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX recovery_codes_by_account ON recovery_codes (account_id);

-- Version 13: Accounts can be closed and erased.
CREATE TABLE closed_accounts (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  closed_at INTEGER NOT NULL,
  erased_at INTEGER
) STRICT, WITHOUT ROWID;

-- Version 14: Replicas receive every commit.
CREATE TABLE changes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  subject TEXT NOT NULL,
  key TEXT NOT NULL CHECK (json_valid(key))
) STRICT;
CREATE TABLE publications (
  number INTEGER PRIMARY KEY,
  published_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE replication_state (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Version 15: Requests of the operator may be sent again too, which come without an API key.
CREATE TABLE repeats (
  owner TEXT NOT NULL,
  request_hash BLOB NOT NULL,
  sealed BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (owner, request_hash)
) STRICT, WITHOUT ROWID;
INSERT INTO repeats SELECT key_id, request_hash, sealed, created_at FROM idempotency;
DROP TABLE idempotency;
ALTER TABLE repeats RENAME TO idempotency;
CREATE INDEX idempotency_by_age ON idempotency (created_at);

-- Version 16: When parts of the service were not as they should be is kept for the status page.
CREATE TABLE incidents (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  part TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('degraded', 'down')),
  message TEXT,
  began_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;

-- Version 17: Datasets keep what they said before, as prices do.
CREATE TABLE dataset_revisions (
  subject TEXT NOT NULL,
  key TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  superseded_at INTEGER NOT NULL,
  fields TEXT NOT NULL CHECK (json_valid(fields)),
  PRIMARY KEY (subject, key, recorded_at)
) STRICT, WITHOUT ROWID;
CREATE TABLE dataset_coverage (
  subject TEXT PRIMARY KEY,
  since_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- Values that were replaced before are not known any more.
INSERT INTO dataset_coverage
  SELECT 'cot_reports', unixepoch() * 1000 WHERE EXISTS (SELECT 1 FROM cot_reports) UNION ALL
  SELECT 'drilling_productivities', unixepoch() * 1000 WHERE EXISTS (SELECT 1 FROM drilling_productivities) UNION ALL
  SELECT 'duc_wells', unixepoch() * 1000 WHERE EXISTS (SELECT 1 FROM duc_wells) UNION ALL
  SELECT 'frac_spreads', unixepoch() * 1000 WHERE EXISTS (SELECT 1 FROM frac_spreads) UNION ALL
  SELECT 'futures_days', unixepoch() * 1000 WHERE EXISTS (SELECT 1 FROM futures_days) UNION ALL
  SELECT 'futures_ticks', unixepoch() * 1000 WHERE EXISTS (SELECT 1 FROM futures_ticks) UNION ALL
  SELECT 'opec_productions', unixepoch() * 1000 WHERE EXISTS (SELECT 1 FROM opec_productions) UNION ALL
  SELECT 'outlook_forecasts', unixepoch() * 1000 WHERE EXISTS (SELECT 1 FROM outlook_forecasts) UNION ALL
  SELECT 'rig_counts', unixepoch() * 1000 WHERE EXISTS (SELECT 1 FROM rig_counts) UNION ALL
  SELECT 'storage_capacities', unixepoch() * 1000 WHERE EXISTS (SELECT 1 FROM storage_capacities);

-- Version 18: Rows of datasets wait for a decision too.
CREATE TABLE doubted_values_18 (
  id INTEGER PRIMARY KEY,
  series_id INTEGER REFERENCES series (id),
  observed_at INTEGER NOT NULL,
  value REAL NOT NULL,
  before REAL,
  rule TEXT NOT NULL,
  reason TEXT NOT NULL,
  source_id INTEGER NOT NULL,
  batch_id INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('waiting', 'flagged', 'released', 'rejected')),
  doubted_at INTEGER NOT NULL,
  decided_at INTEGER,
  decided_by TEXT,
  decision_reason TEXT,
  dataset TEXT,
  line TEXT,
  numbers TEXT,
  doubted_column TEXT,
  fields TEXT,
  UNIQUE (series_id, observed_at, value),
  CHECK ((series_id IS NULL) = (dataset IS NOT NULL))
) STRICT;
INSERT INTO doubted_values_18 (id, series_id, observed_at, value, before, rule, reason, source_id, batch_id, status,
    doubted_at, decided_at, decided_by, decision_reason)
  SELECT id, series_id, observed_at, value, before, rule, reason, source_id, batch_id, status, doubted_at,
    decided_at, decided_by, decision_reason FROM doubted_values;
DROP TABLE doubted_values;
ALTER TABLE doubted_values_18 RENAME TO doubted_values;
CREATE INDEX doubted_values_by_status ON doubted_values (status, id);
CREATE UNIQUE INDEX doubted_rows ON doubted_values (dataset, line, observed_at, numbers) WHERE dataset IS NOT NULL;

-- Version 19: Batches of datasets are undone too.
CREATE TABLE batch_rows (
  batch_id INTEGER NOT NULL REFERENCES batches (id),
  subject TEXT NOT NULL,
  key TEXT NOT NULL,
  before TEXT CHECK (json_valid(before)),
  PRIMARY KEY (batch_id, subject, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE batch_under_way (
  batch_id INTEGER PRIMARY KEY REFERENCES batches (id)
) STRICT;
ALTER TABLE batches ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0 CHECK (forgotten IN (0, 1));
-- The weekly stocks are values of series alone, which are undone as before.
UPDATE batches SET forgotten = 1 WHERE dataset <> 'oil-inventories';

-- Version 20: What stood before a batch is noted by adding to the end of a table.
-- Nothing is renamed: the triggers of datasets name this table.
CREATE TABLE batch_rows_19 AS
  SELECT batch_id, subject, key, before FROM batch_rows ORDER BY batch_id;
DROP TABLE batch_rows;
CREATE TABLE batch_rows (
  id INTEGER PRIMARY KEY,
  batch_id INTEGER NOT NULL,
  subject TEXT NOT NULL,
  key TEXT NOT NULL,
  before TEXT
) STRICT;
INSERT INTO batch_rows (batch_id, subject, key, before)
  SELECT batch_id, subject, key, before FROM batch_rows_19;
DROP TABLE batch_rows_19;
CREATE INDEX batch_rows_by_batch ON batch_rows (batch_id);

-- Version 21: What keys use that ask every second waits in a row for many of them.
CREATE TABLE usage_waiting (
  id INTEGER PRIMARY KEY,
  usage TEXT NOT NULL CHECK (json_valid(usage))
) STRICT;

-- Version 22: The days of the wells of a state are read without the wells.
DROP INDEX wells_by_state;
CREATE INDEX wells_by_state ON wells (state_code, first_production_on, permit_on, spud_on, completed_on, source);

-- Version 23: What an operator put right is not changed back by the values that it replaced.
ALTER TABLE batches ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;
ALTER TABLE feed_runs ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;
CREATE INDEX batches_of_decisions ON batches (kind) WHERE kind IN ('correction', 'undo');
CREATE TABLE doubted_values_23 (
  id INTEGER PRIMARY KEY,
  series_id INTEGER REFERENCES series (id),
  observed_at INTEGER NOT NULL,
  value REAL NOT NULL,
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
  dataset TEXT,
  line TEXT,
  numbers TEXT,
  doubted_column TEXT,
  fields TEXT,
  UNIQUE (series_id, observed_at, value),
  CHECK ((series_id IS NULL) = (dataset IS NOT NULL))
) STRICT;
INSERT INTO doubted_values_23 SELECT id, series_id, observed_at, value, before, rule, reason, source_id, batch_id,
  status, doubted_at, decided_at, decided_by, decision_reason, dataset, line, numbers, doubted_column, fields
  FROM doubted_values;
DROP TABLE doubted_values;
ALTER TABLE doubted_values_23 RENAME TO doubted_values;
CREATE INDEX doubted_values_by_status ON doubted_values (status, id);
CREATE UNIQUE INDEX doubted_rows ON doubted_values (dataset, line, observed_at, numbers) WHERE dataset IS NOT NULL;

-- Version 24: Changes of prices are read in the order in which they were recorded.
CREATE TABLE price_changes (
  written_at INTEGER NOT NULL,
  series_id INTEGER NOT NULL REFERENCES series (id),
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  recorded_from INTEGER NOT NULL,
  recorded_to INTEGER NOT NULL,
  PRIMARY KEY (written_at, series_id, first_at, recorded_from)
) STRICT, WITHOUT ROWID;
CREATE TABLE change_events (
  written_at INTEGER NOT NULL,
  series_id INTEGER NOT NULL REFERENCES series (id),
  kind TEXT NOT NULL CHECK (kind IN ('quarantined', 'released', 'terms')),
  details TEXT NOT NULL CHECK (json_valid(details)),
  PRIMARY KEY (written_at, series_id, kind)
) STRICT, WITHOUT ROWID;
CREATE TABLE change_lines (
  number INTEGER PRIMARY KEY,
  token TEXT NOT NULL UNIQUE,
  begins_after INTEGER NOT NULL
) STRICT;
INSERT INTO change_lines (token, begins_after)
  VALUES (lower(hex(randomblob(3))), -50779978334208);
-- Values that were recorded before the log are in it by the time of their recording.
INSERT INTO price_changes
  SELECT at, series_id, min(observed_at), max(observed_at), at, at FROM (
    SELECT recorded_at AS at, series_id, observed_at FROM observations
    UNION ALL SELECT recorded_at, series_id, observed_at FROM observation_revisions
    UNION ALL SELECT replaced_at, series_id, observed_at FROM observation_revisions r
      WHERE NOT EXISTS (SELECT 1 FROM observation_revisions n WHERE n.series_id = r.series_id
          AND n.observed_at = r.observed_at AND n.recorded_at = r.replaced_at)
        AND NOT EXISTS (SELECT 1 FROM observations o WHERE o.series_id = r.series_id
          AND o.observed_at = r.observed_at AND o.recorded_at = r.replaced_at))
  GROUP BY at, series_id;
-- Days are in quarantine before their values: none of them was ever in the feed.
INSERT INTO change_events
  SELECT min(0, (SELECT coalesce(min(written_at), 0) - 1 FROM price_changes)) - q.id, q.series_id,
    'quarantined', json_object('id', q.id, 'from', q.from_on, 'to', q.to_on) FROM quarantine q;

-- Version 25: People sign in at their company's identity provider.
CREATE TABLE new_sessions (
  id TEXT PRIMARY KEY,
  family_id TEXT NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  method TEXT NOT NULL CHECK (method IN ('password', 'link', 'provider')),
  begun_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ended_at INTEGER,
  replaced INTEGER NOT NULL DEFAULT 0 CHECK (replaced IN (0, 1))
) STRICT, WITHOUT ROWID;
INSERT INTO new_sessions SELECT id, family_id, account_id, method, begun_at, created_at,
  expires_at, ended_at, replaced FROM sessions;
DROP TABLE sessions;
ALTER TABLE new_sessions RENAME TO sessions;
CREATE INDEX sessions_by_family ON sessions (family_id);
CREATE INDEX sessions_by_account ON sessions (account_id);
CREATE INDEX sessions_by_end ON sessions (expires_at);
CREATE TABLE oidc_identities (
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  is_operator INTEGER NOT NULL CHECK (is_operator IN (0, 1)),
  PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX oidc_identities_by_account ON oidc_identities (account_id, issuer);
CREATE TABLE oidc_sessions (
  family_id TEXT PRIMARY KEY,
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  provider_session TEXT
) STRICT, WITHOUT ROWID;

-- Version 26: Runs of feeds note what a publisher changed.
ALTER TABLE feed_runs ADD COLUMN notes TEXT;

-- Version 27: A message continues the trace of the request that caused it.
ALTER TABLE outbox ADD COLUMN traceparent TEXT;

-- Version 28: Members of an organization share named watchlists.
CREATE TABLE shared_layouts (
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  groups TEXT NOT NULL CHECK (json_valid(groups)),
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (account_id, name)
) STRICT, WITHOUT ROWID;

-- Version 29: Changes of datasets are read in the order in which they were recorded.
CREATE TABLE dataset_changes (
  written_at INTEGER NOT NULL,
  subject TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  batch_id INTEGER,
  PRIMARY KEY (written_at, subject, recorded_at)
) STRICT, WITHOUT ROWID;
CREATE INDEX dataset_changes_by_recording ON dataset_changes (subject, recorded_at);
CREATE INDEX dataset_revisions_by_recording ON dataset_revisions (subject, recorded_at);
CREATE INDEX dataset_revisions_by_end ON dataset_revisions (subject, superseded_at);
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

-- Version 30: A replay finds the few ranges that were recorded for the past without reading all.
CREATE INDEX price_changes_of_the_past ON price_changes (recorded_from)
  WHERE recorded_from < written_at - 60000;

-- Version 31: A person sees the console in their own time zone, number format and colours everywhere.
CREATE TABLE display_preferences (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  scheme TEXT NOT NULL,
  density TEXT NOT NULL,
  time_zone TEXT NOT NULL,
  number_format TEXT NOT NULL,
  move_colours TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Version 32: What is recorded for an instant of the past comes once in the feed of changes.
DROP INDEX price_changes_of_the_past;
CREATE INDEX price_changes_of_the_past ON price_changes
  (series_id, recorded_to, recorded_from, first_at, last_at)
  WHERE recorded_from < written_at;
CREATE TABLE late_rows (
  written_at INTEGER NOT NULL DEFAULT 0,
  subject TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  key TEXT NOT NULL,
  is_rewrite INTEGER NOT NULL,
  PRIMARY KEY (written_at, subject, recorded_at, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX late_rows_by_recording ON late_rows (subject, recorded_at, key);

-- Version 33: A replaced subscription leaves a credit for its unused time.
ALTER TABLE subscriptions ADD COLUMN credit_cents INTEGER NOT NULL DEFAULT 0
  CHECK (credit_cents >= 0);

-- Version 34: A price that is recorded before its time has its events when the time comes.
CREATE TABLE prices_ahead (
  series_id INTEGER PRIMARY KEY REFERENCES series (id),
  due_at INTEGER NOT NULL
) STRICT;
CREATE INDEX prices_ahead_by_time ON prices_ahead (due_at);

-- Version 35: An invoice shows what was refunded of it, and whether its payment is disputed.
ALTER TABLE invoices ADD COLUMN refunded_cents INTEGER NOT NULL DEFAULT 0
  CHECK (refunded_cents >= 0);
ALTER TABLE invoices ADD COLUMN dispute TEXT CHECK (dispute IN ('open', 'won', 'lost'));

-- Version 36: Days with up to two values an hour have no hour bars: their values take less room.
DELETE FROM bars WHERE span = 1 AND EXISTS (
  SELECT 1 FROM bars d WHERE d.series_id = bars.series_id AND d.span = 24
    AND d.starts_at = bars.starts_at - ((bars.starts_at % 86400000) + 86400000) % 86400000
    AND coalesce(d.count, 1) <= coalesce(d.hours, 1) + 24);

-- Version 37: The feed of changes reads the events of a series, not those of all.
CREATE INDEX change_events_by_series ON change_events (series_id, written_at);

-- Version 38: Changed e-mail addresses and later credits are sent to the payment processor.
ALTER TABLE billing_customers ADD COLUMN email TEXT;
CREATE INDEX subscriptions_by_credit ON subscriptions (account_id)
  WHERE ended_at IS NOT NULL AND credit_cents > 0;

-- Version 39: The usage of busy keys is written like that of others, not as a row for many keys.
CREATE TEMP TABLE names (slice INTEGER, list TEXT, place INTEGER, value, PRIMARY KEY (slice, list, place)) WITHOUT ROWID;
INSERT INTO names SELECT u.id, list.value, name.key, name.value
  FROM usage_waiting u, json_each('["keys", "windows", "routes"]') list, json_each(usage, '$.' || list.value) name;
INSERT INTO quota_counters (key_id, window, starts_at, used, last_used_at)
  SELECT k.id, w.value ->> 0, w.value ->> 1, c.used, c.last_used_at
  FROM (SELECT u.id AS slice, max(value) FILTER (WHERE key % 4 = 0) AS key, max(value) FILTER (WHERE key % 4 = 1) AS window,
      max(value) FILTER (WHERE key % 4 = 2) AS used, max(value) FILTER (WHERE key % 4 = 3) AS last_used_at
    FROM usage_waiting u, json_each(usage, '$.counters') GROUP BY u.id, key / 4) c
  JOIN names n ON (n.slice, n.list, n.place) = (c.slice, 'keys', c.key) JOIN api_keys k ON k.id = n.value
  JOIN names w ON (w.slice, w.list, w.place) = (c.slice, 'windows', c.window)
  WHERE true
  ON CONFLICT DO UPDATE SET used = excluded.used, last_used_at = max(last_used_at, excluded.last_used_at);
INSERT INTO usage_hours (key_id, hour_at, endpoint, status_class, requests, metered, duration_us)
  SELECT k.id, r.value ->> 0, r.value ->> 1, r.value ->> 2, h.requests, h.metered, h.duration_us
  FROM (SELECT u.id AS slice, max(value) FILTER (WHERE key % 5 = 0) AS key, max(value) FILTER (WHERE key % 5 = 1) AS route,
      max(value) FILTER (WHERE key % 5 = 2) AS requests, max(value) FILTER (WHERE key % 5 = 3) AS metered,
      max(value) FILTER (WHERE key % 5 = 4) AS duration_us
    FROM usage_waiting u, json_each(usage, '$.hours') GROUP BY u.id, key / 5) h
  JOIN names n ON (n.slice, n.list, n.place) = (h.slice, 'keys', h.key) JOIN api_keys k ON k.id = n.value
  JOIN names r ON (r.slice, r.list, r.place) = (h.slice, 'routes', h.route)
  WHERE true
  ON CONFLICT DO UPDATE SET requests = requests + excluded.requests,
    metered = metered + excluded.metered, duration_us = duration_us + excluded.duration_us;
DROP TABLE names;
DROP TABLE usage_waiting;

-- Version 40: A day or hour exists since its first value, also where that was removed before others came.
UPDATE bars SET born_at = first.born_at
  FROM (SELECT series_id, span, observed_at - ((observed_at % ms) + ms) % ms AS starts_at, min(recorded_at) AS born_at
    FROM observation_revisions, (SELECT 24 AS span, 86400000 AS ms UNION ALL SELECT 1, 3600000) GROUP BY 1, 2, 3) first
  WHERE bars.series_id = first.series_id AND bars.span = first.span AND bars.starts_at = first.starts_at
    AND coalesce(bars.born_at, bars.recorded_at) > first.born_at;
