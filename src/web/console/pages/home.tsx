import { dataOf, useLoaded } from '../parts/ask.ts'
import { Page, Shown, signInHref, Wide } from '../parts/bits.tsx'
import { boot } from '../parts/boot.ts'
import { ago, number, unitOf } from '../parts/format.ts'
import { Move } from '../parts/move.tsx'
import { Samples } from '../parts/samples.tsx'
import { Spark } from '../parts/spark.tsx'

interface DemoPrice {
  code: string
  name: string
  price: number
  currency: string | null
  unit: string
  created_at: string
  change_24h: number | null
  change_24h_percent: number | null
  sparkline: number[]
}

const calls = [
  {
    title: 'Prices without a key',
    call: { method: 'GET', path: '/v1/demo/prices', isOpen: true },
  },
  {
    title: 'The newest price of a code',
    call: { method: 'GET', path: '/v1/prices/latest?by_code=BRENT_CRUDE_USD' },
  },
  {
    title: 'A month of it, by day',
    call: { method: 'GET', path: '/v1/prices/past_month?by_code=BRENT_CRUDE_USD&interval=day' },
  },
]

/** The start: what this is, what it has, and how to begin. */
export function Home() {
  const prices = useLoaded('demo', () => dataOf<{ prices: DemoPrice[] }>('/v1/demo/prices'))
  const about = boot.isEvaluation
    ? 'Energy prices through one interface. This is an evaluation copy: it behaves like a production copy, over generated data.'
    : 'Energy prices, history, curves, alerts and webhooks, through one interface.'
  return (
    <Page title={boot.service} about={about} actions={<Beginnings />}>
      <section class="card flush" aria-labelledby="prices">
        <header>
          <h2 id="prices">Prices now</h2>
          <span class="quiet small">Nobody needs a key for these.</span>
        </header>
        <Shown of={prices} what="prices">
          {({ prices: rows }) => <DemoTable rows={rows} />}
        </Shown>
      </section>
      <section class="stack" aria-labelledby="calls">
        <h2 id="calls">Three calls to paste</h2>
        <div class="columns">
          {calls.map(({ title, call }) => (
            <div class="card" key={title}>
              <h3>{title}</h3>
              <Samples call={call} />
            </div>
          ))}
        </div>
      </section>
    </Page>
  )
}

const Beginnings = () => (
  <>
    {boot.isSignedIn ? (
      <a class="button main" href="/board">
        To the board
      </a>
    ) : (
      <>
        <a class="button main" href={signInHref()}>
          Sign in
        </a>
        <a class="button" href="/signup">
          Get a key
        </a>
      </>
    )}
    <a class="button" href="/docs">
      Documentation
    </a>
  </>
)

/** As many as any of its numbers shows. */
const decimalsOf = ({ price, sparkline }: DemoPrice): number =>
  Math.max(...[price, ...sparkline].map(value => String(value).split('.')[1]?.length ?? 0))

function DemoTable({ rows }: { rows: DemoPrice[] }) {
  if (rows.length === 0)
    return (
      <p class="empty">
        There are no prices yet. The operator imports a file or turns a public feed on.
      </p>
    )
  return (
    <Wide label="Prices of the demo">
      <table>
        <thead>
          <tr>
            <th>Commodity</th>
            <th class="number">Price</th>
            <th class="number">24 h</th>
            <th>30 days</th>
            <th class="number wide-only">Observed</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={row.code}>
              <th scope="row">
                {boot.isSignedIn ? <a href={`/series/${row.code}`}>{row.name}</a> : row.name}
                <div class="code wide-only">{row.code}</div>
              </th>
              <td class="number">
                <span class="strong">{number(row.price, decimalsOf(row))}</span>
                <div class="quiet small">{unitOf(row.currency, row.unit)}</div>
              </td>
              <td class="number">
                <Move
                  change={
                    row.change_24h === null
                      ? null
                      : { amount: row.change_24h, percent: row.change_24h_percent }
                  }
                />
              </td>
              <td>
                <Spark values={row.sparkline} />
              </td>
              <td class="number quiet wide-only">{ago(row.created_at)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  )
}
