import type { IncidentRow as Incident } from '../../topics/condition/operations/incidents.ts'
import type { PublicStatus } from '../../topics/condition/operations/public-status.ts'
import { Figure, Shown, Tag } from '../parts/bits.tsx'
import { Button } from '../parts/buttons.tsx'
import { Page } from '../parts/page.tsx'
import { type Loaded, useAnswer } from '../parts/requests/ask.ts'
import { numeric } from '../parts/tables/columns.tsx'
import { Table, twoLines } from '../parts/tables/table.tsx'
import { ago, agoOfNewest, instant, number, sourceText, words } from '../parts/text/format.ts'

const moods = { operational: 'good', degraded: 'warn', down: 'bad', disabled: undefined } as const

const sentences = {
  operational: 'All systems operational.',
  degraded: 'Some components are degraded.',
  down: 'The service is down.',
} as const

const partNames: Readonly<Record<string, string>> = {
  api: 'API',
  sms: 'Text messages',
  email: 'E-mail',
}

type Category = PublicStatus['categories'][number]

/** The public status of the service. */
export function Status() {
  const answer = useAnswer<PublicStatus>('/status.json')
  const incidents = useAnswer<{ incidents: Incident[] }>('/status/incidents.json')
  return (
    <Page
      title="Status"
      about={answer.data && sentences[answer.data.status]}
      actions={
        <Button
          label="Refresh"
          onClick={() => {
            void answer.reload()
            void incidents.reload()
          }}
        />
      }
    >
      <Shown of={answer} what="the status">
        {data => (
          <>
            <section class="figures even" aria-label="Summary">
              <Figure label="Service">
                <Tag mood={moods[data.status]}>{words(data.status)}</Tag>
              </Figure>
              <Figure label="Newest observation">{agoOfNewest(data.newest_observation)}</Figure>
              <Figure label="Codes with data">
                {number(data.categories.reduce((sum, one) => sum + one.codes - one.missing, 0))}
              </Figure>
              <Figure label="Version">{data.version}</Figure>
            </section>
            <Parts components={data.components} />
            <Incidents of={incidents} now={data.timestamp} />
            <Freshness categories={data.categories} />
            <Feeds feeds={data.feeds} />
            <p class="quiet small">
              As of {instant(data.timestamp)}. For programs:{' '}
              <a href="/status.json" rel="external">
                status.json
              </a>{' '}
              and{' '}
              <a href="/status/incidents.json" rel="external">
                incidents.json
              </a>
              ; for feed readers:{' '}
              <a href="/status/incidents.rss" rel="external">
                incidents.rss
              </a>
              .
            </p>
          </>
        )}
      </Shown>
    </Page>
  )
}

const Parts = ({ components }: Pick<PublicStatus, 'components'>) => (
  <section class="card" aria-labelledby="parts">
    <h2 id="parts">Components</h2>
    <div class="figures">
      {components.map(({ name, status, message }) => (
        <Figure key={name} label={partOf(name)}>
          <Tag mood={moods[status]}>{status === 'disabled' ? 'Not configured' : words(status)}</Tag>
          {message && <div class="quiet small">{message}</div>}
        </Figure>
      ))}
    </div>
  </section>
)

const countColumn = (name: string, pick: (row: Category) => number, mood: 'warn' | 'bad') =>
  numeric(name, pick, {
    show: (row: Category) => (pick(row) > 0 ? <Tag mood={mood}>{pick(row)}</Tag> : '–'),
  })

const Freshness = ({ categories }: Pick<PublicStatus, 'categories'>) => (
  <Table
    caption="Data freshness"
    file="freshness"
    rows={categories}
    empty="No data yet. The operator imports a file or enables a public feed."
    note="Codes by freshness against their release schedule."
    columns={({ column, numeric }) => [
      column('Category', ({ name }) => words(name)),
      numeric('Codes', 'codes', { isWide: true }),
      numeric('Current', 'current'),
      countColumn('Delayed', ({ delayed }) => delayed, 'warn'),
      countColumn('Stale', ({ stale }) => stale, 'bad'),
      numeric('No data', 'missing', ({ missing }) => missing || '–'),
      {
        name: 'Share current',
        isWide: true,
        show: ({ codes, current, delayed, stale }) => (
          <div class={`bar ${stale > 0 ? 'bad' : delayed > 0 ? 'warn' : ''}`}>
            <i style={{ width: `${(100 * current) / Math.max(1, codes)}%` }} />
          </div>
        ),
      },
    ]}
  />
)

const partOf = (name: string): string => partNames[name] ?? words(name)

/** How long something lasted, in its two largest units. */
function lasted(from: string, to: string): string {
  const minutes = Math.max(1, Math.round((Date.parse(to) - Date.parse(from)) / 60_000))
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60)]
  if (days > 0) return `${days} d ${hours} h`
  return hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min`
}

const Incidents = ({ of, now }: { of: Loaded<{ incidents: Incident[] }>; now: string }) => (
  <Table
    caption="Incidents of the last 90 days"
    file="incidents"
    rows={of.data?.incidents}
    of={of}
    empty="No incidents. Subscribe to incidents.rss below to be notified of the next one."
    columns={({ column, numeric }) => [
      column('Component', ({ part }) => partOf(part), {
        show: ({ part, message }) => twoLines(partOf(part), message),
      }),
      column('Worst state', 'status', ({ status }) => (
        <Tag mood={moods[status]}>{words(status)}</Tag>
      )),
      column('Began', 'began_at', { write: instant }),
      column('Ended', 'ended_at', {
        isWide: true,
        show: ({ ended_at }) => (ended_at === null ? 'Ongoing' : instant(ended_at)),
      }),
      numeric('Lasted', ({ began_at, ended_at }) => lasted(began_at, ended_at ?? now), {
        isWide: true,
        show: ({ began_at, ended_at }) =>
          `${lasted(began_at, ended_at ?? now)}${ended_at === null ? ' so far' : ''}`,
      }),
    ]}
  />
)

const feedMoods = { current: 'good', delayed: 'warn', stale: 'bad', empty: undefined } as const

const Feeds = ({ feeds }: Pick<PublicStatus, 'feeds'>) => (
  <Table
    caption="Freshness by source"
    file="sources"
    rows={feeds.filter(({ status }) => status !== 'empty')}
    empty="No source has delivered data yet. The operator imports a file or enables a public feed."
    note="Each row is one publisher and one category."
    isTall
    columns={({ column, numeric }) => [
      column('Source', 'name', { write: sourceText }),
      column('State', 'status', ({ status }) => (
        <Tag mood={feedMoods[status]}>{words(status)}</Tag>
      )),
      column('Newest', 'last_observation_at', { write: ago }),
      column('Next by', 'expected_by', {
        isWide: true,
        write: instant,
      }),
      numeric('Codes', 'codes', { isWide: true }),
      numeric('Stale codes', 'stale_codes', {
        isWide: true,
        show: feed => feed.stale_codes || '–',
      }),
    ]}
  />
)
