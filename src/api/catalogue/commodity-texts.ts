import { startOfDay } from '../../lib/instant.ts'
import { strongEtag } from '../../service/prices/board.ts'
import type { QuarantineList } from '../../service/prices/quarantine.ts'
import type { Series } from '../../store/catalogue/series.ts'
import { type CommodityDeps, commodityRow, seriesOf } from './commodity-row.ts'

/** A list of the catalogue as text. */
export interface KeptList {
  text: string
  etag: string
  list: readonly Series[]
}

/**
 * The catalogue as JSON text: a code is written again when its entry changed, a list when any entry
 * may have.
 */
export interface CommodityTexts {
  row(series: Series): string
  /** The codes with data, or all of them, of one category or of every one. */
  select(includeUnavailable: boolean, category?: string): Series[]
  /**
   * The list kept under `key`, or `write` it and keep it. There must be few keys: nothing may be
   * part of one that the catalogue does not bound.
   */
  kept(
    key: string,
    list: () => readonly Series[],
    write: (list: readonly Series[]) => string,
  ): { held: KeptList; hit: boolean }
}

export interface CommodityTextsDeps extends CommodityDeps {
  quarantine: QuarantineList
  firstCodes: readonly string[]
  now: () => number
}

export function createCommodityTexts(deps: CommodityTextsDeps): CommodityTexts {
  const { catalogue, freshness, quarantine } = deps
  const rows = new Map<
    number,
    { series: Series; firstOn: string | undefined; lastAt: number | undefined; text: string }
  >()
  const lists = new Map<string, KeptList>()
  let free: ReadonlySet<number> = new Set()
  // The list of quarantined days is a new one after every change of it.
  let seen = { version: -1, quarantined: quarantine.all(), day: 0 }

  const forgetOld = () => {
    // Another day may have another front contract.
    const day = startOfDay(deps.now())
    if (
      seen.version === catalogue.version &&
      seen.quarantined === quarantine.all() &&
      seen.day === day
    )
      return
    seen = { version: catalogue.version, quarantined: quarantine.all(), day }
    lists.clear()
    free = new Set(seriesOf(catalogue, deps.firstCodes).map(series => series.id))
  }

  return {
    row(series) {
      forgetOld()
      const reach = freshness.reach(series)
      const held = rows.get(series.id)
      if (
        held?.series === series &&
        held.firstOn === reach?.firstOn &&
        held.lastAt === reach?.lastAt
      )
        return held.text
      const text = JSON.stringify(commodityRow(series, deps, free))
      rows.set(series.id, { series, firstOn: reach?.firstOn, lastAt: reach?.lastAt, text })
      return text
    },
    select: (includeUnavailable, category) =>
      catalogue
        .list()
        .filter(
          series =>
            (includeUnavailable || freshness.hasData(series)) &&
            (category === undefined || series.category === category),
        ),
    kept(key, list, write) {
      forgetOld()
      const held = lists.get(key)
      if (held) return { held, hit: true }
      const selected = list()
      const text = write(selected)
      const made = { text, etag: strongEtag(text), list: selected }
      lists.set(key, made)
      return { held: made, hit: false }
    },
  }
}
