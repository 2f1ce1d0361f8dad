import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRateTables, type RateTables, rateSeed, type SavedRates } from './http/gate/rates.ts'
import type { Services } from './services.ts'

interface Kept {
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
  { limits, ids, clock }: Services,
): RateTables & { keep(): void } {
  const path = pathIn(dir)
  const kept = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Kept) : undefined
  // Taken up once: a crash must not bring back what a start long ago has used.
  rmSync(path, { force: true })
  const seed = kept?.seed ?? rateSeed(ids)
  const tables = createRateTables(limits, seed)
  if (kept)
    tables.load(decoded(kept.windows), clock.monotonic(), Math.max(0, clock.now() - kept.savedAt))
  return {
    ...tables,
    keep() {
      const windows = Object.fromEntries(
        Object.entries(tables.save(clock.monotonic())).map(([name, save]) => [
          name,
          Buffer.from(save.buffer, save.byteOffset, save.byteLength).toString('base64'),
        ]),
      )
      writeFileSync(path, JSON.stringify({ seed, savedAt: clock.now(), windows } satisfies Kept), {
        mode: 0o600,
      })
    },
  }
}

/** Windows of another state of the data: a copy that goes back to a snapshot starts with none. */
export const forgetRates = (dir: string): void => rmSync(pathIn(dir), { force: true })

function decoded(windows: Kept['windows']): SavedRates {
  const doubles = (text: string) => {
    const bytes = Buffer.from(text, 'base64')
    return new Float64Array(
      bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength),
    )
  }
  return Object.fromEntries(Object.entries(windows).map(([name, text]) => [name, doubles(text)]))
}
