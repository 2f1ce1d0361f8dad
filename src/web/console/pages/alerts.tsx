import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso'
import { ask, dataOf, useLoaded } from '../parts/ask.ts'
import { Confirmed, Members, Notice, Page, Refused, Tag } from '../parts/bits.tsx'
import { now } from '../parts/boot.ts'
import { Chart } from '../parts/chart.tsx'
import { codes, loadCodes, matchingCodes } from '../parts/codes.ts'
import { ago, instant, number } from '../parts/format.ts'
import { Table } from '../parts/table.tsx'
import type { ChartAnswer } from './series.tsx'

interface Alert {
  id: string
  name: string
  commodity_code: string
  condition_operator: string
  condition_value: number
  analytics_type: string | null
  cooldown_minutes: number
  enabled: boolean
  trigger_count: number
  last_triggered_at: string | null
  in_cooldown: boolean
  suspended_reason: string | null
}

interface Trigger {
  id: string
  alert_id: string
  alert_name?: string
  commodity_code?: string
  price?: number
  value?: number
  triggered_at: string
}

interface Backtest {
  condition: string
  from: string
  to: string
  trigger_count: number
  triggers: { triggered_at: string; value: number }[]
}

const operators = [
  { value: 'greater_than', text: 'rises above' },
  { value: 'greater_than_or_equal', text: 'reaches or rises above' },
  { value: 'less_than', text: 'falls below' },
  { value: 'less_than_or_equal', text: 'reaches or falls below' },
] as const

const signs: Readonly<Record<string, string>> = {
  greater_than: '>',
  greater_than_or_equal: '≥',
  less_than: '<',
  less_than_or_equal: '≤',
  equals: '=',
  not_equals: '≠',
  between: 'between',
}

const isoDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
const yearMs = 366 * 86_400_000

export function Alerts() {
  const { params } = useRoute()
  return <Members title="Alerts">{() => (params.id === 'new' ? <Editor /> : <List />)}</Members>
}

function List() {
  const alerts = useLoaded('alerts', signal => ask<Alert[]>('/v1/alerts', { signal }))
  const triggers = useLoaded('triggers', signal =>
    ask<{ triggers: Trigger[] }>('/v1/alerts/triggers?per_page=20', { signal }),
  )
  const refusal = useSignal<Error | undefined>(undefined)
  const change = async (work: Promise<unknown>) => {
    try {
      await work
      refusal.value = undefined
    } catch (error) {
      refusal.value = error as Error
    }
    await alerts.reload()
  }
  return (
    <Page
      title="Alerts"
      about="You are told when a price meets a condition: by e-mail, text message or webhook, as your notifications are set."
      actions={
        <a class="button main" href="/alerts/new">
          New alert
        </a>
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
            <p>There are no alerts. Make one and see first how often it would have fired.</p>
            <a class="button" href="/alerts/new">
              New alert
            </a>
          </>
        }
        columns={[
          {
            name: 'Alert',
            value: ({ name }) => name,
            show: alert => (
              <>
                {alert.name}
                <div class="code">
                  <a href={`/series/${alert.commodity_code}`}>{alert.commodity_code}</a>
                </div>
              </>
            ),
          },
          {
            name: 'Condition',
            className: 'nowrap',
            value: alert =>
              `${alert.analytics_type ?? 'price'} ${signs[alert.condition_operator]} ${number(alert.condition_value)}`,
          },
          { name: 'Fired', isNumber: true, isWide: true, value: row => row.trigger_count },
          {
            name: 'Last',
            isWide: true,
            className: 'quiet',
            value: row => row.last_triggered_at,
            show: row => ago(row.last_triggered_at),
          },
          { name: 'State', value: stateOf, show: alert => <State alert={alert} /> },
          {
            name: 'What to do',
            isHeard: true,
            show: alert => (
              <div class="row">
                <button
                  type="button"
                  class="tight"
                  aria-label={`${alert.enabled ? 'Mute' : 'Turn on'} ${alert.name}`}
                  onClick={() =>
                    void change(
                      ask(`/v1/alerts/${alert.id}`, {
                        method: 'PATCH',
                        body: { enabled: !alert.enabled },
                      }),
                    )
                  }
                >
                  {alert.enabled ? 'Mute' : 'Turn on'}
                </button>
                <Confirmed
                  label="Delete"
                  question={`Delete the alert “${alert.name}”? Its history stays.`}
                  onConfirm={() => change(ask(`/v1/alerts/${alert.id}`, { method: 'DELETE' }))}
                />
              </div>
            ),
          },
        ]}
      />
      <Table
        caption="What has fired"
        file="fired"
        of={triggers}
        rows={triggers.data?.triggers}
        keyOf={({ id }) => id}
        empty="No alert has fired yet. Try a condition on the past year to see when it would have."
        columns={[
          {
            name: 'Alert',
            value: row => row.alert_name ?? row.commodity_code ?? 'Alert',
          },
          {
            name: 'Value',
            isNumber: true,
            value: row => row.price ?? row.value,
            show: row => number(row.price ?? row.value ?? 0),
          },
          {
            name: 'When',
            isNumber: true,
            className: 'quiet',
            value: row => row.triggered_at,
            show: row => instant(row.triggered_at),
          },
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

/** Makes an alert, after it has been tried on the past. */
function Editor() {
  const { query, route } = useLocation()
  const code = useSignal(query.code ?? 'BRENT_CRUDE_USD')
  const operator = useSignal<string>('greater_than')
  const value = useSignal(query.value ?? '')
  const name = useSignal('')
  const cooldownMinutes = useSignal('1440')
  const refusal = useSignal<Error | undefined>(undefined)
  const result = useSignal<Backtest | undefined>(undefined)
  const isBusy = useSignal(false)
  useEffect(() => void loadCodes().catch(() => {}), [])

  const series = codes.value.find(({ code: listed }) => listed === code.value.toUpperCase())
  const path = series && `/v1/prices/chart?code=${series.code}&start_date=${isoDay(now() - yearMs)}`
  const chart = useLoaded(path, signal => dataOf<ChartAnswer>(path!, { signal }))
  const last = chart.data?.close.at(-1)
  const level = value.value === '' ? undefined : Number(value.value)
  const price_alert = {
    name: name.value || `${series?.name ?? code.value} ${signs[operator.value]} ${value.value}`,
    commodity_code: code.value.toUpperCase(),
    condition_operator: operator.value,
    condition_value: level,
    cooldown_minutes: Number(cooldownMinutes.value),
  }

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
      result.value = await ask<Backtest>('/v1/alerts/backtest', {
        method: 'POST',
        body: { price_alert, start_date: isoDay(now() - yearMs), end_date: isoDay(now()) },
      })
    })
  const make = () =>
    attempt(async () => {
      await ask('/v1/alerts', { method: 'POST', body: { price_alert } })
      route('/alerts')
    })
  const forget = () => {
    result.value = undefined
  }

  return (
    <Page title="New alert" about="Try it on the past year before you make it.">
      <div class="split">
        <section class="card" aria-label="The past year">
          {chart.refusal && <Refused error={chart.refusal} />}
          {!series && codes.value.length > 0 && (
            <Notice mood="warn">
              There is no code {code.value}. Near it:{' '}
              {matchingCodes(code.value.replaceAll('_', ' '), 3)
                .map(near => near.code)
                .join(', ') || 'none'}
              .
            </Notice>
          )}
          {chart.data && (
            <Chart
              title={`${chart.data.name} over the past year`}
              times={chart.data.times}
              lines={[{ label: chart.data.code, values: chart.data.close, ink: '--ink-1' }]}
              decimals={chart.data.decimals}
              levels={
                level !== undefined && Number.isFinite(level)
                  ? [{ value: level, label: `${signs[operator.value]} ${number(level)}` }]
                  : []
              }
              marks={(result.value?.triggers ?? []).map(
                ({ triggered_at }) => Date.parse(triggered_at) / 1000,
              )}
            />
          )}
          {result.value && (
            <Notice mood="good">
              <strong>
                Would have fired {result.value.trigger_count}{' '}
                {result.value.trigger_count === 1 ? 'time' : 'times'}
              </strong>{' '}
              between {result.value.from.slice(0, 10)} and {result.value.to.slice(0, 10)}.
              {result.value.triggers.length > 0 && (
                <> First on {instant(result.value.triggers[0]!.triggered_at)}.</>
              )}
            </Notice>
          )}
        </section>
        <form
          class="card"
          aria-label="Condition"
          onSubmit={event => {
            event.preventDefault()
            void make()
          }}
        >
          <label>
            Code
            <input
              list="alert-codes"
              required
              value={code.value}
              onInput={event => {
                code.value = event.currentTarget.value
                forget()
              }}
            />
            <datalist id="alert-codes">
              {matchingCodes(code.value.replaceAll('_', ' '), 8).map(near => (
                <option key={near.code} value={near.code}>
                  {near.name}
                </option>
              ))}
            </datalist>
          </label>
          <label>
            Fires when the price
            <select
              value={operator.value}
              onChange={event => {
                operator.value = event.currentTarget.value
                forget()
              }}
            >
              {operators.map(({ value: word, text }) => (
                <option key={word} value={word}>
                  {text}
                </option>
              ))}
            </select>
          </label>
          <label>
            Price {last !== undefined && `(now ${number(last, chart.data?.decimals)})`}
            <input
              required
              type="number"
              step="any"
              inputMode="decimal"
              value={value.value}
              onInput={event => {
                value.value = event.currentTarget.value
                forget()
              }}
            />
          </label>
          <label>
            Name
            <input
              maxLength={100}
              placeholder={value.value === '' ? 'Brent above 90' : price_alert.name}
              value={name.value}
              onInput={event => {
                name.value = event.currentTarget.value
              }}
            />
          </label>
          <label>
            Then quiet for
            <select
              value={cooldownMinutes.value}
              onChange={event => {
                cooldownMinutes.value = event.currentTarget.value
                forget()
              }}
            >
              <option value="15">15 minutes</option>
              <option value="60">an hour</option>
              <option value="1440">a day</option>
            </select>
          </label>
          {refusal.value && <Refused error={refusal.value} />}
          <div class="row">
            <button
              type="button"
              disabled={isBusy.value || value.value === ''}
              onClick={() => void backtest()}
            >
              Try on the past
            </button>
            <button type="submit" class="main" disabled={isBusy.value}>
              Make the alert
            </button>
          </div>
        </form>
      </div>
    </Page>
  )
}
