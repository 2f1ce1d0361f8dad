import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { attemptCheckpoint, checkpoint } from '../../database/checkpoint.ts'
import { setAutocheckpoint } from '../../database/database.ts'
import type { SnapshotRefusal } from '../../http/dev-controls.ts'
import { forgetRates } from '../../instance/app/rate-windows-file.ts'
import { type InstanceOptions, type Keeping, openInstance } from '../../instance/instance.ts'
import { databasePath } from '../../instance/services/directory.ts'
import { privateMode } from '../../lib/files/private-file.ts'
import { isSameFile, isShared, makeOwnBeside, share } from '../../lib/files/shared-file.ts'
import { createSystemClock, type ManualClock, sleep } from '../../lib/time/clock.ts'

/** An instance that can be put back to an earlier state while its server goes on listening. */
export type Copy = ReturnType<typeof openDemoInstance>

const stepMs = 20
/** So long at most a step of the history waits for requests that are being answered. */
const answersFirstMaxMs = 1000

/** A smaller database is copied for a state: in a larger one the state and the copy share the file. */
const sharedBytesMin = 64 * 2 ** 20
/** A log beside a shared file may grow so long: whoever goes back to a state copies it and reads it through. */
const logBytesMax = 32 * 2 ** 20
/** That of a history that is being written is folded sooner: it takes no longer than a step. */
const fillLogBytesMax = 8 * 2 ** 20

/** States that a developer may keep, beside the start. */
const snapshotsMax = 10
/** What they may hold in all. A state shares its file with the database only until that grows. */
const snapshotBytesMax = 2 * 2 ** 30

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** No name that a developer may give. */
const startName = '.start'

/**
 * Opens an instance; in an evaluation copy with the controls that keep states of it beside its
 * database.
 */
export function openDemoInstance(options: InstanceOptions) {
  const { dir, runtime } = options
  const kept = join(dir, 'snapshots')
  const statePath = (name: string, ending: string) => join(kept, `${name}.${ending}`)
  const clock = runtime.clock as ManualClock

  const database = databasePath(dir)
  const log = `${database}-wal`
  /** States stand for the file of the database: it is not written, only its log is. */
  let isHeld = isShared(database)

  /** The states that a developer has kept. */
  const keptNames = () =>
    existsSync(kept)
      ? readdirSync(kept)
          .filter(file => file.endsWith('.json') && file !== `${startName}.json`)
          .map(file => file.slice(0, -'.json'.length))
          .sort()
      : []
  const bytesOf = (name: string) =>
    sizeOf(statePath(name, 'db')) + sizeOf(statePath(name, 'db-wal'))
  /** A state of the same name gives way, so it counts as none. */
  const snapshotRefusal = (name: string): SnapshotRefusal | undefined => {
    if (name === startName) return undefined
    const names = keptNames()
    const others = names.filter(other => other !== name)
    if (others.length >= snapshotsMax) return { names, limit: `${snapshotsMax} snapshots` }
    const held = others.reduce((sum, other) => sum + bytesOf(other), 0)
    if (held + sizeOf(database) + sizeOf(log) <= snapshotBytesMax) return undefined
    return { names, limit: `${snapshotBytesMax / 2 ** 30} GB of snapshots` }
  }
  const keepState = (name: string) => {
    mkdirSync(kept, { recursive: true, mode: 0o700 })
    const { db, meter } = current.services
    meter.flush()
    const [state, stateLog] = [statePath(name, 'db'), statePath(name, 'db-wal')]
    rmSync(stateLog, { force: true })
    // The file and its log are the whole state, and nothing writes between these lines.
    if (sizeOf(database) < sharedBytesMin) {
      checkpoint(db)
      rmSync(state, { force: true })
      copyFileSync(database, state)
    } else {
      share(database, state)
      if (existsSync(log)) copyFileSync(log, stateLog)
      hold()
    }
    writeFileSync(
      statePath(name, 'json'),
      JSON.stringify({ now: runtime.clock.now(), frozen: clock.frozen }),
      { mode: privateMode },
    )
  }
  const snapshot = async (name: string) => {
    const refusal = snapshotRefusal(name)
    if (refusal === undefined) keepState(name)
    return refusal
  }
  const dropSnapshot = (name: string) => {
    if (!keptNames().includes(name)) return false
    // The database goes on as if it were shared until `tidy` finds that it is not: a checkpoint that
    // began now would write into the file while the next state is kept.
    for (const ending of ['json', 'db', 'db-wal']) rmSync(statePath(name, ending), { force: true })
    return true
  }
  const hold = () => {
    isHeld = isShared(database)
    setAutocheckpoint(current.services.db, isHeld ? 0 : runtime.config.sqlite.autocheckpoint)
  }
  /** A log that has grown long is folded in again, once the states have files of their own. */
  const foldIn = async (longestLog: number) => {
    if (!isHeld || (isShared(database) && sizeOf(log) < longestLog)) return
    for (const file of readdirSync(kept))
      if (file.endsWith('.db') && isSameFile(join(kept, file), database))
        await makeOwnBeside(join(kept, file))
    hold()
    if (!isHeld) attemptCheckpoint(() => checkpoint(current.services.db))
  }
  let tidying: Promise<void> | undefined
  const tidy = (longestLog: number) => {
    tidying ??= foldIn(longestLog).finally(() => {
      tidying = undefined
    })
    return tidying
  }
  const goBack = (name: string, now: number, frozen: boolean) => {
    current.close({ isDiscarded: true })
    forgetRates(dir)
    // A name of its own: a reader thread that is ending still has the other file open.
    for (const tail of ['', '-wal', '-shm']) rmSync(database + tail, { force: true })
    const [state, stateLog] = [statePath(name, 'db'), statePath(name, 'db-wal')]
    if (sizeOf(state) < sharedBytesMin) copyFileSync(state, database)
    else share(state, database)
    if (existsSync(stateLog)) copyFileSync(stateLog, log)
    clock.set(now)
    if (frozen) clock.freeze()
    else clock.release()
    current = openInstance({ ...all, isState: true })
    isHeld = isShared(database)
    current.runner.start()
  }
  const keeping: Keeping = {
    snapshot,
    dropSnapshot,
    tidy: () => tidy(logBytesMax),
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
    },
  }
  const all = { ...options, keeping }
  let current = openInstance(all)
  let filling = Promise.resolve()
  const stopwatch = createSystemClock()

  /** Whoever waits for an answer gets it first. */
  const afterAnswers = async () => {
    const until = stopwatch.monotonic() + answersFirstMaxMs
    do await sleep(1)
    while (current.isAnswering() && stopwatch.monotonic() < until)
  }

  /** Goes on filling whichever instance is current; there is one such loop at a time. */
  const fillOn = () => {
    filling = filling.then(async () => {
      await afterAnswers()
      let hasWritten = false
      while (!current.stopping && current.feed?.step(stepMs)) {
        hasWritten = true
        await afterAnswers()
        // What fails is tried and told of by the job.
        await tidy(fillLogBytesMax).catch(() => undefined)
      }
      // Years of history went through memory, most of it nobody asks for again.
      if (hasWritten) Bun.gc(true)
    })
    return filling
  }
  return {
    get instance() {
      return current
    },
    /**
     * Keeps the state as the start to go back to, without what the fixture world can write again,
     * and then writes its history between requests.
     */
    begin() {
      if (!existsSync(statePath(startName, 'json'))) keepState(startName)
      void fillOn()
    },
    /** Resolves when no history is being written any more. */
    settled: () => filling,
  }
}
