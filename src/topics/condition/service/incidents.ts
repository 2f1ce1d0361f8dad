import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { dayMs, isDueAgain, minuteMs } from '../../../lib/time/instant.ts'
import type { Settings } from '../../operator/store/settings.ts'
import type { Incident, IncidentStore } from '../store/incidents.ts'
import type { Component } from './component.ts'

/** When parts of the service were degraded or down. */
export type Incidents = ReturnType<typeof createIncidents>

export const incidentDays = 90
const seenName = 'condition.seen_at'
/** Less often than the checks, so that an idle instance writes little. */
const seenEveryMs = 5 * minuteMs
const outageAfterMs = 10 * minuteMs

export function createIncidents({
  db,
  store,
  settings,
  retention,
  now,
}: {
  db: Database
  store: IncidentStore
  settings: Settings
  /** Whether the clock can be trusted to delete old incidents. */
  retention: { mayForget(): boolean }
  now: () => number
}) {
  let notedAt = Number.NEGATIVE_INFINITY

  const noteOne = (part: Component, open: Incident | undefined) => {
    const { name, status, message = null } = part
    const isWrong = status === 'degraded' || status === 'down'
    if (!isWrong) {
      if (open) store.change(open.id, { ...open, endedAt: now() })
      return
    }
    if (!open) {
      store.begin({ part: name, status, message, beganAt: now(), endedAt: null })
      return
    }
    const worst = open.status === 'down' ? 'down' : status
    if (worst !== open.status || message !== open.message)
      store.change(open.id, { status: worst, message, endedAt: null })
  }

  return {
    /** Compares the parts with the stored incidents, and writes the differences. */
    note: (parts: readonly Component[]) =>
      transact(db, () => {
        const open = new Map(store.open().map(incident => [incident.part, incident]))
        for (const part of parts) noteOne(part, open.get(part.name))
        if (retention.mayForget()) store.forget(now() - incidentDays * dayMs)
      }),
    /**
     * Notes that the service runs. Where no one noted it for ten minutes it did not run, and that
     * is an incident.
     */
    noteRunning() {
      if (!isDueAgain(notedAt, seenEveryMs, now())) return
      const seenAt = Number(settings.get(seenName) ?? Number.NaN)
      transact(db, () => {
        if (now() - seenAt > outageAfterMs)
          store.begin({
            part: 'api',
            status: 'down',
            message: 'The service did not run.',
            beganAt: seenAt,
            endedAt: now(),
          })
        settings.set(seenName, String(now()))
      })
      notedAt = now()
    },
    /** Those of the last ninety days, the newest first. */
    list: () => store.since(now() - incidentDays * dayMs),
  }
}
