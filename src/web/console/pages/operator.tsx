import { useSignal } from '@preact/signals'
import { useRoute } from 'preact-iso'
import { ask, useAttempt, useLoaded } from '../parts/ask.ts'
import { Confirmed, Figure, Notice, Page, Refused, Shown, ShownOnce, Tag } from '../parts/bits.tsx'
import { boot } from '../parts/boot.ts'
import { ago, day, instant, number, signed, words } from '../parts/format.ts'
import { asOperator, forget, Operators } from '../parts/operator-token.tsx'
import { Table } from '../parts/table.tsx'
import { Audit } from './operator/audit.tsx'
import { Review } from './operator/review.tsx'
import { SeriesEditor } from './operator/series-editor.tsx'
import { System } from './operator/system.tsx'

const tabs = [
  { value: '', href: '/operator', text: 'Overview' },
  { value: 'feeds', href: '/operator/feeds', text: 'Feeds' },
  { value: 'data', href: '/operator/data', text: 'Data' },
  { value: 'series', href: '/operator/series', text: 'Series' },
  { value: 'people', href: '/operator/people', text: 'People' },
  { value: 'audit', href: '/operator/audit', text: 'Audit' },
  { value: 'system', href: '/operator/system', text: 'System' },
] as const

/** The work of who runs the copy. */
export function Operator() {
  const { params } = useRoute()
  const part = params.part ?? ''
  return (
    <Operators title="Operator">
      {() => (
        <Page
          title="Operator"
          actions={
            <button type="button" onClick={forget}>
              Forget the token
            </button>
          }
        >
          <nav class="tabs" aria-label="Operator">
            {tabs.map(({ value, href, text }) => (
              <a key={value} href={href} aria-current={value === part ? 'page' : undefined}>
                {text}
              </a>
            ))}
          </nav>
          {part === '' && <Overview />}
          {part === 'feeds' && <Feeds />}
          {part === 'data' && <Data />}
          {part === 'series' && <SeriesEditor />}
          {part === 'people' && <People />}
          {part === 'audit' && <Audit />}
          {part === 'system' && <System />}
        </Page>
      )}
    </Operators>
  )
}

interface Feed {
  name: string
  title: string
  state: string
  codes: number
  last_new_at: string | null
  next_run_at: string | null
  last_run: { result: string | null; problem: { message: string } | null } | null
}

interface PublicStatus {
  status: string
  version: string
  newest_observation: string | null
  components: { name: string; status: string; message: string | null }[]
  categories: { delayed: number; stale: number; missing: number }[]
}

interface Held {
  data: { counts: Record<string, number> }
}

function Overview() {
  const answer = useLoaded('operator', () =>
    Promise.all([
      ask<PublicStatus>('/status.json'),
      asOperator<{ feeds: Feed[] }>('/admin/v1/feeds'),
      asOperator<Held>('/admin/v1/outbox/held'),
      asOperator<{ data: unknown[] }>('/admin/v1/quarantine'),
      asOperator<{ data: { meta: { total: number } } }>('/admin/v1/review?per_page=1'),
    ]),
  )
  return (
    <Shown of={answer} what="the overview">
      {([status, { feeds }, held, quarantine, review]) => {
        const sum = (name: 'delayed' | 'stale' | 'missing') =>
          status.categories.reduce((total, category) => total + category[name], 0)
        const kept = Object.values(held.data.counts).reduce((total, count) => total + count, 0)
        const failing = feeds.filter(({ state }) => state === 'failing' || state === 'late')
        const broken = status.components.filter(
          ({ status: state }) => state === 'degraded' || state === 'down',
        )
        return (
          <>
            <section class="figures" aria-label="In short">
              <Figure label="Service">
                <Tag mood={status.status === 'operational' ? 'good' : 'bad'}>
                  {words(status.status)}
                </Tag>
              </Figure>
              <Figure label="Newest observation">{ago(status.newest_observation)}</Figure>
              <Figure label="Delayed codes">{number(sum('delayed'))}</Figure>
              <Figure label="Stale codes">{number(sum('stale'))}</Figure>
              <Figure label="Feeds in trouble">{number(failing.length)}</Figure>
              <Figure label="Quarantined ranges">{number(quarantine.data.length)}</Figure>
              <Figure label="Messages held back">{number(kept)}</Figure>
              <Figure label="Version">{status.version}</Figure>
            </section>
            {broken.map(({ name, message }) => (
              <Notice mood="bad" key={name}>
                {words(name)}: {message}
              </Notice>
            ))}
            {failing.map(feed => (
              <Notice mood="warn" key={feed.name}>
                <a href="/operator/feeds">{feed.title}</a> is {feed.state}
                {feed.last_run?.problem && `: ${feed.last_run.problem.message}`}
              </Notice>
            ))}
            {review.data.meta.total > 0 && (
              <Notice mood="warn">
                <a href="/operator/data">{number(review.data.meta.total)} values</a> wait for a
                decision.
              </Notice>
            )}
            {broken.length + failing.length + review.data.meta.total === 0 && (
              <Notice mood="good">Nothing waits for you.</Notice>
            )}
          </>
        )
      }}
    </Shown>
  )
}

const feedMoods: Readonly<Record<string, 'good' | 'warn' | 'bad'>> = {
  ok: 'good',
  late: 'warn',
  failing: 'bad',
  needs_key: 'warn',
  needs_license: 'warn',
}

function Feeds() {
  const answer = useLoaded('feeds', () => asOperator<{ feeds: Feed[] }>('/admin/v1/feeds'))
  const { refusal, attempt } = useAttempt()
  const post = (name: string, what: string) =>
    attempt(async () => {
      await asOperator(`/admin/v1/feeds/${name}/${what}`, { method: 'POST', body: {} })
      await answer.reload()
    })
  return (
    <>
      {refusal.value && <Refused error={refusal.value} />}
      <Table
        caption="Feeds"
        of={answer}
        rows={answer.data?.feeds}
        keyOf={({ name }) => name}
        empty="There are no feeds. Turn one on with wellhead feeds add."
        note={
          <>
            A feed is turned on with <code>wellhead feeds add</code> or{' '}
            <a href="/docs?operation=putFeed">PUT /admin/v1/feeds/NAME</a>.
          </>
        }
        columns={[
          {
            name: 'Source',
            value: ({ name }) => name,
            show: feed => (
              <>
                {feed.title}
                <div class="code">{feed.name}</div>
              </>
            ),
          },
          { name: 'Codes', isNumber: true, isWide: true, value: feed => feed.codes },
          {
            name: 'Last new',
            isWide: true,
            className: 'quiet',
            value: feed => feed.last_new_at,
            show: feed => ago(feed.last_new_at),
          },
          {
            name: 'Next run',
            isWide: true,
            className: 'quiet',
            value: feed => feed.next_run_at,
            show: feed => (feed.next_run_at ? ago(feed.next_run_at) : '–'),
          },
          {
            name: 'State',
            value: ({ state }) => state,
            show: ({ state }) => <Tag mood={feedMoods[state]}>{words(state)}</Tag>,
          },
          {
            name: 'What to do',
            isHeard: true,
            show: feed =>
              feed.state !== 'off' && (
                <div class="row">
                  <button
                    type="button"
                    class="tight"
                    aria-label={`Run ${feed.title} now`}
                    onClick={() => void post(feed.name, 'run')}
                  >
                    Run
                  </button>
                  <button
                    type="button"
                    class="tight"
                    aria-label={`${feed.state === 'paused' ? 'Resume' : 'Pause'} ${feed.title}`}
                    onClick={() =>
                      void post(feed.name, feed.state === 'paused' ? 'resume' : 'pause')
                    }
                  >
                    {feed.state === 'paused' ? 'Resume' : 'Pause'}
                  </button>
                </div>
              ),
          },
        ]}
      />
    </>
  )
}

interface Batch {
  id: number
  kind: string
  actor: string
  source: string | null
  file_name: string | null
  reason: string | null
  started_at: string
  undone_at: string | null
  inserted: number
  revised: number
  removed: number
  rejected: number
}

interface Quarantine {
  id: number
  code: string
  from: string
  to: string
  reason: string
}

interface Row {
  code: string
  price: number
  observed_at: string
}

/** Rows of a CSV file with a heading: code, value and time, in any order. */
function rowsOf(text: string): Row[] {
  const [heading = '', ...lines] = text.trim().split(/\r?\n/)
  const names = heading.split(',').map(name => name.trim().toLowerCase())
  const at = (...known: string[]) => names.findIndex(name => known.includes(name))
  const [code, value, time] = [
    at('code'),
    at('price', 'value', 'close'),
    at('observed_at', 'time', 'date'),
  ]
  if (code < 0 || value < 0 || time < 0)
    throw new Error(
      'The first line must name the columns code, price and observed_at (or date), with commas between.',
    )
  return lines.map((line, i) => {
    const cells = line.split(',').map(cell => cell.trim())
    const row = {
      code: cells[code] ?? '',
      price: Number(cells[value]),
      observed_at: cells[time] ?? '',
    }
    if (!Number.isFinite(row.price))
      throw new Error(`Line ${i + 2}: ${cells[value] ?? ''} is not a number.`)
    return row
  })
}

const previewMax = 8

interface Comparison {
  inserted: number
  revised: number
  unchanged: number
  held: number
  biggest_changes: {
    code: string
    observed_at: string
    before: number
    after: number
    percent: number | null
  }[]
}

/** What an import would do, before anything is written. */
const Preview = ({ comparison }: { comparison: Comparison }) => (
  <>
    <section class="figures" aria-label="What it would do">
      <Figure label="New">{number(comparison.inserted)}</Figure>
      <Figure label="Revised">{number(comparison.revised)}</Figure>
      <Figure label="Unchanged">{number(comparison.unchanged)}</Figure>
      <Figure label="Held for review">{number(comparison.held)}</Figure>
    </section>
    {comparison.biggest_changes.length > 0 && (
      <Table
        caption="Biggest changes"
        rows={comparison.biggest_changes}
        keyOf={(_, i) => String(i)}
        empty="Nothing changes."
        columns={[
          {
            name: 'Series',
            value: ({ code }) => code,
            show: change => (
              <>
                <a href={`/series/${change.code}`}>{change.code}</a>
                <div class="quiet small">{instant(change.observed_at)}</div>
              </>
            ),
          },
          { name: 'Before', isNumber: true, value: ({ before }) => before },
          { name: 'After', isNumber: true, value: ({ after }) => after },
          {
            name: 'Change',
            isNumber: true,
            value: ({ percent }) => percent,
            show: ({ percent }) => (percent === null ? '–' : `${signed(percent, 2)} %`),
          },
        ]}
      />
    )}
  </>
)

function Data() {
  const batches = useLoaded('batches', () =>
    asOperator<{ data: { batches: Batch[] } }>('/admin/v1/batches?per_page=25'),
  )
  const quarantine = useLoaded('quarantine', () =>
    asOperator<{ data: Quarantine[] }>('/admin/v1/quarantine'),
  )
  const { refusal, attempt } = useAttempt()
  const rows = useSignal<Row[]>([])
  const comparison = useSignal<Comparison | undefined>(undefined)
  const outcome = useSignal('')
  // The review queue is asked for anew when this rises.
  const count = useSignal(0)
  const read = (file: File | undefined) =>
    attempt(async () => {
      outcome.value = ''
      rows.value = []
      comparison.value = undefined
      if (!file) return
      const observations = rowsOf(await file.text())
      const { data } = await asOperator<{ data: Comparison }>('/admin/v1/observations/compare', {
        method: 'POST',
        body: { observations },
      })
      comparison.value = data
      rows.value = observations
    })
  const record = () =>
    attempt(async () => {
      const { data } = await asOperator<{
        data: { inserted: number; revised: number; unchanged: number; held: number }
      }>('/admin/v1/observations', { method: 'POST', body: { observations: rows.value } })
      outcome.value = `${data.inserted} new, ${data.revised} revised, ${data.unchanged} as they were, ${data.held} held.`
      rows.value = []
      comparison.value = undefined
      if (data.held > 0) count.value += 1
      await batches.reload()
    })
  const undo = (id: number) =>
    attempt(async () => {
      await asOperator(`/admin/v1/batches/${id}/undo`, {
        method: 'POST',
        body: { reason: 'taken back in the console' },
      })
      await batches.reload()
    })
  const lift = (id: number) =>
    attempt(async () => {
      await asOperator(`/admin/v1/quarantine/${id}`, { method: 'DELETE' })
      await quarantine.reload()
    })
  return (
    <>
      {refusal.value && <Refused error={refusal.value} />}
      {outcome.value && <Notice mood="good">{outcome.value}</Notice>}
      <section
        class="card"
        aria-labelledby="import"
        onDragOver={event => event.preventDefault()}
        onDrop={event => {
          event.preventDefault()
          void read(event.dataTransfer?.files[0])
        }}
      >
        <h2 id="import">Import prices</h2>
        <label>
          A CSV file with the columns code, price and observed_at; drop it here or choose it
          <input
            type="file"
            accept=".csv,text/csv"
            onChange={event => void read(event.currentTarget.files?.[0])}
          />
        </label>
        {comparison.value && <Preview comparison={comparison.value} />}
        {rows.value.length > 0 && (
          <>
            <Table
              caption={`${number(rows.value.length)} rows, the first ${Math.min(previewMax, rows.value.length)}`}
              file="preview"
              rows={rows.value.slice(0, previewMax)}
              fileRows={() => rows.value}
              keyOf={(_, i) => String(i)}
              empty="The file has no rows."
              columns={[
                { name: 'Code', fileName: 'code', className: 'code', value: ({ code }) => code },
                {
                  name: 'Price',
                  fileName: 'price',
                  isNumber: true,
                  value: ({ price }) => price,
                  show: ({ price }) => number(price),
                },
                {
                  name: 'Observed',
                  fileName: 'observed_at',
                  isNumber: true,
                  className: 'quiet',
                  value: row => row.observed_at,
                },
              ]}
            />
            <div class="row">
              <button type="button" class="main" onClick={() => void record()}>
                Record {number(rows.value.length)} rows
              </button>
            </div>
          </>
        )}
      </section>
      <Review key={count.value} onDecided={batches.reload} />
      <Table
        caption="What was written"
        file="batches"
        of={batches}
        rows={batches.data?.data.batches}
        keyOf={({ id }) => String(id)}
        empty="Nothing has been imported or pushed yet. Drop a file above."
        columns={[
          {
            name: 'Batch',
            value: ({ kind, id }) => `${kind} ${id}`,
            show: batch => (
              <>
                {words(batch.kind)} {batch.id}
                <div class="quiet small">
                  {batch.file_name ?? batch.source ?? batch.reason ?? batch.actor}
                </div>
              </>
            ),
          },
          { name: 'New', isNumber: true, value: row => row.inserted },
          { name: 'Revised', isNumber: true, value: row => row.revised },
          { name: 'Rejected', isNumber: true, isWide: true, value: row => row.rejected },
          {
            name: 'When',
            isWide: true,
            className: 'quiet',
            value: row => row.started_at,
            show: row => instant(row.started_at),
          },
          {
            name: 'What to do',
            isHeard: true,
            show: batch =>
              batch.undone_at ? (
                <Tag>Undone</Tag>
              ) : (
                <Confirmed
                  label="Undo"
                  question={`Undo batch ${batch.id}? What stood before is put back, as a new batch.`}
                  onConfirm={() => undo(batch.id)}
                />
              ),
          },
        ]}
      />
      <Table
        caption="Quarantine"
        of={quarantine}
        rows={quarantine.data?.data}
        keyOf={({ id }) => String(id)}
        empty="No days are left out of reads."
        columns={[
          {
            name: 'Series',
            value: ({ code }) => code,
            show: ({ code, reason }) => (
              <>
                <a href={`/series/${code}`}>{code}</a>
                <div class="quiet small">{reason}</div>
              </>
            ),
          },
          { name: 'Days', value: ({ from, to }) => `${from} to ${to}` },
          {
            name: 'What to do',
            isHeard: true,
            show: range => (
              <Confirmed
                label="Lift"
                question={`Read ${range.code} from ${range.from} to ${range.to} again?`}
                onConfirm={() => lift(range.id)}
              />
            ),
          },
        ]}
      />
    </>
  )
}

interface Account {
  id: string
  email: string
  plan: string
  tier_name: string
  suspended_at: string | null
  created_at: string
  active_keys: number
}

const plans = ['free', 'developer', 'starter', 'professional', 'scale', 'enterprise'] as const

function People() {
  const typed = useSignal('')
  const email = useSignal('')
  const plan = useSignal('free')
  const invited = useSignal('')
  const shown = useSignal<{ text: string; secret: string } | undefined>(undefined)
  const path = `/admin/v1/accounts?per_page=50${typed.value ? `&q=${encodeURIComponent(typed.value)}` : ''}`
  const answer = useLoaded(path, () => asOperator<{ data: { accounts: Account[] } }>(path))
  const { refusal, attempt } = useAttempt()
  const make = () =>
    attempt(async () => {
      const { data } = await asOperator<{ data: { api_key: { plain_token?: string } } }>(
        '/admin/v1/accounts',
        { method: 'POST', body: { email: email.value, plan: plan.value } },
      )
      shown.value = {
        text: `The first key of ${email.value}, shown once:`,
        secret: data.api_key.plain_token ?? '',
      }
      email.value = ''
      await answer.reload()
    })
  const invite = () =>
    attempt(async () => {
      await asOperator('/admin/v1/invitations', { method: 'POST', body: { email: email.value } })
      invited.value = email.value
      email.value = ''
    })
  const link = (account: Account) =>
    attempt(async () => {
      const signIn = await asOperator<{ data: { sign_in_url: string } }>(
        `/admin/v1/accounts/${account.id}/link`,
        { method: 'POST', body: {} },
      )
      shown.value = {
        text: `A link that signs ${account.email} in, once:`,
        secret: signIn.data.sign_in_url,
      }
    })
  const change = (account: Account, body: object) =>
    attempt(async () => {
      await asOperator(`/admin/v1/accounts/${account.id}`, { method: 'PATCH', body })
      await answer.reload()
    })
  return (
    <>
      {refusal.value && <Refused error={refusal.value} />}
      {invited.value && (
        <Notice mood="good">
          A letter to {invited.value} is on its way; its link is good for a week.
        </Notice>
      )}
      {shown.value && <ShownOnce what={shown.value.text} secret={shown.value.secret} />}
      <Table
        caption="Accounts"
        of={answer}
        rows={answer.data?.data.accounts}
        keyOf={({ id }) => id}
        empty="No account has that address. Make one, or search for another."
        actions={
          <>
            <label>
              Search
              <input
                type="search"
                value={typed.value}
                onInput={event => {
                  typed.value = event.currentTarget.value
                }}
              />
            </label>
            <form
              class="row end"
              onSubmit={event => {
                event.preventDefault()
                void make()
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
                Plan
                <select
                  value={plan.value}
                  onChange={event => {
                    plan.value = event.currentTarget.value
                  }}
                >
                  {plans.map(plan => (
                    <option key={plan} value={plan}>
                      {words(plan)}
                    </option>
                  ))}
                </select>
              </label>
              <button type="submit" class="main">
                Make an account
              </button>
              {boot.signup !== 'closed' && (
                <button type="button" disabled={email.value === ''} onClick={() => void invite()}>
                  Invite by letter
                </button>
              )}
            </form>
          </>
        }
        columns={[
          {
            name: 'Account',
            value: ({ email }) => email,
            show: account => (
              <>
                {account.email}
                <div class="quiet small">since {day(account.created_at)}</div>
              </>
            ),
          },
          {
            name: 'Plan',
            value: account => account.plan,
            show: account => (
              <select
                aria-label={`Plan of ${account.email}`}
                value={account.plan}
                onChange={event => void change(account, { plan: event.currentTarget.value })}
              >
                {plans.map(plan => (
                  <option key={plan} value={plan}>
                    {words(plan)}
                  </option>
                ))}
              </select>
            ),
          },
          { name: 'Keys', isNumber: true, isWide: true, value: row => row.active_keys },
          {
            name: 'State',
            value: account => (account.suspended_at ? 'suspended' : 'active'),
            show: account =>
              account.suspended_at ? (
                <Tag mood="bad">Suspended</Tag>
              ) : (
                <Tag mood="good">Active</Tag>
              ),
          },
          {
            name: 'What to do',
            isHeard: true,
            show: account => (
              <div class="row">
                <button
                  type="button"
                  class="tight"
                  aria-label={`Sign-in link for ${account.email}`}
                  onClick={() => void link(account)}
                >
                  Link
                </button>
                <Confirmed
                  label={account.suspended_at ? 'Release' : 'Suspend'}
                  question={
                    account.suspended_at
                      ? `Let ${account.email} in again?`
                      : `Refuse every request of ${account.email} from now on?`
                  }
                  onConfirm={() => change(account, { suspended: account.suspended_at === null })}
                />
              </div>
            ),
          },
        ]}
      />
    </>
  )
}
