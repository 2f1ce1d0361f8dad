import type { Log } from '../../../lib/log/log.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import { dayMs, hourMs } from '../../../lib/time/instant.ts'
import type { AuditStore, NewAuditEntry } from '../store/audit.ts'

/** The audit trail: actor, action, subject, place and time. */
export type Audit = ReturnType<typeof createAudit>

const pruneEach = 5000
const pruneEveryMs = hourMs

export function createAudit({
  store,
  clock,
  log,
  keepDays,
}: {
  log: Log
  store: AuditStore
  clock: Clock
  keepDays: number
}) {
  let prunedAt = Number.NEGATIVE_INFINITY
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
      if (Math.abs(now - prunedAt) < pruneEveryMs) return
      // Where a slice was full there is more: the next pass continues.
      if (store.prune(now - keepDays * dayMs, pruneEach) < pruneEach) prunedAt = now
    },
  }
}
