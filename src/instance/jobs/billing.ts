import type { Log } from '../../lib/log/log.ts'
import type { Clock } from '../../lib/time/clock.ts'
import { isDueAgain, minuteMs } from '../../lib/time/instant.ts'
import type { BillingDuties } from '../../topics/billing/service/billing.ts'
import type { Job } from './job.ts'

/**
 * Ends of periods, overdue invoices, payment retries, ends of grace periods and expiry of bought
 * requests, each when it falls due. Requests to a payment processor are made once a minute and not
 * awaited, because other duties cannot wait for them.
 */
export function createBillingJob({
  billing: { duties },
  clock,
  log,
}: {
  log: Log
  billing: { duties: BillingDuties }
  clock: Clock
}): Job {
  let askedAt: number | undefined
  let asking: Promise<void> | undefined
  const ask = async () => {
    try {
      await duties.ask()
    } catch (error) {
      log.error('payment_processor_unavailable', {
        message: 'the payment processor did not answer the billing job',
        error,
      })
    }
    asking = undefined
  }
  return {
    name: 'billing',
    pass() {
      duties.pass()
      const now = clock.now()
      if (asking || !isDueAgain(askedAt, minuteMs, now)) return
      askedAt = now
      asking = ask()
    },
    nextStop: duties.nextStop,
    settled: async () => void (await asking),
  }
}
