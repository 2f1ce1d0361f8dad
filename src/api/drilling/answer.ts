import { type TSchema, t } from 'elysia'
import { integer } from '../../http/answer/integer.ts'
import type { AccessPlugin } from '../../http/gate/access.ts'
import { notFound, Problem } from '../../http/problem/problem.ts'
import { isoDay } from '../../lib/instant.ts'
import { basinKeys, basinOf } from '../../market/drilling/drilling.ts'
import { countAge, type DrillingCalendar } from '../../market/drilling/period.ts'
import { type DrillingState, stateOf } from '../../market/drilling/states.ts'
import { dayAfter } from '../../market/prices/window.ts'
import type { Feature } from '../../plan/tiers.ts'
import type { Drilling } from '../../service/drilling/drilling.ts'
import { fixtureSource } from '../../world/futures/curves.ts'
import { type Answering, type Marks, markFixtures } from '../answer.ts'
import { rangeOf, rangeQuery } from './list.ts'

/** What every answer about drilling is made from. */
export interface DrillingAnswerDeps {
  access: AccessPlugin
  drilling: Drilling
  marks: Marks
  now: () => number
  /** Name of the lowest plan that has a feature. */
  tierRequired(feature: Feature): string
}

/** After every day. */
const endOfDays = '9999-12-31'

/** The days of `start_date` and `end_date`; the end is exclusive. */
export function daysOf(query: { start_date?: string; end_date?: string }): {
  fromOn: string
  toOn: string
} {
  const { from, to } = rangeOf(query)
  return {
    fromOn: from === Number.MIN_SAFE_INTEGER ? '' : isoDay(from),
    toOn: to === Number.MAX_SAFE_INTEGER ? endOfDays : dayAfter(isoDay(to - 1), 1),
  }
}

export const basinQuery = {
  basin: t.Optional(
    t.String({
      description: 'One basin: `permian`, `Eagle Ford`, `dj-niobrara` ...',
      examples: ['permian'],
    }),
  ),
}
const stateQuery = {
  state: t.Optional(
    t.String({ description: 'One state by its two letters or its name.', examples: ['TX'] }),
  ),
}
export const regionQuery = { ...basinQuery, ...stateQuery, ...rangeQuery }

/** The key of a basin; unknown ones are 404. */
export function basinIn(text: string): string {
  const basin = basinOf(text)
  if (basin) return basin.key
  throw new Problem(
    'NOT_FOUND',
    `Basin ${text.slice(0, 100)} was not found; the basins are ${basinKeys.join(', ')}.`,
  )
}

export function stateIn(text: string): DrillingState {
  const state = stateOf(text)
  if (state) return state
  throw notFound(`State ${text.slice(0, 100)}`)
}

/**
 * What a query leaves of the basins; undefined when it asks for none in particular. A state stands
 * for the basins that reach into it.
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

/** Says in the headers that rows are invented. */
export function markSources(
  set: Answering,
  marks: Marks,
  rows: readonly { source: string }[],
): void {
  markFixtures(
    set,
    marks,
    rows.map(({ source }) => ({ series: { fixture: source === fixtureSource } })),
  )
}

/** The value, or the refusal of a family without data. */
export function requireData<T>(value: T | undefined, subject: string, dataset: string): T {
  if (value !== undefined) return value
  throw new Problem(
    'DATA_NOT_AVAILABLE',
    `There are no ${subject}: \`wellhead import --dataset ${dataset} FILE\` brings them.`,
  )
}

export const Day = t.String({ format: 'date', examples: ['2026-11-20'] })
export const Stamp = t.String({
  format: 'date-time',
  description: 'When this service recorded it.',
  examples: ['2026-11-20T17:00:00Z'],
})
/** A value that is null where it is not known. */
export const orNull = <T extends TSchema>(shape: T, description?: string) =>
  t.Union([shape, t.Null()], description === undefined ? {} : { description })

/** Of a family at its newest count. */
export const Age = {
  as_of: t.String({
    format: 'date',
    description: 'Day of the newest count.',
    examples: ['2026-11-20'],
  }),
  data_age_days: integer({ description: 'Days since.', examples: [1] }),
  stale: t.Boolean({
    description: 'The newest count is older than three periods of its calendar.',
  }),
}

export function ageOf(calendar: DrillingCalendar, newestOn: string, now: number) {
  const { ageDays, stale } = countAge(calendar, newestOn, now)
  return { as_of: newestOn, data_age_days: ageDays, stale }
}
