import type { DatasetReads } from '../../../database/dataset-reads.ts'
import { datasetStore, type Stored } from '../../../database/dataset-store.ts'
import { type OpecProduction, opecProductions } from '../dataset/opec-productions.ts'

export interface OpecRow extends Stored<OpecProduction> {
  id: number
  /** The production of the country in the previous month. */
  bpdBefore: number | undefined
}

export interface OpecFilter {
  country: string | undefined
  /** Months of `[fromMonth, toMonth)`, `YYYY-MM`. */
  fromMonth: string
  toMonth: string
}

export type OpecStore = ReturnType<typeof createOpecStore>

interface Numbered {
  id: number
  bpdBefore: number | null
}

const numbered = `t.id, (SELECT b.bpd FROM opec_productions b WHERE b.country = t.country
  AND b.month = strftime('%Y-%m', t.month || '-01', '-1 month')) AS bpdBefore`
const matching = '(?1 IS NULL OR country = ?1) AND month >= ?2 AND month < ?3'
type Matching = [country: string | null, fromMonth: string, toMonth: string]

const rowOf = (row: Stored<OpecProduction> & Numbered): OpecRow => ({
  ...row,
  bpdBefore: row.bpdBefore ?? undefined,
})
const bound = ({ country, fromMonth, toMonth }: OpecFilter): Matching => [
  country ?? null,
  fromMonth,
  toMonth,
]

export function createOpecStore(reads: DatasetReads) {
  const store = datasetStore<OpecProduction>(reads, opecProductions)
  const page = store.stored<[...Matching, limit: number, offset: number], Numbered>(
    `WHERE ${matching} ORDER BY month DESC, id LIMIT ?4 OFFSET ?5`,
    numbered,
  )
  const count = store.count<Matching>(matching)
  const byId = store.stored<[number], Numbered>('WHERE id = ?', numbered)
  const ofMonth = store.stored<[string], Numbered>('WHERE month = ? ORDER BY id', numbered)
  return {
    /**
     * One transaction. Months are numbered in the order of time and within a month in the order
     * given; a number is given once and never changes, so months that come in later, also older ones,
     * get the next ones. The same production from the same source is unchanged; anything else for a
     * known month of a country replaces it under its number.
     */
    write: store.write,
    /** Newest month first, within a month by number. */
    page: (filter: OpecFilter, limit: number, offset: number) =>
      page.all(...bound(filter), limit, offset).map(rowOf),
    count: (filter: OpecFilter) => count(...bound(filter)),
    byId(id: number) {
      const row = byId.get(id)
      return row && rowOf(row)
    },
    ofMonth: (month: string) => ofMonth.all(month).map(rowOf),
    newestMonth: store.value<string>('max(month)'),
    months: store.values<string>('DISTINCT month', 'ORDER BY month'),
    /** The stored spelling of a country that is named in any letter case. */
    countryNamed: store.value<string>('country', 'WHERE country = ? COLLATE NOCASE LIMIT 1'),
  }
}
