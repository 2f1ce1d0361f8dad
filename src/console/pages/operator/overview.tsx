import type { PublicStatus } from '../../../topics/condition/operations/public-status.ts'
import type { FeedShape as Feed } from '../../../topics/operator/operations/data/feeds.ts'
import type { Condition } from '../../../topics/operator/operations/system/condition.ts'
import { Figure, Notice, Shown, Tag } from '../../parts/bits.tsx'
import { Button } from '../../parts/buttons.tsx'
import { asOperator } from '../../parts/person/operator-token.tsx'
import { ask, useLoaded } from '../../parts/requests/ask.ts'
import { boot } from '../../parts/requests/boot.ts'
import { seriesLink } from '../../parts/tables/columns.tsx'
import { Table } from '../../parts/tables/table.tsx'
import { ago, agoOfNewest, agoOrDash, number, words } from '../../parts/text/format.ts'
import { Course } from './course.tsx'
import { Dots, feedMoods, LastRun } from './feeds.tsx'
import { FirstSteps } from './first-steps.tsx'

const accountLink = (email: string) => `/operator/people?search=${encodeURIComponent(email)}`

const faultWords = {
  stopped: 'Stopped',
  frozen: 'Frozen',
  unit_breaks: 'Unit changed',
} as const
const kinds = ['stopped', 'frozen', 'unit_breaks'] as const

/** As on the public page of the status: degraded is a warning. */
const moodOf = (status: string) =>
  status === 'operational' ? 'good' : status === 'down' ? 'bad' : 'warn'

interface Whole {
  status: PublicStatus
  feeds: Feed[]
  condition: Condition
  /** How many values await review. */
  held: number
  /** Nothing feeds it yet: the first steps are shown. */
  isNew: boolean
}

const faultsOf = ({ series }: Condition) =>
  kinds.flatMap(kind => series[kind].map(code => ({ kind, code })))

/** The health overview: parts of the service, their state, and tasks for the operator. */
export function Overview() {
  const answer = useLoaded('operator', () =>
    Promise.all([
      ask<PublicStatus>('/status.json'),
      asOperator<{ feeds: Feed[] }>('/admin/v1/feeds'),
      asOperator<{ data: { counts: Record<string, number> } }>('/admin/v1/outbox/held'),
      asOperator<{ data: unknown[] }>('/admin/v1/quarantine'),
      asOperator<{ data: { meta: { total: number } } }>('/admin/v1/review?per_page=1'),
      asOperator<{ data: Condition }>('/admin/v1/condition'),
    ]),
  )
  return (
    <Shown of={answer} what="the overview">
      {([status, { feeds }, messages, quarantine, review, { data: condition }]) => {
        const { backups } = condition
        const held = review.data.meta.total
        const sum = (name: 'delayed' | 'stale' | 'missing') =>
          status.categories.reduce((total, category) => total + category[name], 0)
        const hasPrices = status.categories.some(
          ({ current, delayed, stale }) => current + delayed + stale > 0,
        )
        const kept = Object.values(messages.data.counts).reduce((total, count) => total + count, 0)
        const active = feeds.filter(({ state }) => state !== 'off')
        return (
          <>
            <Troubles
              status={status}
              feeds={feeds}
              condition={condition}
              held={held}
              isNew={!hasPrices && active.length === 0}
            />
            {!boot.isEvaluation && (
              <FirstSteps
                hasData={hasPrices || active.length > 0}
                hasBackup={backups.made_at !== null}
              />
            )}
            <section class="card" aria-labelledby="service">
              <header>
                <h2 id="service">Service</h2>
                <Button className="tight" label="Refresh" onClick={() => answer.reload()} />
              </header>
              <div class="figures even">
                <Figure label="State">
                  <Tag mood={moodOf(status.status)}>{words(status.status)}</Tag>
                </Figure>
                <Figure label="Last backup">{ago(backups.made_at)}</Figure>
                <Figure label="Newest observation">{agoOfNewest(status.newest_observation)}</Figure>
                <Figure label="Version">{status.version}</Figure>
              </div>
            </section>
            <Course />
            <section class="card" aria-labelledby="data-figures">
              <h2 id="data-figures">Data and messages</h2>
              <div class="figures even">
                <Figure label="Delayed codes">{number(sum('delayed'))}</Figure>
                <Figure label="Stale codes">{number(sum('stale'))}</Figure>
                <Figure label="Without data">{number(sum('missing'))}</Figure>
                <Figure label="Held values">{number(held)}</Figure>
                <Figure label="Quarantined ranges">{number(quarantine.data.length)}</Figure>
                <Figure label="Held messages">{number(kept)}</Figure>
              </div>
            </section>
            <div class="columns">
              <ActiveFeeds feeds={active} />
              <Faults faults={faultsOf(condition)} hasPrices={hasPrices} />
            </div>
          </>
        )
      }}
    </Shown>
  )
}

const outbox = { href: '/operator/outbox', text: 'Open the outbox' }
/** The page on which an operator sees why a component does not work. */
const remedies: Readonly<Record<string, typeof outbox>> = {
  ingest: { href: '/operator/feeds', text: 'Open the feeds' },
  email: outbox,
  sms: outbox,
  webhooks: outbox,
}

/** The problems that need the operator, each with a link to its page. */
function Troubles({ status, feeds, condition, held, isNew }: Whole) {
  const { disk, backups, webhooks, deliveries } = condition
  const failing = feeds.filter(({ state }) => state === 'failing' || state === 'late')
  const broken = status.components.filter(
    ({ status: state }) => state === 'degraded' || state === 'down',
  )
  const waits =
    broken.length +
    failing.length +
    webhooks.length +
    deliveries.length +
    held +
    faultsOf(condition).length
  return (
    <>
      {broken.map(({ name, message, status: state }) => (
        <Notice mood={moodOf(state)} key={name}>
          {message} {remedies[name] && <a href={remedies[name].href}>{remedies[name].text}</a>}
        </Notice>
      ))}
      {disk.trouble && <Notice mood="bad">Writes are refused: {disk.trouble}</Notice>}
      {backups.trouble && (
        <Notice mood="bad">
          <a href="/operator/backups">The last backup</a>: {backups.trouble}
        </Notice>
      )}
      {failing.map(feed => (
        <Notice mood="warn" key={feed.name}>
          <a href="/operator/feeds">{feed.title}</a> is {feed.state}
          {feed.last_run?.problem && `: ${feed.last_run.problem.message}`}
        </Notice>
      ))}
      {webhooks.map(endpoint => (
        <Notice mood="warn" key={endpoint.id}>
          <a href={accountLink(endpoint.account_email)}>
            The webhook endpoint {endpoint.host} of {endpoint.account_email}
          </a>{' '}
          {endpoint.state === 'failing' ? 'is failing' : 'was disabled'}
          {endpoint.error && `: ${endpoint.error}`}
        </Notice>
      ))}
      {deliveries.map(delivery => (
        <Notice mood="warn" key={delivery.id}>
          <a href={accountLink(delivery.account_email)}>
            The scheduled delivery {delivery.name ?? ''} of {delivery.account_email}
          </a>{' '}
          was not sent: {delivery.error}
        </Notice>
      ))}
      {held > 0 && (
        <Notice mood="warn">
          <a href="/operator/data">
            {number(held)} {held === 1 ? 'value' : 'values'}
          </a>{' '}
          {held === 1 ? 'awaits' : 'await'} review.
        </Notice>
      )}
      {waits === 0 && !isNew && !disk.trouble && !backups.trouble && (
        <Notice mood="good">No action needed.</Notice>
      )}
    </>
  )
}

const ActiveFeeds = ({ feeds }: { feeds: Feed[] }) => (
  <Table
    caption="Feeds"
    file="feeds-overview"
    rows={feeds}
    keyOf={({ name }) => name}
    isTall
    empty={
      <p>
        No feeds are enabled. <a href="/operator/feeds">Browse feeds</a>, or{' '}
        <a href="/operator/data">import a file</a>.
      </p>
    }
    columns={({ column }) => [
      column('Source', 'title', feed => <a href="/operator/feeds">{feed.title}</a>),
      column('Last run', feed => feed.last_run?.started_at, {
        className: 'quiet',
        show: feed => <LastRun run={feed.last_run} />,
      }),
      { name: '14 days', isWide: true, show: feed => <Dots feed={feed} /> },
      column('Next release', 'next_run_at', { className: 'quiet', write: agoOrDash }),
      column('State', 'state', ({ state }) => <Tag mood={feedMoods[state]}>{words(state)}</Tag>),
    ]}
  />
)

interface FaultsProps {
  faults: ReturnType<typeof faultsOf>
  hasPrices: boolean
}

const Faults = ({ faults, hasPrices }: FaultsProps) => (
  <Table
    caption="Late and frozen series"
    file="faults"
    rows={faults}
    keyOf={({ kind, code }) => `${kind} ${code}`}
    isTall
    empty={
      hasPrices ? (
        'Every series is on schedule.'
      ) : (
        <>
          No series has prices yet. <a href="/operator/feeds">Enable a feed</a>, or{' '}
          <a href="/operator/data">import a file</a>.
        </>
      )
    }
    columns={({ column }) => [
      column('Series', 'code', ({ code }) => seriesLink(code)),
      column('Problem', 'kind', ({ kind }) => <Tag mood="warn">{faultWords[kind]}</Tag>),
    ]}
  />
)
