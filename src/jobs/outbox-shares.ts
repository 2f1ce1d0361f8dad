import type { Share } from '../service/outbox/outbox.ts'

/** Who holds the slots of the messages that are under way. */
export interface Shares {
  /** How many more messages may be under way for a lane of this account and host. */
  room(share: Share): number
  take(share: Share, count: number): void
  giveBack(share: Share): void
  clear(): void
}

/**
 * An account, and a host, may hold half of the slots that nobody else holds, and one at least: alone
 * it gets along well, and whoever comes after it, however slow its receivers are, finds a slot free.
 */
export function createShares(slots: number): Shares {
  const slotsTaken = new Map<string, number>()
  let total = 0
  const namesOf = ({ accountId, host }: Share) => [`account ${accountId}`, `host ${host}`]
  const roomOf = (name: string): number => {
    const own = slotsTaken.get(name) ?? 0
    return Math.max(1, Math.floor((slots - (total - own)) / 2)) - own
  }
  const change = (name: string, by: number) => {
    const now = (slotsTaken.get(name) ?? 0) + by
    if (now > 0) slotsTaken.set(name, now)
    else slotsTaken.delete(name)
  }
  return {
    room: share => Math.max(0, Math.min(...namesOf(share).map(roomOf))),
    take(share, count) {
      for (const name of namesOf(share)) change(name, count)
      total += count
    },
    giveBack(share) {
      for (const name of namesOf(share)) change(name, -1)
      total -= 1
    },
    clear() {
      slotsTaken.clear()
      total = 0
    },
  }
}
