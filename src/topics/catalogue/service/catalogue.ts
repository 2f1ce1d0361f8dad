import type { DeliveryTerms } from '../../delivery/math/terms.ts'
import { type Cadence, cadences, type FedBy } from '../math/catalogue.ts'
import { suggestCodes } from '../math/suggest.ts'
import {
  type Extent,
  isComputed,
  legNames,
  type NewContract,
  type Series,
  type SeriesStore,
} from '../store/series.ts'
import type { Viewers } from './viewers.ts'

/** Why a code of the catalogue answers no prices. */
export type UnavailableReason = 'no_source' | 'no_observations' | 'discontinued' | 'restricted'

export interface Resolved {
  /**
   * A futures family is answered by its front contract's series; by its own while that contract has
   * no data.
   */
  series: Series
  /** The code that answers: the series' own, or the front contract of a futures family. */
  code: string
  /** The requested code, upper case, when it is not the code that answers. */
  requestedCode: string | undefined
}

/** The contract calendars of futures, as far as the catalogue needs them. */
export interface ContractCalendar {
  /**
   * The contract that answers for a futures family's code at an instant; undefined for any other
   * code.
   */
  front(code: string, at: number): string | undefined
  /** The contract that a code names, if its family lists it at an instant. */
  listed(code: string, at: number): NewContract | undefined
}

/**
 * The catalogue in memory: every code and alias, with the range of its data. A series that is
 * restricted to some accounts does not exist for other callers: not in the list, under no name, and
 * not among suggestions.
 */
export type Catalogue = ReturnType<typeof createCatalogue>

export function createCatalogue(
  store: SeriesStore,
  contracts: ContractCalendar,
  viewers?: Pick<Viewers, 'current'>,
) {
  const extents = createExtents()
  let list: Series[] = []
  /** With those of accounts. */
  let everything: Series[] = []
  let ids = new Map<number, Series>()
  let names = new Map<string, Series>()
  const attributions = createAttributions()
  let version = 0
  const reloadListeners: (() => void)[] = []
  const visibility = createVisibility(viewers)
  const resolver = createResolver({
    contracts,
    find: findSeries,
    named: code => names.get(code),
    hasData: series => extents.of(series) !== undefined,
  })

  /** The series of a name, regardless of the viewer; one of the account `owner` comes first. */
  const find = (name: string, owner?: string): Series | undefined => {
    const code = name.trim().toUpperCase()
    return (owner === undefined ? undefined : visibility.owned(owner, code)) ?? names.get(code)
  }

  const reload = () => {
    version += 1
    resolver.forget()
    const stored = store.all()
    const [all, owned] = [stored.filter(isShared), stored.filter(series => !isShared(series))]
    list = all.filter(series => series.contractOf === null)
    everything = [...list, ...owned]
    ids = new Map(stored.map(series => [series.id, series]))
    attributions.reload(ids)
    names = new Map(all.flatMap(series => series.aliases.map(alias => [alias, series] as const)))
    // A code wins over an alias of the same spelling.
    for (const series of all) names.set(series.code, series)
    visibility.reload(list, owned, find)
    for (const series of everything) takePeriods(series, find)
    extents.reload(stored, store.extents())
    notifyReloaded()
  }
  const notifyReloaded = () => {
    for (const listener of reloadListeners) listener()
  }
  reload()

  /** Adds contracts of futures; existing ones are kept. */
  const addContracts = (newContracts: readonly NewContract[]) => {
    const missing = newContracts.filter(contract => !names.has(contract.code))
    if (missing.length === 0) return
    store.addContracts(missing)
    reload()
  }

  /**
   * An unknown code may be that of a contract that was listed since the last read; there are never
   * more of them than the families list.
   */
  function findSeries(code: string, now: number): Series | undefined {
    const contract = names.has(code) ? undefined : contracts.listed(code, now)
    if (contract) addContracts([contract])
    return names.get(code)
  }

  /** The series of each category, until the list changes: the search index belongs to the array. */
  let categories: { of: readonly Series[]; lists: Map<string, Series[]> } | undefined
  const candidatesOf = (category: string | undefined): readonly Series[] => {
    if (category === undefined) return list
    if (categories?.of !== list)
      categories = { of: list, lists: Map.groupBy(list, series => series.category) }
    return categories.lists.get(category) ?? []
  }

  /** A futures family also has data when only its contracts have any. */
  const hasData = (series: Series) =>
    series.unavailableReason === null &&
    (extents.of(series) !== undefined || extents.hasContracts(series.code))

  return {
    /** Another number after anything changed that the catalogue answers. */
    get version() {
      return visibility.versionOf(version)
    },
    /** Every code but the contracts of futures, which their families represent. */
    list: () => visibility.listOf(list),
    byId: (id: number) => ids.get(id)!,
    /** The contracts of a futures family that are known. */
    contractsOf: ({ code }: Series) =>
      [...ids.values()].filter(series => series.contractOf === code),
    /**
     * Every series, and the series of a name, regardless of the viewer: computed values are
     * computed for all.
     */
    everything: (): readonly Series[] => everything,
    find,
    /** Says how far the data of series reaches whose values are computed. */
    measureBy: extents.measureBy,
    /** Whether any series is for chosen accounts alone. */
    get isRestricted() {
      return visibility.isRestricted()
    },
    /** Whether an account sees a series. */
    isVisible: visibility.isVisible,
    /** The series that an account has made for itself, oldest first. */
    ownedBy: visibility.ownedBy,
    /** Sets how many series an account may have for itself; null: any number. */
    limitOwned: visibility.limitOwned,
    /** Why a name of a caller's series answers no values: a leg is hidden, or the plan allows fewer. */
    blockOf: (text: string, accountId?: string) =>
      visibility.blockOf(text.trim().toUpperCase(), find, accountId),
    /**
     * The series of a code or alias in any letter case: a futures family's own, not its front
     * contract's. `accountId`: as that account sees it, not the caller at hand.
     */
    named: (text: string, accountId?: string) => {
      const name = text.trim().toUpperCase()
      return visibility.own(name, accountId) ?? visibility.seen(names.get(name))
    },
    /**
     * The series of a code or alias in any letter case. A contract that its family lists is known
     * even before it has data.
     */
    resolve(text: string, now: number, accountId?: string): Resolved | undefined {
      const own = visibility.own(text, accountId)
      if (own) return { series: own, code: own.code, requestedCode: undefined }
      const resolved = resolver.resolve(text, now)
      return resolved && visibility.seen(resolved.series) && resolved
    },
    /** Known codes near to `text`, closest first; of a category alone, if one is named. */
    suggest: (text: string, category?: string) =>
      suggestCodes(text, candidatesOf(category)).filter(series => visibility.seen(series)),
    extent: extents.of,
    hasData,
    /** Whether any contract of a futures family has data. */
    hasContracts: extents.hasContracts,
    unavailableReason(series: Series) {
      if (series.unavailableReason) return series.unavailableReason as UnavailableReason
      return hasData(series) ? undefined : 'no_observations'
    },
    /** Extends how far the data of a series reaches, after a write. */
    extend(id: number, firstAt: number, lastAt: number) {
      if (extents.extend(ids.get(id)!, firstAt, lastAt)) version += 1
    },
    /** Takes in how far the data of a series reaches, after some was taken out. */
    measure(id: number) {
      version += 1
      const series = ids.get(id)!
      if (!isComputed(series)) extents.put(series, store.extent(id))
      else extents.forget(series)
    },
    /** Says where the data of a computed series ended before the write under way. */
    endAt(id: number, lastAt: number | undefined) {
      const series = ids.get(id)!
      if (lastAt === undefined) return extents.put(series, undefined)
      const extent = extents.of(series) ?? { firstAt: lastAt, lastAt }
      extent.lastAt = lastAt
      extents.put(series, extent)
    },
    /** Sets the source of a series' values, kept over every reload; undefined: none. */
    attribute(id: number, fedBy: FedBy | undefined) {
      const series = ids.get(id)
      if (series && attributions.put(series, fedBy)) version += 1
    },
    /** Marks series as those of generated data, from now on. */
    markFixture(fixtures: readonly number[]) {
      version += 1
      store.markFixture(fixtures)
      for (const id of fixtures) ids.get(id)!.fixture = true
    },
    addContracts,
    reload,
    /** Notifies the listeners of a reload again: others read the database once it is committed. */
    notifyReloaded,
    /** Adds a listener for every reload of the list. */
    onReload: (listener: () => void) => void reloadListeners.push(listener),
  }
}

/** A series by formula has the delivery periods of the first of its legs that has any. */
function takePeriods(
  series: Series,
  find: (name: string, owner?: string) => Series | undefined,
  above: readonly Series[] = [],
): DeliveryTerms | undefined {
  const { terms, delivery } = series
  if (delivery || terms?.formula === undefined || above.includes(series)) return delivery
  for (const name of legNames(series)) {
    const leg = find(name, terms.owner)
    const taken = leg && takePeriods(leg, find, [...above, series])
    if (!taken) continue
    series.delivery = taken
    return taken
  }
  return undefined
}

const isShared = ({ terms }: Series): boolean => terms?.owner === undefined

/** The codes of series that accounts make for themselves begin with it. */
export const ownPrefix = 'MY_'

/**
 * Decides which series the current viewer sees. Where nothing is restricted, the viewer is not
 * needed.
 */
function createVisibility(viewers: Pick<Viewers, 'current'> | undefined) {
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
        .some(own => own.id === id)
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
    const own = [...new Set(accounts())].flatMap(ownedBy).filter(mayBeSeen)
    if (hidden.length === 0 && own.length === 0) return undefined
    const key = [hidden, own].map(part => part.map(series => series.id).join()).join(' ')
    const known = lists.get(key)
    if (known) return known
    if (lists.size >= listsMax) lists.clear()
    viewsMade += 1
    const list = [...full.filter(series => !hidden.includes(series)), ...own]
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

/** Far more views than are made between two readings of the catalogue. */
const viewsMax = 2 ** 30
/** Lists that stay in memory. */
const listsMax = 1_000

/** Bounds the memory: requests may spell codes in more ways than there are codes. */
const resolvedCodesMax = 10_000

interface ResolverDeps {
  contracts: ContractCalendar
  /** The series of a code or alias, including contracts listed since the last look-up. */
  find(code: string, now: number): Series | undefined
  /** The same, of what is known already. */
  named(code: string): Series | undefined
  hasData(series: Series): boolean
}

/**
 * Resolves a code of a request: an alias to its code, a futures family to its front contract.
 * Nearly every request finds its spelling in the cache.
 */
function createResolver({ contracts, find, named, hasData }: ResolverDeps) {
  const resolvedCodes = new Map<string, Resolved>()

  const resolve = (text: string, now: number): Resolved | undefined => {
    const cached = resolvedCodes.get(text)
    if (cached) return cached
    const requestedCode = text.trim().toUpperCase()
    const series = find(requestedCode, now)
    if (!series) return undefined
    const family = series.contractOf === null ? series : named(series.contractOf)!
    const front = contracts.front(family.code, now)
    if (front === undefined || (series !== family && series.code !== front)) {
      const { code } = series
      const resolved = {
        series,
        code,
        requestedCode: requestedCode === code ? undefined : requestedCode,
      }
      // A contract may become the front one; other codes stay what they are until the list is read
      // again.
      if (front === undefined && resolvedCodes.size < resolvedCodesMax)
        resolvedCodes.set(text, resolved)
      return resolved
    }
    const frontSeries = named(front)
    return {
      series: frontSeries && hasData(frontSeries) ? frontSeries : family,
      code: front,
      requestedCode: requestedCode === front ? undefined : requestedCode,
    }
  }

  return { resolve, forget: () => resolvedCodes.clear() }
}

/** The sources of series' values. */
function createAttributions() {
  const attributions = new Map<number, FedBy>()
  /** The catalogue's fields of series whose source overrides them. */
  const declared = new Map<number, Pick<Series, 'publisher' | 'cadence' | 'releaseLagDays'>>()

  const attribute = (series: Series, { publisher, cadence, releaseLagDays }: FedBy) => {
    if (!declared.has(series.id)) {
      declared.set(series.id, {
        publisher: series.publisher,
        cadence: series.cadence,
        releaseLagDays: series.releaseLagDays,
      })
    }
    series.publisher = publisher
    // A daily series is not late after five minutes; but a setting of the operator takes
    // precedence. A release calendar defines both, how often and how late.
    if (!cadence || series.releases) return
    if (series.terms?.cadence === undefined && isRarer(cadence, series.cadence))
      series.cadence = cadence
    if (series.terms?.releaseLagDays === undefined) series.releaseLagDays = releaseLagDays
  }

  return {
    /** Undefined removes the source. False where it is the same already. */
    put(series: Series, fedBy: FedBy | undefined) {
      const before = attributions.get(series.id)
      if (
        before?.publisher.name === fedBy?.publisher.name &&
        before?.cadence === fedBy?.cadence &&
        before?.releaseLagDays === fedBy?.releaseLagDays
      )
        return false
      Object.assign(series, declared.get(series.id))
      if (fedBy) {
        attributions.set(series.id, fedBy)
        attribute(series, fedBy)
      } else attributions.delete(series.id)
      return true
    },
    /** Restores the sources of series that were reloaded, by id. */
    reload(all: ReadonlyMap<number, Series>) {
      declared.clear()
      for (const [id, fedBy] of attributions) {
        const series = all.get(id)
        if (series) attribute(series, fedBy)
      }
    },
  }
}

const isRarer = (cadence: Cadence, than: Cadence): boolean =>
  cadences.indexOf(cadence) > cadences.indexOf(than)

/** How far the data of each series reaches, and which futures families have any. */
function createExtents() {
  const extents = new Map<number, Extent>()
  /** Families of which some contract has data. */
  const familiesWithData = new Set<string>()
  let measured: (series: Series) => { extent: Extent | undefined } | undefined = () => undefined
  const set = (series: Series, extent: Extent) => {
    extents.set(series.id, extent)
    if (series.contractOf !== null) familiesWithData.add(series.contractOf)
  }
  return {
    of(series: Series): Extent | undefined {
      const known = extents.get(series.id)
      if (known || !isComputed(series)) return known
      const extent = measured(series)?.extent
      if (extent) set(series, extent)
      return extent
    },
    measureBy(measure: typeof measured) {
      measured = measure
    },
    forget: ({ id }: Series) => void extents.delete(id),
    hasContracts: (family: string) => familiesWithData.has(family),
    /** Sets the extent of one series. */
    put(series: Series, extent: Extent | undefined) {
      if (extent) set(series, extent)
      else extents.delete(series.id)
    },
    /** Replaces everything by what the store has, by id. */
    reload(all: readonly Series[], stored: ReadonlyMap<number, Extent>) {
      extents.clear()
      familiesWithData.clear()
      for (const series of all) {
        const extent = stored.get(series.id)
        if (extent && !isComputed(series)) set(series, extent)
      }
    },
    /** False when the data reached that far already. */
    extend(series: Series, firstAt: number, lastAt: number) {
      const extent = extents.get(series.id)
      if (!extent) {
        set(series, { firstAt, lastAt })
        return true
      }
      // Where the values of a formula begin takes long to find, and new ones change nothing of it.
      const isEarlier = series.terms?.formula === undefined && firstAt < extent.firstAt
      if (!isEarlier && extent.lastAt >= lastAt) return false
      if (isEarlier) extent.firstAt = firstAt
      extent.lastAt = Math.max(extent.lastAt, lastAt)
      return true
    },
  }
}
