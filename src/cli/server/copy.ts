import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { databasePath, type Instance, type InstanceOptions, openInstance } from '../../instance.ts'
import { createSystemClock, type ManualClock, sleep } from '../../lib/clock.ts'
import { privateMode } from '../../lib/private-file.ts'
import { forgetRates } from '../../rate-windows-file.ts'
import { checkpoint } from '../../store/database.ts'

/** An instance that can be put back to an earlier state while its server goes on listening. */
export interface Copy {
  readonly instance: Instance
  /**
   * Keeps the state as the start to go back to, without what the fixture world can write again, and
   * then writes its history between requests.
   */
  begin(): void
  /** Resolves when no history is being written any more. */
  settled(): Promise<void>
}

const stepMs = 20

/** No name that a developer may give. */
const startName = '.start'

/**
 * Opens an instance; in an evaluation copy with the controls that keep states of it beside its
 * database.
 */
export function openCopy(options: InstanceOptions): Copy {
  const { dir, runtime } = options
  const kept = join(dir, 'snapshots')
  const statePath = (name: string, ending: string) => join(kept, `${name}.${ending}`)
  const clock = runtime.clock as ManualClock

  const snapshot = async (name: string) => {
    mkdirSync(kept, { recursive: true, mode: 0o700 })
    current.services.meter.flush()
    // With an empty log the database file is the whole state, and nothing writes between these
    // lines.
    checkpoint(current.services.db)
    copyFileSync(databasePath(dir), statePath(name, 'db'))
    writeFileSync(
      statePath(name, 'json'),
      JSON.stringify({ now: runtime.clock.now(), frozen: clock.frozen }),
      { mode: privateMode },
    )
  }
  const goBack = (name: string, now: number, frozen: boolean) => {
    current.close()
    forgetRates(dir)
    for (const tail of ['-wal', '-shm']) rmSync(databasePath(dir) + tail, { force: true })
    // A file of its own: a reader thread that is ending still has the other one open.
    const next = `${databasePath(dir)}.next`
    copyFileSync(statePath(name, 'db'), next)
    renameSync(next, databasePath(dir))
    clock.set(now)
    if (frozen) clock.freeze()
    else clock.release()
    current = openInstance(all)
    current.runner.start()
  }
  const keeping: NonNullable<InstanceOptions['keeping']> = {
    snapshot,
    async restore(name) {
      if (!existsSync(statePath(name, 'db'))) return false
      const state = JSON.parse(readFileSync(statePath(name, 'json'), 'utf8')) as {
        now: number
        frozen: boolean
      }
      goBack(name, state.now, state.frozen)
      fillOn()
      return true
    },
    async reset() {
      const { clockAt } = runtime.config.dev
      goBack(startName, clockAt ?? createSystemClock().now(), clockAt !== undefined)
      fillOn()
      await current.runner.tick()
    },
  }
  const all = { ...options, keeping }
  let current = openInstance(all)
  let filling = Promise.resolve()

  /** Goes on filling whichever instance is current; there is one such loop at a time. */
  const fillOn = () => {
    filling = filling.then(async () => {
      while (!current.stopping && current.feed?.step(stepMs)) await sleep(1)
    })
    return filling
  }
  return {
    get instance() {
      return current
    },
    begin() {
      const kept = existsSync(statePath(startName, 'json'))
        ? Promise.resolve()
        : snapshot(startName)
      void kept.then(fillOn)
    },
    settled: () => filling,
  }
}
