import type { Share } from '../../outbox/outbox.ts'

/** The slots that messages in flight occupy, by account and host. */
export type Shares = ReturnType<typeof createShares>

/** A host has no plan, so its share is fixed. */
const hostPercent = 50

/**
 * An account may use the share of the free slots that its plan grants, a host may use half of them,
 * and both may use at least one. So however slow the receivers of one account are, slots stay free
 * for others.
 */
export function createShares(slots: number) {
  const slotsTaken = new Map<string, number>()
  let total = 0
  const namesOf = ({ accountId, host }: Share) => [`account ${accountId}`, `host ${host}`] as const
  const ownOf = (name: string) => slotsTaken.get(name) ?? 0
  const partOf = (free: number, percent: number) => Math.max(1, Math.floor((free * percent) / 100))
  const roomOf = (name: string, percent: number): number =>
    partOf(slots - (total - ownOf(name)), percent) - ownOf(name)
  const change = (name: string, by: number) => {
    const now = ownOf(name) + by
    if (now > 0) slotsTaken.set(name, now)
    else slotsTaken.delete(name)
  }
  return {
    /** How many more messages may be under way for a lane of this account and host. */
    room(share: Share) {
      const [account, host] = namesOf(share)
      return Math.max(0, Math.min(roomOf(account, share.percent), roomOf(host, hostPercent)))
    },
    /**
     * Whether its account or its host holds as many slots as it could if nothing else were sent.
     */
    isFull(share: Share) {
      const [account, host] = namesOf(share)
      return (
        ownOf(account) >= partOf(slots, share.percent) || ownOf(host) >= partOf(slots, hostPercent)
      )
    },
    take(share: Share, count: number) {
      for (const name of namesOf(share)) change(name, count)
      total += count
    },
    giveBack(share: Share) {
      for (const name of namesOf(share)) change(name, -1)
      total -= 1
    },
    clear() {
      slotsTaken.clear()
      total = 0
    },
  }
}
