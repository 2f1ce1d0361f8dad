import { t } from '../../../http/answer/schema.ts'
import { momentOf } from '../../../http/input/query.ts'
import { codeParameter, momentParameter } from '../../../http/input/typed.ts'
import { envelope, markFixtures, success } from '../../../http/operations/answer.ts'
import { operation } from '../../../http/operations/operation.ts'
import { missingParameter, Problem } from '../../../http/problem/problem.ts'
import { CodeProblem, NestedProblem } from '../../../http/problem/shape.ts'
import { isoDay, isoInstant, isoOrNull } from '../../../lib/time/instant.ts'
import { sourceOf } from '../../catalogue/math/catalogue.ts'
import { priceFields, speaksForDays } from './row.ts'

/** The most points of a day in a response; an intraday day has 288. */
const pointsMax = 1000

const Vintages = envelope(
  t.object('PriceVintages', {
    ...priceFields('code', 'name', 'currency', 'unit'),
    source: t.string('Source of the newest value.', 'EIA'),
    coverage_since: t.instant('Start of the revision history.'),
    count: t.integer('Points.', 1),
    points: t.objects('Oldest first.', {
      observed_at: t.String({ format: 'date-time' }),
      observed_on: t.Optional(t.String({ format: 'date' })),
      vintages: t.objects('In order of recording.', {
        value: t.number('With every stored digit, in `unit`.', 71.23),
        recorded_at: t.instant('When the value was recorded.'),
        replaced_at: t.instantOrNull('When it was replaced; null if it is current.'),
        is_current: t.Boolean(),
        source: t.string('Source of the value.', 'EIA'),
        batch: t.orNull(
          t.integer({ examples: [17] }),
          'Number of its batch: a file, a push or a feed run; null if not stored.',
        ),
      }),
    }),
  }),
)

export type Vintages = (typeof Vintages)['static']['data']

/** Every value that a point of a series ever had. */
export const vintageOperations = [
  operation('GET /v1/prices/vintages', {
    operationId: 'getPriceVintages',
    summary: 'List all revisions of a price',
    description: `Returns all revisions of a price: each value with the time it became current, the time it was replaced and its source. A withdrawn point has no current value. At most ${pointsMax} points.`,
    access: { meter: true, queryWorker: true as const },
    query: {
      by_code: codeParameter('One code or alias.', 'WTI_USD', { required: true }),
      observed_at: momentParameter(
        'The `created_at` of a point, or a UTC day for all of its points.',
        '2026-11-13',
        { required: true },
      ),
    },
    answers: {
      200: Vintages,
      400: CodeProblem,
      404: NestedProblem,
    },
    handle: ({ at, query, request, reply, caller }) => {
      const { codes, coverage, marks, meter, now, observations, sourceNameOf } = at
      if (!query.by_code) throw missingParameter('by_code', 'one code or alias.')
      const from = momentOf('observed_at', query.observed_at, 'start')
      if (from === undefined)
        throw missingParameter(
          'observed_at',
          'the time of a point, or a day for all of its points.',
        )
      const to = momentOf('observed_at', query.observed_at, 'end')!
      const commodity = codes.read([query.by_code], request, 1)[0]!
      const { series, code } = commodity
      const times = observations.pointTimes(series.id, from, to, pointsMax)
      if (times.length === 0)
        throw new Problem(
          'DATA_NOT_AVAILABLE',
          `${code} has no observation at ${query.observed_at}.`,
          { commodity_code: code },
        )
      markFixtures(reply, marks, [commodity])
      meter.noteRequested(caller.key, [series.id])
      return success({
        code,
        name: series.name,
        currency: series.currency,
        unit: series.unit,
        source: sourceOf(series).name,
        coverage_since: isoInstant(coverage.since(series.id, now())),
        count: times.length,
        points: times.map(observedAt => ({
          observed_at: isoInstant(observedAt),
          ...(speaksForDays(series) && { observed_on: isoDay(observedAt) }),
          vintages: observations.vintages(series.id, observedAt).map(vintage => ({
            value: vintage.value,
            recorded_at: isoInstant(vintage.recordedAt),
            replaced_at: isoOrNull(vintage.replacedAt),
            is_current: vintage.replacedAt === undefined,
            source: sourceNameOf(series.id, vintage.sourceId),
            batch: vintage.batchId || null,
          })),
        })),
      })
    },
  }),
]
