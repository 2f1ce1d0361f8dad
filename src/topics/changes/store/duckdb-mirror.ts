import { rmSync } from 'node:fs'
import { sleep } from '../../../lib/time/clock.ts'
import {
  applyPage,
  clearedTables,
  type MirroredRecord,
  type MirrorState,
  mirrorTables,
  pageColumns,
  pageRow,
} from './mirror.ts'

/** How often a locked file is opened again: for 20 s. */
const [attemptsMax, retryEachMs] = [100, 200]

const columns = pageColumns.replaceAll('"', '').split(', ')

/** Reads the table `page` from a file of text. */
const readPage = (path: string) => `
CREATE TEMP TABLE page AS
  SELECT * REPLACE (rtrim(observed_at, 'Z')::TIMESTAMP AS observed_at, price::DOUBLE AS price,
    rtrim(recorded_at, 'Z')::TIMESTAMP AS recorded_at, forgets = '1' AS forgets)
  FROM read_csv(${quoted(path)}, header = false, delim = ',', quote = '"', escape = '"',
    nullstr = '', allow_quoted_nulls = false,
    columns = {${columns.map(name => `'${name}': 'VARCHAR'`).join(', ')}});
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
  await run(mirrorTables({ instant: 'TIMESTAMP', keyed: '' }))
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
const lineOf = (record: MirroredRecord): string =>
  `${pageRow(record)
    .map(cell => (cell === null ? '' : `"${String(cell).replaceAll('"', '""')}"`))
    .join(',')}\n`
