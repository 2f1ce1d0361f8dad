import { MiniLines } from '../charts/mini-lines.tsx'
import { caller } from './account.ts'
import { cheapestWith, priceOf, usePlans } from './plans.ts'

interface Sold {
  about: string
  /** Rows of an example; without them, a line. */
  rows?: readonly (readonly [string, string])[]
}

/** What each feature is, for a person whose plan does not include it, with an example. */
const sold: Readonly<Record<string, Sold>> = {
  calculated_metrics: {
    about: 'Crack and crush spreads, margins and their ranges, computed from your prices.',
    rows: [
      ['3-2-1 crack', '24.18'],
      ['Brent–WTI', '3.42'],
      ['Gasoil–Brent', '18.90'],
    ],
  },
  analytics: { about: 'Averages, volatility, correlation and trend of every series.' },
  forecast: { about: 'Where a price is likely to be, day by day, with 68% and 95% ranges.' },
  energy_intelligence: {
    about: 'Stocks, rigs, OPEC output and outlooks with the prices that they move.',
  },
  well_permits: {
    about: 'Drilling permits on a map, as they are filed.',
    rows: [
      ['Midland, TX', '14 permits'],
      ['Lea, NM', '9 permits'],
      ['Weld, CO', '6 permits'],
    ],
  },
  well_production: { about: 'Oil, gas and water of each well, month by month.' },
  webhooks: {
    about: 'Your server receives a signed request for each price, alert and release.',
    rows: [
      ['price.updated', 'delivered, 200'],
      ['alert.triggered', 'delivered, 200'],
      ['release.published', 'retry in 60 s'],
    ],
  },
  standard_alerts: {
    about: 'A message when a price crosses a level, tested against the past year while you type.',
    rows: [
      ['Brent above 90', 'fired 2 h ago'],
      ['WTI below 65', 'armed'],
      ['Henry Hub moves 5%', 'fired yesterday'],
    ],
  },
  analytics_alerts: {
    about: 'A message when a price leaves its usual range: z-score, RSI, volatility or trend.',
    rows: [
      ['WTI z-score above 2', 'fired 2 h ago'],
      ['Brent RSI below 30', 'armed'],
    ],
  },
  futures: { about: 'Forward curves with settlement, volume and open interest by contract.' },
  sms: {
    about: 'Alerts as text messages.',
    rows: [['+1 555 0100', 'Brent 90.12, above 90']],
  },
  streaming: {
    about: 'Prices as they change, over one open connection.',
    rows: [
      ['12:00:01', 'WTI 71.23'],
      ['12:00:03', 'Brent 75.04'],
      ['12:00:04', 'WTI 71.25'],
    ],
  },
  data_connector: { about: 'Prices of your own, from your database or from a file.' },
  bulk_export: {
    about: 'Whole histories as CSV or Parquet, and every change since your last read.',
    rows: [
      ['prices.parquet', '2,000,000 rows'],
      ['changes', '1,204 since yesterday'],
    ],
  },
}

const exampleValues = [4, 6, 5, 8, 7, 9, 8, 11, 10, 12, 11, 14]

/** What the plan does not include: what it is, an example, the plan that has it, its price, the way to it. */
export function Offer({
  features,
  page,
  message = '',
  about: ofPart,
  planId,
}: {
  /** One of them is required. */
  features: readonly string[]
  /** The heading of the page that only some plans have. */
  page?: string
  /** The refusal of a part of a page, in the words of the API. */
  message?: string
  /** What that part shows; without it, what the feature is. */
  about?: string | undefined
  /** The plan that has it, where the API has named it. */
  planId?: unknown
}) {
  const plans = usePlans()
  const plan =
    plans.data?.find(({ id }) => id === planId) ?? cheapestWith(plans.data ?? [], features)
  const own = plans.data?.find(({ id }) => id === caller.value?.tier)
  const { about, rows }: Partial<Sold> = ofPart
    ? { about: ofPart }
    : (sold[features[0] ?? ''] ?? {})
  const price = plan && priceOf(plan)
  const heading = page ? `${page} are not included in the ${own?.name ?? 'current'} plan` : message
  return (
    <section class={`offer ${page ? 'card' : 'notice upsell'}`} aria-label={heading}>
      <div class="stack">
        {page ? <h2>{heading}</h2> : <b>{heading}</b>}
        {about && <p>{about}</p>}
        {plan ? (
          <p>
            The {plan.name} plan includes them{price ? ` for ${price}.` : ' at an agreed price.'}
          </p>
        ) : (
          plans.data && <p>No plan of this service includes them.</p>
        )}
        <p class="row">
          <a class="button main" href="/account/plan">
            {plan ? `Upgrade to ${plan.name}` : 'See the plans'}
          </a>
          {page && <a href={`/docs/${page.toLowerCase()}`}>How {page.toLowerCase()} work</a>}
        </p>
      </div>
      {about && (
        <figure class="example">
          <figcaption class="small quiet">Example</figcaption>
          {rows ? (
            <dl>
              {rows.map(([name, value]) => (
                <div class="row spread" key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
          ) : (
            <MiniLines lines={[{ values: exampleValues, ink: '--ink-1', isStrong: true }]} />
          )}
        </figure>
      )}
    </section>
  )
}
