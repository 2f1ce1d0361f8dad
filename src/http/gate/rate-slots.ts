import type { Clock } from '../../lib/time/clock.ts'
import { addressGroup } from '../../plans/rates/address.ts'
import type { Session } from '../../topics/account/store/sessions.ts'
import type { KeyState } from '../../topics/keys/service/keyring.ts'
import { reading } from '../answer/rate-headers.ts'
import { tooFast } from '../problem/refusals.ts'
import type { KeyAccess } from './access-kind.ts'
import { clientAddress, type TrustedProxies } from './address.ts'
import type { RateTables } from './rates.ts'
import type { RequestContext } from './request-context.ts'

/** Takes slots of the rolling windows, and adds each to the request's, for the headers. */
export type RateSlots = ReturnType<typeof createRateSlots>

export const createRateSlots = ({
  rates,
  clock,
  trusted,
}: {
  rates: RateTables
  clock: Clock
  trusted: TrustedProxies
}) => ({
  /** Takes a slot in the window of the client's address; throws 429 when there is none. */
  takeAddress({ request, peer, windows }: RequestContext, name: 'unauthenticated' | 'demo') {
    const group = addressGroup(clientAddress(request, peer, trusted))
    const window = reading(
      name === 'demo' ? 'demo' : 'address',
      rates.take(name, group, clock.monotonic()),
    )
    windows.push(window)
    if (!window.admitted) throw tooFast(window)
  },
  /**
   * Takes a slot in a key's general window of so many requests a minute, or in the smaller one that
   * replaces it past the quota and for a suspended key; none where an earlier slot covers the request.
   * The caller checks whether it was admitted.
   */
  takeBurst(
    { windows, startedMs }: RequestContext,
    key: KeyState,
    perMinute: number,
    isHeldBack: boolean,
    isCovered: boolean,
  ) {
    const rateOf = isCovered ? rates.peek : rates.take
    const window = reading(
      'burst',
      isHeldBack
        ? rateOf('overQuota', key.key.id, startedMs)
        : rateOf('authenticated', key.key.id, startedMs, perMinute),
    )
    if (isCovered) window.admitted = true
    windows.push(window)
    return window
  },
  /**
   * Takes a slot in the windows for reading in the console without a charge; undefined: the daily
   * window is used up, and the request counts like any other of the account.
   */
  takeBrowsing({ windows, startedMs }: RequestContext, { familyId, accountId }: Session) {
    if (!rates.take('browsingDay', accountId, startedMs).admitted) return undefined
    const window = reading('browsing', rates.take('browsing', familyId, startedMs))
    windows.push(window)
    return window
  },
  /** Takes a slot in the additional window of a route; throws 429 when there is none. */
  takeOwn({ windows }: RequestContext, { rate }: KeyAccess, key: KeyState) {
    if (!rate) return
    const now = clock.monotonic()
    const window =
      rate === 'marine'
        ? reading('marine', rates.take('marine', key.key.id, now))
        : reading('marine_historical', rates.take('marineHistorical', key.key.id, now))
    windows.push(window)
    if (!window.admitted) throw tooFast(window)
  },
})
