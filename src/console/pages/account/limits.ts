export interface Window {
  name: string
  limit: number | null
  used: number
}

/** The share of a limit that is used; of none, nothing is. */
const usedShare = ({ used, limit }: Pick<Window, 'used' | 'limit'>): number =>
  limit === null ? 0 : used / Math.max(1, limit)

/** Each limit with its use by the key that is nearest to it; if no key has used it, its use is none. */
export const limitsBy = <K extends { windows: readonly Window[] }>(
  windows: readonly Window[],
  keys: readonly K[],
) =>
  windows.map(({ name, limit }) => {
    const [nearest] = keys
      .flatMap(key => {
        const window = key.windows.find(window => window.name === name)
        return window && window.used > 0 ? { key, window } : []
      })
      .toSorted(({ window: a }, { window: b }) => usedShare(b) - usedShare(a) || b.used - a.used)
    return { name, limit, used: 0, ...nearest?.window, key: nearest?.key }
  })
