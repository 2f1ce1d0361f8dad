import { useSignal } from '@preact/signals'
import { invoiceStateText } from '../../plans/billing/invoice.ts'
import type { AccountAnswer } from '../../topics/account/operations/account.ts'
import type { InvoiceShape as Invoice } from '../../topics/billing/operations/row.ts'
import {
  Button,
  Choice,
  Figure,
  May,
  Members,
  Page,
  Refused,
  Share,
  Shown,
  ShownOnce,
  Tag,
} from '../parts/bits.tsx'
import { Chart } from '../parts/charts/chart.tsx'
import { keepKey } from '../parts/person/own-key.ts'
import { type Plan as OfferedPlan, usePlans } from '../parts/person/plans.ts'
import { ask, dataOf, useAnswer, useChange, useData } from '../parts/requests/ask.ts'
import { pagedRows, usePages } from '../parts/requests/pages.ts'
import { aside } from '../parts/tables/columns.tsx'
import { KeyForm, keyActions, keyColumns, nameOf } from '../parts/tables/key-columns.tsx'
import { Table } from '../parts/tables/table.tsx'
import { Tabs, useTitle, type Views } from '../parts/tabs.tsx'
import { boundChoice, sets } from '../parts/text/form.ts'
import { ago, day, figure, number, words } from '../parts/text/format.ts'
import { Credits } from './account/credits.tsx'
import { Display } from './account/display.tsx'
import {
  KeyLimits,
  type Limits,
  limitsOf,
  Restrictions,
  restrictionsOf,
} from './account/key-limits.tsx'
import { Members as OwnMembers } from './account/members.tsx'
import { Notifications } from './account/notifications.tsx'
import { Plans } from './account/plans.tsx'
import { Requests } from './account/requests.tsx'
import { SignIns } from './account/sign-ins.tsx'
import { Sources } from './account/sources.tsx'

interface Key extends Limits {
  id: string
  name: string | null
  token_hint: string
  active: boolean
  created_at: string
  last_used_at: string | null
  usage: { requests_used: number; request_limit: number | null }
  windows: Window[]
}

interface Window {
  name: string
  limit: number | null
  used: number
}

interface Usage {
  resets_at: string | null
  windows: Window[]
}

const views: Views<'account'> = {
  '': Keys,
  usage: UsagePart,
  requests: Requests,
  plan: Plan,
  members: OwnMembers,
  notifications: Notifications,
  display: Display,
  sources: Sources,
  'sign-ins': SignIns,
}

export function Account() {
  const title = useTitle('account')
  return (
    <Members
      title="Account"
      about="Your API keys, usage, plan and invoices, and the members of your organization."
    >
      {() => (
        <Page
          title={title}
          actions={
            <a class="button" href="/sign-in">
              Password and sign-out
            </a>
          }
        >
          <Tabs page="account" views={views} />
        </Page>
      )}
    </Members>
  )
}

function Keys() {
  const answer = useData<{ api_keys: Key[] }>('/v1/api-keys')
  const { refusal, attempt, change } = useChange(answer)
  const name = useSignal('')
  const newToken = useSignal<string | undefined>(undefined)
  const tokenOf = (data: { api_key?: { plain_token?: string }; plain_token?: string }) => {
    const token = data.api_key?.plain_token ?? data.plain_token
    // Users who create a key want to use it: the samples contain it as long as the tab is open.
    if (token !== undefined) keepKey(token)
    return token
  }
  const make = (form: HTMLFormElement) =>
    attempt(async () => {
      newToken.value = tokenOf(
        await dataOf('/v1/api-keys', {
          method: 'POST',
          body: { name: name.value, ...restrictionsOf(new FormData(form)) },
        }),
      )
      name.value = ''
      form.reset()
      await answer.reload()
    })
  const roll = (id: string) =>
    attempt(async () => {
      newToken.value = tokenOf(
        await dataOf(`/v1/api-keys/${id}/roll`, { method: 'POST', body: {} }),
      )
      await answer.reload()
    })
  const revoke = (id: string) => change(`/v1/api-keys/${id}`, 'DELETE')
  const edited = useSignal<Key | undefined>(undefined)
  const limit = (id: string, limits: Record<string, unknown>) =>
    attempt(async () => {
      await ask(`/v1/api-keys/${id}`, { method: 'PATCH', body: limits })
      edited.value = undefined
      await answer.reload()
    })
  return (
    <>
      {newToken.value && <ShownOnce what="The new key, shown once:" secret={newToken.value} />}
      {refusal.value && <Refused error={refusal.value} />}
      {edited.value && (
        <KeyLimits
          key={edited.value.id}
          named={edited.value}
          onSave={limits => void limit(edited.value!.id, limits)}
          onCancel={sets(edited, undefined)}
        />
      )}
      <Table
        caption="API keys"
        file="keys"
        of={answer}
        rows={answer.data?.api_keys}
        keyOf={({ id }) => id}
        empty="No API keys yet. Name one and create it to call the API."
        actions={
          <May action="change_keys">
            <KeyForm name={name} onCreate={make}>
              <Restrictions />
            </KeyForm>
          </May>
        }
        columns={({ column, numeric }) => [
          ...keyColumns,
          numeric('Requests', ({ usage }) => usage.requests_used, { isWide: true, write: figure }),
          column('State', ({ active }) => (active ? 'active' : 'ended'), {
            show: key => (
              <>
                {key.active ? <Tag mood="good">Active</Tag> : <Tag>Ended</Tag>}
                {key.read_only && <Tag>Read-only</Tag>}
                <div class="quiet small">{limitsOf(key)}</div>
              </>
            ),
          }),
          {
            ...keyActions({
              onRoll: roll,
              onRevoke: revoke,
              more: key => (
                <Button className="tight" label="Restrict" onClick={sets(edited, key)} />
              ),
            }),
            needs: 'change_keys',
          },
        ]}
      />
    </>
  )
}

const windowNames: Readonly<Record<string, string>> = {
  quota: 'Plan quota',
  burst: 'Requests per minute',
  marine: 'Marine fuels, per minute',
  marine_historical: 'Historical marine fuels, per minute',
}

/** Each limit with its use by the key that has used the most of it; without keys, its use is none. */
const limitsBy = (windows: readonly Window[], keys: readonly Key[]) =>
  windows.map(({ name, limit }) => {
    const [most] = keys
      .map(key => ({ key, window: key.windows.find(window => window.name === name) }))
      .toSorted((a, b) => (b.window?.used ?? 0) - (a.window?.used ?? 0))
    return { name, limit, used: 0, ...most?.window, key: most?.key }
  })

const quotaOf = ({ usage }: Key) => ({ used: usage.requests_used, limit: usage.request_limit })

const shareColumn = {
  name: 'Share',
  isWide: true,
  show: ({ used, limit }: Pick<Window, 'used' | 'limit'>) =>
    limit !== null && <Share used={used} limit={limit} />,
}

const usedText = ({ used, limit }: Pick<Window, 'used' | 'limit'>): string =>
  limit === null ? number(used) : `${number(used)} of ${number(limit)}`

interface Route {
  endpoint: string
  via: 'api' | 'console'
  requests: number
  percentage: number
}

const vias = [
  { value: 'api', text: 'Your clients' },
  { value: 'console', text: 'This console' },
] as const

function UsagePart() {
  const via = useSignal<(typeof vias)[number]['value']>('api')
  const limits = useAnswer<Usage>('/v1/usage')
  const byDay = useAnswer<{ daily_breakdown: { date: string; requests: number }[] }>(
    '/billing/usage',
  )
  const byKey = useData<{ api_keys: Key[] }>('/v1/api-keys')
  const routesPath = `/v1/analytics/performance?range=30d&via=${via.value}`
  const byRoute = useData<{ endpointBreakdown: Route[] }>(routesPath)
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
              {sum !== undefined && <Figure label="Requests this period">{number(sum)}</Figure>}
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
                <h2 id="days">Requests by day</h2>
                <Chart
                  title="Requests by day in this period"
                  height={220}
                  decimals={0}
                  times={byDay.data.daily_breakdown.map(({ date }) => Date.parse(date) / 1000)}
                  lines={[
                    {
                      label: 'Requests',
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
              keyOf={({ name }) => name}
              empty="This plan has no limits."
              note="The key that has used the most of each limit. Console pages don’t count against the quota. They have a separate limit of 600 requests per minute."
              columns={({ column, numeric }) => [
                column('Limit', ({ name }) => windowNames[name] ?? words(name)),
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
        caption="Requests by key, this period"
        file="usage-by-key"
        of={byKey}
        rows={keys}
        keyOf={({ id }) => id}
        isTall
        note="If the quota applies to the whole account, every key shows the account’s total."
        empty={
          <>
            No keys yet. <a href="/account">Create a key</a>.
          </>
        }
        columns={({ numeric }) => [
          keyColumns[0]!,
          numeric(
            'Requests',
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
        of={byRoute}
        rows={byRoute.data?.endpointBreakdown}
        keyOf={({ endpoint }) => endpoint}
        empty={
          via.value === 'api' ? (
            <>
              No requests in the last 30 days. <a href="/docs/quickstart">Make a first call</a>
            </>
          ) : (
            'No pages were opened in the last 30 days.'
          )
        }
        actions={<Choice label="Requested by" options={vias} {...boundChoice(via)} />}
        columns={({ column, numeric }) => [
          column('Route', 'endpoint', { className: 'code' }),
          numeric('Requests', 'requests', { write: figure }),
          numeric('Share, %', 'percentage', ({ percentage }) => number(percentage, 1)),
        ]}
      />
    </>
  )
}

/** The quota with its period; the quota of a trial is for the whole of it. */
function quotaText(
  { request_limit: limit, trial_active: isTrial }: AccountAnswer['account'],
  plan: OfferedPlan | undefined,
): string {
  if (limit === null) return 'No limit'
  return plan && !isTrial ? `${number(limit)} a ${plan.request_quota.period}` : number(limit)
}

function Plan() {
  const account = useAnswer<AccountAnswer>('/v1/account')
  const plans = usePlans()
  const planOf = (id: string) => plans.data?.find(plan => plan.id === id)
  const invoices = usePages<{ invoices: Invoice[] }, Invoice>(
    '/billing/invoices',
    answer => answer.invoices,
  )
  return (
    <>
      <div class="columns">
        <section class="card" aria-labelledby="plan">
          <h2 id="plan">Current plan</h2>
          <Shown of={account} what="the plan">
            {({ account: data }) => (
              <dl class="facts">
                <dt>Account</dt>
                <dd>{data.email}</dd>
                <dt>Plan</dt>
                <dd>{planOf(data.tier)?.name ?? words(data.tier)}</dd>
                <dt>Requests</dt>
                <dd>{quotaText(data, planOf(data.tier))}</dd>
                {data.trial_active && (
                  <>
                    <dt>Trial until</dt>
                    <dd>{day(data.trial_ends_at)}</dd>
                  </>
                )}
                <dt>Since</dt>
                <dd>{day(data.created_at)}</dd>
              </dl>
            )}
          </Shown>
        </section>
        <Table
          caption="Invoices"
          {...pagedRows(invoices)}
          keyOf={({ id }) => id}
          empty="No invoices yet. Paid plans are invoiced monthly."
          columns={({ column, numeric }) => [
            column('Invoice', 'number', invoice => (
              <a href={`/billing/invoices/${invoice.id}/pdf`} rel="external">
                {invoice.number}
              </a>
            )),
            column('Date', 'created_at', { ...aside, write: day }),
            numeric('Amount', ({ amount }) => amount / 100, {
              show: ({ currency, amount }) => `${currency} ${number(amount / 100, 2)}`,
            }),
            column(
              'State',
              invoice => invoiceStateText({ ...invoice, refundedCents: invoice.amount_refunded }),
              {
                show: invoice => (
                  <Tag mood={invoice.status === 'paid' && !invoice.dispute ? 'good' : 'warn'}>
                    {words(
                      invoiceStateText({ ...invoice, refundedCents: invoice.amount_refunded }),
                    )}
                  </Tag>
                ),
              },
            ),
          ]}
        />
      </div>
      <Plans onChanged={() => Promise.all([account.reload(), invoices.reload()])} />
      <Credits onBought={invoices.reload} />
    </>
  )
}
