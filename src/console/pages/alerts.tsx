import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso'
import { dayMs, isoDay } from '../../lib/time/instant.ts'
import { priceOperators } from '../../topics/alerts/math/price-operators.ts'
import type {
  AlertShape,
  AlertWithHistory,
  TriggerShape,
} from '../../topics/alerts/operations/row.ts'
import type { BacktestShape as Backtest } from '../../topics/alerts/operations/tests.ts'
import type { BoardRow } from '../../topics/prices/operations/board.ts'
import {
  Absent,
  Button,
  Confirmed,
  Empty,
  Input,
  May,
  Members,
  Notice,
  Page,
  Refused,
  Select,
  Shown,
  Tag,
  Waiting,
  WhoBringsData,
} from '../parts/bits.tsx'
import { Chart } from '../parts/charts/chart.tsx'
import { has } from '../parts/person/account.ts'
import { Included } from '../parts/person/included.tsx'
import {
  ask,
  dataOf,
  useAnswer,
  useAttempt,
  useChange,
  useData,
  useLoaded,
} from '../parts/requests/ask.ts'
import { mayDo, now } from '../parts/requests/boot.ts'
import {
  areCodesHere,
  codes,
  codesRefusal,
  matchingCodes,
  nearCodes,
  wantCodes,
} from '../parts/requests/codes.ts'
import { boardPath } from '../parts/requests/first.ts'
import { pagedRows, usePages } from '../parts/requests/pages.ts'
import { actions, aside, seriesLink } from '../parts/tables/columns.tsx'
import { Table, twoLines } from '../parts/tables/table.tsx'
import { submits } from '../parts/text/form.ts'
import {
  ago,
  decimalsOf,
  figure,
  instant,
  number,
  signed,
  timesText,
  words,
} from '../parts/text/format.ts'
import type { ChartAnswer } from './series/answer.ts'

/** The fields of an alert that depend on its kind. */
interface KindFields {
  analytics_config: Record<string, number | string> | null
  metadata: { min?: number; max?: number } | null
}

type Alert = Omit<AlertShape, keyof KindFields> & KindFields

type WholeAlert = Omit<AlertWithHistory, keyof KindFields> & KindFields

/** With what an analytics alert measured when it fired. */
type Trigger = Omit<TriggerShape, 'metadata'> & {
  metadata: { z_score?: number; rsi?: number; volatility?: number; trend?: string } | null
}

const operators = Object.entries(priceOperators)

const signOf = (operator: string): string =>
  operators.find(([name]) => name === operator)?.[1].sign ?? operator

const kindWords: Readonly<Record<string, string>> = {
  z_score: 'z-score',
  rsi: 'RSI',
  volatility_spike: 'volatility',
  trend_reversal: 'the trend reverses',
}

/** `z-score above 2 or below −2`; a trend that turns has no value to be above. */
const conditionOf = (alert: Alert): string => {
  const kind = alert.analytics_type ?? 'price'
  const name = kindWords[kind] ?? kind.replaceAll('_', ' ')
  const { threshold, direction, overbought, oversold, multiplier } = alert.analytics_config ?? {}
  if (kind === 'trend_reversal') return name
  if (kind === 'z_score') {
    const level = number(Number(threshold))
    const sides = [
      direction !== 'below' && `above ${level}`,
      direction !== 'above' && `below −${level}`,
    ]
    return `${name} ${sides.filter(Boolean).join(' or ')}`
  }
  if (kind === 'rsi') return `${name} above ${overbought} or below ${oversold}`
  if (kind === 'volatility_spike') return `${name} above ${multiplier} times its baseline`
  const { min, max } = alert.metadata ?? {}
  const value =
    alert.condition_operator === 'between' && min !== undefined && max !== undefined
      ? `${number(min)} and ${number(max)}`
      : number(alert.condition_value)
  return `${name} ${signOf(alert.condition_operator)} ${value}`
}

/** The value that met the condition: the measure of an analytics alert, else the price. */
const metBy = ({ price, metadata }: Trigger): string => {
  const { z_score: score, rsi, volatility, trend } = metadata ?? {}
  if (score !== undefined) return `z-score ${number(score, 2)}`
  if (rsi !== undefined) return `RSI ${number(rsi, 1)}`
  if (volatility !== undefined) return `volatility ${number(volatility, 2)}`
  return trend === undefined ? number(price) : words(trend)
}

const alertFeatures = ['standard_alerts', 'analytics_alerts'] as const

const yearMs = 366 * dayMs

export function Alerts() {
  const { params } = useRoute()
  return (
    <Members
      title="Alerts"
      about="Notifications by e-mail, text message or webhook when a price meets a condition. A backtest shows how often each alert would have fired."
    >
      {() => (
        <Included title="Alerts" features={alertFeatures}>
          {() =>
            params.id === undefined ? (
              <List />
            ) : params.id === 'new' ? (
              <New />
            ) : (
              <Existing id={params.id} />
            )
          }
        </Included>
      )}
    </Members>
  )
}

/** By how many percent a price has to move until it meets the level of a condition. */
function distanceOf(alert: Alert, price: number | undefined): number | undefined {
  const isLevel = alert.analytics_type === null && /_than/.test(alert.condition_operator)
  if (!isLevel || price === undefined || price <= 0) return undefined
  return (100 * (alert.condition_value - price)) / price
}

/** As many as one request takes. */
const codesMax = 200

function List() {
  const alerts = useAnswer<Alert[]>('/v1/alerts')
  const triggers = usePages<{ triggers: Trigger[] }, Trigger>(
    '/v1/alerts/triggers?per_page=20',
    answer => answer.triggers,
  )
  const watched = new Set(alerts.data?.map(alert => alert.commodity_code))
  const list = [...watched].slice(0, codesMax).join(',')
  const prices = useLoaded(list || undefined, async signal => {
    const { rows } = await dataOf<{ rows: BoardRow[] }>(`${boardPath}?codes=${list}`, { signal })
    return new Map(rows.map(({ code, price }) => [code, price]))
  })
  const { refusal, change } = useChange(alerts)
  return (
    <Page
      title="Alerts"
      about="Notifications by e-mail, text message or webhook when a price meets a condition."
      actions={
        <May action="change_data">
          <a class="button main" href="/alerts/new">
            New alert
          </a>
        </May>
      }
    >
      {refusal.value && <Refused error={refusal.value} />}
      <Table
        caption="Your alerts"
        file="alerts"
        of={alerts}
        rows={alerts.data}
        keyOf={({ id }) => id}
        empty={
          <>
            <p>
              {mayDo('change_data')
                ? 'No alerts yet. Create one: a backtest shows how often it would have fired.'
                : 'No alerts yet.'}
            </p>
            <May action="change_data">
              <a class="button" href="/alerts/new">
                New alert
              </a>
            </May>
          </>
        }
        columns={({ column, numeric }) => [
          column('Alert', 'name', alert => (
            <>
              <a href={`/alerts/${alert.id}`}>{alert.name}</a>
              <div class="code">{seriesLink(alert.commodity_code)}</div>
              <div class="quiet small narrow-only">{conditionOf(alert)}</div>
            </>
          )),
          {
            name: 'Condition',
            isWide: true,
            value: conditionOf,
          },
          numeric('Now', row => prices.data?.get(row.commodity_code), {
            isWide: true,
            show: row => {
              const now = prices.data?.get(row.commodity_code)
              return now === undefined ? '–' : number(now, Math.max(2, decimalsOf(now)))
            },
          }),
          numeric('Distance', row => distanceOf(row, prices.data?.get(row.commodity_code)), {
            fileName: 'distance_percent',
            isWide: true,
            show: row => {
              const distance = distanceOf(row, prices.data?.get(row.commodity_code))
              return distance === undefined ? '–' : `${signed(distance, 1)}%`
            },
          }),
          numeric('Fired', 'trigger_count', { isWide: true }),
          column('Last', 'last_triggered_at', { ...aside, write: ago }),
          { name: 'State', value: stateOf, show: alert => <State alert={alert} /> },
          {
            ...actions,
            needs: 'change_data',
            show: alert => (
              <div class="row">
                <Button
                  className="tight"
                  label={alert.enabled ? 'Mute' : 'Unmute'}
                  onClick={() =>
                    change(`/v1/alerts/${alert.id}`, 'PATCH', { enabled: !alert.enabled })
                  }
                />
                <Confirmed
                  label="Delete"
                  question={`Delete the alert “${alert.name}”? Its history stays.`}
                  onConfirm={() => change(`/v1/alerts/${alert.id}`, 'DELETE')}
                />
              </div>
            ),
          },
        ]}
      />
      <Channels />
      <Table
        caption="Trigger history"
        file="fired"
        {...pagedRows(triggers)}
        keyOf={({ id }) => id}
        empty="No alert has fired yet. Backtest a condition over the past year to see when it would have."
        columns={({ column }) => [
          column('Alert', row => row.alert_name ?? row.commodity_code ?? 'Alert', {
            show: row =>
              twoLines(
                row.alert_name ?? row.commodity_code ?? 'Alert',
                row.condition.replaceAll(/(?<![\w-])-(?=\d)/g, '−'),
              ),
          }),
          {
            name: 'Measured',
            isNumber: true,
            value: metBy,
            show: row => (
              <>
                <span class="strong">{metBy(row)}</span>
                {row.metadata && <div class="quiet small">price {number(row.price)}</div>}
              </>
            ),
          },
          column('Channels', ({ channels }) => channels.map(words).join(', '), {
            isWide: true,
            className: 'quiet',
          }),
          column('When', 'triggered_at', { className: 'quiet end', write: instant }),
        ]}
      />
    </Page>
  )
}

function stateOf(alert: Alert): 'Suspended' | 'Muted' | 'Fired' | 'Watching' {
  if (alert.suspended_reason) return 'Suspended'
  if (!alert.enabled) return 'Muted'
  return alert.in_cooldown ? 'Fired' : 'Watching'
}

const stateMoods = { Suspended: 'bad', Muted: undefined, Fired: 'warn', Watching: 'good' } as const

const State = ({ alert }: { alert: Alert }) => (
  <Tag mood={stateMoods[stateOf(alert)]}>{stateOf(alert)}</Tag>
)

type Draft = ReturnType<typeof draftOf>

const emptyDraft: Draft = {
  code: 'BRENT_CRUDE_USD',
  kind: 'price',
  operator: 'greater_than',
  value: '',
  max: '',
  name: '',
  cooldownMinutes: '1440',
  period: '30',
  direction: 'both',
  webhookUrl: '',
}

const kinds = [
  { value: 'price', text: 'the price meets a level' },
  { value: 'z_score', text: 'the price is far from its mean (z-score)' },
  { value: 'rsi', text: 'relative strength is extreme (RSI)' },
  { value: 'volatility_spike', text: 'the price moves more than usual (volatility)' },
  { value: 'trend_reversal', text: 'the trend reverses' },
] as const

const mayMake = (kind: string): boolean =>
  has(kind === 'price' ? 'standard_alerts' : 'analytics_alerts')

/** The meaning of `value` for each kind of analytics, and its initial value in the form. */
const thresholds: Readonly<Record<string, { label: string; first: string }>> = {
  z_score: { label: 'Standard deviations from the mean', first: '2' },
  rsi: { label: 'Overbought above', first: '70' },
  volatility_spike: { label: 'Multiple of the usual volatility', first: '2' },
}

/** The body that makes or changes the alert. */
function bodyOf(draft: Draft) {
  const value = draft.value === '' ? undefined : Number(draft.value)
  const common = {
    name: draft.name.trim() || nameOf(draft),
    commodity_code: draft.code.trim().toUpperCase(),
    cooldown_minutes: Number(draft.cooldownMinutes),
    webhook_url: draft.webhookUrl.trim() || null,
  }
  if (draft.kind === 'price')
    return {
      ...common,
      analytics_type: null,
      condition_operator: draft.operator,
      condition_value: value,
      ...(draft.operator === 'between' && {
        metadata: { min: value, max: draft.max === '' ? undefined : Number(draft.max) },
      }),
    }
  const config: Record<string, unknown> =
    draft.kind === 'z_score'
      ? { threshold: value, direction: draft.direction }
      : draft.kind === 'rsi'
        ? { overbought: value, oversold: value === undefined ? undefined : 100 - value }
        : draft.kind === 'volatility_spike'
          ? { multiplier: value }
          : {}
  return {
    ...common,
    analytics_type: draft.kind,
    analytics_period: Number(draft.period),
    analytics_config: config,
  }
}

const nameOf = ({ code, kind, operator, value, max }: Draft): string =>
  kind === 'price'
    ? `${code} ${signOf(operator)} ${value}${operator === 'between' ? `–${max}` : ''}`
    : `${code} ${words(kind)}${value === '' ? '' : ` ${value}`}`

const isWhole = ({ kind, operator, value, max }: Draft): boolean =>
  kind === 'trend_reversal' || (value !== '' && (operator !== 'between' || max !== ''))

const draftOf = (alert: WholeAlert) => {
  const config = alert.analytics_config ?? {}
  const isRange = alert.condition_operator === 'between'
  return {
    code: alert.commodity_code,
    /** `price`, or a kind of analytics. */
    kind: alert.analytics_type ?? 'price',
    operator: alert.condition_operator,
    value: String(
      alert.analytics_type
        ? (config.threshold ?? config.overbought ?? config.multiplier ?? '')
        : isRange
          ? (alert.metadata?.min ?? '')
          : alert.condition_value,
    ),
    /** The other end of a range. */
    max: String(alert.metadata?.max ?? ''),
    name: alert.name,
    cooldownMinutes: String(alert.cooldown_minutes),
    period: String(alert.analytics_period ?? 30),
    direction: String(config.direction ?? 'both'),
    webhookUrl: alert.webhook_url ?? '',
  }
}

function New() {
  const { query } = useLocation()
  return (
    <Editor
      first={{
        ...emptyDraft,
        code: query.code ?? emptyDraft.code,
        value: query.value ?? '',
        ...(!mayMake('price') && { kind: 'z_score', value: thresholds.z_score!.first }),
      }}
    />
  )
}

/** Changes an alert, and shows what it did. */
function Existing({ id }: { id: string }) {
  const answer = useLoaded(`alert ${id}`, signal =>
    ask<WholeAlert>(`/v1/alerts/${encodeURIComponent(id)}`, { signal }),
  )
  if (!answer.data) return <Absent title="Alert" of={answer} href="/alerts" text="All alerts" />
  return <Editor key={id} first={draftOf(answer.data)} alert={answer.data} />
}

const previewDelayMs = 600
/** How far above the newest price the proposed level is, as a share of its size. */
const proposedMove = 0.05

/** Creates or changes an alert, with a live backtest over the past year. */
function Editor({ first, alert }: { first: Draft; alert?: WholeAlert }) {
  const { route } = useLocation()
  const draft = useSignal(first)
  const refusal = useSignal<Error | undefined>(undefined)
  const result = useSignal<Backtest | undefined>(undefined)
  const isBusy = useSignal(false)
  const last = useRef(0)
  useEffect(wantCodes, [])
  const set = (change: Partial<Draft>) => {
    draft.value = { ...draft.value, ...change }
    result.value = undefined
  }
  const { code, kind, operator, value } = draft.value
  const series = codes.value.find(({ code: listed }) => listed === code.trim().toUpperCase())
  const path = series && `/v1/prices/chart?code=${series.code}&start_date=${isoDay(now() - yearMs)}`
  const chart = useData<ChartAnswer>(path)
  const newest = chart.data?.close.at(-1)
  useEffect(() => {
    // The backtest needs a level, so one is proposed.
    if (newest !== undefined && draft.value.kind === 'price' && draft.value.value === '')
      set({ value: String(Number((newest + proposedMove * Math.abs(newest)).toPrecision(3))) })
  }, [newest])
  const level = kind !== 'price' || value === '' ? undefined : Number(value)
  const price_alert = bodyOf(draft.value)

  const attempt = async (work: () => Promise<void>) => {
    isBusy.value = true
    try {
      await work()
      refusal.value = undefined
    } catch (error) {
      refusal.value = error as Error
    }
    isBusy.value = false
  }
  /** Only the response to the latest input is shown. */
  const backtest = () =>
    attempt(async () => {
      last.current += 1
      const attemptNumber = last.current
      const answer = await ask<Backtest>('/v1/alerts/backtest', {
        method: 'POST',
        body: {
          price_alert: bodyOf(draft.value),
          start_date: isoDay(now() - yearMs),
          end_date: isoDay(now()),
        },
      })
      if (attemptNumber === last.current) result.value = answer
    })
  const key = JSON.stringify({ ...price_alert, name: '', webhook_url: '' })
  useEffect(() => {
    if (!series || !isWhole(draft.value)) return undefined
    const timer = setTimeout(() => void backtest(), previewDelayMs)
    return () => clearTimeout(timer)
  }, [key, series?.code])
  const save = () =>
    attempt(async () => {
      await (alert
        ? ask(`/v1/alerts/${alert.id}`, { method: 'PATCH', body: { price_alert } })
        : ask('/v1/alerts', { method: 'POST', body: { price_alert } }))
      route('/alerts')
    })
  const levels =
    level === undefined || !Number.isFinite(level)
      ? []
      : [
          { value: level, label: `${signOf(operator)} ${number(level)}` },
          ...(operator === 'between' && draft.value.max !== ''
            ? [{ value: Number(draft.value.max), label: number(Number(draft.value.max)) }]
            : []),
        ]
  return (
    <Page
      title={alert ? alert.name : 'New alert'}
      about="The backtest shows when the alert would have fired in the past year."
    >
      <div class="split">
        <section class="card" aria-label="The past year">
          {codesRefusal.value && <Refused error={codesRefusal.value} />}
          {chart.refusal && <Refused error={chart.refusal} />}
          {(chart.isLoading || !(areCodesHere.value || codesRefusal.value)) && !chart.data && (
            <Waiting what="prices" />
          )}
          {!series && codes.value.length > 0 && (
            <Notice mood="warn">
              There is no code {code}. Near it:{' '}
              {nearCodes(code.replaceAll('_', ' '), 3)
                .map(near => near.code)
                .join(', ') || 'none'}
              .
            </Notice>
          )}
          {chart.data?.times.length === 0 && (
            <Empty>
              {chart.data.name} has no prices yet. The alert fires on the first price that meets its
              condition.
            </Empty>
          )}
          {areCodesHere.value && codes.value.length === 0 && (
            <Empty>
              No series has data yet, so there is nothing to backtest. <WhoBringsData />
            </Empty>
          )}
          {chart.data && chart.data.times.length > 0 && (
            <Chart
              title={`${chart.data.name} over the past year`}
              times={chart.data.times}
              lines={[{ label: chart.data.code, values: chart.data.close, ink: '--ink-1' }]}
              decimals={chart.data.decimals}
              levels={levels}
              marks={(result.value?.triggers ?? []).map(
                ({ triggered_at }) => Date.parse(triggered_at) / 1000,
              )}
            />
          )}
          {result.value && (
            <Notice mood="good">
              <strong>Would have fired {timesText(result.value.trigger_count)}</strong> between{' '}
              {result.value.from.slice(0, 10)} and {result.value.to.slice(0, 10)}.
              {result.value.triggers.length > 0 && (
                <> First on {instant(result.value.triggers[0]!.triggered_at)}.</>
              )}
            </Notice>
          )}
        </section>
        <form class="card" aria-label="Condition" onSubmit={submits(() => save())}>
          <label>
            Code
            <input
              list="alert-codes"
              required
              value={code}
              onInput={event => set({ code: event.currentTarget.value })}
            />
            <datalist id="alert-codes">
              {matchingCodes(code.replaceAll('_', ' '), 8).map(near => (
                <option key={near.code} value={near.code}>
                  {near.name}
                </option>
              ))}
            </datalist>
          </label>
          <Select
            label="Fires when"
            of={kinds.filter(({ value }) => value === kind || mayMake(value))}
            value={kind}
            onChange={event => {
              const next = event.currentTarget.value
              set({ kind: next, value: thresholds[next]?.first ?? '' })
            }}
          />
          {kind === 'price' ? (
            <PriceFields draft={draft.value} set={set} newest={newest} />
          ) : (
            <AnalyticsFields draft={draft.value} set={set} />
          )}
          <Input
            label="Name"
            maxLength={100}
            placeholder={value === '' ? 'Brent above 90' : nameOf(draft.value)}
            value={draft.value.name}
            onInput={event => {
              draft.value = { ...draft.value, name: event.currentTarget.value }
            }}
          />
          <Select
            label="Cool-down"
            of={[...new Set([...pauses.map(pause => pause.value), first.cooldownMinutes])]}
            textOf={minutes =>
              pauses.find(pause => pause.value === minutes)?.text ?? `${minutes} minutes`
            }
            value={draft.value.cooldownMinutes}
            onChange={event => set({ cooldownMinutes: event.currentTarget.value })}
          />
          <Input
            label="Extra webhook (optional)"
            type="url"
            placeholder="https://desk.example.com/alerts"
            value={draft.value.webhookUrl}
            onInput={event => {
              draft.value = { ...draft.value, webhookUrl: event.currentTarget.value }
            }}
          />
          {refusal.value && <Refused error={refusal.value} />}
          <div class="row">
            <Button
              label="Run backtest"
              isOff={isBusy.value || !isWhole(draft.value)}
              onClick={() => backtest()}
            />
            <May action="change_data">
              <button
                type="submit"
                class="main"
                aria-disabled={isBusy.value || !isWhole(draft.value)}
              >
                {alert ? 'Save alert' : 'Create alert'}
              </button>
            </May>
          </div>
        </form>
      </div>
      {alert && (
        <Table
          caption="Trigger history"
          file="alert-history"
          rows={alert.trigger_history}
          keyOf={row => row.triggered_at}
          empty="This alert has not fired yet. The chart shows when it would have fired in the past year."
          columns={({ column, numeric }) => [
            column('When', 'triggered_at', { write: instant }),
            column('Condition', 'condition', { isWide: true }),
            numeric('Value', 'value', { write: figure }),
            column('Channels', ({ channels }) => channels.map(words).join(', '), {
              className: 'quiet',
            }),
          ]}
        />
      )}
    </Page>
  )
}

const pauses = [
  { value: '0', text: 'none' },
  { value: '15', text: '15 minutes' },
  { value: '60', text: 'an hour' },
  { value: '1440', text: 'a day' },
] as const

interface FieldsProps {
  draft: Draft
  set: (change: Partial<Draft>) => void
}

const PriceFields = ({ draft, set, newest }: FieldsProps & { newest: number | undefined }) => (
  <>
    <Select
      label="The price"
      of={operators.map(([value, { choice }]) => ({ value, text: choice }))}
      value={draft.operator}
      onChange={event => set({ operator: event.currentTarget.value as typeof draft.operator })}
    />
    <PriceInput
      label={
        (draft.operator === 'between' ? 'Lowest' : 'Price') +
        (newest === undefined ? '' : ` (now ${number(newest)})`)
      }
      value={draft.value}
      onValue={value => set({ value })}
    />
    {draft.operator === 'between' && (
      <PriceInput label="Highest" value={draft.max} onValue={max => set({ max })} />
    )}
  </>
)

interface PriceInputProps {
  label: string
  value: string
  onValue: (value: string) => void
}

const PriceInput = ({ label, value, onValue }: PriceInputProps) => (
  <Input
    label={label}
    required
    type="number"
    step="any"
    inputMode="decimal"
    value={value}
    onInput={event => onValue(event.currentTarget.value)}
  />
)

const AnalyticsFields = ({ draft, set }: FieldsProps) => (
  <>
    <Input
      label={`Window, ${draft.kind === 'rsi' ? 'closes' : 'days'}`}
      required
      type="number"
      min={2}
      max={365}
      value={draft.period}
      onInput={event => set({ period: event.currentTarget.value })}
    />
    {thresholds[draft.kind] && (
      <label>
        {thresholds[draft.kind]!.label}
        {draft.kind === 'rsi' &&
          draft.value !== '' &&
          `, oversold below ${100 - Number(draft.value)}`}
        <input
          required
          type="number"
          step={draft.kind === 'rsi' ? 1 : 'any'}
          value={draft.value}
          onInput={event => set({ value: event.currentTarget.value })}
        />
      </label>
    )}
    {draft.kind === 'z_score' && (
      <Select
        label="Side"
        of={['both', 'above', 'below']}
        textOf={side => (side === 'both' ? side : `${side} the mean`)}
        value={draft.direction}
        onChange={event => set({ direction: event.currentTarget.value })}
      />
    )}
  </>
)

interface Preferences {
  email: { enabled: boolean; price_alerts: boolean }
  sms: { enabled: boolean; price_alerts: boolean }
}

/** The channels on which the account receives alerts. */
function Channels() {
  const answer = useAnswer<Preferences>('/v1/notification_preferences')
  const { refusal, attempt } = useAttempt()
  const change = (way: 'email' | 'sms', isOn: boolean) =>
    attempt(async () => {
      answer.set(
        await ask<Preferences>('/v1/notification_preferences', {
          method: 'PATCH',
          body: { [way]: isOn ? { enabled: true, price_alerts: true } : { price_alerts: false } },
        }),
      )
    })
  return (
    <section class="card" aria-labelledby="channels">
      <h2 id="channels">Channels</h2>
      <Shown of={answer} what="channels">
        {({ email, sms }) => (
          <div class="row">
            {(
              [
                ['email', 'E-mail', email],
                ['sms', 'Text message', sms],
              ] as const
            ).map(([way, text, { enabled, price_alerts }]) => (
              <label class="inline" key={way}>
                <input
                  type="checkbox"
                  checked={enabled && price_alerts}
                  onChange={event => void change(way, event.currentTarget.checked)}
                />
                {text}
              </label>
            ))}
            <span class="quiet small">
              A webhook is the alert’s own, or an <a href="/webhooks">endpoint</a> that receives{' '}
              <code>price_alert.triggered</code>. Text messages go to{' '}
              <a href="/account/notifications">your phone</a>.
            </span>
          </div>
        )}
      </Shown>
      {refusal.value && <Refused error={refusal.value} />}
    </section>
  )
}
