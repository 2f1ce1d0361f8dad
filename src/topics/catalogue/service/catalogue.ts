import type { FedBy } from '../math/catalogue.ts'
import { suggestCodes } from '../math/suggest.ts'
import { isComputed, type NewContract, type Series, type SeriesStore } from '../store/series.ts'
import { createAttributions } from './attributions.ts'
import { createExtents } from './extents.ts'
import { takeCadences, takePeriods } from './leg-terms.ts'
import { type ContractCalendar, createResolver, type Resolved } from './resolver.ts'
import type { Viewers } from './viewers.ts'
import { createVisibility } from './visibility.ts'

export type { Resolved }

/** Why a code of the catalogue answers no prices. */
export type UnavailableReason = 'no_source' | 'no_observations' | 'discontinued' | 'restricted'

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
    takeCadences(everything, find)
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
      const custom = visibility.own(text, accountId)
      if (custom) return { series: custom, code: custom.code, requestedCode: undefined }
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
    /**
     * Sets the source of a series' values, kept over every reload; undefined: none. Returns whether
     * the series has another cadence by it.
     */
    attribute(id: number, fedBy: FedBy | undefined): boolean {
      const series = ids.get(id)
      const before = series?.cadence
      if (!series || !attributions.put(series, fedBy)) return false
      version += 1
      if (series.cadence === before) return false
      takeCadences(everything, find)
      return true
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

const isShared = ({ terms }: Series): boolean => terms?.owner === undefined
