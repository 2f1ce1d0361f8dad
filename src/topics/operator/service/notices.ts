import type { Log } from '../../../lib/log/log.ts'
import { errorMessage } from '../../../lib/text/error-message.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import { isDueAgain, minuteMs, startOfDay } from '../../../lib/time/instant.ts'
import type { Notice } from '../../../send/notices/hook.ts'
import type { Settings } from '../store/settings.ts'

/** Something that needs the operator, for as long as it does. */
export interface OperatorAlert {
  /** Kind and subject: `feed ecb`. The same alert always has the same id. */
  id: string
  text: string
  /** It does not wait for the end of the quiet hours. */
  urgent?: boolean
  /** It is a single event: it is reported once, and never as over. */
  passing?: boolean
}

interface OpenOperatorAlert {
  since: number
  /** When it was last reported; null: not yet. */
  toldAt: number | null
  text: string
  passing?: boolean
}

/** Minutes of the day (UTC), half-open; the end may be on the next day. */
export interface QuietHours {
  from: number
  to: number
}

export type OperatorNotices = ReturnType<typeof createOperatorNotices>

/** Where notices go: those of one pass together. Rejects with a reason. */
export interface NoticePlace {
  label: string
  send(notices: readonly Notice[]): Promise<void>
}

export interface OperatorNoticesDeps {
  operatorAlerts(): readonly OperatorAlert[]
  places: readonly NoticePlace[]
  settings: Pick<Settings, 'get' | 'set'>
  clock: Pick<Clock, 'now' | 'monotonic'>
  log: Log
  /** How long an operator alert lasts before it is sent again. */
  againMs: number
  quiet: QuietHours | undefined
}

const name = 'notices.open'
/**
 * What only a process knows, such as that a provider fails or that a replica is late, a start finds
 * out again within this time.
 */
const foundAgainMs = 15 * minuteMs

export function isQuiet(quiet: QuietHours | undefined, at: number): boolean {
  if (!quiet) return false
  const minute = Math.floor((at - startOfDay(at)) / minuteMs)
  return quiet.from <= quiet.to
    ? minute >= quiet.from && minute < quiet.to
    : minute >= quiet.from || minute < quiet.to
}

/**
 * One notice per alert, repeated after a while, and one when it is over; notices of one pass are
 * sent together. Open alerts survive a restart.
 */
export function createOperatorNotices(deps: OperatorNoticesDeps) {
  const { operatorAlerts, places, settings, clock, log, againMs, quiet } = deps
  let open: Map<string, OpenOperatorAlert> | undefined
  /** Open alerts of an earlier process that this one has not found yet. */
  let unfound: ReadonlySet<string> = new Set()
  const startedAt = clock.monotonic()
  const inProgress = new Set<Promise<unknown>>()

  const load = () =>
    new Map(
      Object.entries(JSON.parse(settings.get(name) ?? '{}') as Record<string, OpenOperatorAlert>),
    )
  const save = (all: ReadonlyMap<string, OpenOperatorAlert>) => {
    try {
      settings.set(name, JSON.stringify(Object.fromEntries(all)))
    } catch {
      // A full disk has its own alert: open alerts stay in memory until they can be written.
    }
  }
  const sendTo = async (place: NoticePlace, notices: readonly Notice[]): Promise<void> => {
    try {
      await place.send(notices)
    } catch (error) {
      const message = errorMessage(error)
      const operatorAlert = notices.map(notice => notice.operatorAlert).join(', ')
      log.error('notice_failed', { place: place.label, operator_alert: operatorAlert, message })
    }
  }
  let gathered: Notice[] = []
  const notify = (notice: Notice) => {
    log.info('notice', {
      operator_alert: notice.operatorAlert,
      kind: notice.kind,
      message: notice.text,
    })
    gathered.push(notice)
  }
  const sendGathered = () => {
    const notices = gathered
    gathered = []
    if (notices.length === 0) return
    for (const place of places) {
      const sending = sendTo(place, notices)
      inProgress.add(sending)
      void sending.finally(() => inProgress.delete(sending))
    }
  }
  const judge = (
    all: Map<string, OpenOperatorAlert>,
    { id, text, urgent = false, passing = false }: OperatorAlert,
  ) => {
    const now = clock.now()
    const notice = all.get(id)
    const { since, toldAt } = notice ?? { since: now, toldAt: null }
    const isDue = toldAt === null || (!passing && isDueAgain(toldAt, againMs, now))
    if (!isDue || (isQuiet(quiet, now) && !urgent)) {
      if (notice) return false
      all.set(id, { since, toldAt, text, passing })
      return true
    }
    all.set(id, { since, toldAt: now, text, passing })
    notify({ operatorAlert: id, kind: toldAt === null ? 'begun' : 'again', text, since, at: now })
    return true
  }
  return {
    /** Reports new alerts, alerts that continue for long, and alerts that are over. */
    pass() {
      if (!open) {
        open = load()
        unfound = new Set(open.keys())
      }
      const now = clock.now()
      const current = operatorAlerts()
      let hasChanged = false
      for (const operatorAlert of current) hasChanged = judge(open, operatorAlert) || hasChanged
      const ids = new Set(current.map(operatorAlert => operatorAlert.id))
      unfound = clock.monotonic() - startedAt < foundAgainMs ? unfound.difference(ids) : new Set()
      for (const [id, { since, toldAt, text, passing }] of open) {
        if (ids.has(id) || unfound.has(id)) continue
        open.delete(id)
        hasChanged = true
        // An alert that was never reported needs no notice of its end.
        if (toldAt !== null && !passing)
          notify({ operatorAlert: id, kind: 'over', text, since, at: now })
      }
      sendGathered()
      if (hasChanged) save(open)
    },
    settled: async () => void (await Promise.all(inProgress)),
  }
}
