import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { evaluationKeys } from '../src/cli/server/first-start.ts'
import { loadConfig } from '../src/config/config.ts'
import { schemaVersion } from '../src/database/migrations.ts'
import { sampleId } from '../src/demo/samples/id.ts'
import { type Instance, openInstance } from '../src/instance/instance.ts'
import { databasePath } from '../src/instance/services/directory.ts'
import { createSeededIds } from '../src/lib/ids.ts'
import { createLog } from '../src/lib/log/log.ts'
import { createManualClock, type ManualClock } from '../src/lib/time/clock.ts'
import { createPaymentStore } from '../src/topics/billing/store/payments.ts'
import { createUsageWarningStore } from '../src/topics/keys/store/usage-warnings.ts'

/**
 * Writes a small database of this version as SQL: the demo instance is filled, used through its
 * interface until every table has rows, and a few rows of each are kept with all that they refer
 * to. Run it before the first migration of a release, so that the next versions can be tested from
 * this one.
 *
 *   bun scripts/version-database.ts [directory, else fixtures]
 */

const now = Date.parse('2026-11-20T15:00:00Z')
const dayMs = 86_400_000
const rowsEach = 3

interface Copy {
  instance: Instance
  clock: ManualClock
  apiKey: string
  adminToken: string
}

function openDemoInstance(dir: string): Copy {
  const clock = createManualClock(now)
  const config = loadConfig({
    mode: 'dev',
    flags: {},
    env: {},
    files: { directory: '/' },
    readFile: () => undefined,
  })
  const log = createLog({
    level: 'error',
    format: 'text',
    write: line => console.error(line),
    clock,
  })
  const instance = openInstance({
    runtime: { config, clock, ids: createSeededIds(1), log },
    dir,
  })
  for (const _ of instance.feed!.generate(now));
  const { apiKey, adminToken } = evaluationKeys(instance.services, dir)
  return { instance, clock, apiKey: apiKey!, adminToken: adminToken! }
}

/** Asks for what leaves a row in each table that a new demo instance leaves empty. */
async function useCopy({ instance, clock, apiKey, adminToken }: Copy): Promise<void> {
  const { services, app, runner } = instance
  const send = async (
    method: string,
    path: string,
    body?: unknown,
    { token = apiKey, headers = {} }: { token?: string; headers?: Record<string, string> } = {},
  ) => {
    const answer = await app.handle(
      new Request(`http://localhost${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    )
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
  const operate = (method: string, path: string, body?: unknown) =>
    send(method, path, body, { token: adminToken })
  const record = (code: string, observedAt: number, price: number) =>
    operate('POST', '/admin/v1/observations', {
      observations: [{ code, observed_at: new Date(observedAt).toISOString(), price }],
    })
  const pass = async (ms: number) => {
    await runner.advance(clock, clock.now() + ms)
    await instance.sending.settled()
  }

  // No one listens there, so that every attempt ends at once.
  const nowhere = 'http://127.0.0.1:9/hook'
  const email = 'eval@example.com'
  const accountId = sampleId(1)
  const keyId = sampleId(101)
  const password = 'a password of this database'
  await operate('POST', `/admin/v1/accounts/${accountId}/password`, { password })
  await send('POST', '/v1/auth/session', { email, password })
  await send('POST', '/v1/auth/link', { email })

  await send('GET', '/v1/prices/latest?by_code=BRENT_CRUDE_USD,WTI_USD')
  await send('POST', '/v1/api-keys', { name: 'repeated' }, { headers: { 'idempotency-key': 'a' } })
  await send('POST', '/billing/credit_purchases', { pack_id: 'pack_10k', quantity: 1 })

  await send('POST', '/v1/webhooks', {
    url: nowhere,
    events: ['alert.triggered'],
    debug_mode: true,
  })
  await send('POST', '/v1/alerts', {
    price_alert: {
      name: 'Brent above 90',
      commodity_code: 'BRENT_CRUDE_USD',
      condition_operator: 'greater_than',
      condition_value: 90,
      webhook_url: nowhere,
    },
  })
  await pass(60_000)
  await record('BRENT_CRUDE_USD', clock.now() - 1000, 95)
  await pass(60_000)
  // A correction.
  await record('BRENT_CRUDE_USD', clock.now() - 61_000, 96)
  await send('POST', '/v1/account/webhook-secret/roll')
  await operate('POST', '/admin/v1/quarantine', {
    code: 'WTI_USD',
    from: '2026-11-02',
    to: '2026-11-03',
    reason: 'Source repeated a stale value',
  })

  const { data: datasets } = await operate('GET', '/admin/v1/datasets')
  for (const { name, example } of datasets as { name: string; example: string }[]) {
    if (name !== 'storage-capacities' && name !== 'congressional-trades') continue
    await operate('POST', `/admin/v1/datasets/${name}`, { rows: rowsOf(example) })
  }
  await operate('POST', '/admin/v1/suppressions', { address: 'gone@example.com', reason: 'asked' })

  await send('PATCH', '/v1/sms/settings', { enabled: true, max_messages_per_day: 10 })
  await send('POST', '/v1/sms/optin', { consent: true })
  await send('POST', '/v1/sms/test')
  await send('PATCH', '/v1/notification_preferences', { email: { weekly_digest: false } })

  const { data: source } = await send('POST', '/v1/data-sources', {
    data_source: {
      name: 'Terminal push',
      source_type: 'webhook',
      credentials: { secret: 'an unused secret' },
      scraper_config: {},
    },
  })
  const row = {
    price: 612.5,
    timestamp: new Date(now).toISOString(),
    fuel_type: 'VLSFO',
    port: 'SINGAPORE',
    currency: 'USD',
  }
  await send('POST', `/v1/data-sources/${source.id}/ingest`, [row], { token: 'an unused secret' })
  await send('POST', `/v1/scheduled-deliveries/${sampleId(301)}/send_now`, {})
  await pass(3_600_000)

  // Rows that only a payment processor or a nearly exhausted quota produces.
  createUsageWarningStore(services.db).note(keyId, now - 10 * dayMs, 80)
  const payments = createPaymentStore(services.db)
  payments.putCustomer({
    accountId,
    provider: 'stripe',
    providerRef: 'cus_1',
    paymentMethodId: null,
    email: null,
  })
  payments.noteEvent('evt_1', 'invoice.paid', now)

  // The second of two prices in one interval is still to be judged when the copy stops.
  await record('BRENT_CRUDE_USD', clock.now() - 2, 97)
  await record('BRENT_CRUDE_USD', clock.now() - 1, 98)
}

const rowsOf = (csv: string) => {
  const [header, ...lines] = csv.trim().split('\n')
  const names = header!.split(',')
  return lines.map(line => {
    const cells = line.match(/("[^"]*"|[^,]*)(,|$)/g)!.map(cell => cell.replace(/,$|"/g, ''))
    return Object.fromEntries(names.map((name, i) => [name, cells[i]!]))
  })
}

// Columns that refer to a row without a declared foreign key, where a check of each write would cost
// too much.
const undeclared: Readonly<
  Record<string, readonly [column: string, table: string, key: string][]>
> = {
  outbox: [['body_id', 'outbox_bodies', 'id']],
  outbox_attempts: [['message_number', 'outbox', 'number']],
  alert_triggers: [['series_id', 'series', 'id']],
  alert_prices: [
    ['series_id', 'series', 'id'],
    ['priced_series_id', 'series', 'id'],
  ],
  watch_events: [
    ['series_id', 'series', 'id'],
    ['feed_number', 'watch_feeds', 'number'],
  ],
  surcharge_schedules: [['index_code', 'series', 'code']],
  well_permits: [
    ...[
      'state_id',
      'county_id',
      'operator_id',
      'formation_id',
      'permit_type_id',
      'well_type_id',
    ].map(column => [column, 'permit_terms', 'id'] as [string, string, string]),
    ['well_name_id', 'permit_well_names', 'id'],
    ['id', 'well_permit_papers', 'id'],
    ['id', 'well_permit_places', 'id'],
  ],
  diesel_stations: [['id', 'diesel_station_places', 'id']],
  permit_periods: [['term_id', 'permit_terms', 'id']],
}
/** Filled from other tables, or from what is kept of them, when the copy is written. */
const searchTables = ['permit_well_name_text', 'frac_disclosure_text']

type Row = Record<string, unknown>

function tablesOf(db: Database): { name: string; sql: string }[] {
  return db
    .query<{ name: string; sql: string }, []>(
      `SELECT name, sql FROM pragma_table_list JOIN sqlite_schema USING (name)
       WHERE pragma_table_list.type IN ('table', 'virtual') AND name NOT LIKE 'sqlite_%'
       ORDER BY sqlite_schema.rowid`,
    )
    .all()
}

/** A few rows of every table, with every row that they refer to. */
function chosenRows(db: Database, tables: readonly string[]): Map<string, Map<string, Row>> {
  const chosen = new Map(tables.map(name => [name, new Map<string, Row>()]))
  const references = new Map(
    tables.map(name => {
      const declared = db
        .query<{ from: string; table: string; to: string }, []>(
          `SELECT "from", "table", "to" FROM pragma_foreign_key_list('${name}')`,
        )
        .all()
        .map(({ from, table, to }) => [from, table, to] as const)
      return [name, [...declared, ...(undeclared[name] ?? [])]] as const
    }),
  )
  const add = (table: string, row: Row): void => {
    const key = JSON.stringify(row, textOf)
    const rows = chosen.get(table)!
    if (rows.has(key)) return
    rows.set(key, row)
    for (const [column, parent, parentColumn] of references.get(table)!) {
      if (row[column] === null) continue
      const value = row[column] as string | number
      const parents = db
        .query<Row, [string | number]>(`SELECT * FROM ${parent} WHERE ${parentColumn} = ?`)
        .all(value)
      // Term 0 means all permits and has no row.
      for (const parentRow of parents) add(parent, parentRow)
    }
  }
  const empty: string[] = []
  for (const table of tables) {
    if (searchTables.includes(table)) continue
    const few = db.query<Row, [number]>(`SELECT * FROM ${table} LIMIT ?`).all(rowsEach)
    if (few.length === 0) empty.push(table)
    for (const row of few) add(table, row)
  }
  if (empty.length > 0) throw new Error(`there is no row in ${empty.join(', ')}`)
  return chosen
}

const textOf = (_: string, value: unknown) => (value instanceof Uint8Array ? value.toHex() : value)

const literal = (value: unknown): string => {
  if (value === null) return 'NULL'
  if (value instanceof Uint8Array) return `x'${value.toHex()}'`
  if (value === Number.POSITIVE_INFINITY) return '9e999'
  if (value === Number.NEGATIVE_INFINITY) return '-9e999'
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
}

/** The database as statements: what schema.sql was at this version, then its rows. */
function sqlOf(db: Database): string {
  const tables = tablesOf(db)
  const rows = chosenRows(
    db,
    tables.map(table => table.name),
  )
  const indexes = db
    .query<{ sql: string }, []>(
      "SELECT sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY rowid",
    )
    .all()
  const shape = [...tables, ...indexes].map(({ sql }) => `${sql};`)
  const inserts = [...rows].flatMap(([table, kept]) =>
    [...kept.values()].map(
      row =>
        `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${Object.values(row).map(literal).join(', ')});`,
    ),
  )
  const rebuilds = searchTables.map(name => `INSERT INTO ${name} (${name}) VALUES ('rebuild');`)
  return [
    `-- A database of schema version ${schemaVersion}, written by scripts/version-database.ts.`,
    'BEGIN;',
    ...shape,
    ...inserts,
    ...rebuilds,
    `PRAGMA user_version = ${schemaVersion};`,
    'COMMIT;',
    '',
  ].join('\n')
}

const target = resolve(process.argv[2] ?? 'fixtures', `schema-${schemaVersion}.sql`)
const dir = mkdtempSync(join(tmpdir(), 'wellhead-version-'))
try {
  const copy = openDemoInstance(dir)
  await useCopy(copy)
  copy.instance.close()
  const db = new Database(databasePath(dir), { readonly: true })
  writeFileSync(target, sqlOf(db))
  db.close()
  console.log(`${target} was written.`)
} finally {
  rmSync(dir, { recursive: true, force: true })
}
