import { StorageFull, storageFaultOf } from '../../../database/storage-fault.ts'
import { megabyte } from '../../../lib/files/free-space.ts'
import type { ReserveFile } from '../../../lib/files/reserve-file.ts'
import type { Log } from '../../../lib/log/log.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import { minuteMs, secondMs } from '../../../lib/time/instant.ts'
import type { Settings } from '../store/settings.ts'

/** Why writes are refused, and since when (Unix ms). */
export interface DiskFault {
  since: number
  reason: string
}

const full = 'the disk is full'

/**
 * Tracks whether writes reach the disk. A fault is reported at once and then every minute, and is
 * over when a test write succeeds. On a full disk the reserve file is freed: sign-in and other
 * essential writes have room then, and bulk writes are refused until there is room for the reserve
 * again.
 */
export function createDisk({
  settings,
  clock,
  log,
}: {
  log: Log
  settings: Pick<Settings, 'set'>
  clock: Pick<Clock, 'now' | 'monotonic'>
}) {
  let reserve: ReserveFile | undefined
  let fault: DiskFault | undefined
  let isFull = false
  let beganAt = 0
  const faults: Record<string, number> = {}
  let toldAt = 0

  const notify = (event: string, more: Record<string, unknown> = {}) => {
    toldAt = clock.monotonic()
    log.error(event, {
      message: `The data cannot be written: ${fault!.reason}. Reads continue, and writes get 503.`,
      reason: fault!.reason,
      seconds: Math.round((toldAt - beganAt) / secondMs),
      ...(reserve && { free_bytes: reserve.free() }),
      ...more,
    })
  }
  /** Names the room that is waited for: more than what the reserve leaves free when it is released. */
  const fullText = () =>
    reserve?.bytes
      ? `${full}; writes resume with ${Math.ceil(reserve.bytesNeeded / megabyte)} MB free`
      : full
  const begin = (reason: string, more: Record<string, unknown> = {}) => {
    fault = { since: clock.now(), reason }
    beganAt = clock.monotonic()
    notify('storage_unwritable', more)
  }
  const end = () => {
    const seconds = Math.round((clock.monotonic() - beganAt) / secondMs)
    fault = undefined
    isFull = false
    log.info('storage_writable', { message: 'The data can be written again.', seconds })
  }
  const giveBack = () => {
    if (!reserve?.bytes || !reserve.giveBack()) return
    log.warn('storage_reserve_given_back', {
      message: 'The reserve was given back: sign-in and the outbox have room, bulk writes wait.',
      bytes: reserve.bytes,
    })
  }
  const isWritable = () => {
    try {
      settings.set('storage.tried_at', String(clock.now()))
      return true
    } catch {
      return false
    }
  }
  return {
    /** Records an error; true when it was a fault of the storage, which is reported here. */
    failed(error: unknown) {
      const reported = storageFaultOf(error)
      if (!reported) return false
      faults[reported.reason] = (faults[reported.reason] ?? 0) + 1
      if (reported.isFull) {
        isFull = true
        giveBack()
      }
      const reason = reported.isFull ? fullText() : reported.reason
      if (fault) fault = { ...fault, reason }
      else begin(reason, { error })
      return true
    },
    /** Undefined while writes succeed. */
    fault: () => fault,
    /** Faults since the start, by their reason. */
    faults: (): Readonly<Record<string, number>> => faults,
    /** Room on the disk of the data directory; undefined where it is not known. */
    freeBytes: () => reserve?.free(),
    /** Throws while there is no room for bulk writes. */
    admit() {
      if (isFull) throw new StorageFull(full)
    },
    /** Tests writing while writes fail, notifies the operator, and keeps the reserve. */
    pass() {
      if (!fault) {
        if (reserve?.bytes) reserve.keep()
        return
      }
      // Where there was a reserve, room for it is the sign that there is room again.
      const hasRoom = !isFull || reserve === undefined || reserve.bytes === 0 || reserve.keep()
      if (hasRoom && isWritable()) end()
      else if (clock.monotonic() - toldAt >= minuteMs) notify('storage_unwritable')
    },
    /** Knows the disk from now on; it is full where there is no room for the reserve. */
    attach(given: ReserveFile) {
      reserve = given
      if (given.bytes === 0 || given.keep()) return
      isFull = true
      begin(fullText())
    },
  }
}
