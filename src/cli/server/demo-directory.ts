import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { removeDatabase } from '../../database/database.ts'
import type { SnapshotRefusal } from '../../http/dev-controls.ts'
import { forgetRates } from '../../instance/app/rate-windows-file.ts'
import {
  type Instance,
  type InstanceOptions,
  type Keeping,
  openInstance,
} from '../../instance/instance.ts'
import { databasePath } from '../../instance/services/directory.ts'
import { privateMode } from '../../lib/files/private-file.ts'
import { packFile, readShippedFile } from '../../lib/files/shipped-file.ts'
import { after, createSystemClock, type ManualClock } from '../../lib/time/clock.ts'
import { secondMs } from '../../lib/time/instant.ts'

/** States that a developer may keep, alongside the start. */
const snapshotsMax = 10
/** No further state is kept once the others have so many bytes. */
const snapshotBytesMax = 2 * 2 ** 30
/** The quickest level: the others save a tenth. */
const packingLevel = 1
const ending = '.state'

/** Developers cannot use this name. */
const startName = '.start'

/** A line before the database of a state. */
interface StateLabel {
  now: number
  frozen: boolean
}

/**
 * Opens an instance that can be restored to an earlier state while its server keeps listening. A
 * state is the database as its own connection reads it, packed, and so is independent of the WAL,
 * of other connections and of whatever is written afterwards.
 */
export function openDemoInstance(options: InstanceOptions) {
  const { dir, runtime } = options
  const kept = join(dir, 'snapshots')
  const statePath = (name: string) => join(kept, name + ending)
  const clock = runtime.clock as ManualClock
  let packing: Promise<unknown> = Promise.resolve()

  /** The states that a developer has kept. */
  const keptNames = () =>
    existsSync(kept)
      ? readdirSync(kept)
          .filter(file => file.endsWith(ending) && file !== startName + ending)
          .map(file => file.slice(0, -ending.length))
          .sort()
      : []

  /** A state of the same name is replaced, so it does not count. */
  const snapshotRefusal = (name: string): SnapshotRefusal | undefined => {
    const names = keptNames()
    const others = names.filter(other => other !== name)
    if (others.length >= snapshotsMax) return { names, limit: `${snapshotsMax} snapshots` }
    const bytes = others.reduce((sum, other) => sum + statSync(statePath(other)).size, 0)
    return bytes < snapshotBytesMax
      ? undefined
      : { names, limit: `${snapshotBytesMax / 2 ** 30} GB of snapshots` }
  }

  const keepState = (name: string): Promise<unknown> => {
    const { db, meter } = current.services
    meter.flush()
    const label: StateLabel = { now: clock.now(), frozen: clock.frozen }
    const database = db.serialize()
    const work = packing.then(async () => {
      mkdirSync(kept, { recursive: true, mode: 0o700 })
      const packed = await packFile(JSON.stringify(label), database, packingLevel)
      const unfinished = `${statePath(name)}.unfinished`
      writeFileSync(unfinished, await packed.bytes(), { mode: privateMode })
      renameSync(unfinished, statePath(name))
    })
    packing = work.catch(() => undefined)
    return work
  }

  const goBack = async (name: string, moment?: StateLabel) => {
    await packing
    const { line, content } = await readShippedFile(Bun.file(statePath(name)))
    const { now, frozen } = moment ?? (JSON.parse(line) as StateLabel)
    const database = content()
    const path = databasePath(dir)
    current.close({ isDiscarded: true })
    forgetRates(dir)
    // Uses a new file, because a stopping query worker still has the old one open.
    removeDatabase(path)
    writeFileSync(path, database, { mode: privateMode })
    clock.set(now)
    if (frozen) clock.freeze()
    else clock.release()
    current = open({ isState: true })
    current.runner.start()
  }

  const keeping: Keeping = {
    async snapshot(name) {
      const refusal = snapshotRefusal(name)
      if (refusal === undefined) await keepState(name)
      return refusal
    },
    dropSnapshot(name) {
      if (!keptNames().includes(name)) return false
      rmSync(statePath(name), { force: true })
      return true
    },
    async restore(name) {
      if (!keptNames().includes(name)) return false
      await goBack(name)
      return true
    },
    async reset() {
      const { clockAt } = runtime.config.dev
      await goBack(startName, {
        now: clockAt ?? createSystemClock().now(),
        frozen: clockAt !== undefined,
      })
    },
  }

  /** Data published since the database was written is imported before the instance answers. */
  const open = (more: Partial<InstanceOptions> = {}): Instance => {
    const instance = openInstance({ ...options, ...more, keeping })
    instance.feed?.advance(clock.now() + 1)
    return instance
  }
  let current = open()

  return {
    get instance(): Instance {
      return current
    },
    /** Stores the state as the start to go back to, unless the directory has one. */
    begin() {
      if (existsSync(statePath(startName))) return
      keepState(startName)
        .catch(error => current.services.log.error('start_not_stored', { error }))
        // A start has the whole database in memory twice. Little of that is needed again, and none of
        // it is held once this turn is over.
        .finally(() => after(secondMs, () => Bun.gc(true)))
    },
    /** Resolves when no state is being written any more. */
    settled: async () => void (await packing),
  }
}
