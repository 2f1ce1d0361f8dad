import { existsSync } from 'node:fs'
import type { ProcessRuntime } from '../../config/runtime.ts'
import { generateWorld, unpackWorld } from '../../demo/file.ts'
import { databasePath } from '../../instance/services/directory.ts'
import { progressBar } from '../progress.ts'

export interface DemoWorldOptions {
  runtime: ProcessRuntime
  dir: string
  /** The terminal that progress is drawn on; undefined where there is none. */
  terminal?: NodeJS.WritableStream | undefined
}

/**
 * Creates the database of a new directory: a copy of the one in the binary where that has the
 * requested market, otherwise a generated one. False: the process was stopped before it was
 * complete.
 */
export async function prepareDemoWorld(
  { runtime, dir, terminal }: DemoWorldOptions,
  isStopped: () => boolean,
): Promise<boolean> {
  const { config, clock, log } = runtime
  const path = databasePath(dir)
  if (existsSync(path) || (await unpackWorld(path, config, clock.now()))) return true
  const { world, seed } = config.dev
  if (!terminal) {
    log.info('demo_world_generating', { world, seed })
    return await generateWorld(path, runtime, { isStopped })
  }
  const bar = await progressBar(
    terminal,
    `Generating the ${world} demo world of seed ${seed} [{bar}] {percentage}%`,
  )
  bar.start(1, 0)
  try {
    return await generateWorld(path, runtime, { isStopped, onProgress: share => bar.update(share) })
  } finally {
    bar.stop()
  }
}
