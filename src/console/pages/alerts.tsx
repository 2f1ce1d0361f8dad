import { useLocation, useRoute } from 'preact-iso'
import type { TriggerShape } from '../../topics/alerts/operations/row.ts'
import type { BoardRow } from '../../topics/prices/operations/board.ts'
import { May, Parted, Refused, Tag } from '../parts/bits.tsx'
import { Absent, Members, Page } from '../parts/page.tsx'
import { Included } from '../parts/person/included.tsx'
import { NotificationSwitches } from '../parts/person/notification-switches.tsx'
import { ask, dataOf, useAnswer, useChange, useLoaded } from '../parts/requests/ask.ts'
import { mayDo } from '../parts/requests/boot.ts'
import { boardPath } from '../parts/requests/first.ts'
import { pagedRows, usePages } from '../parts/requests/pages.ts'
import { actions, aside, seriesLink } from '../parts/tables/columns.tsx'
import { RowButtons } from '../parts/tables/row-buttons.tsx'
import { Table, twoLines } from '../parts/tables/table.tsx'
import { ago, decimalsOf, instant, number, signed, words } from '../parts/text/format.ts'
import {
  type Alert,
  draftOf,
  emptyDraft,
  mayMake,
  signOf,
  thresholds,
  type WholeAlert,
} from './alerts/draft.ts'
import { Editor } from './alerts/editor.tsx'
import { distanceOf, nearestFirst } from './alerts/nearness.ts'

/** With what an analytics alert measured when it fired. */
type Trigger = Omit<TriggerShape, 'metadata'> & {
  metadata: { z_score?: number; rsi?: number; volatility?: number; trend?: string } | null
}

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

const priceText = (price: number | undefined): string =>
  price === undefined ? '–' : number(price, Math.max(2, decimalsOf(price)))

const distanceText = (percent: number | undefined): string =>
  percent === undefined ? '–' : percent === 0 ? 'met' : `${signed(percent, 1)}%`

/** As many as one request takes. */
const codesMax = 200

function List() {
  const alerts = useAnswer<Alert[]>('/v1/alerts')
  const triggers = usePages<Trigger>('/v1/alerts/triggers?per_page=20', 'triggers')
  const watched = new Set(alerts.data?.map(alert => alert.commodity_code))
  const list = [...watched].slice(0, codesMax).join(',')
  const prices = useLoaded(list || undefined, async signal => {
    const { rows } = await dataOf<{ rows: BoardRow[] }>(`${boardPath}?codes=${list}`, { signal })
    return new Map(rows.map(({ code, price }) => [code, price]))
  })
  const { refusal, change } = useChange(alerts)
  const priceOf = ({ commodity_code: code }: Alert) => prices.data?.get(code)
  const distance = (alert: Alert) => distanceOf(alert, priceOf(alert))
  // Rows would move below the pointer once the prices are there.
  const isWaiting = prices.isLoading && prices.data === undefined
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
        of={{ ...alerts, isLoading: alerts.isLoading || isWaiting }}
        rows={isWaiting ? undefined : alerts.data && nearestFirst(alerts.data, distance)}
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
              <div class="code">
                {seriesLink(alert.commodity_code, <Parted text={alert.commodity_code} />)}
              </div>
              <div class="quiet small narrow-only">
                {conditionOf(alert)}, now {priceText(priceOf(alert))} (
                {distanceText(distance(alert))})
              </div>
              <div class="narrow-only">
                <State alert={alert} />
              </div>
            </>
          )),
          {
            name: 'Condition',
            isWide: true,
            value: conditionOf,
          },
          numeric('Now', priceOf, { isWide: true, write: priceText }),
          numeric('Distance', distance, {
            fileName: 'distance_percent',
            isWide: true,
            show: alert => distanceText(distance(alert)),
          }),
          numeric('Fired', 'trigger_count', { isWide: true }),
          column('Last', 'last_triggered_at', { ...aside, write: ago }),
          { name: 'State', isWide: true, value: stateOf, show: alert => <State alert={alert} /> },
          {
            ...actions,
            needs: 'change_data',
            show: ({ id, name, enabled }) => (
              <RowButtons
                isOn={enabled}
                words={['Mute', 'Unmute']}
                onTurn={isOn => change(`/v1/alerts/${id}`, 'PATCH', { enabled: isOn })}
                question={`Delete the alert “${name}”? Its history stays.`}
                onDelete={() => change(`/v1/alerts/${id}`, 'DELETE')}
              />
            ),
          },
        ]}
      />
      <section class="card" aria-labelledby="channels">
        <h2 id="channels">Channels</h2>
        <div class="row">
          <NotificationSwitches only="price_alerts" />
          <span class="quiet small">
            Channels and your phone are set under <a href="/account/notifications">Notifications</a>
            . For a webhook, enter its address in the alert, or add an{' '}
            <a href="/webhooks">endpoint</a> for <code>price_alert.triggered</code>.
          </span>
        </div>
      </section>
      <Table
        caption="Trigger history"
        file="fired"
        {...pagedRows(triggers)}
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
            show: row =>
              twoLines(
                <span class="strong">{metBy(row)}</span>,
                row.metadata && `value ${number(row.price)}`,
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
