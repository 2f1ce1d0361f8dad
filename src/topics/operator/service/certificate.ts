import type { Log } from '../../../lib/log/log.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import { dayMs, hourMs } from '../../../lib/time/instant.ts'
import { reasonOf } from '../../../send/egress/request.ts'

/** The certificate under which the service is reached, which a proxy in front of it has. */
export function createCertificateWatch({
  look,
  clock,
  log,
}: {
  log: Log
  look(): Promise<number>
  clock: Pick<Clock, 'monotonic'>
}) {
  let dueAt = Number.NEGATIVE_INFINITY
  let endsAt: number | undefined
  let looking = Promise.resolve()
  const seen = (at: number) => {
    endsAt = at
  }
  const unseen = (error: unknown) => {
    dueAt = clock.monotonic() + hourMs
    log.warn('certificate_check_failed', {
      message: `The certificate of server.base_url cannot be read: ${reasonOf(error)}.`,
    })
  }
  return {
    /** Looks once a day; again after an hour where nothing was seen. */
    pass() {
      if (clock.monotonic() < dueAt) return
      dueAt = clock.monotonic() + dayMs
      looking = look().then(seen, unseen)
    },
    /** Unix ms; undefined: not known. */
    endsAt: () => endsAt,
    settled: () => looking,
  }
}
