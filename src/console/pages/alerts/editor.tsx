import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { dayMs, isoDay } from '../../../lib/time/instant.ts'
import type { BacktestShape as Backtest } from '../../../topics/alerts/operations/tests.ts'
import { Empty, May, Notice, Refused, Waiting, WhoBringsData } from '../../parts/bits.tsx'
import { Button } from '../../parts/buttons.tsx'
import { Chart } from '../../parts/charts/chart.tsx'
import { Input, Select } from '../../parts/fields.tsx'
import { Page } from '../../parts/page.tsx'
import { ask, type Loaded, useData } from '../../parts/requests/ask.ts'
import { now } from '../../parts/requests/boot.ts'
import {
  areCodesHere,
  codes,
  codesRefusal,
  matchingCodes,
  nearCodes,
  wantCodes,
} from '../../parts/requests/codes.ts'
import { Table } from '../../parts/tables/table.tsx'
import { submits } from '../../parts/text/form.ts'
import { figure, instant, number, timesText, words } from '../../parts/text/format.ts'
import type { ChartAnswer } from '../series/answer.ts'
import {
  bodyOf,
  type Draft,
  isWhole,
  kinds,
  mayMake,
  nameOf,
  operators,
  signOf,
  thresholds,
  type WholeAlert,
} from './draft.ts'

const yearMs = 366 * dayMs

const previewDelayMs = 600
/** How far above the newest price the proposed level is, as a share of its size. */
const proposedMove = 0.05

/** Creates or changes an alert, with a live backtest over the past year. */
export function Editor({ first, alert }: { first: Draft; alert?: WholeAlert }) {
  const { route } = useLocation()
  const draft = useSignal(first)
  useEffect(wantCodes, [])
  const code = draft.value.code.trim().toUpperCase()
  const isKnown = codes.value.some(({ code: listed }) => listed === code)
  const path = `/v1/prices/chart?code=${code}&start_date=${isoDay(now() - yearMs)}`
  const chart = useData<ChartAnswer>(isKnown ? path : undefined)
  const { result, refusal, isBusy, attempt, backtest } = useBacktest(draft, isKnown)
  const set = (change: Partial<Draft>) => {
    draft.value = { ...draft.value, ...change }
    result.value = undefined
  }
  const newest = chart.data?.close.at(-1)
  useEffect(() => {
    // The backtest needs a level, so one is proposed.
    if (newest !== undefined && draft.value.kind === 'price' && draft.value.value === '')
      set({ value: String(Number((newest + proposedMove * Math.abs(newest)).toPrecision(3))) })
  }, [newest])
  const save = () =>
    attempt(async () => {
      const body = { price_alert: bodyOf(draft.value) }
      await (alert
        ? ask(`/v1/alerts/${alert.id}`, { method: 'PATCH', body })
        : ask('/v1/alerts', { method: 'POST', body }))
      route('/alerts')
    })
  const isOff = isBusy.value || !isWhole(draft.value)
  return (
    <Page
      title={alert ? alert.name : 'New alert'}
      about="The backtest shows when the alert would have fired in the past year."
    >
      <div class="split">
        <PastYear draft={draft.value} isKnown={isKnown} chart={chart} result={result.value} />
        <form class="card" aria-label="Condition" onSubmit={submits(() => save())}>
          <Condition
            draft={draft}
            set={set}
            newest={newest === undefined ? '' : ` (now ${number(newest, chart.data?.decimals)})`}
            cooldown={first.cooldownMinutes}
          />
          {refusal.value && <Refused error={refusal.value} />}
          <div class="row">
            <Button label="Run backtest" isOff={isOff} onClick={() => backtest()} />
            <May action="change_data">
              <button type="submit" class="main" aria-disabled={isOff}>
                {alert ? 'Save alert' : 'Create alert'}
              </button>
            </May>
          </div>
        </form>
      </div>
      {alert && <History alert={alert} />}
    </Page>
  )
}

/** Tests a draft shortly after each change; only the response to the latest one is shown. */
function useBacktest(draft: Signal<Draft>, isKnown: boolean) {
  const refusal = useSignal<Error | undefined>(undefined)
  const result = useSignal<Backtest | undefined>(undefined)
  const isBusy = useSignal(false)
  const last = useRef(0)
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
  const key = JSON.stringify({ ...bodyOf(draft.value), name: '', webhook_url: '' })
  useEffect(() => {
    // The response to a request that is on its way belongs to the draft before.
    last.current += 1
    if (!isKnown || !isWhole(draft.value)) return undefined
    const timer = setTimeout(() => void backtest(), previewDelayMs)
    return () => clearTimeout(timer)
  }, [key, isKnown])
  return { result, refusal, isBusy, attempt, backtest }
}

interface PastYearProps {
  draft: Draft
  /** The code of the draft is in the catalogue. */
  isKnown: boolean
  chart: Loaded<ChartAnswer>
  result: Backtest | undefined
}

/** The prices of a year with the level of the condition, and when it was met. */
function PastYear({ draft, isKnown, chart: { data, refusal, isLoading }, result }: PastYearProps) {
  const isWaiting = isLoading || !(areCodesHere.value || codesRefusal.value)
  return (
    <section class="card" aria-label="The past year">
      {codesRefusal.value && <Refused error={codesRefusal.value} />}
      {refusal && <Refused error={refusal} />}
      {isWaiting && !data && <Waiting what="prices" />}
      {!isKnown && codes.value.length > 0 && (
        <Notice mood="warn">
          There is no code {draft.code}. Near it:{' '}
          {nearCodes(draft.code.replaceAll('_', ' '), 3)
            .map(near => near.code)
            .join(', ') || 'none'}
          .
        </Notice>
      )}
      {data?.times.length === 0 && (
        <Empty>
          {data.name} has no prices yet. The alert fires on the first price that meets its
          condition.
        </Empty>
      )}
      {areCodesHere.value && codes.value.length === 0 && (
        <Empty>
          No series has data yet, so there is nothing to backtest. <WhoBringsData />
        </Empty>
      )}
      {data && data.times.length > 0 && (
        <Chart
          title={`${data.name} over the past year`}
          times={data.times}
          lines={[{ label: data.code, values: data.close, ink: '--ink-1' }]}
          decimals={data.decimals}
          levels={levelsOf(draft)}
          marks={(result?.triggers ?? []).map(
            ({ triggered_at }) => Date.parse(triggered_at) / 1000,
          )}
        />
      )}
      {result && (
        <Notice mood="good">
          <strong>Would have fired {timesText(result.trigger_count)}</strong> between{' '}
          {result.from.slice(0, 10)} and {result.to.slice(0, 10)}.
          {result.triggers.length > 0 && (
            <> First on {instant(result.triggers[0]!.triggered_at)}.</>
          )}
        </Notice>
      )}
    </section>
  )
}

/** The prices at which the condition of a draft is met. */
function levelsOf({ kind, operator, value, max }: Draft): { value: number; label: string }[] {
  const level = Number(value)
  if (kind !== 'price' || value === '' || !Number.isFinite(level)) return []
  return [
    { value: level, label: `${signOf(operator)} ${number(level)}` },
    ...(operator === 'between' && max !== ''
      ? [{ value: Number(max), label: number(Number(max)) }]
      : []),
  ]
}

interface ConditionProps {
  draft: Signal<Draft>
  /** Changes the draft, which ends its backtest. */
  set: (change: Partial<Draft>) => void
  /** Words for the newest price, behind the name of a field. */
  newest: string
  /** The cooldown that the alert has, in minutes. */
  cooldown: string
}

/** The fields of an alert. */
function Condition({ draft, set, newest, cooldown }: ConditionProps) {
  const { code, kind, value, name, cooldownMinutes, webhookUrl } = draft.value
  return (
    <>
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
        value={name}
        onInput={event => {
          draft.value = { ...draft.value, name: event.currentTarget.value }
        }}
      />
      <Select
        label="Cooldown"
        of={[...new Set([...pauses.map(pause => pause.value), cooldown])]}
        textOf={minutes =>
          pauses.find(pause => pause.value === minutes)?.text ?? `${minutes} minutes`
        }
        value={cooldownMinutes}
        onChange={event => set({ cooldownMinutes: event.currentTarget.value })}
      />
      <Input
        label="Extra webhook (optional)"
        type="url"
        placeholder="https://desk.example.com/alerts"
        value={webhookUrl}
        onInput={event => {
          draft.value = { ...draft.value, webhookUrl: event.currentTarget.value }
        }}
      />
    </>
  )
}

const History = ({ alert }: { alert: WholeAlert }) => (
  <Table
    caption="Trigger history"
    file="alert-history"
    rows={alert.trigger_history}
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
)

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

const PriceFields = ({ draft, set, newest }: FieldsProps & { newest: string }) => (
  <>
    <Select
      label="The price"
      of={operators.map(([value, { choice }]) => ({ value, text: choice }))}
      value={draft.operator}
      onChange={event => set({ operator: event.currentTarget.value as typeof draft.operator })}
    />
    <PriceInput
      label={(draft.operator === 'between' ? 'Lowest' : 'Price') + newest}
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
