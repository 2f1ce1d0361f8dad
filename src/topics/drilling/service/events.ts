import { isoInstant } from '../../../lib/time/instant.ts'
import { dayAfter } from '../../prices/math/window.ts'
import type { ServiceEvent } from '../../webhooks/service/events.ts'
import type { Movement, RegionalCount, RegionalDataset } from '../dataset/counts.ts'
import { type Count, changeOver, percentChange } from '../math/change.ts'
import type { RegionalStore } from '../store/regional.ts'

/** Comparisons of an event reach a little over a year back. */
const lookBackDays = 400
const longestMonthDays = 31

function movementOf<T extends RegionalCount>(
  row: T,
  store: RegionalStore<T>,
  measure: (row: T) => number,
): Movement {
  const { region, countedOn } = row
  const counts: Count[] = store
    .between(region, dayAfter(countedOn, -lookBackDays), dayAfter(countedOn, 1))
    .map(count => ({ on: count.countedOn, value: measure(count) }))
  const before = store.before(region, countedOn)
  const previous = before === undefined ? null : measure(before)
  const change = previous === null ? null : measure(row) - previous
  const isMonthBefore = (before?.countedOn ?? '') >= dayAfter(countedOn, -longestMonthDays)
  return {
    previous,
    change,
    changePercent: previous === null ? null : (percentChange(previous, measure(row)) ?? null),
    week: changeOver(counts, 'week') ?? null,
    month: isMonthBefore ? change : null,
    year: changeOver(counts, 'year') ?? null,
  }
}

/**
 * The event of a new count; undefined where the region has no code, without which there is nothing
 * to filter an event by.
 */
export function countEvent<T extends RegionalCount>(
  declared: RegionalDataset<T>,
  row: T,
  store: RegionalStore<T>,
  at: number,
): ServiceEvent | undefined {
  const { event, measure } = declared
  const [count] = declared.codes(row)
  if (!event || !measure || count?.code === undefined) return undefined
  const commodity = count.code
  const movement = movementOf(row, store, measure)
  return {
    type: `drilling.${event.name}.updated`,
    at,
    dedupe: `${event.name} ${row.region} ${row.countedOn}`,
    commodity,
    data: event.data(row, movement, {
      commodity,
      region: row.region,
      value: count.value,
      previous_value: movement.previous,
      change: movement.change,
      change_percent: movement.changePercent,
      unit: event.unit,
      source: row.source,
      report_date: row.countedOn,
      timestamp: isoInstant(at),
    }),
  }
}
