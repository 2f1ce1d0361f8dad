import { t } from '../../../http/answer/schema.ts'
import { type Field, field } from '../../../http/input/body-schema.ts'
import type { Form } from '../../../http/input/form.ts'
import { isObject } from '../../../lib/text/json.ts'
import { type Condition, type Timeframe, timeframesMs } from '../../alerts/math/threshold.ts'

const conditionsMax = 20
const codeMax = 100
const valueMax = 1_000_000
const percentMax = 10_000

const operators = [
  'greater_than',
  'less_than',
  'percent_increase',
  'percent_decrease',
  'between',
] as const
const timeframes = Object.keys(timeframesMs) as Timeframe[]

export const ConditionShape = t.Object({
  commodity: t.string('A code or alias.', 'WTI_USD'),
  operator: t.oneOf(operators),
  value: t.Optional(
    t.number(
      'A price or, for a percentage condition, a percentage above 0. Not for `between`.',
      80,
    ),
  ),
  timeframe: t.Optional(t.oneOf(timeframes)),
  min_value: t.Optional(t.number('For `between`, inclusive.', 70)),
  max_value: t.Optional(t.number('For `between`, inclusive.', 80)),
  trigger_on: t.Optional(
    t.oneOf(['enter', 'exit'], 'For `between`: fire only when the price crosses a bound.'),
  ),
})

/** The canonical code of a code or alias. */
type CodeOf = (text: string) => string | undefined

/** A condition or a list of them; null is none. */
export const conditionsField = (codeOf: CodeOf): Field<Condition[]> =>
  field(
    // A union with one condition has no type in several generators of clients.
    t.Array(ConditionShape, {
      maxItems: conditionsMax,
      description:
        'Conditions for `price.threshold`; one condition is accepted without a list. `price.updated` and `price.significant_change` are skipped if the conditions are not met.',
    }),
    (form, name) => {
      const value = form.value(name)
      if (value === null) return []
      const count = Array.isArray(value) ? value.length : 1
      if (!Array.isArray(value) && !isObject(value))
        return form.fault(name, 'must be a condition or a list of conditions.')
      if (count > conditionsMax)
        return form.fault(name, `must be a list of at most ${conditionsMax} conditions.`)
      const list = form.items(name)
      return Array.from({ length: count }, (_, i) => conditionOf(list, String(i), codeOf)).filter(
        condition => condition !== undefined,
      )
    },
  )

/** Fields that the operator does not use may be absent or null. */
function conditionOf(list: Form, place: string, codeOf: CodeOf): Condition | undefined {
  if (!list.has(place) || list.isNull(place)) return list.fault(place, 'must be a JSON object.')
  const form = list.part(place)
  const commodity = commodityOf(form, codeOf)
  const operator = form.has('operator')
    ? form.choice('operator', operators)
    : form.fault('operator', 'is required.')
  if (commodity === undefined || operator === undefined) return undefined
  switch (operator) {
    case 'greater_than':
    case 'less_than': {
      const value = numberOf(form, 'value', -valueMax, valueMax)
      return value === undefined ? undefined : { commodity, operator, value }
    }
    case 'percent_increase':
    case 'percent_decrease': {
      const value = numberOf(form, 'value', 0, percentMax)
      if (value === 0) form.fault('value', 'must be above 0.')
      const timeframe = isNamed(form, 'timeframe')
        ? form.choice('timeframe', timeframes)
        : undefined
      return value === undefined
        ? undefined
        : { commodity, operator, value, ...(timeframe && { timeframe }) }
    }
    case 'between':
      return betweenOf(form, commodity)
  }
}

const isNamed = (form: Form, name: string) => form.has(name) && !form.isNull(name)

const numberOf = (form: Form, name: string, minimum: number, maximum: number) =>
  isNamed(form, name)
    ? form.number(name, minimum, maximum)
    : form.fault(name, 'is required for this operator.')

function commodityOf(form: Form, codeOf: CodeOf): string | undefined {
  if (!form.has('commodity')) return form.fault('commodity', 'is required.')
  const text = form.text('commodity', codeMax)
  if (text === undefined) return undefined
  return (
    codeOf(text) ??
    form.fault('commodity', 'must be a commodity code. GET /v1/commodities lists them.')
  )
}

function betweenOf(form: Form, commodity: string): Condition | undefined {
  const minValue = numberOf(form, 'min_value', -valueMax, valueMax)
  const maxValue = numberOf(form, 'max_value', -valueMax, valueMax)
  const triggerOn = isNamed(form, 'trigger_on')
    ? form.choice('trigger_on', ['enter', 'exit'])
    : undefined
  if (minValue === undefined || maxValue === undefined) return undefined
  if (minValue > maxValue) return form.fault('max_value', 'must not be below min_value.')
  return { commodity, operator: 'between', minValue, maxValue, ...(triggerOn && { triggerOn }) }
}
