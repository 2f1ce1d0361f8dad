import type { Static, TObject } from '@sinclair/typebox'

import { t } from '../../../http/answer/schema.ts'
import { accountIdOf } from '../../../http/gate/request-context.ts'
import { idempotencyHeader } from '../../../http/idempotency.ts'
import {
  body,
  changeOf,
  choice,
  field,
  moment,
  noBody,
  nullable,
  optional,
  text,
  type Values,
} from '../../../http/input/body-schema.ts'
import type { Form } from '../../../http/input/form.ts'
import { parseEdge } from '../../../http/input/query.ts'
import { envelopeOf, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { atPoint } from '../../../http/operations/point-in-time.ts'
import { notFound, Problem, stateForbids } from '../../../http/problem/problem.ts'
import { planNeeded } from '../../../http/problem/refusals.ts'
import { isObject } from '../../../lib/text/json.ts'
import { dayMs, isoInstant, isoOrNull, parseDay } from '../../../lib/time/instant.ts'
import type { Entitlements } from '../../../plans/plans.ts'
import { cadenceRefused, type SeriesTerms } from '../../catalogue/math/terms.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { refuseTerms, termFields } from '../../operator/operations/data/series-form.ts'
import { roundTo } from '../../prices/math/format.ts'
import { FormulaLeg, formulaRow, MissingLeg, missingLegs } from '../../prices/operations/row.ts'
import { formulaStatuses, noValueReasons, ownStatuses } from '../math/status.ts'
import { alignments } from '../math/syntax.ts'
import { filled, type Template, templates } from '../math/templates.ts'

const Formula = t.object('Formula', {
  code: t.String({ examples: ['MY_CRACK'] }),
  name: t.String({ examples: ['Our crack'] }),
  formula: t.string('Formula that computes the values.', 'BRENT_CRUDE_USD - WTI_USD'),
  unit: t.string('Of the values.', 'barrel'),
  currency: t.stringOrNull('Null if the values are not prices.', 'USD'),
  decimals: t.integer('Places that values are rounded to.', 2),
  align: t.oneOf(alignments),
  align_limit: t.stringOrNull('Null: by the cadence of a leg.', 'P7D'),
  legs: t.Array(
    t.Object({
      code: t.String({ examples: ['WTI_USD'] }),
      unit: t.String({ examples: ['barrel'] }),
      currency: t.orNull(t.String({ examples: ['USD'] })),
    }),
    { description: 'Codes in the formula; empty if the account cannot see one of them.' },
  ),
  value: t.numberOrNull('The newest, in `unit` and `currency`.', 3.86),
  status: t.oneOf(ownStatuses, 'The worst status of its legs, in this order.'),
  missing_legs: t.Array(
    t.Object({ code: t.orNull(t.String({ examples: ['WTI_USD'] })), reason: t.oneOf(ownStatuses) }),
    { description: 'Every leg that is not `ok`; a hidden one without its code.' },
  ),
  created_at: t.String({ format: 'date-time' }),
  updated_at: t.String({ format: 'date-time' }),
})
export type FormulaRow = (typeof Formula)['static']
const One = envelopeOf({ formula: Formula })

const shared = {
  name: termFields.name,
  decimals: optional(termFields.decimals),
  align: optional(termFields.align),
  align_limit: optional(nullable(termFields.align_limit)),
}
const newFields = {
  code: text(50, {
    description: 'MY_ and capital letters, digits and _; unique within the account.',
    examples: ['MY_CRACK'],
  }),
  ...shared,
  formula: optional(termFields.formula),
  unit: optional(termFields.unit),
  currency: optional(termFields.currency),
  template: optional(
    choice(
      templates.map(({ id }) => id),
      { description: 'Id of a template, instead of `formula`, `unit` and `currency`.' },
    ),
  ),
  parameters: optional(
    field<Record<string, string>>(
      t.Record(t.String(), t.String(), {
        description: 'Parameters of the template that are not its defaults.',
        examples: [{ crude: 'WTI_USD' }],
      }),
      (form, name) => {
        const given = form.value(name)
        if (!isObject(given)) return form.fault(name, 'must be an object of texts.')
        const wrong = Object.keys(given).find(key => typeof given[key] !== 'string')
        if (wrong === undefined) return given as Record<string, string>
        return form.part(name).fault(wrong, 'must be text.')
      },
    ),
  ),
}
const NewBody = body(newFields, {
  example: {
    code: 'MY_CRACK',
    name: 'Our crack',
    formula: 'BRENT_CRUDE_USD - WTI_USD',
    unit: 'barrel',
    currency: 'USD',
  },
})
const valuesMax = 10_000
const previewDays = 30
const edgeOf = (edge: 'start' | 'end', description: string) =>
  optional(
    field(t.String({ format: 'date', description, examples: ['2026-11-01'] }), (form, name) => {
      const written = form.text(name, 40)
      if (written === undefined) return undefined
      const at = parseEdge(written, edge)
      if (at !== undefined) return at
      return form.fault(name, 'must be a date such as 2027-01-31, or a time with a zone.')
    }),
  )
const previewFields = {
  ...newFields,
  code: optional(newFields.code),
  name: optional(newFields.name),
  start_date: edgeOf('start', 'First day or time, inclusive. Default: 30 days before the end.'),
  end_date: edgeOf('end', 'Last day or time, inclusive. Default: now, or `as_of`.'),
  as_of: optional(moment({ description: 'Uses only values recorded at or before this time.' })),
}
const PreviewBody = body(previewFields, {
  example: { formula: 'BRENT_CRUDE_USD - WTI_USD', unit: 'barrel', currency: 'USD' },
})
const Preview = {
  values: t.Array(
    t.Object({
      observed_at: t.String({ format: 'date-time' }),
      value: t.number('Rounded to `decimals`.', 3.86),
    }),
    { description: `Oldest first; the newest ${valuesMax.toLocaleString('en')} of the range.` },
  ),
  formula: t.string('With the parameters of a template inserted.', 'BRENT_CRUDE_USD - WTI_USD'),
  unit: t.string(
    'Of the values. Empty if none is given and the formula is a plain number.',
    'barrel',
  ),
  currency: t.stringOrNull('Null if the values are not prices.', 'USD'),
  status: t.oneOf(formulaStatuses, 'The worst status of its legs, in this order.'),
  missing_legs: t.Array(MissingLeg, { description: 'Every leg that is not `ok`.' }),
  no_value_reason: t.orNull(
    t.oneOf(noValueReasons),
    'Why `values` is empty: `no_times`, the legs have no values in the range at times that the alignment uses; `division_by_zero`; `no_value`, at each time another part has none, such as a leg whose value is too old. Null with values.',
  ),
  legs: t.Array(FormulaLeg, { description: 'The codes that it names.' }),
}
export type FormulaPreview = Static<TObject<typeof Preview>>

const ChangeBody = body(
  changeOf({
    ...shared,
    formula: termFields.formula,
    unit: termFields.unit,
    currency: termFields.currency,
  }),
  { example: { name: 'Crack of our desk', decimals: 3 } },
)

/** The given formula, or that of a template with parameters. */
function termsOf(values: Partial<Values<typeof newFields>>): SeriesTerms {
  const template = templates.find(({ id }) => id === values.template)
  return {
    name: values.name,
    formula: template ? filled(template, values.parameters) : values.formula,
    unit: template?.unit ?? values.unit,
    currency: template ? template.currency : values.currency,
    decimals: values.decimals,
    source: 'formula',
    align: values.align,
    alignLimit: values.align_limit ?? undefined,
  }
}

/** A fault in the text of a template names a column of it, so its value is that text. */
const withFormula = (input: unknown, { formula }: SeriesTerms) => ({
  ...(input as object),
  formula,
})

const refuseCadence = (form: Form): void => {
  if (form.has('cadence')) form.fault('cadence', cadenceRefused)
}

function requireFormula(
  form: Form,
  values: Partial<Values<typeof newFields>>,
  required: readonly string[] = ['formula', 'unit', 'currency'],
): void {
  refuseCadence(form)
  const names = ['formula', 'unit', 'currency'] as const
  if (!form.has('template')) {
    for (const name of required)
      if (!form.has(name)) form.fault(name, 'is required without a template.')
    if (form.has('parameters')) form.fault('parameters', 'must be absent without a template.')
    return
  }
  for (const name of names) if (form.has(name)) form.fault(name, 'must be absent with a template.')
  const template = templates.find(({ id }) => id === values.template)
  if (template) checkParameters(form, template, values.parameters)
}

const isWritten = {
  number: (text: string) => /^-?\d+(\.\d+)?$/.test(text),
  date: (text: string) => parseDay(text) !== undefined,
} as const

/** Codes and bands are checked as parts of the formula. */
function checkParameters(
  form: Form,
  { parameters }: Template,
  given: Readonly<Record<string, string>> = {},
): void {
  const names = parameters.map(({ name }) => name)
  for (const [key, text] of Object.entries(given)) {
    const parameter = parameters.find(({ name }) => name === key)
    if (!parameter) form.wrongWord('parameters', names, key)
    else if (
      (parameter.type === 'number' || parameter.type === 'date') &&
      !isWritten[parameter.type](text)
    )
      form
        .part('parameters')
        .fault(key, `must be a ${parameter.type} such as ${parameter.default}.`)
  }
}

const reading = { meter: true } as const
const writing = { meter: true, header: true } as const
const params = { code: t.string('Code of the formula.', 'MY_CRACK') }

/** Series by formula of the caller's account. */
export function ownFormulaOperations(deps: Context) {
  const { ownFormulas, catalogue, latestPrices, idempotency, plans, links } = deps
  const rowOf = (series: Series): FormulaRow => {
    const { terms = {} } = series
    const block = catalogue.blockOf(series.code, terms.owner)
    const [quote, quoted] = block ? [] : [latestPrices.quote(series), latestPrices.formula(series)]
    const value = quote && roundTo(quote.observation.value, series.decimals)
    const incomplete = value === undefined && quoted?.status === 'ok' ? 'incomplete' : undefined
    return {
      code: series.code,
      name: series.name,
      formula: terms.formula ?? '',
      unit: series.unit,
      currency: series.currency,
      decimals: series.decimals,
      align: terms.align ?? 'last',
      align_limit: terms.alignLimit ?? null,
      legs: (quoted?.legs ?? []).map(leg => ({
        code: leg.series.code,
        unit: leg.series.unit,
        currency: leg.series.currency,
      })),
      value: value ?? null,
      status: block ?? incomplete ?? quoted?.status ?? 'incomplete',
      missing_legs:
        block === 'not_visible' ? [{ code: null, reason: block }] : missingLegs(quoted?.legs ?? []),
      created_at: isoInstant(series.changedAt?.created ?? 0),
      updated_at: isoInstant(series.changedAt?.updated ?? 0),
    }
  }
  const ownOf = (accountId: string, code: string): Series => {
    const series = ownFormulas.find(accountId, code)
    if (!series) throw notFound('formula', code)
    return series
  }
  const checkPlan = (entitled: Entitlements, request: Request) => {
    if (entitled.formulaSeries !== 0) return
    const plan = plans.tiers.find(tier => tier.planId === tier.id && tier.formulaSeries !== 0)
    const ways = links(request)
    throw new Problem(
      'INSUFFICIENT_PLAN',
      `Formulas are not included in the ${entitled.planName} plan. To use them, upgrade to ${plan?.name ?? 'another plan'}: ${ways.upgradeUrl}`,
      planNeeded(ways, entitled, 'formula_series', plan),
    )
  }

  return [
    operation('GET /v1/formulas', {
      operationId: 'listFormulas',
      summary: 'List formulas',
      description:
        "Returns the account's series by formula, oldest first, and the number that the plan allows. Their codes work wherever codes do, but only for this account.",
      access: reading,
      answers: {
        200: envelopeOf({
          formulas: t.Array(Formula),
          count: t.integer(),
          limit: t.integerOrNull('Formulas that the plan allows; null: no limit.'),
        }),
      },
      handle: ({ caller }) => {
        const formulas = ownFormulas.list(accountIdOf(caller)).map(rowOf)
        const limit = caller.entitled.formulaSeries
        return success({ formulas, count: formulas.length, limit })
      },
    }),
    operation('POST /v1/formulas', {
      operationId: 'createFormula',
      summary: 'Create a formula',
      description:
        'Creates a series whose values are computed from other codes, and returns it. Its code begins with `MY_`, is visible only to the account, and works wherever codes do: prices, exports, alerts, webhooks, watches, charts, `as_of` and the change feed. Give `formula`, `unit` and `currency`, or a `template` of `GET /v1/formulas/templates` with its `parameters`. An error in the text is refused with its column. After a downgrade the oldest formulas within the limit of the plan continue; the others are `suspended`.',
      access: writing,
      headers: idempotencyHeader,
      body: NewBody.schema,
      creates: '/v1/formulas/:code',
      answers: { 201: One },
      handle: ({ body: input, caller, requestContext, request, reply }) => {
        checkPlan(caller.entitled, request)
        return idempotency.once({ caller, requestContext, request, reply }, input, () => {
          const values = NewBody.read(input, requireFormula)
          const terms = termsOf(values)
          const made = ownFormulas.create(accountIdOf(caller), values.code.trim(), terms, faults =>
            refuseTerms(withFormula(input, terms), faults),
          )
          if ('limit' in made)
            throw stateForbids(
              'formula_limit_reached',
              `The account has ${made.count} formulas of ${made.limit} allowed by its plan. Delete one or upgrade.`,
              { limit: made.limit, current_count: made.count },
            )
          return success({ formula: rowOf(made) })
        })
      },
    }),
    operation('POST /v1/formulas/preview', {
      operationId: 'previewFormula',
      summary: 'Preview a formula',
      description:
        'Checks a formula and returns its values over a range and its legs. Saves nothing. The body is that of `POST /v1/formulas`; `code` and `name` are optional. Without `unit` or `currency`, the values are in those of the formula. An error in the text is refused with its column.',
      access: { ...writing, action: 'read', heavy: true },
      body: PreviewBody.schema,
      answers: { 200: envelopeOf(Preview) },
      handle: ({ body: input, caller, reply }) => {
        const values = PreviewBody.read(input, (form, given) =>
          requireFormula(form, given, ['formula']),
        )
        const { as_of: asOf, end_date: end = (asOf ?? deps.now()) + 1 } = values
        const { start_date: from = end - previewDays * dayMs } = values
        if (from >= end)
          refuseTerms(input, [{ field: 'start_date', why: 'must be before end_date.' }])
        const terms = termsOf(values)
        const accountId = accountIdOf(caller)
        const code = values.code?.trim().toUpperCase() ?? ''
        const to = Math.min(end, (asOf ?? Number.POSITIVE_INFINITY) + 1)
        const range = { from, to, limit: valuesMax, asOf }
        const made = ownFormulas.preview(accountId, code, terms, range, faults =>
          refuseTerms(withFormula(input, terms), faults),
        )
        const asOfText = isoOrNull(asOf) ?? undefined
        const quoted = atPoint(deps, { as_of: asOfText }, reply, at =>
          at.latestPrices.formula({ id: 0, terms }, made.legs),
        )!
        const { derived: _derived, formula, ...legs } = formulaRow(quoted)
        return success({
          values: made.rows.slice(-valuesMax).map(({ observedAt, value }) => ({
            observed_at: isoInstant(observedAt),
            value: roundTo(value, terms.decimals ?? 2),
          })),
          formula,
          unit: made.unit,
          currency: made.currency,
          no_value_reason: made.noValueReason,
          ...legs,
        })
      },
    }),
    operation('GET /v1/formulas/:code', {
      operationId: 'getFormula',
      counted: /^(?:value|status|missing_legs)$/,
      summary: 'Get a formula',
      description: 'Returns a formula of the account with its newest value and its legs.',
      access: reading,
      params,
      answers: { 200: One },
      handle: ({ caller, params: { code } }) =>
        success({ formula: rowOf(ownOf(accountIdOf(caller), code)) }),
    }),
    operation('PATCH /v1/formulas/:code', {
      operationId: 'updateFormula',
      summary: 'Update a formula',
      description:
        'Updates the given fields. A new `formula`, `unit`, `currency` or alignment changes all values at once, including past ones.',
      access: writing,
      params,
      body: ChangeBody.schema,
      answers: { 200: One },
      handle: ({ body: input, caller, params: { code } }) => {
        const series = ownOf(accountIdOf(caller), code)
        const { align_limit: alignLimit, ...values } = ChangeBody.read(input, refuseCadence)
        const given = Object.entries(values).filter(([, value]) => value !== undefined)
        const terms: SeriesTerms = { ...series.terms, ...Object.fromEntries(given) }
        if (alignLimit === null) delete terms.alignLimit
        else if (alignLimit !== undefined) terms.alignLimit = alignLimit
        const changed = ownFormulas.change(series, terms, faults => refuseTerms(input, faults))
        return success({ formula: rowOf(changed) })
      },
    }),
    operation('DELETE /v1/formulas/:code', {
      operationId: 'deleteFormula',
      summary: 'Delete a formula',
      description:
        'Deletes a formula of the account. Alerts and watches on its code remain, but have no price.',
      access: writing,
      params,
      body: noBody,
      answers: { 200: envelopeOf({ code: t.String(), deleted: t.Literal(true) }) },
      handle: ({ caller, params: { code } }) => {
        const series = ownOf(accountIdOf(caller), code)
        ownFormulas.remove(series)
        return success({ code: series.code, deleted: true as const })
      },
    }),
  ]
}
