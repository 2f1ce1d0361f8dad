import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Command, Option } from 'commander'
import { errorText } from '../../lib/files/error-text.ts'
import { isObject } from '../../lib/text/json.ts'
import { wrongValue } from '../../lib/text/wrong-value.ts'
import { createSystemClock, sleep } from '../../lib/time/clock.ts'
import { isoMillis } from '../../lib/time/instant.ts'
import type { Ask } from '../../topics/assistants/operations/tool.ts'
import { Refusal } from '../../topics/assistants/operations/tool.ts'
import { openDuckdbMirror } from '../../topics/changes/store/duckdb-mirror.ts'
import { type Mirror, type MirroredRecord, openMirror } from '../../topics/changes/store/mirror.ts'
import type { ProgramEnvironment } from '../environment.ts'
import { exitCodes } from '../exit-codes.ts'
import { createRemoteAsk } from './ask.ts'
import { checkUrl, chosenServer } from './servers.ts'

export interface SyncOptions {
  into: string
  key?: string
  keyFile?: string
  codes?: string
  dataset?: string
  derived?: boolean
  once?: boolean
  again?: boolean
  json?: boolean
}

interface ChangesAnswer {
  data: { changes: MirroredRecord[]; cursor: string; has_more: boolean }
}

const recordsEach = 10_000
/** The pause between requests while nothing new is recorded. */
const followEachMs = 1_000

/** The pause between two writings of files while new records come. */
const writeEachMs = 60_000

/** What a mirror is written to: files of SQLite and of DuckDB have the same tables. */
type Target = Mirror | Awaited<ReturnType<typeof openDuckdbMirror>>

/** A file, or a folder with a SQLite file and with what is written from it. */
async function openTarget(into: string): Promise<{ mirror: Target; write?(): Promise<void> }> {
  const [, kind, path] = /^(\w{2,}):(.*)$/.exec(into) ?? []
  if (kind === undefined && into !== '') {
    mkdirSync(into, { recursive: true })
    const mirror = mirrorAt(join(into, 'mirror.db'))
    return { mirror, write: () => written(mirror, into) }
  }
  if (kind === 'duckdb' && path) return { mirror: await openDuckdbMirror(path) }
  if (kind !== 'sqlite' || !path)
    throw new Error(
      wrongValue('--into', 'a directory, or sqlite: or duckdb: and the path of a file', into),
    )
  return { mirror: mirrorAt(path) }
}

/** The library of Parquet is loaded when files are first written. */
async function written(mirror: Mirror, folder: string): Promise<void> {
  const { writeMirror } = await import('../../topics/changes/files/mirror.ts')
  await writeMirror(mirror, folder)
}

/** The cursor is of records that the instance does not have: it was restored from a backup. */
const isOtherLine = (error: unknown): boolean => error instanceof Refusal && error.status === 410

/** SQLite names neither the file nor what is wrong with its path. */
function mirrorAt(file: string): Mirror {
  try {
    return openMirror(file)
  } catch (error) {
    const folder = dirname(file)
    const reason = existsSync(folder) ? errorText(error) : `${folder} does not exist`
    throw new Error(`Cannot open ${file}: ${reason}.`, { cause: error })
  }
}

/** Mirrors the prices of an instance into a file, from where the file stands. */
export async function runSync(
  ask: Ask,
  address: string,
  { into, codes, dataset, derived, once = false, again = false, json = false }: SyncOptions,
  env: Pick<ProgramEnvironment, 'out' | 'err' | 'terminal'> & { isStopped(): boolean },
): Promise<number> {
  const clock = createSystemClock()
  const { mirror, write } = await openTarget(into)
  let writtenAt = Number.NEGATIVE_INFINITY
  let records = 0
  const draw = (text: string) => env.terminal?.write(`\r${text}\u001B[K`)
  try {
    if (again) await mirror.clear()
    const before = await mirror.state()
    if (before && before.address !== address)
      throw new Error(
        `${into} mirrors ${before.address}: choose another target, or start over with --again`,
      )
    if (!(await mirror.selects(JSON.stringify({ codes, dataset, derived }))))
      throw new Error(
        `${into} was filled with other --codes, --dataset or --derived: use the same options, choose another target, or start over with --again`,
      )
    let since = before?.cursor ?? 'start'
    while (!env.isStopped()) {
      const query = { since, limit: recordsEach, codes, dataset, derived }
      const answer = await ask<unknown>('GET', '/v1/changes', { query })
      if (!isChanges(answer))
        throw new Error(`${address} did not return changes: check the address`)
      const { changes, cursor, has_more: hasMore } = answer.data
      await mirror.take(changes, { address, cursor }, isoMillis(clock.now()))
      since = cursor
      records += changes.length
      if (changes.length > 0)
        draw(`${records.toLocaleString('en')} records, up to ${changes.at(-1)!.recorded_at}`)
      if (hasMore) continue
      if (write && (once || clock.monotonic() - writtenAt >= writeEachMs)) {
        writtenAt = clock.monotonic()
        await write()
      }
      if (once) break
      await sleep(followEachMs)
    }
    await write?.()
    draw('')
    if (json) env.out(JSON.stringify({ address, into, records, cursor: since }, null, 2))
    else env.err(`${into}: ${records} records; up to date with ${address}`)
    return exitCodes.done
  } catch (error) {
    draw('')
    if (!isOtherLine(error)) throw error
    env.err(
      `${address} has another history than ${into}: it was restored from a backup. Run sync with --again to begin again.`,
    )
    return exitCodes.otherHistory
  } finally {
    mirror.close()
  }
}

const isChanges = (answer: unknown): answer is ChangesAnswer =>
  isObject(answer) && isObject(answer.data) && Array.isArray(answer.data.changes)

/** Other than `--key`, the list of processes does not show it. */
export const keyFileOption = (): Option =>
  new Option('--key-file <file>', 'file with the API key').conflicts('key')

/** `sync`: the reference client of the feed of changes. */
export function syncCommand(program: Command, env: ProgramEnvironment): void {
  program
    .command('sync')
    .argument('<address>', 'URL of the server: https://prices.example.com')
    .description('mirror the prices of a server into a SQLite or DuckDB file or into Parquet files')
    .requiredOption(
      '--into <target>',
      'sqlite:FILE, duckdb:FILE (needs the duckdb program), or a directory for Parquet files by year',
    )
    .option('--key <key>', 'API key (default: WELLHEAD_API_KEY, or that saved for the address)')
    .addOption(keyFileOption())
    .option('--codes <codes>', 'codes, comma-separated (default: all)')
    .option('--dataset <names>', 'datasets, comma-separated, or * for all (default: prices)')
    .option(
      '--derived',
      'also mirror values of series by formula and daily means of delivery periods',
    )
    .option('--once', 'stop at the newest record (default: follow)')
    .option('--again', 'delete the content of the target and start over')
    .addOption(new Option('--json', 'print JSON'))
    .action(async (address: string, options: SyncOptions) => {
      let isStopped = false
      env.onStop(() => {
        isStopped = true
      })
      const url = checkUrl(address)
      const ask = createRemoteAsk({
        ...chosenServer({ ...options, url }, env.env),
        url,
        source: 'cli',
      })
      const code = await runSync(ask, url, options, { ...env, isStopped: () => isStopped })
      if (code !== exitCodes.done) env.exit(code)
    })
}
