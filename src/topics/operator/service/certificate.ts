import type { Log } from '../../../lib/log/log.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import { dayMs, hourMs } from '../../../lib/time/instant.ts'

/** The certificate under which the service is reached, which a proxy in front of it has. */
export interface CertificateWatch {
  /** Looks once a day; again after an hour where nothing was seen. */
  pass(): void
  /** Unix ms; undefined: not known. */
  endsAt(): number | undefined
  settled(): Promise<void>
}

export interface CertificateWatchDeps {
  look(): Promise<number>
  clock: Pick<Clock, 'now'>
  log: Log
}

export function createCertificateWatch({
  look,
  clock,
  log,
}: CertificateWatchDeps): CertificateWatch {
  let dueAt = Number.NEGATIVE_INFINITY
  let endsAt: number | undefined
  let looking = Promise.resolve()
  const seen = (at: number) => {
    endsAt = at
  }
  const unseen = (error: unknown) => {
    dueAt = clock.now() + hourMs
    log.warn('certificate_unread', {
      message: 'The certificate of server.base_url could not be looked at.',
      error: error instanceof Error ? error.message : String(error),
    })
  }
  return {
    pass() {
      if (clock.now() < dueAt) return
      dueAt = clock.now() + dayMs
      looking = look().then(seen, unseen)
    },
    endsAt: () => endsAt,
    settled: () => looking,
  }
}
