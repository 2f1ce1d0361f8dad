import type { Log } from '../lib/log/log.ts'
import type { Handover } from './handover.ts'

/** Whether a provider takes what it is given, as the last attempts show. */
export type ProviderWatch = ReturnType<typeof createProviderWatch>

/** Logs when a provider begins to fail, and when it works again. */
export function createProviderWatch(name: string, log: Pick<Log, 'error' | 'info'>) {
  let fault: string | undefined
  return {
    /** The reason of the last failure; undefined if the last attempt worked or none was made. */
    fault: () => fault,
    worked() {
      if (fault !== undefined) log.info('provider_recovered', { provider: name })
      fault = undefined
    },
    failed(reason: string) {
      if (fault === undefined) log.error('provider_failing', { provider: name, reason })
      fault = reason
    },
  }
}

const serverError = 500

/**
 * Records the outcome of one message. A refusal of the message itself does not count against the
 * provider: only one that cannot be reached, fails, or refuses this instance is failing.
 */
export function noteHandover(watch: ProviderWatch, handed: Handover): Handover {
  if (handed.accepted) watch.worked()
  else if (handed.fault === 'setting' || handed.fault === 'provider') watch.failed(handed.reason)
  else if (handed.again && (handed.statusCode === null || handed.statusCode >= serverError))
    watch.failed(handed.reason)
  return handed
}
