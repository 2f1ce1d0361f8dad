import { Database } from 'bun:sqlite'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { imageName, imageOf } from '../src/cli/server/first-image.ts'
import { loadConfig } from '../src/config/config.ts'
import { layImage } from '../src/demo/open.ts'
import { openInstance } from '../src/instance/instance.ts'
import { databasePath } from '../src/instance/services/directory.ts'
import { createSeededIds } from '../src/lib/ids.ts'
import { createLog } from '../src/lib/log/log.ts'
import { createManualClock, createSystemClock } from '../src/lib/time/clock.ts'
import { forecastCodes } from '../src/topics/fundamentals/math/monthly-forecast.ts'

/** Makes the image that is compiled into the program; its path. */
export async function writeImage(dir: string): Promise<string> {
  const path = join(dir, `${imageName}.zst`)
  const now = createSystemClock().now()
  await Bun.write(path, imageOf(await imageAt(now), now))
  return path
}

/**
 * Has a database written ahead to a log from now on. A copy that began with another would wait until
 * all of it is on the disk.
 */
function logAhead(path: string): void {
  const db = new Database(path)
  db.run('PRAGMA journal_mode = WAL')
  db.close()
}

/** The database of an evaluation copy as it begins at `now`, without anybody's records. */
export async function imageAt(
  now: number,
  flags: Record<string, string> = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const dir = mkdtempSync(join(tmpdir(), 'wellhead-image-'))
  try {
    const clock = createManualClock(now)
    const log = createLog({ level: 'error', format: 'text', write: console.error, clock })
    const config = loadConfig({
      mode: 'dev',
      flags,
      env: {},
      files: { directory: '/' },
      readFile: () => undefined,
    })
    const instance = openInstance({
      runtime: { config, clock, ids: createSeededIds(1), log },
      dir,
    })
    // As the first start of a directory claims it, before anything lies in it.
    instance.services.settings.set('directory.mode', config.mode)
    instance.services.settings.set('fixture.world', config.dev.world)
    const { settings, quality, catalogue, closes } = instance.services
    await layImage(instance.feed!, settings, async () => {
      // The quality of a code is judged by its whole history where its value has stood still, and
      // forecasts by what came in years.
      await quality.all()
      for (const code of forecastCodes) closes.of(catalogue.named(code)!.id)
    })
    instance.close()
    const packed = join(dir, 'packed.db')
    const db = new Database(databasePath(dir), { readonly: true })
    db.run('VACUUM INTO ?', [packed])
    db.close()
    logAhead(packed)
    return new Uint8Array(readFileSync(packed))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
