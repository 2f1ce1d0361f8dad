import type { Clock } from '../../lib/time/clock.ts'
import type { Meter, QuotaUsage } from '../../topics/keys/service/meter.ts'
import { type RecentRequests, refusalText } from '../../topics/keys/service/recent-requests.ts'
import { consoleEndpoint } from '../../topics/keys/store/usage.ts'
import type { Text } from '../answer/own-text.ts'
import type { GivenHeaders } from '../answer/rate-headers.ts'
import type { FileParts } from './file-parts.ts'
import { accountIdOf, type Caller, type RequestContext } from './request-context.ts'

export interface SettlementDeps {
  meter: Meter
  clock: Clock
  /** Counts what was answered. */
  tally?: { count(route: string, status: number, plan: string, durationMs: number): void }
  /** The latest requests of each account, for developers of API clients. */
  recentRequests?: RecentRequests
}

/** The response of a request, as far as it matters for counting it. */
interface Sent {
  status: number
  headers: GivenHeaders
  text?: Text
}

/** Counts a request and returns the usage of its key; undefined where it came without one. */
export const createSettlement = (deps: SettlementDeps, fileParts: FileParts) => {
  const { meter, clock, tally, recentRequests } = deps

  /** Charges what was answered, and gives back what was reserved for anything else. */
  const charge = (
    { access, reserved, outcome, free, request }: RequestContext,
    { key }: Caller,
    { status, headers }: Sent,
    now: number,
  ): boolean => {
    if (!reserved) return false
    const counted = outcome ?? status
    if (free || counted < 200 || counted >= 300) {
      meter.refund(key, reserved)
      return false
    }
    if (!('weighed' in access && access.weighed)) return true
    // HEAD sends no rows.
    if (request.method === 'HEAD') headers['x-quota-requests'] = '1'
    // A response that has started is sent: a cost beyond the remaining quota is waived.
    for (let taken = 1; taken < Number(headers['x-quota-requests'] ?? 1); taken += 1)
      if (!meter.reserve(key, now)) break
    return true
  }

  return (context: RequestContext, sent: Sent, now: number): QuotaUsage | undefined => {
    const { caller, route, startedMs, filePart, isBrowsing, simulated } = context
    const { headers, text } = sent
    const status = context.outcome ?? sent.status
    const durationMs = clock.monotonic() - startedMs
    tally?.count(route, status, caller?.entitled.planId ?? '', durationMs)
    if (!caller) return undefined
    if (filePart && status === 206) fileParts.note(filePart, String(headers.etag), startedMs)
    const isCharged = charge(context, caller, sent, now)
    const endpoint = isBrowsing ? consoleEndpoint(route) : route
    const usage = meter.record(caller.key, endpoint, status, isCharged, durationMs, now)
    if (!isBrowsing)
      recentRequests?.note(accountIdOf(caller), {
        at: now,
        keyId: caller.key.key.id,
        method: context.request.method,
        route,
        status,
        durationMs,
        requestId: String(headers['x-request-id'] ?? '') || null,
        refusal: status >= 400 && typeof text === 'string' ? refusalText(text) : null,
      })
    return simulated ? { ...simulated, entitled: usage.entitled } : usage
  }
}
