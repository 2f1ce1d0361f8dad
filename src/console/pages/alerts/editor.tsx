import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { Empty, May, Notice, Refused, Waiting, WhoBringsData } from '../../parts/bits.tsx'
import { Button } from '../../parts/buttons.tsx'
import { Chart } from '../../parts/charts/chart.tsx'
import { Input, Options, Select } from '../../parts/fields.tsx'
import { Page } from '../../parts/page.tsx'
import { ask, type Loaded, useAttempt, useData } from '../../parts/requests/ask.ts'
import {
  areCodesHere,
  codes,
  codesRefusal,
  matchingCodes,
  nearCodes,
  wantCodes,
} from '../../parts/requests/codes.ts'
import { Table } from '../../parts/tables/table.tsx'
import { submits, useDraft, useSettled } from '../../parts/text/form.ts'
import { figure, instant, number, timesText, words } from '../../parts/text/format.ts'
import type { ChartAnswer } from '../series/answer.ts'
import { type Backtest, testStart, useBacktest } from './backtest.ts'
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

const previewDelayMs = 600
/** How far above the newest price the proposed level is, as a share of its size. */
const proposedMove = 0.05

/** Creates or changes an alert, with a live backtest over the past year. */
export function Editor({ first, alert }: { first: Draft; alert?: WholeAlert }) {
  const { route } = useLocation()
  const form = useDraft(first)
  const { draft, set } = form
  useEffect(wantCodes, [])
  const code = draft.code.trim().toUpperCase()
  const isKnown = codes.value.some(({ code: listed }) => listed === code)
  const path = `/v1/prices/chart?code=${code}&start_date=${testStart()}`
  const chart = useData<ChartAnswer>(isKnown ? path : undefined)
  const tested = isWhole(draft)
    ? JSON.stringify({ ...bodyOf(draft), name: 'Backtest', webhook_url: null })
    : undefined
  const settled = useSettled(tested, previewDelayMs)
  const backtest = useBacktest(settled, isKnown)
  const { refusal, isBusy, attempt } = useAttempt()
  const newest = chart.data?.close.at(-1)
  useEffect(() => {
    // The backtest needs a level, so one is proposed.
    if (newest !== undefined && draft.kind === 'price' && draft.value === '')
      set({ value: String(Number((newest + proposedMove * Math.abs(newest)).toPrecision(3))) })
  }, [newest])
  const save = () =>
    attempt(async () => {
      const body = { price_alert: bodyOf(draft) }
      await (alert
        ? ask(`/v1/alerts/${alert.id}`, { method: 'PATCH', body })
        : ask('/v1/alerts', { method: 'POST', body }))
      route('/alerts')
    })
  const isOff = backtest.isLoading || isBusy.value || settled === undefined
  return (
    <Page
      title={alert ? alert.name : 'New alert'}
      about="The backtest shows when the alert would have fired in the past year."
    >
      <div class="split">
        <PastYear
          draft={draft}
          isKnown={isKnown}
          chart={chart}
          result={backtest.data?.alert === tested ? backtest.data : undefined}
        />
        <form class="card" aria-label="Condition" onSubmit={submits(save)}>
          <Condition
            form={form}
            newest={newest === undefined ? '' : ` (now ${number(newest, chart.data?.decimals)})`}
            cooldown={first.cooldownMinutes}
          />
          {refusal.value && <Refused error={refusal.value} />}
          {backtest.refusal && <Refused error={backtest.refusal} />}
          <div class="row">
            <Button label="Run backtest" isOff={isOff} onClick={backtest.reload} />
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
  form: ReturnType<typeof useDraft<Draft>>
  /** Words for the newest price, behind the name of a field. */
  newest: string
  /** The cooldown that the alert has, in minutes. */
  cooldown: string
}

/** The fields of an alert. */
function Condition({ form: { draft, set, field }, newest, cooldown }: ConditionProps) {
  const { code, kind, operator, value } = draft
  const near = matchingCodes(code.replaceAll('_', ' '), 8)
  return (
    <>
      <Input label="Code" list="alert-codes" required {...field('code')} />
      <datalist id="alert-codes">
        <Options of={near.map(({ code, name }) => ({ value: code, text: name }))} />
      </datalist>
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
        <>
          <Select
            label="The price"
            of={operators.map(([value, { choice }]) => ({ value, text: choice }))}
            {...field('operator')}
          />
          <Input
            label={(operator === 'between' ? 'Lowest' : 'Price') + newest}
            {...price}
            {...field('value')}
          />
          {operator === 'between' && <Input label="Highest" {...price} {...field('max')} />}
        </>
      ) : (
        <>
          <Input
            label={`Window, ${kind === 'rsi' ? 'closes' : 'days'}`}
            required
            type="number"
            min={2}
            max={365}
            {...field('period')}
          />
          {thresholds[kind] && (
            <Input
              label={
                thresholds[kind].label +
                (kind === 'rsi' && value !== '' ? `, oversold below ${100 - Number(value)}` : '')
              }
              required
              type="number"
              step={kind === 'rsi' ? 1 : 'any'}
              {...field('value')}
            />
          )}
          {kind === 'z_score' && (
            <Select
              label="Side"
              of={['both', 'above', 'below']}
              textOf={side => (side === 'both' ? side : `${side} the mean`)}
              {...field('direction')}
            />
          )}
        </>
      )}
      <Input
        label="Name"
        maxLength={100}
        placeholder={value === '' ? 'Brent above 90' : nameOf(draft)}
        {...field('name')}
      />
      <Select
        label="Cooldown"
        of={[...new Set([...Object.keys(pauses), cooldown])]}
        textOf={minutes => pauses[minutes] ?? `${minutes} minutes`}
        {...field('cooldownMinutes')}
      />
      <Input
        label="Extra webhook (optional)"
        type="url"
        placeholder="https://desk.example.com/alerts"
        {...field('webhookUrl')}
      />
    </>
  )
}

const price = { required: true, type: 'number', step: 'any', inputMode: 'decimal' } as const

/** Cooldowns in minutes. */
const pauses: Readonly<Record<string, string>> = {
  0: 'none',
  15: '15 minutes',
  60: 'an hour',
  1440: 'a day',
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
