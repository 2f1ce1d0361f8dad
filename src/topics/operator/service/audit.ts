import type { Log } from '../../../lib/log/log.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import { dayMs, hourMs } from '../../../lib/time/instant.ts'
import type { AuditStore, NewAuditEntry } from '../store/audit.ts'
import type { Settings } from '../store/settings.ts'

/** The audit trail: actor, action, subject, place and time. */
export type Audit = ReturnType<typeof createAudit>

const pruneEach = 5000
const pruneEveryMs = hourMs
const seenName = 'audit.pruned_at'
const seenEveryMs = dayMs
/** How far ahead of the last pass the clock may be, and how long it must have run otherwise. */
const steadyMs = 7 * dayMs

export function createAudit({
  store,
  settings,
  clock,
  log,
  keepDays,
}: {
  log: Log
  store: AuditStore
  settings: Settings
  clock: Clock
  keepDays: number
}) {
  let prunedAt = Number.NEGATIVE_INFINITY
  let aheadSince: number | undefined
  /**
   * Whether the clock is far ahead of the last pass and has not run for long since: it may be wrong,
   * or the instance was stopped for long.
   */
  const isUncertain = (now: number) => {
    const seenAt = Number(settings.get(seenName) ?? now)
    if (now - seenAt > steadyMs) {
      aheadSince ??= clock.monotonic()
      if (clock.monotonic() - aheadSince < steadyMs) return true
    }
    aheadSince = undefined
    if (Math.abs(now - seenAt) >= seenEveryMs || settings.get(seenName) === undefined)
      settings.set(seenName, String(now))
    return false
  }
  /**
   * Writes an entry. The action is complete already, so an error is logged and interrupts nothing.
   */
  const note = (entry: NewAuditEntry): void => {
    try {
      store.append(entry, clock.now())
    } catch (error) {
      log.error('audit_entry_missing', {
        message: 'What was done could not be written to the audit trail.',
        actor: entry.actor,
        action: entry.action,
        thing: entry.thing,
        error,
      })
    }
  }
  return {
    list: store.list,
    total: store.total,
    signInPlaces: store.signInPlaces,
    note,
    /** A person changed their own account. */
    noteOwn: (accountId: string, action: string) =>
      note({
        actor: `person ${accountId}`,
        accountId,
        action,
        thing: `account ${accountId}`,
        outcome: 'done',
      }),
    /** Takes out what is older than it is to be kept; some thousands of entries at a time. */
    prune() {
      const now = clock.now()
      if (Math.abs(now - prunedAt) < pruneEveryMs || isUncertain(now)) return
      // Where a slice was full there is more: the next pass continues.
      if (store.prune(now - keepDays * dayMs, pruneEach) < pruneEach) prunedAt = now
    },
  }
}
