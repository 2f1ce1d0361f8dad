import { jsonType } from '../../../../http/answer/complete.ts'
import { answerRow } from '../../../../http/answer/row.ts'
import { t } from '../../../../http/answer/schema.ts'
import { serialised } from '../../../../http/answer/serialised.ts'
import { body, documentedBody } from '../../../../http/input/body-schema.ts'
import { parsed } from '../../../../http/input/typed.ts'
import { envelope, envelopeOf, success } from '../../../../http/operations/answer.ts'
import { deliveryShape } from '../../../../http/operations/commodities/row.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { operation } from '../../../../http/operations/operation.ts'
import { nameNotFound } from '../../../../http/problem/problem.ts'
import { ValidationProblem } from '../../../../http/problem/shape.ts'
import { snakeCase } from '../../../../lib/text/name-case.ts'
import { nearestWord } from '../../../../lib/text/wrong-value.ts'
import { isoOrNull, parseInstant } from '../../../../lib/time/instant.ts'
import { nextReleaseAt } from '../../../calendars/math/releases.ts'
import { cadences } from '../../../catalogue/math/catalogue.ts'
import {
  boundsOf,
  marketNames,
  releaseHolidays,
  type SeriesTerms,
} from '../../../catalogue/math/terms.ts'
import type { NewSeries } from '../../../catalogue/service/series-faults.ts'
import type { Series } from '../../../catalogue/store/series.ts'
import { deliveryRow } from '../../../delivery/math/terms.ts'
import { alignments } from '../../../formulas/math/syntax.ts'
import { unitNames } from '../../../units/math/units.ts'
import {
  changedSeriesFields,
  changedTerms,
  newSeriesFields,
  noteFaults,
  readNewSeries,
  refuseTerms,
} from './series-form.ts'

const operator = { operator: 'data' } as const

export const SeriesRow = t.object('OperatorSeries', {
  id: t.integer(),
  code: t.String({ examples: ['WTI_USD'] }),
  name: t.String(),
  category: t.String({ examples: ['crude_oil'] }),
  currency: t.orNull(t.String()),
  unit: t.String({ examples: ['barrel'] }),
  decimals: t.integer('Places that prices are rounded to.'),
  cadence: t.oneOf(
    cadences,
    "Release frequency; for a series filled by a feed, that feed's frequency.",
  ),
  source: t.String(),
  description: t.String(),
  level: t.number('A typical value; 0 if a custom series has none.'),
  min: t.number('Values below this are rejected.'),
  max: t.number('Values above this are rejected.'),
  calendar: t.orNull(t.oneOf(marketNames), 'Null: by category and code.'),
  release_lag_days: t.integer('Days between the date of a value and its release.'),
  release_days: t.Array(t.String({ examples: ['wed'] }), {
    description: 'Release days of the week or month, if set.',
  }),
  release_time: t.stringOrNull('In `time_zone`.', '10:30'),
  release_holiday: t.orNull(
    t.oneOf(releaseHolidays, 'Handling of release days that are closed in the calendar.'),
  ),
  next_release_at: t.orNull(
    t.String({ format: 'date-time' }),
    'Next release by these days. Null if none are set or the series is retired.',
  ),
  time_zone: t.orNull(t.String({ examples: ['Europe/London'] })),
  value_time: t.stringOrNull('Time of day for values that come with a date only.', '16:30'),
  license_class: t.orNull(t.oneOf(['open', 'view'])),
  attribution: t.orNull(t.String()),
  aliases: t.Array(t.String()),
  own: t.boolean('Whether it is a custom series; otherwise it is shipped.'),
  guards: t.Record(t.String(), t.String(), {
    description: 'Actions of the anomaly checks, if set.',
  }),
  visible_to: t.orNull(t.Array(t.String()), 'Ids of the accounts that can see it. Null: everyone.'),
  active: t.boolean('False: it is not served.'),
  changed: t.Array(t.String({ examples: ['cadence'] }), {
    description: 'Settings that differ from the shipped ones; for a custom series all settings.',
  }),
  has_data: t.Boolean(),
  formula: t.Optional(t.string('Formula that computes the values.', 'BRENT_CRUDE_USD - WTI_USD')),
  align: t.Optional(t.oneOf(alignments)),
  align_limit: t.Optional(t.stringOrNull('Null: by the cadence of a leg.', 'P7D')),
  ...deliveryShape,
})
export type SeriesRow = (typeof SeriesRow)['static']
const One = envelopeOf({ series: SeriesRow })
const params = { code: t.string('Code or alias.', 'WTI_USD') }
const ChangeBody = body(changedSeriesFields, {
  example: { name: 'WTI crude oil, spot', decimals: 3 },
})
const NewBody = documentedBody(
  t.Union([t.Object(newSeriesFields), t.Object({ series: t.Array(t.Object(newSeriesFields)) })], {
    examples: [
      {
        code: 'DESK_POWER_EUR',
        name: 'German power, day ahead',
        category: 'power',
        unit: 'mwh',
        currency: 'EUR',
        time: 'delivery',
        resolution: 'PT15M',
        zone: 'Europe/Berlin',
        publishes_at: '12:45',
      },
    ],
  }),
  false,
)

/** A row of the list as JSON, and what of its series may become another without a change of its terms. */
interface RowText extends Pick<Series, 'cadence' | 'releaseLagDays' | 'publisher'> {
  text: string
  hasData: boolean
  /** Up to its next release, Unix ms. */
  from: number
  until: number
}

/** Whether a row's text is still valid; a feed that fills the series may change these fields. */
const isStill = (cached: RowText, series: Series, hasData: boolean): boolean =>
  cached.hasData === hasData &&
  cached.cadence === series.cadence &&
  cached.releaseLagDays === series.releaseLagDays &&
  cached.publisher === series.publisher

/** Describes series as the operator sees them. */
function seriesRows({ catalogue, now }: Context) {
  const hasData = (series: Series) => catalogue.extent(series) !== undefined
  const rowOf = (series: Series): SeriesRow => {
    const { terms = {} } = series
    const { min, max } = boundsOf(series)
    const releaseAt = series.unavailableReason === null ? nextReleaseAt(series, now()) : undefined
    return answerRow(SeriesRow, series, {
      min,
      max,
      calendar: series.calendar ?? null,
      release_lag_days: series.releaseLagDays ?? 0,
      release_days: terms.releaseDays ?? [],
      release_time: terms.releaseTime ?? null,
      release_holiday: series.releases?.onHoliday ?? null,
      next_release_at: isoOrNull(releaseAt),
      time_zone: terms.timeZone ?? null,
      value_time: terms.valueTime ?? null,
      license_class: series.publisher?.licenseClass ?? null,
      attribution: series.publisher?.text ?? null,
      guards: terms.guards ?? {},
      visible_to: terms.visibleTo ?? null,
      own: series.own === true,
      active: series.unavailableReason === null,
      changed: Object.keys(terms).map(snakeCase),
      has_data: hasData(series),
      ...(terms.formula !== undefined && {
        formula: terms.formula,
        align: terms.align ?? 'last',
        align_limit: terms.alignLimit ?? null,
      }),
      ...(series.delivery && deliveryRow(series.delivery)),
    })
  }
  return { rowOf, hasData }
}

/** The rows of series as JSON, each made again only when it has changed. */
function seriesTexts({ now }: Context, { rowOf, hasData }: ReturnType<typeof seriesRows>) {
  const texts = new WeakMap<Series, RowText>()
  return (series: Series): string => {
    const at = now()
    const cached = texts.get(series)
    if (
      cached &&
      cached.from <= at &&
      at < cached.until &&
      isStill(cached, series, hasData(series))
    )
      return cached.text
    const row = rowOf(series)
    const { cadence, releaseLagDays, publisher } = series
    const text = JSON.stringify(row)
    const until = parseInstant(row.next_release_at ?? '') ?? Number.POSITIVE_INFINITY
    texts.set(series, {
      text,
      from: at,
      until,
      hasData: row.has_data,
      cadence,
      releaseLagDays,
      publisher,
    })
    return text
  }
}

/** Units and categories may be new words, so a misspelled one is accepted, with a warning. */
function wordWarnings(listed: readonly Series[], entries: readonly NewSeries[]) {
  const words = {
    category: [...new Set(listed.map(series => series.category))],
    unit: [...new Set([...unitNames, ...listed.map(series => series.unit)])],
  }
  return entries.flatMap(({ code, terms }) =>
    (['category', 'unit'] as const).flatMap(field => {
      const word = terms[field]
      if (word === undefined || words[field].includes(word)) return []
      const near = nearestWord(word, words[field])
      if (near === undefined && field === 'category') return []
      const message =
        near === undefined
          ? `${field} ${word} is new: prices in it cannot be converted.`
          : `${field} ${word} is new. Did you mean ${near}?`
      return [{ code, field, message }]
    }),
  )
}

/** The codes with settings: the operator's own, and shipped ones that the operator has changed. */
export function seriesAdminOperations(deps: Context) {
  const { catalogue, seriesChanges } = deps
  const rows = seriesRows(deps)
  const { rowOf } = rows
  const textOf = seriesTexts(deps, rows)
  const seriesOf = (code: string): Series => {
    const series = catalogue.named(code)
    if (series && series.contractOf === null) return series
    const [nearest] = catalogue.suggest(code.slice(0, 100))
    throw nameNotFound('series', code, nearest && [nearest.code])
  }
  const put = (series: Series, terms: SeriesTerms, input: unknown = {}) => {
    refuseTerms(input, seriesChanges.faults(series, terms))
    return success({ series: rowOf(seriesChanges.put(series, terms)) })
  }

  return [
    operation('GET /admin/v1/series', {
      operationId: 'listSeries',
      summary: 'List series',
      description:
        'Returns every series of the catalogue by code, with the bounds of accepted values.',
      access: { ...operator, queryWorker: true },
      query: {
        own: parsed.flag('`true`: only custom series; `false`: only shipped ones.', true),
        changed: parsed.flag('`true`: only series with settings of the operator.', true),
      },
      answers: serialised(envelope(t.Array(SeriesRow))),
      handle: ({ query, reply }) => {
        const { own: isCustom, changed } = query
        const listed = catalogue
          .list()
          .filter(series => isCustom === undefined || (series.own === true) === isCustom)
          .filter(series => changed === undefined || (series.terms !== undefined) === changed)
        reply.headers['content-type'] = jsonType
        return `{"status":"success","data":[${listed.map(textOf).join(',')}]}`
      },
    }),
    operation('POST /admin/v1/series', {
      operationId: 'createSeries',
      summary: 'Create custom series',
      description:
        'Creates one series, or those of the list `series`: all or none. A formula may use series before it in the list. They are served, watched, alerted on and exported like shipped series as soon as they have values.',
      access: operator,
      idempotent: true,
      body: NewBody,
      answers: {
        201: envelopeOf({
          series: t.Array(SeriesRow),
          warnings: t.Optional(
            t.Array(t.Object({ code: t.String(), field: t.String(), message: t.String() }), {
              description: 'Words that may be typing errors. The series are created with them.',
            }),
          ),
        }),
      },
      handle: ({ body: input }) => {
        const read: NewSeries[] = []
        const entries = readNewSeries(input, (series, form) => {
          noteFaults(form, seriesChanges.newFaults(series.code, series.terms, read))
          read.push(series)
        })
        const warnings = wordWarnings(catalogue.list(), entries)
        const added = seriesChanges.add(entries).map(rowOf)
        return success({ series: added, ...(warnings.length > 0 && { warnings }) })
      },
    }),
    operation('PATCH /admin/v1/series/:code', {
      operationId: 'updateSeries',
      summary: 'Update a series',
      description:
        'Updates a custom series, or overrides settings of a shipped one, such as a cadence of `daily` for a code that is updated once a day. Other fields keep their values; null resets a setting; `reset` resets all earlier settings. Stored values do not change.',
      access: operator,
      params,
      body: ChangeBody.schema,
      answers: One,
      current: ({ code }) => rowOf(seriesOf(code)),
      handle: ({ body: input, params: { code } }) => {
        const series = seriesOf(code)
        return put(series, changedTerms(series.terms ?? {}, ChangeBody.read(input)), input)
      },
    }),
    operation('DELETE /admin/v1/series/:code', {
      operationId: 'retireSeries',
      summary: 'Retire a series',
      description:
        'Marks a series as discontinued: it has no current price and accepts no values; its history is still served. Nothing is deleted; `{"active": true}` reactivates it.',
      access: operator,
      params,
      answers: { 200: One, 422: ValidationProblem },
      handle: ({ params: { code } }) => {
        const series = seriesOf(code)
        return put(series, { ...series.terms, active: false })
      },
    }),
  ]
}
