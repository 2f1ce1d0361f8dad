import { isoDay } from '../../../lib/time/instant.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { Closes } from '../../prices/service/days/closes.ts'
import type { CarrierSchedule } from '../dataset/surcharge-schedules.ts'
import type { Surcharge } from '../dataset/surcharges.ts'
import { indexWeeks, surchargesOf } from '../math/surcharge.ts'
import { matchedRow, type SurchargeStore } from '../store/surcharges.ts'

/** Matches carriers' tables to the price of their index, week by week. */
export function createSurchargeMatching(deps: {
  surcharges: SurchargeStore
  catalogue: Catalogue
  closes: Closes
}) {
  const { surcharges, catalogue, closes } = deps
  let version: string | undefined
  let services: CarrierSchedule[][] = []
  let matchedState = ''

  const readTables = () => {
    const current = surcharges.version()
    if (version === current) return
    version = current
    const all = Map.groupBy(
      surcharges.schedules(),
      table => `${table.mode} ${table.carrier} ${table.serviceLevel}`,
    )
    services = [...all.values()].filter(tables => tables.some(table => table.matched))
  }

  /**
   * The inputs of the rows as text; while it is the same there is nothing to do. A price that fills
   * a gap is noticed on the next day.
   */
  const stateOf = (now: number): string => {
    const codes = new Set(services.flatMap(tables => tables.map(table => table.indexCode)))
    const extents = [...codes].map(code => {
      const series = catalogue.resolve(code, now)?.series
      const extent = series && catalogue.extent(series)
      return `${extent?.firstAt} ${extent?.lastAt}`
    })
    return [version, isoDay(now), ...extents].join(' ')
  }

  const missing = (tables: readonly CarrierSchedule[], now: number): Surcharge[] => {
    const today = isoDay(now)
    const knownWeeks = new Set(surcharges.weeks(tables[0]!))
    return surchargesOf(tables, table => {
      const series = catalogue.resolve(table.indexCode, now)?.series
      return series ? indexWeeks(closes.of(series.id), series.cadence, series.decimals, today) : []
    })
      .filter(
        ({ table, week }) =>
          table.matched && week.effectiveOn <= today && !knownWeeks.has(week.effectiveOn),
      )
      .map(({ table, week }) => matchedRow(table, week))
  }

  return {
    /**
     * Records missing weeks up to now that a table has a surcharge for; returns how many. Existing
     * weeks are kept, so that a correction of a table or of an index price does not change past
     * surcharges.
     */
    match(now: number) {
      readTables()
      const state = stateOf(now)
      if (state === matchedState) return 0
      let count = 0
      for (const tables of services) {
        const rows = missing(tables, now)
        if (rows.length > 0) surcharges.write(rows, now)
        count += rows.length
      }
      matchedState = state
      return count
    },
  }
}
