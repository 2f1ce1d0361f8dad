import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../src/config/config.ts'
import { generateWorld, packWorld, worldFileName } from '../src/demo/file.ts'
import { createSeededIds } from '../src/lib/ids.ts'
import { createLog } from '../src/lib/log/log.ts'
import { createManualClock, createSystemClock } from '../src/lib/time/clock.ts'

/** Makes the demo worlds that are compiled into the program; their paths. */
export const writeDemoWorlds = async (dir: string): Promise<string[]> => [
  await writeDemoWorld(dir, 'whole'),
  await writeDemoWorld(dir, 'small'),
]

async function writeDemoWorld(dir: string, world: 'whole' | 'small'): Promise<string> {
  const path = join(dir, `${worldFileName(world)}.zst`)
  await Bun.write(path, await packedWorld(createSystemClock().now(), { 'dev.world': world }))
  return path
}

/** The world of a configuration as it is at `now`, packed. */
export async function packedWorld(now: number, flags: Record<string, string> = {}): Promise<Blob> {
  const dir = mkdtempSync(join(tmpdir(), 'wellhead-world-'))
  try {
    const clock = createManualClock(now)
    const config = loadConfig({
      mode: 'dev',
      flags,
      env: {},
      files: { directory: '/' },
      readFile: () => undefined,
    })
    const log = createLog({ level: 'error', format: 'text', write: console.error, clock })
    const path = join(dir, 'world.db')
    await generateWorld(path, { config, clock, ids: createSeededIds(1), log })
    return packWorld(path, config.dev, now)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
