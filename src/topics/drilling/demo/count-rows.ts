import { parseDay, weekdayOf } from '../../../lib/time/instant.ts'
import { generatedSource } from '../../catalogue/math/catalogue.ts'
import { apportion } from '../../prices/demo/regions.ts'
import type { World } from '../../prices/demo/world.ts'
import { dayAfter } from '../../prices/math/window.ts'
import type { DucWells, FracSpreads, RigCount } from '../dataset/counts.ts'
import {
  basinKeys,
  country,
  ducWellCode,
  fracSpreadCode,
  otherStates,
  rigCountCode,
  rigTypeCodes,
} from '../math/drilling.ts'
import { countDays } from '../math/period.ts'
import { basinHabits, sharedStates, stateHabits, stateShares } from './basins.ts'
import { basinValues, dayValues, sum } from './code-values.ts'
import { type RigHabit, type RigTypes, rigTypes } from './rig-types.ts'

/** Wells that a rig drills in a month. */
const wellsPerRig = 1.6
const friday = 5

export const regionRow = (region: string, countedOn: string) => ({
  region,
  countedOn,
  source: generatedSource,
})

export const monthBefore = (day: string): string =>
  Temporal.PlainDate.from(day).subtract({ months: 1 }).toString()

/**
 * Rigs of the country, its basins and its states on Fridays, by what they drill for: each kind of
 * region adds up to the country in every column.
 */
export function rigRows(world: World, days: readonly string[]): RigCount[] {
  if (days.length === 0) return []
  const basinsOn = basinValues(world, 'week', rigCountCode, days)
  const namedStates = Object.keys(stateHabits).filter(state => state !== otherStates)
  const statesOn = namedStates.map(state => dayValues(world, 'week', rigCountCode(state)!, days))
  const [oilOn, gasOn, miscOn] = (['oil', 'gas', 'misc'] as const).map(type =>
    dayValues(world, 'week', rigTypeCodes[type], days),
  )
  return days.flatMap(day => {
    const { whole, basins } = basinsOn(day)
    const national: RigTypes = { oil: oilOn!(day), gas: gasOn!(day), misc: miscOn!(day) }
    const states = statesOn.map(valueOn => valueOn(day))
    const split = (
      regions: readonly string[],
      totals: readonly number[],
      habits: readonly RigHabit[],
    ): RigCount[] =>
      rigTypes(totals, habits, national).map((types, i) => ({
        ...regionRow(regions[i]!, day),
        ...types,
        total: totals[i]!,
        span: 'week',
      }))
    const habitsOf = (regions: readonly string[], habits: Readonly<Record<string, RigHabit>>) =>
      regions.map(region => habits[region]!)
    const countedStates = [...namedStates, otherStates]
    return [
      ...split(basinKeys, basins, habitsOf(basinKeys, basinHabits)),
      ...split(
        countedStates,
        [...states, whole - sum(states)],
        habitsOf(countedStates, stateHabits),
      ),
      { ...regionRow(country, day), total: whole, ...national, span: 'week' as const },
    ]
  })
}

/** A national number over the states, as those of the basins are in them. */
const overStates = (national: number, basins: readonly number[]): number[] =>
  apportion(
    national,
    sharedStates.map(state =>
      sum(basinKeys.map((basin, i) => basins[i]! * (stateShares[basin]![state] ?? 0))),
    ),
  )

/**
 * Crews of the country and its basins on working days. They move every day and are counted by state
 * once a week.
 */
export function fracRows(world: World, days: readonly string[]): FracSpreads[] {
  if (days.length === 0) return []
  const basinsOn = basinValues(world, 'day', fracSpreadCode, days)
  return days.flatMap(day => {
    const { whole, basins } = basinsOn(day)
    const states = weekdayOf(parseDay(day)!) === friday ? overStates(whole, basins) : []
    return [
      ...basinKeys.map((basin, i) => ({ ...regionRow(basin, day), active: basins[i]! })),
      ...states.map((active, i) => ({ ...regionRow(sharedStates[i]!, day), active })),
      { ...regionRow(country, day), active: whole },
    ]
  })
}

/** Rigs of the basins at the survey of a month: those of its newest week. */
export function surveyRigs(world: World, surveys: readonly string[]): (survey: string) => number[] {
  const weekOf = (day: string) => countDays('week', dayAfter(day, -6), dayAfter(day, 1))[0]!
  const basinsOn = basinValues(world, 'week', rigCountCode, surveys.map(weekOf))
  return survey => basinsOn(weekOf(survey)).basins
}

/**
 * Wells that wait for completion rise by what is drilled and fall by what is completed, in every
 * region.
 */
function flowOf(
  region: string,
  day: string,
  { before, now, drilled }: { before: number; now: number; drilled: number },
): DucWells {
  const rise = now - before
  // More may wait than were drilled only where none was completed.
  const wells = Math.max(rise, drilled)
  return { ...regionRow(region, day), duc: now, drilled: wells, completed: wells - rise }
}

/** Wells of the country, its basins and its states in the middle of months. */
export function ducRows(world: World, days: readonly string[]): DucWells[] {
  if (days.length === 0) return []
  const wellsOn = basinValues(world, 'month', ducWellCode, [monthBefore(days[0]!), ...days])
  const rigsOn = surveyRigs(world, days)
  return days.flatMap(day => {
    const [before, now] = [wellsOn(monthBefore(day)), wellsOn(day)]
    const basins = basinKeys.map((basin, i) =>
      flowOf(basin, day, {
        before: before.basins[i]!,
        now: now.basins[i]!,
        drilled: Math.round(wellsPerRig * rigsOn(day)[i]!),
      }),
    )
    const drilled = basins.map(row => row.drilled!)
    const [duc, ducBefore] = [
      overStates(now.whole, now.basins),
      overStates(before.whole, before.basins),
    ]
    const drilledIn = overStates(sum(drilled), drilled)
    return [
      ...basins,
      ...sharedStates.map((state, i) =>
        flowOf(state, day, { before: ducBefore[i]!, now: duc[i]!, drilled: drilledIn[i]! }),
      ),
      flowOf(country, day, { before: before.whole, now: now.whole, drilled: sum(drilled) }),
    ]
  })
}
