import { type Signal, useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { BoardRow } from '../../../topics/prices/operations/board.ts'
import { Notice, Refused, Shown } from '../../parts/bits.tsx'
import { Button } from '../../parts/buttons.tsx'
import { KnownOn } from '../../parts/charts/known-on.tsx'
import { Spark } from '../../parts/charts/spark.tsx'
import { later } from '../../parts/later.tsx'
import { asOperator } from '../../parts/person/operator-token.tsx'
import { dataOf, useAttempt, useData, useFirstView, useLoaded } from '../../parts/requests/ask.ts'
import { boot, dayAgo, now } from '../../parts/requests/boot.ts'
import { homeChartPath, homeCodes } from '../../parts/requests/chart-path.ts'
import { boardPath } from '../../parts/requests/first.ts'
import { priceColumns, priceFileColumns } from '../../parts/tables/price-columns.tsx'
import { Table } from '../../parts/tables/table.tsx'
import { takes } from '../../parts/text/form.ts'
import { day, number, timesText } from '../../parts/text/format.ts'
import { useBacktest } from '../alerts/backtest.ts'
import { StocksNow } from '../market/stocks.tsx'
import { CurveKeys, CurveTile } from '../market.tsx'
import type { ChartAnswer } from '../series/answer.ts'
import { useChart } from '../series/chart.ts'

const Market = later(() => import('../../parts/charts/market-chart.tsx').then(part => part.default))

/** The product at work, for a person who has just started it: no sign-in and no setup. */
export function DemoHome() {
  /** Grows with each scenario, so that every part loads again. */
  const played = useSignal(0)
  return (
    <>
      {boot.isOperator && (
        <Scenarios
          onPlayed={() => {
            played.value += 1
          }}
        />
      )}
      <div class="morning" key={played.value}>
        <Prices />
        <Movers />
        <section class="card" aria-labelledby="demo-curve">
          <header>
            <h2 id="demo-curve">Forward curve</h2>
            <a href="/markets">All curves</a>
          </header>
          <CurveTile family="brent" text="Brent" />
          <CurveKeys />
        </section>
        <StocksNow />
        <Backtest />
      </div>
    </>
  )
}

/** Two prices over half a year, with a slider that shows them as they were known on a day. */
function Prices() {
  const asOf = useSignal('')
  const path = (code: string) => homeChartPath(code, now(), asOf.value)
  const answer = useLoaded(`home ${asOf.value}`, signal =>
    Promise.all(homeCodes.map(code => dataOf<ChartAnswer>(path(code), { signal }))),
  )
  useFirstView((answer.data ?? answer.refusal) !== undefined)
  const drawn = useMemo(() => {
    const [brent, wti] = answer.data ?? []
    if (!brent || !wti) return undefined
    const other = new Map(wti.times.map((time, i) => [time, wti.close[i]!]))
    return {
      times: brent.times,
      lines: [
        { label: 'Brent', values: brent.close, ink: '--ink-1', width: 2 },
        {
          label: 'WTI',
          values: brent.times.map(time => other.get(time) ?? null),
          ink: '--ink-2',
          width: 2,
        },
      ],
    }
  }, [answer.data])
  return (
    <section class="card home-chart" aria-label="Chart">
      {answer.refusal && <Refused error={answer.refusal} />}
      {drawn && (
        <Market
          title="Brent and WTI, USD/bbl"
          {...drawn}
          decimals={2}
          panes={none}
          events={none}
          zoom={undefined}
          onZoom={keepsNothing}
          file="brent-wti"
        />
      )}
      <KnownOn value={asOf.value} onChange={takes(asOf)} shown={answer.data?.[0]} />
    </section>
  )
}

const none = [] as const
const keepsNothing = (): void => {}

function Movers() {
  const answer = useData<{ rows: BoardRow[] }>(boardPath)
  return (
    <Table
      caption="Live prices"
      of={answer}
      rows={answer.data?.rows}
      isTall
      empty="No prices yet."
      columns={[
        ...priceFileColumns,
        priceColumns.name,
        priceColumns.last,
        priceColumns.day,
        { name: 'Month', isWide: true, show: ({ sparkline }) => <Spark values={sparkline} /> },
      ]}
    />
  )
}

const alertCode = 'WTI_USD'

/** How often an alert would have fired in a year, while its level is moved. */
function Backtest() {
  const chart = useChart(alertCode, dayAgo(365), 'day', true)
  const level = useSignal<number | undefined>(undefined)
  return (
    <section class="card" aria-labelledby="backtest">
      <header>
        <h2 id="backtest">Alert backtest</h2>
        <a href={`/alerts/new?code=${alertCode}&value=${level.value ?? ''}`}>Add this alert</a>
      </header>
      <Shown of={chart} what="a year of prices">
        {({ close }) =>
          close.length === 0 ? <p>No prices yet.</p> : <Level level={level} closes={close} />
        }
      </Shown>
    </section>
  )
}

const dayMinutes = 24 * 60

function Level({
  level,
  closes,
}: {
  level: Signal<number | undefined>
  closes: readonly number[]
}) {
  const low = Math.min(...closes)
  const high = Math.max(...closes)
  const value = level.value ?? Math.round((low + 2 * high) / 3)
  const { data, refusal } = useBacktest(
    JSON.stringify({
      name: 'Backtest',
      commodity_code: alertCode,
      condition_operator: 'greater_than',
      condition_value: value,
      cooldown_minutes: dayMinutes,
    }),
  )
  return (
    <>
      <Spark values={closes} />
      <label>
        <span>
          WTI above <b>{number(value, 2)}</b>
        </span>
        <input
          type="range"
          min={Math.floor(low)}
          max={Math.ceil(high)}
          value={value}
          onInput={event => {
            level.value = event.currentTarget.valueAsNumber
          }}
        />
      </label>
      {refusal && <Refused error={refusal} />}
      <p role="status">
        {data
          ? `It would have fired ${timesText(data.trigger_count)} in the past year with a one-day cooldown${data.triggers[0] ? `, last on ${day(data.triggers.at(-1)!.triggered_at)}` : ''}.`
          : 'Testing …'}
      </p>
    </>
  )
}

const scenarios = [
  { name: 'crash', text: 'Crash', shown: '/series/WTI_USD?range=1w', link: 'See WTI' },
  {
    name: 'revision',
    text: 'Revision',
    shown: '/series/US_CRUDE_STORAGE?tab=vintages',
    link: 'See both values',
  },
  { name: 'outage', text: 'Outage', shown: '/status', link: 'See what is late' },
] as const

/** Plays scenarios of markets and publishers that a client must handle. */
function Scenarios({ onPlayed }: { onPlayed: () => void }) {
  const done = useSignal<{ text: string; shown: string; link: string } | undefined>(undefined)
  const playing = useSignal('')
  const { refusal, attempt } = useAttempt()
  const play = async ({ name, shown, link }: (typeof scenarios)[number]) => {
    playing.value = name
    await attempt(async () => {
      const played = await asOperator<{ done: string }>('/_dev/scenario', {
        method: 'POST',
        body: { name },
      })
      done.value = { text: played.done, shown, link }
      onPlayed()
    })
    playing.value = ''
  }
  return (
    <>
      <div class="row try">
        <b>Try it:</b>
        {scenarios.map(scenario => (
          <Button
            key={scenario.name}
            label={playing.value === scenario.name ? 'Playing …' : scenario.text}
            isOff={playing.value !== ''}
            onClick={() => play(scenario)}
          />
        ))}
        <a href="/desk">More scenarios, the clock and faults</a>
      </div>
      {refusal.value && <Refused error={refusal.value} />}
      {done.value && (
        <Notice mood="good">
          <div class="row spread">
            <span>{done.value.text}</span>
            <a class="button tight" href={done.value.shown}>
              {done.value.link}
            </a>
          </div>
        </Notice>
      )}
    </>
  )
}
