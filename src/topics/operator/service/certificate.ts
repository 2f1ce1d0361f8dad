import type { Log } from '../../../lib/log/log.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import { dayMs, hourMs } from '../../../lib/time/instant.ts'
import { reasonOf } from '../../../send/egress/request.ts'
import type { Settings } from '../store/settings.ts'

const name = 'certificate'

/** The certificate under which the service is reached, which a proxy in front of it has. */
export function createCertificateWatch({
  url,
  readEnd,
  settings,
  clock,
  log,
}: {
  url: string
  log: Log
  readEnd(): Promise<number>
  settings: Pick<Settings, 'get' | 'set'>
  clock: Pick<Clock, 'monotonic'>
}) {
  // Stored, so that a start neither resolves a notice nor begins it again.
  const [keptUrl, keptAt] = settings.get(name)?.split(' ') ?? []
  let endsAt = keptUrl === url ? Number(keptAt) : undefined
  let dueAt = Number.NEGATIVE_INFINITY
  let reading = Promise.resolve()
  const seen = (at: number) => {
    endsAt = at
    settings.set(name, `${url} ${at}`)
  }
  const unseen = (error: unknown) => {
    dueAt = clock.monotonic() + hourMs
    log.warn('certificate_check_failed', {
      message: `The certificate of server.base_url cannot be read: ${reasonOf(error)}.`,
    })
  }
  return {
    /** Reads the certificate once a day; again after an hour if that failed. */
    pass() {
      if (clock.monotonic() < dueAt) return
      dueAt = clock.monotonic() + dayMs
      // A full disk stores nothing; the time is then known until the next start.
      reading = readEnd()
        .then(seen, unseen)
        .catch(() => undefined)
    },
    /** Unix ms; undefined: not known. */
    endsAt: () => endsAt,
    settled: () => reading,
  }
}
