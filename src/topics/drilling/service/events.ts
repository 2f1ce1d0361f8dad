import { isoInstant } from '../../../lib/time/instant.ts'
import { dayAfter } from '../../prices/math/window.ts'
import type { ServiceEvent } from '../../webhooks/service/events.ts'
import { type Count, changeOver, percentChange } from '../math/change.ts'
import { ducWellCode, fracSpreadCode, rigCountCode } from '../math/drilling.ts'
import type { DucWells } from '../store/duc-wells.ts'
import type { FracSpreads } from '../store/frac-spreads.ts'
import type { Regional, RegionalStore } from '../store/regional.ts'
import type { RigCount } from '../store/rig-counts.ts'

/** What an event is compared with reaches a little over a year back. */
const lookBackDays = 400
const longestMonthDays = 31

interface Movement {
  /** The count before of the region, whenever that was. */
  previous: number | null
  change: number | null
  changePercent: number | null
  week: number | null
  year: number | null
}

function movementOf<T extends Regional>(
  row: T,
  store: RegionalStore<T>,
  measure: (row: T) => number,
): Movement {
  const counts: Count[] = store
    .between(row.region, dayAfter(row.countedOn, -lookBackDays), dayAfter(row.countedOn, 1))
    .map(count => ({ on: count.countedOn, value: measure(count) }))
  const before = store.before(row.region, row.countedOn)
  const previous = before === undefined ? null : measure(before)
  return {
    previous,
    change: previous === null ? null : measure(row) - previous,
    changePercent: previous === null ? null : (percentChange(previous, measure(row)) ?? null),
    week: changeOver(counts, 'week') ?? null,
    year: changeOver(counts, 'year') ?? null,
  }
}

const envelopeOf = (name: string, commodity: string, row: Regional, at: number) => ({
  type: `drilling.${name}.updated`,
  at,
  dedupe: `${name} ${row.region} ${row.countedOn}`,
  commodity,
})

export function rigCountEvent(
  row: RigCount,
  store: RegionalStore<RigCount>,
  at: number,
): ServiceEvent | undefined {
  const commodity = rigCountCode(row.region)
  if (commodity === undefined || row.span === 'month') return undefined
  const { previous, change, changePercent, week, year } = movementOf(
    row,
    store,
    count => count.total,
  )
  return {
    ...envelopeOf('rig_count', commodity, row, at),
    data: {
      commodity,
      region: row.region,
      value: row.total,
      previous_value: previous,
      change,
      change_percent: changePercent,
      unit: 'rigs',
      source: row.source,
      breakdown: { oil_rigs: row.oil, gas_rigs: row.gas, misc_rigs: row.misc },
      rig_count: row.total,
      oil_rigs: row.oil,
      gas_rigs: row.gas,
      change_from_prior_week: week,
      change_from_prior_year: year,
      report_date: row.countedOn,
      timestamp: isoInstant(at),
    },
  }
}

export function fracSpreadEvent(
  row: FracSpreads,
  store: RegionalStore<FracSpreads>,
  at: number,
): ServiceEvent | undefined {
  const commodity = fracSpreadCode(row.region)
  if (commodity === undefined) return undefined
  const { previous, change, changePercent, week } = movementOf(row, store, count => count.active)
  return {
    ...envelopeOf('frac_spread', commodity, row, at),
    data: {
      commodity,
      region: row.region,
      value: row.active,
      previous_value: previous,
      change,
      change_percent: changePercent,
      unit: 'frac_spreads',
      source: row.source,
      frac_spreads_count: row.active,
      change_from_prior_week: week,
      report_date: row.countedOn,
      timestamp: isoInstant(at),
    },
  }
}

export function ducWellEvent(
  row: DucWells,
  store: RegionalStore<DucWells>,
  at: number,
): ServiceEvent | undefined {
  const commodity = ducWellCode(row.region)
  if (commodity === undefined) return undefined
  const { previous, change, changePercent } = movementOf(row, store, count => count.duc)
  const isMonthBefore =
    (store.before(row.region, row.countedOn)?.countedOn ?? '') >=
    dayAfter(row.countedOn, -longestMonthDays)
  return {
    ...envelopeOf('duc_well', commodity, row, at),
    data: {
      commodity,
      region: row.region,
      value: row.duc,
      duc_count: row.duc,
      previous_value: previous,
      change,
      change_percent: changePercent,
      change_from_prior_month: isMonthBefore ? change : null,
      completions_this_month: row.completed,
      unit: 'wells',
      report_date: row.countedOn,
      source: row.source,
      timestamp: isoInstant(at),
    },
  }
}
