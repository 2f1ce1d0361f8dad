import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { firstDatabaseName, firstDatabaseOf } from '../src/cli/first-database.ts'
import { databasePath, openDirectory } from '../src/instance/services/directory.ts'
import { createSeededIds } from '../src/lib/ids.ts'
import { createLog } from '../src/lib/log/log.ts'
import { createSystemClock } from '../src/lib/time/clock.ts'
import { usualConfig } from './document.ts'

/** Makes the database that is compiled into the program; its path. */
export async function writeFirstDatabase(dir: string): Promise<string> {
  const path = join(dir, `${firstDatabaseName}.zst`)
  await Bun.write(path, firstDatabaseOf(firstDatabase()))
  return path
}

/** The database of a directory that was opened and that no one has written to. */
export function firstDatabase(): Uint8Array<ArrayBuffer> {
  const dir = mkdtempSync(join(tmpdir(), 'wellhead-first-'))
  try {
    const clock = createSystemClock()
    const log = createLog({ level: 'error', format: 'text', write: console.error, clock })
    const { services } = openDirectory({
      runtime: { config: usualConfig(), clock, ids: createSeededIds(1), log },
      dir,
      serving: false,
    })
    services.db.close()
    return new Uint8Array(readFileSync(databasePath(dir)))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
