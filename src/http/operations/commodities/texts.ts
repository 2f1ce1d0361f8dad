import { strongEtag } from '../../../lib/text/etag.ts'
import { startOfDay } from '../../../lib/time/instant.ts'
import type { Series } from '../../../topics/catalogue/store/series.ts'
import type { QuarantineList } from '../../../topics/prices/service/quarantine.ts'
import { type CommodityDeps, commodityRow, seriesOf } from './row.ts'

/** A list of the catalogue as text. */
export interface RenderedList {
  text: string
  etag: string
  series: readonly Series[]
}

/**
 * The catalogue as JSON text: a code is written again when its entry changed, a list when any entry
 * may have.
 */
export type CommodityTexts = ReturnType<typeof createCommodityTexts>

export interface CommodityTextsDeps extends CommodityDeps {
  quarantine: QuarantineList
  firstCodes: readonly string[]
  now: () => number
}

export function createCommodityTexts(deps: CommodityTextsDeps) {
  const { catalogue, freshness, quarantine } = deps
  const rows = new Map<
    number,
    {
      series: Series
      cadence: Series['cadence']
      firstOn: string | undefined
      lastAt: number | undefined
      text: string
    }
  >()
  const lists = new Map<string, RenderedList>()
  let free: ReadonlySet<number> = new Set()
  // `quarantine.all()` is a new array after every change.
  let current = { version: -1, quarantined: quarantine.all(), day: 0 }

  const dropOutdated = () => {
    // Another day may have another front contract.
    const day = startOfDay(deps.now())
    if (
      current.version === catalogue.version &&
      current.quarantined === quarantine.all() &&
      current.day === day
    )
      return
    current = { version: catalogue.version, quarantined: quarantine.all(), day }
    lists.clear()
    free = new Set(seriesOf(catalogue, deps.firstCodes).map(series => series.id))
  }

  return {
    row(series: Series) {
      dropOutdated()
      const reach = freshness.reach(series)
      const cachedRow = rows.get(series.id)
      if (
        cachedRow?.series === series &&
        // The cadence of a series comes from the feed that fills it.
        cachedRow.cadence === series.cadence &&
        cachedRow.firstOn === reach?.firstOn &&
        cachedRow.lastAt === reach?.lastAt
      )
        return cachedRow.text
      const text = JSON.stringify(commodityRow(series, deps, free))
      rows.set(series.id, {
        series,
        cadence: series.cadence,
        firstOn: reach?.firstOn,
        lastAt: reach?.lastAt,
        text,
      })
      return text
    },
    /** The codes with data, or all of them, of one category or of every one. */
    select: (includeUnavailable: boolean, category?: string) =>
      catalogue
        .list()
        .filter(
          series =>
            (includeUnavailable || freshness.hasData(series)) &&
            (category === undefined || series.category === category),
        ),
    /**
     * The list cached under `key`, or a new one from `write`, which is then cached. There must be
     * few keys: only words of the catalogue may be part of one, never free text of a request.
     */
    rendered(
      key: string,
      select: () => readonly Series[],
      write: (series: readonly Series[]) => string,
    ): { list: RenderedList; hit: boolean } {
      dropOutdated()
      const cachedList = lists.get(key)
      if (cachedList) return { list: cachedList, hit: true }
      const series = select()
      const text = write(series)
      const list = { text, etag: strongEtag(text), series }
      lists.set(key, list)
      return { list, hit: false }
    },
  }
}
