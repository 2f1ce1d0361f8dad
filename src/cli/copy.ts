import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { databasePath, type House, type HouseOptions, openHouse } from '../house.ts'
import { forgetRates } from '../kept-rates.ts'
import { type ManualClock, sleep, systemClock } from '../lib/clock.ts'
import { checkpoint } from '../store/database.ts'

/** A house that can be put back to an earlier state while its server goes on listening. */
export interface Copy {
  readonly house: House
  /** Writes the fixture world's history in steps of about `stepMs`, between requests; resolves when it is complete or the copy stops. */
  fill(stepMs: number): Promise<void>
}

/** No name that a developer may give. */
const startName = '.start'

/** Opens a house; in an evaluation copy with the controls that keep states of it beside its database. */
export function openCopy(options: HouseOptions): Copy {
  const { dir, ground } = options
  const kept = join(dir, 'snapshots')
  const statePath = (name: string, ending: string) => join(kept, `${name}.${ending}`)
  const clock = ground.clock as ManualClock

  const snapshot = async (name: string) => {
    mkdirSync(kept, { recursive: true, mode: 0o700 })
    current.services.meter.flush()
    // With an empty log the database file is the whole state, and nothing writes between these lines.
    checkpoint(current.services.db)
    copyFileSync(databasePath(dir), statePath(name, 'db'))
    writeFileSync(statePath(name, 'json'), JSON.stringify({ now: ground.clock.now(), frozen: clock.frozen }))
  }
  const goBack = (name: string, now: number, frozen: boolean) => {
    current.close()
    forgetRates(dir)
    for (const tail of ['-wal', '-shm']) rmSync(databasePath(dir) + tail, { force: true })
    copyFileSync(statePath(name, 'db'), databasePath(dir))
    clock.set(now)
    if (frozen) clock.freeze()
    else clock.release()
    current = openHouse(all)
    current.runner.start()
  }
  const keeping: NonNullable<HouseOptions['keeping']> = {
    snapshot,
    async restore(name) {
      if (!existsSync(statePath(name, 'db'))) return false
      const state = JSON.parse(readFileSync(statePath(name, 'json'), 'utf8')) as { now: number; frozen: boolean }
      goBack(name, state.now, state.frozen)
      return true
    },
    async reset() {
      while (!existsSync(statePath(startName, 'json'))) await sleep(20)
      const { clockAt } = ground.config.dev
      goBack(startName, clockAt ?? systemClock().now(), clockAt !== undefined)
      await current.runner.tick()
    },
  }
  const all = { ...options, keeping }
  let current = openHouse(all)
  return {
    get house() {
      return current
    },
    async fill(stepMs) {
      while (!current.stopping && current.feed?.step(stepMs)) await sleep(1)
      if (!current.stopping && !existsSync(statePath(startName, 'json'))) await snapshot(startName)
    },
  }
}
