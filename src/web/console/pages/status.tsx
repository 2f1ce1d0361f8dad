import { ask, useLoaded } from '../parts/ask.ts'
import { Figure, Page, Shown, Tag } from '../parts/bits.tsx'
import { ago, instant, number, words } from '../parts/format.ts'
import { Table } from '../parts/table.tsx'

interface Component {
  name: string
  status: 'operational' | 'degraded' | 'down' | 'disabled'
  message: string | null
}

interface Category {
  name: string
  codes: number
  current: number
  delayed: number
  stale: number
  missing: number
}

interface PublicStatus {
  mode: 'evaluation' | 'production'
  status: 'operational' | 'degraded' | 'down'
  version: string
  timestamp: string
  newest_observation: string | null
  components: Component[]
  categories: Category[]
}

const moods = { operational: 'good', degraded: 'warn', down: 'bad', disabled: undefined } as const

const sentences = {
  operational: 'Everything works.',
  degraded: 'Some parts do not work as they should.',
  down: 'The service does not work.',
} as const

const partNames: Readonly<Record<string, string>> = {
  api: 'Interface',
  sms: 'Text messages',
  email: 'E-mail',
}

/** How the service is doing, for whoever asks. */
export function Status() {
  const answer = useLoaded('status', signal => ask<PublicStatus>('/status.json', { signal }))
  return (
    <Page
      title="Status"
      about={answer.data && sentences[answer.data.status]}
      actions={
        <button type="button" onClick={() => void answer.reload()}>
          Refresh
        </button>
      }
    >
      <Shown of={answer} what="the status">
        {data => (
          <>
            <section class="figures" aria-label="In short">
              <Figure label="Service">
                <Tag mood={moods[data.status]}>{words(data.status)}</Tag>
              </Figure>
              <Figure label="Newest observation">{ago(data.newest_observation)}</Figure>
              <Figure label="Codes with data">
                {number(data.categories.reduce((sum, one) => sum + one.codes - one.missing, 0))}
              </Figure>
              <Figure label="Version">{data.version}</Figure>
            </section>
            <Parts components={data.components} />
            <Freshness categories={data.categories} />
            <p class="quiet small">
              As of {instant(data.timestamp)}. Programs read{' '}
              <a href="/status.json" rel="external">
                status.json
              </a>
              .
            </p>
          </>
        )}
      </Shown>
    </Page>
  )
}

const Parts = ({ components }: { components: Component[] }) => (
  <Table
    caption="Parts of the service"
    file="parts"
    rows={components}
    keyOf={({ name }) => name}
    empty="This copy names no parts."
    columns={[
      {
        name: 'Part',
        value: ({ name }) => partNames[name] ?? words(name),
        show: ({ name, message }) => (
          <>
            {partNames[name] ?? words(name)}
            {message && <div class="quiet small">{message}</div>}
          </>
        ),
      },
      {
        name: 'State',
        value: ({ status }) => status,
        show: ({ status }) => (
          <Tag mood={moods[status]}>{status === 'disabled' ? 'Not used here' : words(status)}</Tag>
        ),
        className: 'end',
      },
    ]}
  />
)

const counted = (name: string, pick: (row: Category) => number, mood: 'warn' | 'bad') => ({
  name,
  isNumber: true,
  value: pick,
  show: (row: Category) => (pick(row) > 0 ? <Tag mood={mood}>{pick(row)}</Tag> : '–'),
})

const Freshness = ({ categories }: { categories: Category[] }) => (
  <Table
    caption="How fresh the data is"
    file="freshness"
    rows={categories}
    keyOf={({ name }) => name}
    empty="There is no data yet. The operator imports a file or turns a public feed on."
    note="Codes by whether they are as new as their schedule promises."
    columns={[
      { name: 'Category', value: ({ name }) => words(name) },
      { name: 'Codes', isNumber: true, value: ({ codes }) => codes },
      { name: 'Current', isNumber: true, value: ({ current }) => current },
      counted('Delayed', ({ delayed }) => delayed, 'warn'),
      counted('Stale', ({ stale }) => stale, 'bad'),
      {
        name: 'No data',
        isNumber: true,
        isWide: true,
        value: ({ missing }) => missing,
        show: ({ missing }) => missing || '–',
      },
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
