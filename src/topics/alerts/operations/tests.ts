import { t } from '../../../http/answer/schema.ts'
import { body, documentedBody, omittable, text } from '../../../http/input/body-schema.ts'
import { codeParameter } from '../../../http/input/typed.ts'
import { markFixtures } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { missingParameter, Problem, refusedField } from '../../../http/problem/problem.ts'
import { CodeProblem } from '../../../http/problem/shape.ts'
import { dayMs, isoDay, isoInstant, startOfDay } from '../../../lib/time/instant.ts'
import { conditionText, watchesDay } from '../math/condition.ts'
import { answeredPrice } from '../service/moment.ts'
import { BacktestRange } from './form.ts'
import { type AlertContext, alertParams, writing } from './route.ts'
import { TestShape, testRow } from './row.ts'

const backtestDays = 365

const noBody = documentedBody(t.Object({}, { description: 'Absent or empty.' }), true)
const CodeBody = body({
  commodity_code: omittable(text(100, { examples: ['BRENT_CRUDE_USD'] })),
})

const TestsShape = t.Object({
  commodity_code: t.String({ examples: ['BRENT_CRUDE_USD'] }),
  current_price: t.Object({
    value: t.orNull(t.Number()),
    timestamp: t.orNull(t.String({ format: 'date-time' })),
  }),
  evaluated: t.integer(),
  would_trigger: t.integer(),
  results: t.Array(TestShape),
})

export const BacktestShape = t.Object({
  commodity_code: t.String({ examples: ['WTI_USD'] }),
  condition: t.String({ examples: ['price above 75'] }),
  from: t.String({ format: 'date' }),
  to: t.String({ format: 'date' }),
  vintage: t.Optional(
    t.Literal(true, { description: 'Whether values were replayed as they were recorded.' }),
  ),
  observations: t.integer('Number of prices evaluated.'),
  trigger_count: t.integer(),
  triggers: t.objects('Oldest first, at most 500.', {
    triggered_at: t.String({ format: 'date-time' }),
    value: t.number('The price.'),
  }),
  truncated: t.boolean('Whether more triggers exist than are listed.'),
  cooldown_suppressed: t.integer('Prices that met the condition during a cooldown.'),
})
export type BacktestShape = (typeof BacktestShape)['static']

/** Tests of alerts against the newest price and against history. */
export const alertTestOperations = (deps: Context, context: AlertContext) => [
  ...testOne(deps, context),
  ...testCode,
  ...backtest(deps, context),
]

/** The operation changes nothing, although it is a POST. */
const onlyReading = { ...writing, action: 'read' } as const

const testNote =
  'A disabled alert is evaluated too. Sends nothing, changes nothing and starts no cooldown.'

const testOne = ({ alerts, catalogue, clock, marks }: Context, { own }: AlertContext) => [
  operation('POST /v1/alerts/:id/test', {
    operationId: 'testAlert',
    summary: 'Test an alert',
    description: `Evaluates the alert with the newest price and returns the result. ${testNote}`,
    access: onlyReading,
    params: alertParams,
    body: noBody,
    answers: TestShape,
    handle: ({ caller, params: { id }, reply }) => {
      const startedMs = clock.monotonic()
      const alert = own(id, caller)
      const [tested] = alerts.test([alert])
      markFixtures(reply, marks, [{ series: catalogue.byId(alert.seriesId) }])
      return testRow(tested!, clock.monotonic() - startedMs)
    },
  }),
]

const testCode = [
  operation('POST /v1/alerts/test', {
    operationId: 'testAlertsOfCode',
    summary: 'Test every alert on a code',
    description: `Evaluates all alerts on a code with its newest price and returns the results. ${testNote}`,
    access: onlyReading,
    body: CodeBody.schema,
    query: {
      commodity_code: codeParameter('Required, here or in the body.', 'BRENT_CRUDE_USD'),
    },
    answers: { 200: TestsShape, 400: CodeProblem },
    handle: ({
      at: { clock, codes, catalogue, latestPrices, alerts, marks },
      body,
      caller,
      query,
      request,
      reply,
    }) => {
      const startedMs = clock.monotonic()
      const named = query.commodity_code ?? CodeBody.read(body).commodity_code
      if (named === undefined || named.trim() === '')
        throw missingParameter('commodity_code', 'a code or alias.')
      const { series } = codes.read([named], request)[0]!
      const watched = catalogue.named(named) ?? series
      const quote = latestPrices.quote(series)
      const tested = alerts.test(alerts.watching(caller.key.account.account.id, watched.id))
      const took = clock.monotonic() - startedMs
      markFixtures(reply, marks, [{ series }])
      return {
        commodity_code: watched.code,
        current_price: {
          value: quote ? answeredPrice(series, quote.observation.value) : null,
          timestamp: quote ? isoInstant(quote.observation.observedAt) : null,
        },
        evaluated: tested.length,
        would_trigger: tested.filter(test => test.result === 'would_trigger').length,
        results: tested.map(test => testRow(test, took)),
      }
    },
  }),
]

const backtest = (deps: Context, { codeOf, forms }: AlertContext) => [
  operation('POST /v1/alerts/backtest', {
    operationId: 'backtestAlert',
    summary: 'Backtest an alert',
    description:
      "Returns how often the alert would have fired from `start_date` to `end_date`, both included (default: the last 365 days), with the rule and cooldown of live alerts. Saves and sends nothing.\n\nBy default it uses the current values at their observation times. With `vintage: true` it replays values in the order they were recorded, including corrections, as a live alert would have seen them; `triggered_at` is then the time of recording, and `X-Vintage-Revision-Coverage-Since` is the start of complete revision history. Quarantined days are excluded. A futures family uses today's front contract.",
    access: { ...onlyReading, heavy: true },
    body: forms.backtest,
    answers: BacktestShape,
    handle: async ({ body, reply }) => {
      const { from, to } = rangeOf(body, deps.now())
      const isVintage = BacktestRange.read(body).vintage === true
      const { condition, cooldownMinutes, seriesId } = forms.created(body)
      if (watchesDay(condition))
        throw refusedField(
          'price_alert.delivery_watch',
          'delivery_watch must be now for a backtest.',
          condition.kind === 'price' ? condition.watch : null,
        )
      const code = codeOf(seriesId)
      const { series } = deps.catalogue.resolve(code, deps.now())!
      markFixtures(reply, deps.marks, [{ series }])
      const { triggers, triggerCount, observations, cooldownSuppressed } = await deps.backtests.run(
        {
          condition,
          cooldownMinutes,
          series,
          from,
          // Delivery that has not begun is judged when it does.
          to: Math.min(to, deps.now() + 1),
          isVintage,
        },
      )
      if (isVintage)
        reply.headers['x-vintage-revision-coverage-since'] = isoInstant(
          deps.coverage.since(series.id, deps.now()),
        )
      return {
        commodity_code: code,
        condition: conditionText(condition),
        from: isoDay(from),
        to: isoDay(to - 1),
        ...(isVintage && { vintage: true as const }),
        observations,
        trigger_count: triggerCount,
        triggers: triggers.map(({ triggeredAt, value }) => ({
          triggered_at: isoInstant(triggeredAt),
          value,
        })),
        truncated: triggers.length < triggerCount,
        cooldown_suppressed: cooldownSuppressed,
      }
    },
  }),
]

/** Both days included, as the half-open range of instants. */
function rangeOf(body: unknown, now: number): { from: number; to: number } {
  const { start_date: start, end_date: end } = BacktestRange.read(body)
  const to = (end ?? startOfDay(now)) + dayMs
  const from = start ?? to - backtestDays * dayMs
  if (from < to) return { from, to }
  const shown = { start_date: isoDay(from), end_date: isoDay(to - dayMs) }
  throw new Problem(
    'INVALID_DATE_RANGE',
    `start_date ${shown.start_date} is after end_date ${shown.end_date}.`,
    shown,
  )
}
