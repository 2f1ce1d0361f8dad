import { legNames, type Series } from '../store/series.ts'
import type { Viewers } from './viewers.ts'

/** The codes of series that accounts make for themselves begin with it. */
export const ownPrefix = 'MY_'

/** Far more views than are made between two readings of the catalogue. */
const viewsMax = 2 ** 30
/** Lists that stay in memory. */
const listsMax = 1_000

/**
 * Decides which series the current viewer sees. Where nothing is restricted, the viewer is not
 * needed.
 */
export function createVisibility(viewers: Pick<Viewers, 'current'> | undefined) {
  let restricted = new Map<number, ReadonlySet<string>>()
  /** Series of accounts by account and by code, without removed ones. */
  let owned = new Map<string, Map<string, Series>>()
  let limitOf: (accountId: string) => number | null = () => null
  /** The visible lists, by what they have: a cache that holds one finds the same array again. */
  const lists = new Map<string, { number: number; list: readonly Series[] }>()
  let viewsMade = 0
  let full: readonly Series[] = []
  let hideable: readonly Series[] = []

  const ownedBy = (accountId: string): readonly Series[] => [
    ...(owned.get(accountId)?.values() ?? []),
  ]
  /** After a change of plan only the oldest ones continue. */
  const isSuspended = ({ id, terms }: Series): boolean => {
    const limit = terms?.owner === undefined ? null : limitOf(terms.owner)
    return (
      limit !== null &&
      !ownedBy(terms!.owner!)
        .slice(0, limit)
        .some(series => series.id === id)
    )
  }
  const isVisible = (series: Series, accountId: string): boolean =>
    (restricted.get(series.id)?.has(accountId) ?? true) && !isSuspended(series)
  const accounts = (): readonly string[] => {
    const viewer = viewers?.current()
    return viewer === undefined || viewer === 'everything' ? [] : viewer.accounts
  }
  const mayBeSeen = (series: Series): boolean => {
    const viewer = viewers?.current()
    return (
      viewer === undefined ||
      viewer === 'everything' ||
      !restricted.has(series.id) ||
      viewer.accounts.some(accountId => isVisible(series, accountId))
    )
  }
  const viewOf = () => {
    const hidden = hideable.filter(series => !mayBeSeen(series))
    const custom = [...new Set(accounts())].flatMap(ownedBy).filter(mayBeSeen)
    if (hidden.length === 0 && custom.length === 0) return undefined
    const key = [hidden, custom].map(part => part.map(series => series.id).join()).join(' ')
    const known = lists.get(key)
    if (known) return known
    if (lists.size >= listsMax) lists.clear()
    viewsMade += 1
    const list = [...full.filter(series => !hidden.includes(series)), ...custom]
    const view = { number: viewsMade, list }
    lists.set(key, view)
    return view
  }
  return {
    isRestricted: () => restricted.size > 0,
    isVisible,
    ownedBy,
    /** A series of an account, regardless of the viewer. */
    owned: (accountId: string, code: string) => owned.get(accountId)?.get(code),
    limitOwned(limit: typeof limitOf) {
      limitOf = limit
    },
    /** The series of a name that an account, or the caller at hand, has made for itself. */
    own(text: string, accountId?: string): Series | undefined {
      if (owned.size === 0) return undefined
      const name = text.trim().toUpperCase()
      if (!name.startsWith(ownPrefix)) return undefined
      for (const account of accountId === undefined ? accounts() : [accountId]) {
        const series = owned.get(account)?.get(name)
        if (series && isVisible(series, account)) return series
      }
      return undefined
    },
    blockOf(
      name: string,
      find: (name: string, owner?: string) => Series | undefined,
      accountId?: string,
    ) {
      for (const account of accountId === undefined ? accounts() : [accountId]) {
        const series = find(name, account)
        if (series?.terms?.formula === undefined) continue
        if (series.terms.visibleTo?.includes(account) === false || isVisible(series, account))
          continue
        return isSuspended(series) ? 'suspended' : 'not_visible'
      }
      return undefined
    },
    reload(
      list: readonly Series[],
      own: readonly Series[],
      find: (name: string, owner?: string) => Series | undefined,
    ) {
      full = list
      lists.clear()
      viewsMade = 0
      owned = new Map()
      for (const series of own.toSorted((a, b) => a.id - b.id)) {
        const { owner = '', visibleTo = [] } = series.terms ?? {}
        if (!visibleTo.includes(owner)) continue
        const ofAccount = owned.get(owner) ?? new Map<string, Series>()
        owned.set(owner, ofAccount.set(series.code, series))
      }
      const audiences = createAudiences(find)
      restricted = new Map(
        [...list, ...own].flatMap(series => {
          const audience = audiences(series)
          return audience ? [[series.id, audience] as const] : []
        }),
      )
      hideable = list.filter(series => restricted.has(series.id))
    },
    seen: (series: Series | undefined): Series | undefined =>
      series === undefined || restricted.size === 0 || mayBeSeen(series) ? series : undefined,
    listOf: (list: readonly Series[]): readonly Series[] =>
      restricted.size === 0 ? list : (viewOf()?.list ?? list),
    /** Whatever was made of what one caller sees is not given to another. */
    versionOf: (version: number): number =>
      restricted.size === 0 ? version : version + (viewOf()?.number ?? 0) / viewsMax,
  }
}

/**
 * The accounts that see a series; undefined: all. A computed series is visible to accounts that
 * see all of its legs.
 */
function createAudiences(find: (name: string, owner?: string) => Series | undefined) {
  const known = new Map<number, ReadonlySet<string> | undefined>()
  const audienceOf = (series: Series): ReadonlySet<string> | undefined => {
    const { id, terms } = series
    if (known.has(id)) return known.get(id)
    let audience: ReadonlySet<string> | undefined = terms?.visibleTo && new Set(terms.visibleTo)
    // Ends the recursion for a formula that refers to itself, which has no values.
    known.set(id, audience)
    for (const name of legNames(series)) {
      const leg = find(name, terms?.owner)
      const ofLeg = leg && audienceOf(leg)
      if (ofLeg) audience = audience ? audience.intersection(ofLeg) : ofLeg
    }
    known.set(id, audience)
    return audience
  }
  return audienceOf
}
