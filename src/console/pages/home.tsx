import { useSignal } from '@preact/signals'
import type { DemoRow as DemoPrice } from '../../topics/catalogue/operations/demo.ts'
import type { PublicStatus } from '../../topics/condition/operations/public-status.ts'
import { Empty, Tag, WhoBringsData } from '../parts/bits.tsx'
import { Spark } from '../parts/charts/spark.tsx'
import { Choice } from '../parts/fields.tsx'
import { later } from '../parts/later.tsx'
import { Page, SignInLinks } from '../parts/page.tsx'
import { moneyOf, requestsOf, usePlans } from '../parts/person/plans.ts'
import { detailsOf, Refusal, useAnswer, useData } from '../parts/requests/ask.ts'
import { boot } from '../parts/requests/boot.ts'
import { Samples } from '../parts/samples.tsx'
import { aside, seriesLink } from '../parts/tables/columns.tsx'
import { Move } from '../parts/tables/move.tsx'
import { Table, twoLines } from '../parts/tables/table.tsx'
import { ago, decimalsOf, number, unitOf, words } from '../parts/text/format.ts'

/** Only for demo instances, and for signed-in users. */
const DemoHome = later(() => import('./home/demo.tsx').then(part => part.DemoHome))

const calls = [
  {
    title: 'Prices without a key',
    call: { method: 'GET', path: '/v1/demo/prices', isOpen: true },
  },
  {
    title: 'Latest price',
    call: { method: 'GET', path: '/v1/prices/latest?by_code=BRENT_CRUDE_USD' },
  },
  {
    title: 'Daily prices of a month',
    call: { method: 'GET', path: '/v1/prices/past_month?by_code=BRENT_CRUDE_USD&interval=day' },
  },
]

/**
 * The start page: the running product where visitors may see it, else its features and the first
 * steps.
 */
export function Home() {
  const chosen = useSignal(calls[0]!.title)
  const isShown = boot.isEvaluation && boot.isSignedIn
  const about = boot.isEvaluation
    ? 'Energy prices through one API. This is a demo instance: it behaves like production, with generated data.'
    : 'Energy prices, history, curves, alerts and webhooks through one API.'
  return (
    <Page title={boot.service} about={about} actions={<Beginnings />}>
      {isShown ? (
        <DemoHome />
      ) : (
        <>
          {!boot.isEvaluation && <Offered />}
          <Demo />
          {!boot.isSignedIn && <Plans />}
        </>
      )}
      <section class="card" aria-labelledby="calls">
        <div class="row spread">
          <h2 id="calls">Try the API</h2>
          <Choice
            label="Call"
            of={chosen}
            options={calls.map(({ title }) => ({ value: title, text: title }))}
          />
        </div>
        <Samples call={calls.find(({ title }) => title === chosen.value)!.call} />
      </section>
    </Page>
  )
}

/** The data of the service, by category, and its status. */
function Offered() {
  const { data: status } = useAnswer<PublicStatus>('/status.json')
  const categories = (status?.categories ?? [])
    .map(({ name, codes, missing }) => ({ name, series: codes - missing }))
    .filter(({ series }) => series > 0)
  if (!status || categories.length === 0) return null
  const total = categories.reduce((sum, { series }) => sum + series, 0)
  return (
    <section class="stack" aria-labelledby="offered">
      <div class="row spread">
        <h2 id="offered">{number(total)} series</h2>
        <a href="/status">
          <Tag mood={status.status === 'operational' ? 'good' : 'warn'}>{words(status.status)}</Tag>
        </a>
      </div>
      <ul class="plain courses">
        {categories.map(({ name, series }) => (
          <li class="tile" key={name}>
            <span class="small quiet">{words(name)}</span>
            <b>{number(series)}</b>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The contents and price of each plan, for visitors without one. */
function Plans() {
  const { data: plans } = usePlans()
  // Where nothing costs anything there is nothing to choose.
  if (!plans?.some(plan => plan.price_monthly > 0 && plan.request_quota.limit !== null)) return null
  return (
    <section class="stack" aria-labelledby="plans">
      <h2 id="plans">Plans and prices</h2>
      <div class="offers">
        {plans.map(plan => (
          <div class="card" key={plan.id}>
            <h3>{plan.name}</h3>
            <p>
              {plan.custom_pricing ? (
                <b class="now">By agreement</b>
              ) : (
                <>
                  <b class="now">{moneyOf(plan.price_monthly, plan.currency)}</b>{' '}
                  <span class="quiet">a month</span>
                </>
              )}
            </p>
            <ul class="plain small quiet">
              <li>{words(requestsOf(plan))}</li>
              <li>{countOf(plan.alerts, 'alert')}</li>
              <li>{countOf(plan.webhooks.endpoints, 'webhook endpoint')}</li>
            </ul>
          </div>
        ))}
      </div>
    </section>
  )
}

const countOf = (count: number | null, noun: string): string =>
  `${count === null ? 'Unlimited' : count === 0 ? 'No' : number(count)} ${noun}${count === 1 ? '' : 's'}`

const Beginnings = () => (
  <>
    {boot.isSignedIn ? (
      <a class="button main" href="/market">
        Open market
      </a>
    ) : (
      <SignInLinks />
    )}
    <a class="button" href="/docs">
      Documentation
    </a>
  </>
)

/** As many as any of its numbers shows, and at least the two that prices are quoted with. */
const decimalsOfRow = ({ price, sparkline }: DemoPrice): number =>
  Math.max(2, ...[price, ...sparkline].map(decimalsOf))

/** Shown instead of the prices: the limit that the network of the visitor has reached. */
function LimitReached({ refusal }: { refusal: Refusal }) {
  const { limit, retry_after: seconds } = detailsOf(refusal)
  return (
    <section class="card" aria-labelledby="demo-prices">
      <h2 id="demo-prices">Prices now</h2>
      <Empty>
        Without a key, your network can request prices {number(Number(limit))} times an hour. Try
        again in {timeText(Number(seconds))}, or{' '}
        {boot.isSignedIn ? <a href="/market">open the market</a> : <a href="/signup">get a key</a>}.
      </Empty>
    </section>
  )
}

const timeText = (seconds: number): string => {
  const minutes = Math.ceil(seconds / 60)
  return minutes === 1 ? 'a minute' : `${minutes} minutes`
}

function Demo() {
  const of = useData<{ prices: DemoPrice[] }>('/v1/demo/prices')
  if (of.refusal instanceof Refusal && of.refusal.code === 'RATE_LIMIT_EXCEEDED')
    return <LimitReached refusal={of.refusal} />
  // An instance may have prices, and none that is open to everyone.
  if (boot.hasData && of.data?.prices.length === 0) return null
  return (
    <Table
      caption="Prices now"
      file="demo-prices"
      of={of}
      rows={of.data?.prices}
      empty={
        <>
          No prices yet. <WhoBringsData />
        </>
      }
      note="No key needed."
      columns={({ column, numeric }) => [
        column('Commodity', 'code', {
          fileName: 'code',
          show: ({ code, name }) =>
            twoLines(boot.isSignedIn ? seriesLink(code, name) : name, code, 'code wide-only'),
        }),
        numeric('Price', 'price', row =>
          twoLines(
            <span class="strong">{number(row.price, decimalsOfRow(row))}</span>,
            unitOf(row.currency, row.unit),
          ),
        ),
        numeric('24 h', 'change_24h_percent', {
          fileName: 'change_24h_percent',
          show: row => (
            <Move
              change={
                row.change_24h === null
                  ? null
                  : { amount: row.change_24h, percent: row.change_24h_percent }
              }
            />
          ),
        }),
        { name: '30 days', show: ({ sparkline }) => <Spark values={sparkline} /> },
        numeric('Observed', 'created_at', { ...aside, fileName: 'observed_at', write: ago }),
      ]}
    />
  )
}
