import { useSignal } from '@preact/signals'
import type { ListedKey as Key } from '../../../topics/keys/operations/keys.ts'
import type { Performance } from '../../../topics/keys/operations/performance.ts'
import type { UsageAnswer } from '../../../topics/keys/operations/usage.ts'
import { Figure, Refused, Share, Shown } from '../../parts/bits.tsx'
import { Chart } from '../../parts/charts/chart.tsx'
import { Choice } from '../../parts/fields.tsx'
import { useAnswer, useData } from '../../parts/requests/ask.ts'
import { aside } from '../../parts/tables/columns.tsx'
import { keyColumns, nameOf } from '../../parts/tables/key-columns.tsx'
import { Table, twoLines } from '../../parts/tables/table.tsx'
import { ago, day, figure, number, words } from '../../parts/text/format.ts'
import { limitsBy, type Window } from './limits.ts'

const windowNames: Readonly<Record<string, string>> = {
  quota: 'Plan quota',
  burst: 'Requests per minute',
  marine: 'Marine fuels, per minute',
  marine_historical: 'Historical marine fuels, per minute',
}

const quotaOf = ({ usage }: Key) => ({ used: usage.requests_used, limit: usage.request_limit })

const shareColumn = {
  name: 'Share',
  isWide: true,
  show: ({ used, limit }: Pick<Window, 'used' | 'limit'>) =>
    limit !== null && <Share used={used} limit={limit} />,
}

const usedText = ({ used, limit }: Pick<Window, 'used' | 'limit'>): string =>
  limit === null ? number(used) : `${number(used)} of ${number(limit)}`

const vias = [
  { value: 'api', text: 'Your clients' },
  { value: 'console', text: 'This console' },
] as const

export function UsagePart() {
  const via = useSignal<(typeof vias)[number]['value']>('api')
  const limits = useAnswer<UsageAnswer>('/v1/usage')
  const byDay = useAnswer<{ daily_breakdown: { date: string; requests: number }[] }>(
    '/billing/usage',
  )
  const byKey = useData<{ api_keys: Key[] }>('/v1/api-keys')
  const routesPath = `/v1/analytics/performance?range=30d&via=${via.value}`
  const byRoute = useData<Performance>(routesPath)
  const keys = byKey.data?.api_keys
    .filter(({ active }) => active)
    .toSorted((a, b) => b.usage.requests_used - a.usage.requests_used)
  const busiest = keys?.[0]
  const days = byDay.data?.daily_breakdown
  const sum = days?.reduce((total, { requests }) => total + requests, 0)
  return (
    <>
      <Shown of={limits} what="usage">
        {({ resets_at, windows }) => (
          <>
            <section class="figures even" aria-label="Summary">
              {sum !== undefined && (
                <Figure label="Charged requests this period">{number(sum)}</Figure>
              )}
              {sum !== undefined && days && (
                <Figure label="Daily average">
                  {number(Math.round(sum / Math.max(1, days.length)))}
                </Figure>
              )}
              {busiest && <Figure label="Busiest key">{usedText(quotaOf(busiest))}</Figure>}
              <Figure label="Resets on">{day(resets_at)}</Figure>
            </section>
            {byDay.data && sum !== undefined && sum > 0 && (
              <section class="card" aria-labelledby="days">
                <h2 id="days">Charged requests by day</h2>
                <Chart
                  title="Charged requests by day in this period"
                  height={220}
                  decimals={0}
                  times={byDay.data.daily_breakdown.map(({ date }) => Date.parse(date) / 1000)}
                  lines={[
                    {
                      label: 'Charged requests',
                      values: byDay.data.daily_breakdown.map(({ requests }) => requests),
                      ink: '--ink-1',
                      isColumns: true,
                    },
                  ]}
                />
              </section>
            )}
            <Table
              caption="Limits per key"
              file="limits"
              of={byKey}
              rows={keys && limitsBy(windows, keys)}
              empty="This plan has no limits."
              note="The key that is nearest to each limit. Console pages don’t count against the quota. They have a separate limit of 600 requests per minute."
              columns={({ column, numeric }) => [
                column('Limit', ({ name }) => windowNames[name] ?? words(name), {
                  show: ({ name, key }) =>
                    twoLines(
                      windowNames[name] ?? words(name),
                      key && nameOf(key),
                      'quiet small narrow-only',
                    ),
                }),
                numeric('Used', 'used', row =>
                  row.limit === null ? `${number(row.used)}, no limit` : usedText(row),
                ),
                shareColumn,
                column('Key', ({ key }) => key && nameOf(key), aside),
              ]}
            />
          </>
        )}
      </Shown>
      {byDay.refusal && <Refused error={byDay.refusal} />}
      <Table
        caption="Quota used by key, this period"
        file="usage-by-key"
        of={byKey}
        rows={keys}
        isTall
        note="An export is one request and uses the quota by its rows. If the quota applies to the whole account, every key shows the account’s total."
        empty={
          <>
            No keys yet. <a href="/account">Create a key</a>.
          </>
        }
        columns={({ numeric }) => [
          keyColumns[0]!,
          numeric(
            'Quota used',
            ({ usage }) => usage.requests_used,
            key => usedText(quotaOf(key)),
          ),
          { ...shareColumn, show: key => shareColumn.show(quotaOf(key)) },
          numeric('Last use', 'last_used_at', { ...aside, isWide: false, write: ago }),
        ]}
      />
      <Table
        caption="Requests by route, last 30 days"
        file="routes"
        note="All requests, also those that are free or fail."
        of={byRoute}
        rows={byRoute.data?.endpointBreakdown}
        empty={
          via.value === 'api' ? (
            <>
              No requests in the last 30 days. <a href="/docs/quickstart">Make a first call</a>
            </>
          ) : (
            'No pages were opened in the last 30 days.'
          )
        }
        actions={<Choice label="Requested by" options={vias} of={via} />}
        columns={({ column, numeric }) => [
          column('Route', 'endpoint', { className: 'code' }),
          numeric('Requests', 'requests', { write: figure }),
          numeric('Share, %', 'percentage', ({ percentage }) => number(percentage, 1)),
        ]}
      />
    </>
  )
}
