import { t } from '../../../http/answer/schema.ts'
import { textParameter, wordParameter } from '../../../http/input/typed.ts'
import { nameNotFound } from '../../../http/problem/problem.ts'
import { rangeQuery } from '../../energy/operations/list.ts'
import { basinKeys, basinOf } from '../math/drilling.ts'
import { countAge, type DrillingCalendar } from '../math/period.ts'
import { type DrillingState, stateOf, states } from '../math/states.ts'

export const basinQuery = {
  basin: wordParameter(
    basinKeys,
    'One basin: `permian`, `Eagle Ford`, `dj-niobrara` ...',
    'permian',
  ),
}
const stateQuery = {
  state: textParameter('One state by its two letters or its name.', 'TX'),
}
export const regionQuery = { ...basinQuery, ...stateQuery, ...rangeQuery }

export const countOrNull = (example: number) =>
  t.integerOrNull('Null if there is no data.', example)

/** The key of a basin; unknown ones are 404. */
export function basinIn(text: string): string {
  const basin = basinOf(text)
  if (basin) return basin.key
  throw nameNotFound('basin', text, basinKeys)
}

export function stateIn(text: string): DrillingState {
  const state = stateOf(text)
  if (state) return state
  throw nameNotFound(
    'state',
    text,
    states.flatMap(({ code, slug }) => [code, slug]),
  )
}

/** The count of each basin that was counted on a day, by its key. */
export const countsByBasin = <Row extends { region: string }>(
  rows: readonly Row[],
  count: (row: Row) => number,
): Record<string, number> =>
  Object.fromEntries(
    basinKeys.flatMap(basin => {
      const row = rows.find(({ region }) => region === basin)
      return row ? [[basin, count(row)]] : []
    }),
  )

/**
 * The basins that a query selects; undefined when it names none. A state selects the basins that
 * extend into it.
 */
export function requestedBasins(query: {
  basin?: string
  state?: string
}): readonly string[] | undefined {
  const basin = query.basin ? basinIn(query.basin) : undefined
  const inState = query.state ? stateIn(query.state).basins : undefined
  if (basin === undefined) return inState
  return inState && !inState.includes(basin) ? [] : [basin]
}

export const Age = {
  as_of: t.date('Day of the newest count.', '2026-11-20'),
  data_age_days: t.integer('Days since.', 1),
  stale: t.boolean('The newest count is older than three periods of its calendar.'),
}

export function ageOf(calendar: DrillingCalendar, newestOn: string, now: number) {
  const { ageDays, stale } = countAge(calendar, newestOn, now)
  return { as_of: newestOn, data_age_days: ageDays, stale }
}
