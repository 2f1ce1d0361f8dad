import { Database } from 'bun:sqlite'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verifyFile } from '../../src/cli/backups/backup.ts'
import { checkpoint, checksumsOf } from '../../src/database/checkpoint.ts'
import { openDatabase } from '../../src/database/database.ts'
import { checksumsPath } from '../../src/database/page-checksum-file.ts'
import { demoInstance } from '../../test/support/instance/demo-instance.ts'

/**
 * R07: flips one bit in copies of a database that holds everything a demo instance has, alongside
 * the checksums that the service keeps, and asks `verify`. A flip that changes the contents of a
 * table and goes unnoticed is a failure. Prints one line of JSON.
 *
 * bun scripts/torture/flips.ts [flips, else 500] [seed, else 1]
 */

const [flips = 500, seed = 1] = process.argv.slice(2).map(Number)
const dir = mkdtempSync(join(tmpdir(), 'wellhead-flips-'))
const copy = demoInstance()
const { db } = copy.running.services
// Unused pages would hide flips, so the copy is compacted.
checkpoint(db)
const whole = join(dir, 'whole.db')
db.query('VACUUM INTO ?').run(whole)
copy.remove()
// The checksums that a running service has after its first scrub.
const served = openDatabase(whole, { checksums: true })
checkpoint(served)
checksumsOf(served)!.check(1, statSync(whole).size / 512)
served.close()

let state = seed
/** The same numbers in [0, 1) for the same seed (mulberry32). */
const chance = () => {
  state = (state + 0x6d2b79f5) | 0
  let t = Math.imul(state ^ (state >>> 15), 1 | state)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
}

/** The contents of every table, by name; undefined where it cannot be read. */
function contents(path: string): Map<string, string> | undefined {
  const open = new Database(path, { readonly: true })
  try {
    const tables = open
      .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1")
      .all()
    return new Map(
      tables.map(({ name }) => [
        name,
        Bun.hash(JSON.stringify(open.query(`SELECT * FROM "${name}"`).values())).toString(36),
      ]),
    )
  } catch {
    return undefined
  } finally {
    open.close()
  }
}

const bytes = readFileSync(whole)
const expected = contents(whole)!
const flipped = join(dir, 'flipped.db')
copyFileSync(checksumsPath(whole), checksumsPath(flipped))
const unnoticed = new Map<string, number>()
let [noticed, harmless] = [0, 0]
for (let n = 0; n < flips; n += 1) {
  const at = Math.floor(chance() * bytes.length)
  const bit = 1 << Math.floor(chance() * 8)
  bytes[at]! ^= bit
  writeFileSync(flipped, bytes)
  bytes[at]! ^= bit
  let faults: number
  try {
    faults = verifyFile(flipped).length
  } catch {
    faults = 1
  }
  if (faults > 0) {
    noticed += 1
    continue
  }
  const tableHashes = contents(flipped)
  const changed = [...expected].filter(([table, hash]) => tableHashes?.get(table) !== hash)
  if (changed.length === 0) harmless += 1
  for (const [table] of changed) unnoticed.set(table, (unnoticed.get(table) ?? 0) + 1)
}
const failures = flips - noticed - harmless
console.log(
  JSON.stringify({
    id: 'R07',
    n: flips,
    failures,
    noticed,
    harmless,
    unnoticed: Object.fromEntries([...unnoticed].sort(([, a], [, b]) => b - a)),
    bytes: bytes.length,
    seed,
  }),
)
rmSync(dir, { recursive: true, force: true })
process.exit(failures > 0 ? 1 : 0)
