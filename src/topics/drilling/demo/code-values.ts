import { minuteMs } from '../../../lib/time/instant.ts'
import type { World } from '../../prices/demo/world.ts'
import { basinKeys, country } from '../math/drilling.ts'
import { countedAt, type DrillingCalendar, publishedAt } from '../math/period.ts'

/** Codes of one release are published within so many minutes of it. */
const releaseSpreadMs = 15 * minuteMs

export type CodeOf = (region: string) => string | undefined

export const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0)

/**
 * Values of a code on days of its calendar, oldest first, whether or not they are published yet.
 */
export function dayValues(
  world: World,
  calendar: DrillingCalendar,
  code: string,
  days: readonly string[],
): (day: string) => number {
  const [from, to] = [
    publishedAt(calendar, days[0]!),
    publishedAt(calendar, days.at(-1)!) + releaseSpreadMs,
  ]
  const values = new Map(
    world
      .observations(code, from, to)
      .map(observation => [observation.observedAt, observation.value]),
  )
  return day => values.get(countedAt(day)) ?? 0
}

/**
 * The national value of a day, and that of each basin in their order; regions without a code have
 * the rest.
 */
export function basinValues(
  world: World,
  calendar: DrillingCalendar,
  codeOf: CodeOf,
  days: readonly string[],
) {
  const nationalOn = dayValues(world, calendar, codeOf(country)!, days)
  const parts = basinKeys.map(basin => {
    const code = codeOf(basin)
    return code === undefined ? undefined : dayValues(world, calendar, code, days)
  })
  return (day: string) => {
    const basinValues = parts.map(part => part?.(day) ?? 0)
    const rest = nationalOn(day) - sum(basinValues)
    return {
      whole: nationalOn(day),
      basins: parts.map((part, i) => (part ? basinValues[i]! : rest)),
    }
  }
}
