import type { Static, TObject, TProperties } from '@sinclair/typebox'

import { t } from '../../../http/answer/schema.ts'
import { serialised } from '../../../http/answer/serialised.ts'
import { integerOf, wordOf } from '../../../http/input/query.ts'
import { codeParameter, integerParameter } from '../../../http/input/typed.ts'
import { markFixtures } from '../../../http/operations/answer.ts'
import { type Call, type Operation, operation } from '../../../http/operations/operation.ts'
import { missingParameter, Problem } from '../../../http/problem/problem.ts'
import { CodeProblem, NestedProblem } from '../../../http/problem/shape.ts'
import { dayMs } from '../../../lib/time/instant.ts'
import type { Feature } from '../../../plans/tiers.ts'
import type { Resolved } from '../../catalogue/service/catalogue.ts'
import { calendarDays, dayAt } from '../../delivery/math/days.ts'
import type { Close, Measured } from '../../prices/math/window.ts'
import { openEndOf } from '../../prices/operations/window-query.ts'
import { type BarDays, barDaysOf, zoneQuery } from '../../prices/operations/zone-query.ts'

type Request = Pick<Call<never, never, unknown>, 'at' | 'request' | 'reply' | 'caller'> & {
  query: Readonly<Record<string, string | undefined>>
}

/** The request of an analysis, with what every analysis reads of it and how all answer. */
export type AnalysisCall = Request & ReturnType<typeof analysisParts>

function analysisParts(request: Request) {
  const { query } = request
  return {
    /** The series that required parameters name, in their order. */
    series: (parameters: Readonly<Record<string, string | undefined>>) =>
      seriesOf(request, parameters),
    period: (fallback: number, least = 2) =>
      integerOf('period', query.period, fallback, least, periodMax),
    /** One of a few words, in any letter case. */
    word: <T extends string>(parameter: string, words: readonly T[], fallback: T) =>
      wordOf(parameter, query[parameter], fallback, words),
    /**
     * The body as JSON text, marked where fixture data is part of it; the shape is there for the
     * compiler to hold the fields against.
     */
    answer: <T extends TObject>(matches: readonly Resolved[], shape: T, fields: Static<T>) =>
      answered(request, matches, shape, fields),
  }
}

/** An analysis of closes; its body is one of the shapes, with its fields at two places. */
export const analysis = <Query extends TProperties>({
  shapes,
  feature = 'analytics',
  path,
  ...definition
}: {
  path: string
  operationId: string
  summary: string
  description: string
  feature?: Feature
  query: Query
  shapes: readonly TObject[]
  handle(call: AnalysisCall): string
}): Operation => {
  const bodies = shapes.map(mirrored)
  const { query, handle } = definition
  return operation(`GET ${path}`, {
    ...definition,
    ...('period' in query && { query: { ...query, ...zoneQuery } }),
    handle(request: Request) {
      const inDays = 'period' in query ? inZone(request) : request
      return handle({ ...inDays, ...analysisParts(inDays) })
    },
    tags: ['Analytics'],
    access: { feature, meter: true, heavy: true },
    view: 'as_of, end_date',
    answers: {
      200: serialised(bodies.length === 1 ? bodies[0]! : t.Union(bodies)),
      ...refusals,
    },
  })
}

/** The call with the closes of the days that it names; those of UTC by default. */
function inZone(call: Request): Request {
  const barDays = barDaysOf(call.query)
  return barDays ? { ...call, at: { ...call.at, closes: cutCloses(call.at, barDays) } } : call
}

/** Longer than the longest window and all that is measured before it. */
const closesReach = 12 * 366 * dayMs

/** The last value of each day of a zone or market, read for one request. */
function cutCloses({ closes, catalogue, history, now }: AnalysisCall['at'], barDays: BarDays) {
  const closesOf = (seriesId: number): Close[] => {
    const series = catalogue.byId(seriesId)
    const range = { from: now() - closesReach, to: openEndOf([series], now()).to }
    const days = barDays.of(series) ?? calendarDays('UTC')
    const { rows } = history.page({
      ...range,
      seriesIds: [seriesId],
      interval: 'day',
      limit: Number.MAX_SAFE_INTEGER,
      offset: 0,
      cutOf: () => ({ ...range, days }),
    })
    return rows.map(({ bar, value }) => ({ day: dayAt(days, bar!.startsAt).date, value })).reverse()
  }
  return {
    ...closes,
    of: closesOf,
    derived: <T>(
      _name: string,
      ids: readonly number[],
      make: (all: (readonly Close[])[]) => T,
    ): T => make(ids.map(closesOf)),
  }
}

/** The note about daily closes in the description of every analysis. */
const closesNote =
  'Daily closes are the last current observation of each UTC calendar day. Days without observations and quarantined days are absent and never filled. '

const windowNote =
  'The window ends at the date of the newest close and holds the dates d with last - period < d <= last, in calendar days; `data_points` is the number of closes. Fewer than 5: 404 `DATA_NOT_AVAILABLE` with `have` and `need`. '

export const fields = {
  date: t.String({ format: 'date', examples: ['2026-11-20'] }),
  code: t.String({ examples: ['WTI_USD'] }),
  period: t.integer('Requested calendar days.', 30),
  observations: t.integer(
    'Closes a year at their spacing, by which volatility is scaled: 252 where the median gap between closes is at most 4 days, 52 up to 10, 12 up to 45, 4 up to 120, otherwise 1.',
    252,
  ),
}

/** How many closes a year has, for descriptions. */
const spacingNote =
  '`observations_per_year` A follows the spacing of the closes in the window (median gap in days): 252 up to 4 days, 52 up to 10, 12 up to 45, 4 up to 120, otherwise 1. '

/** Notes in descriptions. */
export const notes = { closes: closesNote, window: windowNote, spacing: spacingNote }

const tierFields = {
  tier: t.string("The caller's plan.", 'enterprise'),
  tier_name: t.String({ examples: ['Enterprise'] }),
}

/** The same fields under `data` and at the top of the body: clients read either. */
const mirrored = <T extends TObject>(shape: T) =>
  t.Object(
    {
      status: t.Literal('success'),
      data: t.Object({ ...tierFields, ...shape.properties }),
      ...tierFields,
      ...shape.properties,
    },
    shape.title === undefined ? {} : { title: shape.title },
  )

function answered<T extends TObject>(
  { at, reply, caller }: Request,
  matches: readonly Resolved[],
  _shape: T,
  fields: Static<T>,
): string {
  const { planId, tierName } = caller.entitled
  const text = JSON.stringify({ tier: planId, tier_name: tierName, ...fields })
  markFixtures(reply, at.marks, matches)
  reply.headers['content-type'] = 'application/json; charset=utf-8'
  return `{"status":"success","data":${text},${text.slice(1)}`
}

export const refusals = {
  400: CodeProblem,
  404: NestedProblem,
}

const codeParameterOf = (role: string, example = 'WTI_USD') =>
  codeParameter(`${role}: a code or an alias, in any letter case.`, example, {
    ...(role === 'Required' && { required: true as const }),
    ...(role.startsWith('Required for') && { sampled: true as const }),
  })

const periodParameter = (fallback: number, least = 2) =>
  integerParameter(
    `Window in calendar days, ${least} to ${periodMax}; default: ${fallback}.`,
    fallback,
    {
      default: fallback,
      minimum: least,
      maximum: periodMax,
    },
  )

export const parameters = { code: codeParameterOf, period: periodParameter }

const periodMax = 1825

function seriesOf(
  { at: { codes }, request }: Request,
  parameters: Readonly<Record<string, string | undefined>>,
): Resolved[] {
  const names = Object.entries(parameters).map(([parameter, text]) => {
    if (text === undefined || text.trim() === '')
      throw missingParameter(parameter, 'a commodity code, such as WTI_USD.')
    return text
  })
  // Together first, so that a refusal names every unknown code; then one by one, because two names
  // of one code are answered once.
  codes.read(names, request)
  return names.flatMap(name => codes.read([name], request))
}

/** The number, or 404 with how many closes there are and how many it takes. */
export function requireEnough<T>(
  result: Measured<T>,
  subject: string,
  extra: Readonly<Record<string, unknown>> = {},
): T {
  if (result.enough) return result.value
  const { have, need, reason } = result
  throw new Problem(
    'DATA_NOT_AVAILABLE',
    `${subject}: ${reason ?? `too few daily closes, ${have} of the ${need} needed.`}`,
    { ...extra, have, need },
  )
}
