import { rmSync } from 'node:fs'
import { sleep } from '../../../lib/time/clock.ts'
import { clearedTables, type MirroredRecord, type MirrorState } from './mirror.ts'

const schema = `
CREATE TABLE IF NOT EXISTS prices (code VARCHAR, observed_at TIMESTAMP, price DOUBLE,
  currency VARCHAR, unit VARCHAR, source VARCHAR, recorded_at TIMESTAMP,
  PRIMARY KEY (code, observed_at));
CREATE TABLE IF NOT EXISTS price_vintages (cursor VARCHAR PRIMARY KEY, code VARCHAR,
  observed_at TIMESTAMP, price DOUBLE, recorded_at TIMESTAMP);
CREATE TABLE IF NOT EXISTS dataset_rows (dataset VARCHAR, key VARCHAR, "row" VARCHAR,
  source VARCHAR, recorded_at TIMESTAMP, PRIMARY KEY (dataset, key));
CREATE TABLE IF NOT EXISTS dataset_vintages (cursor VARCHAR PRIMARY KEY, dataset VARCHAR,
  key VARCHAR, "row" VARCHAR, recorded_at TIMESTAMP);
CREATE TABLE IF NOT EXISTS sync_state (address VARCHAR, cursor VARCHAR, synced_at VARCHAR);
CREATE TABLE IF NOT EXISTS sync_selection (selection VARCHAR);
`

/** How often a locked file is opened again: for 20 s. */
const [attemptsMax, retryEachMs] = [100, 200]

/** The columns of a page, as text. */
const fields = [
  'cursor',
  'code',
  'observed_at',
  'dataset',
  'key',
  'value',
  'currency',
  'unit',
  'source',
  'recorded_at',
  'forgets',
] as const

/** Reads a page into `page`, and from it what stays after all that the page deletes. */
const readPage = (path: string) => `
CREATE TEMP TABLE page AS
  SELECT * REPLACE (rtrim(observed_at, 'Z')::TIMESTAMP AS observed_at,
    rtrim(recorded_at, 'Z')::TIMESTAMP AS recorded_at, forgets = '1' AS forgets)
  FROM read_csv(${quoted(path)}, header = false, delim = ',', quote = '"', escape = '"',
    nullstr = '', allow_quoted_nulls = false,
    columns = {${fields.map(name => `'${name}': 'VARCHAR'`).join(', ')}});
CREATE TEMP TABLE lost AS SELECT code, observed_at, max(cursor) AS cursor FROM page WHERE forgets GROUP BY ALL;
CREATE TEMP TABLE kept AS SELECT p.* FROM page p
  LEFT JOIN lost c ON c.code = p.code AND c.observed_at IS NULL
  LEFT JOIN lost k ON k.code = p.code AND k.observed_at = p.observed_at
  WHERE NOT p.forgets AND coalesce(p.cursor > c.cursor, true) AND coalesce(p.cursor > k.cursor, true);
`

const isLost = `(code IN (SELECT code FROM lost WHERE observed_at IS NULL)
  OR (code, observed_at) IN (SELECT code, observed_at FROM lost WHERE observed_at IS NOT NULL))`

/**
 * Brings the newest rows of the keys of a page into a table. A key that is there stays and is
 * replaced: a transaction cannot delete and insert one.
 */
const present = (table: string, vintages: string, value: string, key: string, columns: string) => `
CREATE TEMP TABLE latest_${table} AS
  SELECT ${key}, arg_max(cursor, {r: recorded_at, c: cursor}) AS cursor,
    arg_max(CASE WHEN ${value} IS NULL THEN 0 ELSE 1 END, {r: recorded_at, c: cursor}) AS stands
  FROM ${vintages} WHERE (${key}) IN (SELECT (${key}) FROM kept) GROUP BY ${key};
DELETE FROM ${table} WHERE (${table === 'prices' ? `${isLost} OR ` : ''}(${key}) IN (SELECT (${key}) FROM latest_${table} WHERE stands = 0))
  AND (${key}) NOT IN (SELECT (${key}) FROM latest_${table} WHERE stands = 1);
INSERT OR REPLACE INTO ${table} SELECT ${columns} FROM kept
  SEMI JOIN latest_${table} l ON l.cursor = kept.cursor AND l.stands = 1;
`

const applyPage = `
DELETE FROM price_vintages WHERE ${isLost};
INSERT OR REPLACE INTO price_vintages
  SELECT cursor, code, observed_at, value::DOUBLE, recorded_at FROM kept WHERE code IS NOT NULL;
INSERT OR REPLACE INTO dataset_vintages
  SELECT cursor, dataset, key, value, recorded_at FROM kept WHERE code IS NULL;
${present('prices', 'price_vintages', 'price', 'code, observed_at', 'code, observed_at, value::DOUBLE, currency, unit, source, recorded_at')}
${present('dataset_rows', 'dataset_vintages', '"row"', 'dataset, key', 'dataset, key, value, source, recorded_at')}
`

/**
 * A DuckDB file with the prices of an instance, written by the user's own DuckDB program: each page
 * is one run of it and one transaction.
 */
export async function openDuckdbMirror(path: string) {
  const program = Bun.which('duckdb')
  if (!program)
    throw new Error(
      'The program duckdb was not found on the PATH. Install the DuckDB command-line client, or mirror into a directory or a SQLite file.',
    )
  const pageFile = `${path}.page.csv`
  /** Runs statements; the result is the first cell of the last row that they return. */
  const run = async (sql: string, attempt = 1): Promise<string | undefined> => {
    const child = Bun.spawn([program, '-bail', '-csv', '-noheader', path], {
      stdin: new Blob([sql]),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    // Another program has the file open, or a run whose sync was killed is not done yet.
    if (/\block\b/.test(err) && attempt < attemptsMax) {
      await sleep(retryEachMs)
      return await run(sql, attempt + 1)
    }
    if (code !== 0 || err !== '') throw new Error(`duckdb could not write ${path}: ${err.trim()}`)
    return out.trim().split('\n').at(-1) || undefined
  }
  const read = async <T>(row: string, table: string): Promise<T | undefined> => {
    const cell = await run(`SELECT to_hex(encode(concat_ws(chr(10), ${row}))) FROM ${table};\n`)
    return cell === undefined ? undefined : (Buffer.from(cell, 'hex').toString().split('\n') as T)
  }
  await run(schema)
  return {
    async state(): Promise<MirrorState | undefined> {
      const row = await read<[string, string]>('address, cursor', 'sync_state')
      return row && { address: row[0], cursor: row[1] }
    },
    async selects(text: string): Promise<boolean> {
      const chosen = await read<[string]>('selection', 'sync_selection')
      if (!chosen) await run(`INSERT INTO sync_selection VALUES (${quoted(text)});\n`)
      return (chosen?.[0] ?? text) === text
    },
    async take(
      records: readonly MirroredRecord[],
      { address, cursor }: MirrorState,
      syncedAt: string,
    ) {
      await Bun.write(pageFile, records.map(lineOf).join(''))
      const state = [address, cursor, syncedAt].map(quoted).join(', ')
      const page = records.length === 0 ? '' : readPage(pageFile) + applyPage
      const writtenCursor = await run(
        `BEGIN;${page}\nDELETE FROM sync_state;\nINSERT INTO sync_state VALUES (${state});\nCOMMIT;\nSELECT cursor FROM sync_state;\n`,
      )
      if (writtenCursor !== cursor) throw new Error(`duckdb did not write ${path}`)
    },
    async clear() {
      const deletions = clearedTables.map(table => `DELETE FROM ${table};`)
      await run(`BEGIN; ${deletions.join(' ')} COMMIT;\n`)
    },
    close() {
      rmSync(pageFile, { force: true })
    },
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** A record as a line of the page. */
function lineOf(record: MirroredRecord): string {
  const row =
    'key' in record
      ? {
          ...record,
          key: JSON.stringify(record.key),
          value: record.row && JSON.stringify(record.row),
        }
      : { ...record, forgets: record.kind === 'deleted' && record.retroactive ? 1 : 0 }
  const cells = { forgets: 0, ...row } as Record<string, unknown>
  return `${fields
    .map(name => (cells[name] == null ? '' : `"${String(cells[name]).replaceAll('"', '""')}"`))
    .join(',')}\n`
}
