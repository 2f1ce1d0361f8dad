import { rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  createRateTables,
  type RateTables,
  rateSeed,
  type SavedRates,
} from '../../http/gate/rates.ts'
import { readDisposable, writeSideFile } from '../../lib/files/side-file.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { Limits } from '../../plans/limits.ts'
import type { Services } from '../services/services.ts'

interface SavedWindows {
  seed: number
  savedAt: number
  /** Each window's numbers as base64 of their doubles. */
  windows: Record<string, string>
}

const pathIn = (dir: string) => join(dir, 'rate-windows.json')

/**
 * The rolling windows as the last clean stop left them. After a crash there are none: they start
 * empty, in the customer's favour.
 */
export function takeUpRates(
  dir: string,
  { limits, ids, clock, log }: Services,
): RateTables & { keep(): void } {
  const path = pathIn(dir)
  const tables =
    readDisposable(path, text => tablesFrom(text, limits, clock), log) ??
    createRateTables(limits, rateSeed(ids))
  // The file is used once: after a crash it would restore what an earlier start had used.
  rmSync(path, { force: true })
  return {
    ...tables,
    keep() {
      const windows = Object.fromEntries(
        Object.entries(tables.save(clock.monotonic())).map(([name, save]) => [
          name,
          Buffer.from(save.buffer, save.byteOffset, save.byteLength).toString('base64'),
        ]),
      )
      const saved: SavedWindows = { seed: tables.seed, savedAt: clock.now(), windows }
      try {
        writeSideFile(path, JSON.stringify(saved))
      } catch (error) {
        // A full disk must not keep a server from stopping: the windows start empty then.
        log.warn('rate_windows_not_stored', { path, error })
      }
    },
  }
}

function tablesFrom(text: string, limits: Limits, clock: Clock): RateTables {
  const { seed, savedAt, windows } = JSON.parse(text) as SavedWindows
  if (!Number.isSafeInteger(seed) || !Number.isFinite(savedAt))
    throw new Error('it has no seed and no time')
  const tables = createRateTables(limits, seed)
  tables.load(decoded(windows), clock.monotonic(), Math.max(0, clock.now() - savedAt))
  return tables
}

/** Deletes the saved windows: an instance that is restored to a snapshot starts without any. */
export const forgetRates = (dir: string): void => rmSync(pathIn(dir), { force: true })

function decoded(windows: SavedWindows['windows']): SavedRates {
  const doubles = (text: string) => {
    const bytes = Buffer.from(text, 'base64')
    return new Float64Array(
      bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength),
    )
  }
  return Object.fromEntries(Object.entries(windows).map(([name, text]) => [name, doubles(text)]))
}
