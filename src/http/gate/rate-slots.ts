import type { Clock } from '../../lib/time/clock.ts'
import { addressGroup } from '../../plans/address.ts'
import type { Session } from '../../topics/account/store/sessions.ts'
import type { KeyState } from '../../topics/keys/service/keyring.ts'
import { reading, type WindowReading } from '../answer/rate-headers.ts'
import { tooFast } from '../problem/refusals.ts'
import type { KeyAccess } from './access-kind.ts'
import { clientAddress, type PeerLookup, type TrustedProxies } from './address.ts'
import type { RateTables } from './rates.ts'

/** Slots of the rolling windows; each that is taken goes into `windows`, for the headers. */
export const createRateSlots = ({
  rates,
  clock,
  trusted,
}: {
  rates: RateTables
  clock: Clock
  trusted: TrustedProxies
}) => ({
  /** Of the client's address; throws 429 when there is none. */
  takeAddress(
    name: 'unauthenticated' | 'demo',
    windows: WindowReading[],
    request: Request,
    peer: PeerLookup,
  ) {
    const group = addressGroup(clientAddress(request, peer, trusted))
    const window = reading(
      name === 'demo' ? 'demo' : 'address',
      rates.take(name, group, clock.monotonic()),
    )
    windows.push(window)
    if (!window.admitted) throw tooFast(window)
  },
  /**
   * Of a key's general window of so many requests a minute, or of the smaller one that holds in its
   * place past the quota and for a suspended key. The caller looks whether it was admitted.
   */
  takeBurst(
    windows: WindowReading[],
    key: KeyState,
    perMinute: number,
    isHeldBack: boolean,
    nowMs: number,
  ) {
    const window = reading(
      'burst',
      isHeldBack
        ? rates.takeOf('overQuota', key, nowMs)
        : rates.takeOf('authenticated', key, nowMs, perMinute),
    )
    windows.push(window)
    return window
  },
  /**
   * Of the windows in which a person reads in the console without being charged; undefined: those
   * of a day are used up, and what is requested now counts like any request of the account.
   */
  takeBrowsing(windows: WindowReading[], { familyId, accountId }: Session, nowMs: number) {
    if (!rates.take('browsingDay', accountId, nowMs).admitted) return undefined
    const window = reading('browsing', rates.take('browsing', familyId, nowMs))
    windows.push(window)
    return window
  },
  /** Of the window that a route has of its own alongside the general one; throws 429. */
  takeOwn({ rate }: KeyAccess, windows: WindowReading[], key: KeyState) {
    if (!rate) return
    const now = clock.monotonic()
    const window =
      rate === 'marine'
        ? reading('marine', rates.takeOf('marine', key, now))
        : reading('marine_historical', rates.takeOf('marineHistorical', key, now))
    windows.push(window)
    if (!window.admitted) throw tooFast(window)
  },
})
