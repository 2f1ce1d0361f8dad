/** A request of an account's key or session that was answered. */
export interface RecentRequest {
  /** Unix ms. */
  at: number
  keyId: string
  method: string
  route: string
  status: number
  durationMs: number
  requestId: string | null
  /** The body of a refusal, truncated when long. */
  refusal: string | null
}

export type RecentRequests = ReturnType<typeof createRecentRequests>

export const requestsOfAccountMax = 10_000
/** The limit for all accounts together: some 10 MB. */
const requestsMax = 50_000
const refusalMax = 2000

/** The latest requests of each account, in memory, for developers of API clients. */
export function createRecentRequests() {
  const byAccount = new Map<string, RecentRequest[]>()
  let count = 0

  const shorten = (requests: RecentRequest[], max: number) => {
    const dropped = requests.length - max
    if (dropped <= 0) return
    requests.splice(0, dropped)
    count -= dropped
  }

  /**
   * Halves the longest lists until half of the room is free, so that no account displaces the
   * requests of others. Done once for many requests, because it goes through all accounts.
   */
  const makeRoom = () => {
    const most = requestsMax / 2
    for (let each = requestsOfAccountMax; count > most && each >= 1; each = Math.floor(each / 2))
      for (const requests of byAccount.values()) shorten(requests, each)
    for (const [accountId, requests] of byAccount) {
      if (count <= most) return
      byAccount.delete(accountId)
      count -= requests.length
    }
  }

  return {
    note(accountId: string, request: RecentRequest) {
      const requests = byAccount.get(accountId) ?? []
      if (requests.length === 0) byAccount.set(accountId, requests)
      requests.push(request)
      count += 1
      // A tenth at a time, so that few requests move the others.
      if (requests.length > 1.1 * requestsOfAccountMax) shorten(requests, requestsOfAccountMax)
      if (count > requestsMax) makeRoom()
    },
    /** Newest first. */
    of: (accountId: string): RecentRequest[] =>
      (byAccount.get(accountId) ?? []).slice(-requestsOfAccountMax).reverse(),
  }
}

/** Copied, because a part of a text keeps all of it in memory. */
export const refusalText = (text: string): string =>
  text.length > refusalMax ? Buffer.from(`${text.slice(0, refusalMax)}…`).toString() : text
