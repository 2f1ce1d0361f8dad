import type { Clock } from '../../../lib/time/clock.ts'
import { dayMs } from '../../../lib/time/instant.ts'

export interface NewPlace {
  accountId: string
  /** The group of an address. */
  place: string
  at: number
}

/** From where people signed in for the first time. */
export type SignInPlaces = ReturnType<typeof createSignInPlaces>

const recentMs = dayMs
const recentMax = 100

export function createSignInPlaces({
  audit,
  clock,
}: {
  audit: { signInPlaces(accountId: string): readonly string[] }
  clock: Pick<Clock, 'now'>
}) {
  let recent: NewPlace[] = []
  const young = () => recent.filter(({ at }) => clock.now() - at < recentMs)
  return {
    /**
     * Called before the sign-in is in the audit trail. The place of the very first sign-in is not
     * new.
     */
    note(accountId: string, place: string) {
      const earlierPlaces = audit.signInPlaces(accountId)
      if (earlierPlaces.length === 0 || earlierPlaces.includes(place)) return
      recent = [...young(), { accountId, place, at: clock.now() }].slice(-recentMax)
    },
    /** Those of the last day. */
    recent: young,
  }
}
