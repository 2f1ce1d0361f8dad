import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { dayMs, isoDay } from '../../../lib/time/instant.ts'
import type { BacktestShape as Backtest } from '../../../topics/alerts/operations/tests.ts'
import {
  Button,
  Empty,
  Input,
  May,
  Notice,
  Page,
  Refused,
  Select,
  Waiting,
  WhoBringsData,
} from '../../parts/bits.tsx'
import { Chart } from '../../parts/charts/chart.tsx'
import { ask, useData } from '../../parts/requests/ask.ts'
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
