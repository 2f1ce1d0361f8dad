import { t } from '../../../../http/answer/schema.ts'
import {
  changeOf,
  checked,
  choice,
  closedPart,
  decimal,
  type Field,
  field,
  flag,
  listOf,
  nullable,
  nullableAs,
  optional,
  readFields,
  text,
  type Values,
  whole,
} from '../../../../http/input/body-schema.ts'
import { type Form, formOf } from '../../../../http/input/form.ts'
import { refusedField } from '../../../../http/problem/problem.ts'
import { isObject } from '../../../../lib/text/json.ts'
import { type Camel, camelCase } from '../../../../lib/text/name-case.ts'
import { nearestWord } from '../../../../lib/text/wrong-value.ts'
import { addDuration } from '../../../../lib/time/duration.ts'
import { cadences } from '../../../catalogue/math/catalogue.ts'
import {
  isReleaseDay,
  marketNames,
  releaseHolidays,
  type SeriesTerms,
} from '../../../catalogue/math/terms.ts'
import type { NewSeries, TermFault } from '../../../catalogue/service/series-faults.ts'
import { sinceEver } from '../../../delivery/math/terms.ts'
import { alignments } from '../../../formulas/math/syntax.ts'
import { guardActions, guardRules } from '../../../prices/math/guards.ts'
import { deliveryFields, timeOfDay, timeZone } from './delivery-fields.ts'

/** Notes faults of attributes among those of a form. */
export function noteFaults(form: Form, faults: readonly TermFault[]): void {
  for (const { field, why, details } of faults) form.fault(field, why, undefined, details)
}

/** Refuses a body for faults of its attributes, if there are any. */
export function refuseTerms(input: unknown, faults: readonly TermFault[]): void {
  const form = formOf(input)
  noteFaults(form, faults)
  form.check()
}

const widest = 1e12
const durationFault = (text: string) =>
  addDuration(0, text) === undefined ? 'must be a duration such as P7D.' : undefined

const aliasesMax = 50
const accountsMax = 1000

const currencyCodes: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))
/** Nearly every code of three letters is near to others, so only these are suggested. */
const usualCurrencies = ['USD', 'EUR', 'GBP', 'JPY', 'CNY', 'CHF', 'CAD', 'AUD', 'NOK']

const word = (what: string, examples: string[]): Field<string> =>
  checked(text(50, { description: what, examples }), value =>
    /^[A-Za-z][A-Za-z0-9_]*$/.test(value) ? undefined : 'must be a word of letters, digits and _.',
  )
const filled = (charactersMax: number, options: Record<string, unknown>): Field<string> =>
  checked(text(charactersMax, options), value =>
    value.trim() === '' ? 'must not be empty.' : undefined,
  )

/** The attributes of a series. */
export const termFields = {
  name: filled(120, { description: 'Display name.', examples: ['Desk mark, gas oil 0.1'] }),
  category: word(
    'A category of the catalogue or a new one. It determines the default trading calendar and kind of number.',
    ['refined_products'],
  ),
  currency: nullable(
    checked(text(3, { examples: ['USD'] }), value => {
      // Markets write hundredths of GBP so, for which there is no rate.
      if (/^GB[pxX]$/.test(value))
        return 'must be GBP, with a unit in pence such as pence_per_therm.'
      if (currencyCodes.has(value)) return undefined
      const near = nearestWord(value, usualCurrencies)
      return `must be a currency code of ISO 4217, or null.${near === undefined ? '' : ` Did you mean ${near}?`}`
    }),
    { description: 'Null if the value is not a price.' },
  ),
  unit: word('Unit of the price or count.', ['barrel']),
  decimals: whole(0, 8, { description: 'Places that prices are rounded to.', examples: [2] }),
  cadence: choice(cadences, { description: 'Release frequency, which determines freshness.' }),
  source: filled(80, { description: 'Publisher of the values.', examples: ['Desk'] }),
  description: text(500, { examples: ['Mid mark of the desk at the close of London'] }),
  level: checked(
    decimal(0, widest, {
      description: 'A typical value, from which default bounds are derived.',
      examples: [650],
    }),
    value => (value > 0 ? undefined : 'must be above 0.'),
  ),
  min: decimal(-widest, widest, { description: 'Values below this are rejected.', examples: [0] }),
  max: decimal(-widest, widest, {
    description: 'Values above this are rejected.',
    examples: [3000],
  }),
  calendar: choice(marketNames, {
    description: 'The trading days on which it is published and ages.',
  }),
  release_lag_days: whole(0, 730, {
    description: 'Days between the date of a value and its release.',
    examples: [5],
  }),
  release_days: listOf(
    t.String({ examples: ['wed'] }),
    {
      nouns: 'days',
      item: 'a day of the week (mon to sun) or of the month (1 to 31, last)',
    },
    31,
    day => (isReleaseDay(day.toLowerCase()) ? day.toLowerCase() : undefined),
    {
      description:
        'Release days: `["wed"]`, `["mon", "thu"]`, `["15"]`, `["last"]`. They determine freshness, gaps and the next release; otherwise the cadence does. A value belongs to the first release day on or after its date plus `release_lag_days`.',
      examples: [['wed']],
    },
  ),
  release_time: timeOfDay(
    'Release time of day in `time_zone`. Default: the end of the day.',
    '10:30',
  ),
  release_holiday: choice(releaseHolidays, {
    description:
      'When a release day is closed in `calendar`: release on the trading day `after` (default) or `before` it, or `skip` it.',
  }),
  time_zone: timeZone('IANA zone of `value_time` and `release_time` (UTC).', 'Europe/London'),
  value_time: timeOfDay('Time of day for values that come with a date only.', '16:30'),
  license_class: choice(['open', 'view'], {
    description:
      '`view`: display only, no redistribution; excluded from the keyless demo, exports, nightly files and changes.',
  }),
  attribution: text(300, {
    description: 'Required attribution.',
    examples: ['Marks of our own desk'],
  }),
  aliases: listOf(
    t.String({ examples: ['DESK_GASOIL'] }),
    { nouns: 'names', item: 'a name of capital letters, digits, _, - and .' },
    aliasesMax,
    alias => (/^[A-Z0-9][A-Z0-9_.-]{0,49}$/.test(alias) ? alias : undefined),
    { description: 'Other names that every endpoint accepts for the code.' },
  ),
  guards: closedPart(
    Object.fromEntries(guardRules.map(rule => [rule, optional(choice(guardActions))])),
    {
      description:
        'Action of each anomaly check on a suspicious value: `hold`, `flag` or `off`. Others use the default. `stop` concerns a series that stops receiving values: `flag` raises an operator alert, `hold` also holds the next value, `off` is for a series that has ended.',
    },
  ),
  visible_to: listOf(
    t.String({ examples: ['11111111-2222-4333-8444-555555555555'] }),
    { nouns: 'ids of accounts', item: 'the id of an account' },
    accountsMax,
    id => (/^[\w-]{8,64}$/.test(id) ? id : undefined),
    { description: 'Ids of the accounts that can see a custom series. Default: everyone.' },
  ),
  formula: field(
    t.String({
      maxLength: 2000,
      description:
        'How its values are computed, from codes, `+ - * /`, parentheses and functions; see the guide to formulas. The values are in `unit` and `currency`.',
      examples: ['(2*unit(GASOLINE_USD, barrel) + unit(HEATING_OIL_USD, barrel))/3 - WTI_USD'],
    }),
    (form, name) => {
      const written = form.value(name)
      if (typeof written !== 'string' || written.trim() !== '') return form.text(name, 2000)
      const empty = { reason: 'syntax', column: written.length + 1, length: 1 } as const
      return form.fault(name, `must not be empty (column ${empty.column}).`, written, empty)
    },
  ),
  align: choice(alignments, {
    description:
      'When a formula has values: `last` at every time of a leg, with the newest values of the others; `same_day` on days on which all legs have one; `drop` at times at which all have one. Default: `last`.',
  }),
  align_limit: checked(
    text(20, {
      description:
        'How old the newest value of a leg may be, as an ISO 8601 duration. Default: by its cadence, 4 days to 93.',
      examples: ['P7D'],
    }),
    value =>
      /^P\d/.test(value) || /^PT\d/.test(value)
        ? durationFault(value)
        : 'must be a duration such as P7D.',
  ),
  active: flag({ description: 'False: retired; listed as discontinued and not served.' }),
}

const attributes = { ...termFields, ...deliveryFields }
const { name, category, unit, currency, ...others } = attributes

/** The fields of a new custom series. */
export const newSeriesFields = {
  code: text(50, {
    description: '2 to 50 capital letters, digits and _.',
    examples: ['DESK_GASOIL_USD'],
  }),
  name,
  category,
  unit,
  currency,
  ...changeOf(others),
}

/** Null removes an attribute; for a currency it means that the number is not money. */
const removable = Object.fromEntries(
  Object.entries(attributes).map(([name, inner]) => [name, nullableAs<unknown, null>(inner, null)]),
) as { [K in keyof typeof attributes]: Field<Values<typeof attributes>[K] | null> }

export const changedSeriesFields = {
  ...changeOf({ ...removable, currency }),
  reset: optional(flag({ description: 'True: resets all settings made before this request.' })),
}

type TermValues = Partial<Values<typeof newSeriesFields>>
type Terms = { [K in Exclude<keyof TermValues, 'code' | 'resolution'> as Camel<K>]: TermValues[K] }

const termNames = Object.keys(attributes).filter(name => name !== 'resolution')

/** The attributes under the names that the catalogue gives them. */
function termsOf(values: TermValues): SeriesTerms {
  const sent: Record<string, unknown> = { ...values, resolutions: resolutionsOf(values) }
  const terms = Object.fromEntries(termNames.map(name => [camelCase(name), sent[name]])) as Terms
  return { ...terms, guards: terms.guards as SeriesTerms['guards'] }
}

/** A single `resolution` replaces the list; null resets both. */
const resolutionsOf = ({ resolution, resolutions }: TermValues) =>
  resolution === undefined || resolution === null
    ? (resolutions ?? resolution)
    : sinceEver(resolution)

/** Terms with a change: its fields replace the old ones, null removes one. */
export function changedTerms(
  before: SeriesTerms,
  { reset, ...values }: Partial<Values<typeof changedSeriesFields>>,
): SeriesTerms {
  const change = termsOf(values as TermValues)
  const terms: Record<string, unknown> = { ...(reset === true ? {} : before) }
  for (const [term, value] of Object.entries(change)) {
    if (value === undefined) continue
    if (value === null && term !== 'currency') delete terms[term]
    else terms[term] = value
  }
  return terms as SeriesTerms
}

const seriesMax = 1000

/** A series by formula needs no name and no category. */
const named = (input: unknown): unknown =>
  isObject(input) && typeof input.formula === 'string'
    ? { name: input.code, category: 'formula', ...input }
    : input

/** One new series, or the list of them in `series`; `judge` notes what is wrong with each. */
export function readNewSeries(
  input: unknown,
  judge: (series: NewSeries, form: Form) => void,
): NewSeries[] {
  const form = formOf(
    isObject(input) && Array.isArray(input.series)
      ? { ...input, series: input.series.map(named) }
      : named(input),
  )
  const read = (item: Form): NewSeries => {
    const { code = '', ...values } = readFields(newSeriesFields, item)
    const source = values.formula === undefined ? values.source : 'formula'
    const series = { code: code.trim(), terms: termsOf({ ...values, source }) }
    if (code !== '' && values.category !== undefined) judge(series, item)
    return series
  }
  const list = form.value('series')
  if (list === undefined) {
    const series = read(form)
    form.check()
    return [series]
  }
  if (!Array.isArray(list) || list.length === 0 || list.length > seriesMax) {
    throw refusedField('series', `series: must be a list of 1 to ${seriesMax} series.`)
  }
  const items = form.items('series')
  const all = list.map((_, i) => read(items.part(String(i))))
  for (const [i, { code }] of all.entries())
    if (code !== '' && all.findIndex(other => other.code === code) < i)
      items.fault(`${i}.code`, `${code} appears in the list twice.`, code)
  form.check()
  return all
}
