import { useSignal } from '@preact/signals'
import { useRoute } from 'preact-iso'
import { ask, dataOf, useAttempt, useLoaded } from '../parts/ask.ts'
import {
  Confirmed,
  Empty,
  Figure,
  Members,
  Notice,
  Page,
  Refused,
  Shown,
  ShownOnce,
  Tag,
} from '../parts/bits.tsx'
import { Chart } from '../parts/chart.tsx'
import { ago, day, instant, number, words } from '../parts/format.ts'

interface Key {
  id: string
  name: string | null
  token_hint: string
  active: boolean
  created_at: string
  last_used_at: string | null
  expires_at: string | null
  read_only: boolean
  usage: { requests_used: number }
}

interface Window {
  name: string
  limit: number
  used: number
  remaining: number
  resets_at: string | null
}

interface Usage {
  used: number
  limit: number
  remaining: number
  resets_at: string | null
  burn_rate_per_day: number
  windows: Window[]
  forecast: { used_at_reset: number | null; exhausted_at: string | null }
}

interface Organization {
  organization: { name: string; your_role: string; member_count: number }
  members: { id: string; email: string; role: string; joined_at: string }[]
  invitations: { id: string; email: string; role: string; status: string; expires_at: string }[]
}

const parts = [
  { value: '', href: '/account', text: 'Keys' },
  { value: 'usage', href: '/account/usage', text: 'Usage' },
  { value: 'plan', href: '/account/plan', text: 'Plan' },
  { value: 'members', href: '/account/members', text: 'Members' },
] as const

export function Account() {
  const { params } = useRoute()
  const part = params.part ?? ''
  return (
    <Members title="Account">
      {() => (
        <Page
          title="Account"
          actions={
            <a class="button" href="/sign-in">
              Password and sign-out
            </a>
          }
        >
          <nav class="tabs" aria-label="Account">
            {parts.map(({ value, href, text }) => (
              <a key={value} href={href} aria-current={value === part ? 'page' : undefined}>
                {text}
              </a>
            ))}
          </nav>
          {part === '' && <Keys />}
          {part === 'usage' && <UsagePart />}
          {part === 'plan' && <Plan />}
          {part === 'members' && <People />}
        </Page>
      )}
    </Members>
  )
}

function Keys() {
  const answer = useLoaded('keys', signal =>
    dataOf<{ api_keys: Key[] }>('/v1/api-keys', { signal }),
  )
  const { refusal, attempt } = useAttempt()
  const name = useSignal('')
  const newToken = useSignal<string | undefined>(undefined)
  const tokenOf = (data: { api_key?: { plain_token?: string }; plain_token?: string }) =>
    data.api_key?.plain_token ?? data.plain_token
  const make = () =>
    attempt(async () => {
      newToken.value = tokenOf(
        await dataOf('/v1/api-keys', { method: 'POST', body: { name: name.value } }),
      )
      name.value = ''
      await answer.reload()
    })
  const roll = (id: string) =>
    attempt(async () => {
      newToken.value = tokenOf(
        await dataOf(`/v1/api-keys/${id}/roll`, { method: 'POST', body: {} }),
      )
      await answer.reload()
    })
  const revoke = (id: string) =>
    attempt(async () => {
      await ask(`/v1/api-keys/${id}`, { method: 'DELETE' })
      await answer.reload()
    })
  return (
    <>
      {newToken.value && <ShownOnce what="The new key, shown once:" secret={newToken.value} />}
      {refusal.value && <Refused error={refusal.value} />}
      <section class="card flush" aria-labelledby="keys">
        <header>
          <h2 id="keys">API keys</h2>
          <form
            class="row end"
            onSubmit={event => {
              event.preventDefault()
              void make()
            }}
          >
            <label>
              Name of a new key
              <input
                required
                maxLength={100}
                value={name.value}
                onInput={event => {
                  name.value = event.currentTarget.value
                }}
              />
            </label>
            <button type="submit" class="main">
              Make a key
            </button>
          </form>
        </header>
        <Shown of={answer} what="keys">
          {({ api_keys: keys }) =>
            keys.length === 0 ? (
              <Empty>There are no keys. Make one to call the interface.</Empty>
            ) : (
              <div class="scroll">
                <table>
                  <thead>
                    <tr>
                      <th scope="col">Key</th>
                      <th scope="col" class="wide-only">
                        Made
                      </th>
                      <th scope="col">Last use</th>
                      <th scope="col" class="number wide-only">
                        Requests
                      </th>
                      <th scope="col">State</th>
                      <th scope="col">
                        <span class="only-heard">What to do</span>
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {keys.map(key => (
                      <tr key={key.id}>
                        <th scope="row" class="break">
                          {key.name ?? 'unnamed'}
                          <div class="code">{key.token_hint}</div>
                        </th>
                        <td class="quiet wide-only">{day(key.created_at)}</td>
                        <td class="quiet">{ago(key.last_used_at)}</td>
                        <td class="number wide-only">{number(key.usage.requests_used)}</td>
                        <td>
                          {key.active ? <Tag mood="good">Active</Tag> : <Tag>Ended</Tag>}
                          {key.read_only && <Tag>Read-only</Tag>}
                        </td>
                        <td>
                          {key.active && (
                            <div class="row">
                              <Confirmed
                                label="Roll"
                                className="tight"
                                question={`Make a new token for “${key.name ?? key.token_hint}”? Programs that use the old one must get the new one.`}
                                onConfirm={() => roll(key.id)}
                              />
                              <Confirmed
                                label="Revoke"
                                question={`Revoke “${key.name ?? key.token_hint}”? Programs that use it are refused at once.`}
                                onConfirm={() => revoke(key.id)}
                              />
                            </div>
                          )}
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )
          }
        </Shown>
      </section>
    </>
  )
}

const windowNames: Readonly<Record<string, string>> = {
  quota: 'Requests of the plan',
  burst: 'Requests a minute',
  marine: 'Marine fuels, a minute',
  marine_historical: 'Past marine fuels, a minute',
}

function UsagePart() {
  const usage = useLoaded('usage', signal => ask<Usage>('/v1/usage', { signal }))
  const byDay = useLoaded('by day', signal =>
    ask<{ daily_breakdown: { date: string; requests: number }[] }>('/billing/usage', { signal }),
  )
  return (
    <>
      <Shown of={usage} what="usage">
        {data => (
          <>
            <section class="figures" aria-label="In short">
              <Figure label="Used">{number(data.used)}</Figure>
              <Figure label="Left">{number(data.remaining)}</Figure>
              <Figure label="A day, lately">{number(Math.round(data.burn_rate_per_day))}</Figure>
              <Figure label={data.forecast.exhausted_at ? 'Used up on' : 'Starts anew on'}>
                {day(data.forecast.exhausted_at ?? data.resets_at)}
              </Figure>
            </section>
            {data.forecast.exhausted_at && (
              <Notice mood="warn">
                At this rate the plan is used up {ago(data.forecast.exhausted_at)}, before it starts
                anew.
              </Notice>
            )}
            <section class="card flush" aria-labelledby="limits">
              <header>
                <h2 id="limits">Limits</h2>
              </header>
              <table>
                <tbody>
                  {data.windows.map(({ name, used, limit, resets_at }) => {
                    const share = limit > 0 ? (100 * used) / limit : 0
                    return (
                      <tr key={name}>
                        <th scope="row">{windowNames[name] ?? words(name)}</th>
                        <td class="number">
                          {number(used)} of {number(limit)}
                        </td>
                        <td class="wide-only">
                          <div class={`bar ${share > 90 ? 'bad' : share > 70 ? 'warn' : ''}`}>
                            <i style={{ width: `${Math.min(100, share)}%` }} />
                          </div>
                        </td>
                        <td class="number quiet wide-only">{instant(resets_at)}</td>
                      </tr>
                    )
                  })}
                </tbody>
              </table>
            </section>
          </>
        )}
      </Shown>
      <section class="card" aria-labelledby="days">
        <h2 id="days">Requests by day</h2>
        <Shown of={byDay} what="days">
          {({ daily_breakdown: days }) => (
            <Chart
              title="Requests by day of this period"
              height={220}
              times={days.map(({ date }) => Date.parse(date) / 1000)}
              lines={[{ label: 'Requests', values: days.map(one => one.requests), ink: '--ink-1' }]}
            />
          )}
        </Shown>
      </section>
    </>
  )
}

interface AccountAnswer {
  account: {
    email: string
    tier_name: string
    request_limit: number
    trial_active: boolean
    trial_ends_at: string | null
    created_at: string
  }
}

interface Invoice {
  id: string
  number: string
  amount: number
  currency: string
  status: string
  created_at: string
}

function Plan() {
  const account = useLoaded('account', signal => ask<AccountAnswer>('/v1/account', { signal }))
  const invoices = useLoaded('invoices', signal =>
    ask<{ invoices: Invoice[] }>('/billing/invoices', { signal }),
  )
  return (
    <div class="columns">
      <section class="card" aria-labelledby="plan">
        <h2 id="plan">Plan</h2>
        <Shown of={account} what="the plan">
          {({ account: data }) => (
            <dl class="facts">
              <dt>Account</dt>
              <dd>{data.email}</dd>
              <dt>Plan</dt>
              <dd>{data.tier_name}</dd>
              <dt>Requests</dt>
              <dd>{number(data.request_limit)}</dd>
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
      <section class="card flush" aria-labelledby="invoices">
        <header>
          <h2 id="invoices">Invoices</h2>
        </header>
        <Shown of={invoices} what="invoices">
          {({ invoices: rows }) =>
            rows.length === 0 ? (
              <Empty>There are no invoices.</Empty>
            ) : (
              <table>
                <tbody>
                  {rows.map(invoice => (
                    <tr key={invoice.id}>
                      <th scope="row">
                        <a href={`/billing/invoices/${invoice.id}/pdf`} rel="external">
                          {invoice.number}
                        </a>
                      </th>
                      <td class="quiet">{day(invoice.created_at)}</td>
                      <td class="number">
                        {invoice.currency} {number(invoice.amount / 100, 2)}
                      </td>
                      <td>
                        <Tag mood={invoice.status === 'paid' ? 'good' : 'warn'}>
                          {words(invoice.status)}
                        </Tag>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )
          }
        </Shown>
      </section>
    </div>
  )
}

function People() {
  const answer = useLoaded('organization', signal =>
    ask<Organization>('/organizations/dashboard', { signal }),
  )
  const { refusal, attempt } = useAttempt()
  const email = useSignal('')
  const role = useSignal('member')
  const invite = () =>
    attempt(async () => {
      await ask('/organizations/invitations', {
        method: 'POST',
        body: { email: email.value, role: role.value },
      })
      email.value = ''
      await answer.reload()
    })
  return (
    <>
      {refusal.value && <Refused error={refusal.value} />}
      <Shown of={answer} what="members">
        {({ organization, members, invitations }) => (
          <section class="card flush" aria-labelledby="members">
            <header>
              <h2 id="members">{organization.name}</h2>
              {organization.your_role === 'admin' && (
                <form
                  class="row end"
                  onSubmit={event => {
                    event.preventDefault()
                    void invite()
                  }}
                >
                  <label>
                    E-mail address
                    <input
                      type="email"
                      required
                      value={email.value}
                      onInput={event => {
                        email.value = event.currentTarget.value
                      }}
                    />
                  </label>
                  <label>
                    As
                    <select
                      value={role.value}
                      onChange={event => {
                        role.value = event.currentTarget.value
                      }}
                    >
                      <option value="member">member</option>
                      <option value="admin">admin</option>
                      <option value="read_only">read-only</option>
                    </select>
                  </label>
                  <button type="submit" class="main">
                    Invite
                  </button>
                </form>
              )}
            </header>
            <table>
              <tbody>
                {members.map(member => (
                  <tr key={member.id}>
                    <th scope="row" class="break">
                      {member.email}
                    </th>
                    <td>
                      <Tag>{words(member.role)}</Tag>
                    </td>
                    <td class="number quiet wide-only">since {day(member.joined_at)}</td>
                  </tr>
                ))}
                {invitations.map(invitation => (
                  <tr key={invitation.id}>
                    <th scope="row" class="break">
                      {invitation.email}
                    </th>
                    <td>
                      <Tag mood="warn">{words(invitation.status)}</Tag>
                    </td>
                    <td class="number quiet wide-only">until {day(invitation.expires_at)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        )}
      </Shown>
    </>
  )
}
