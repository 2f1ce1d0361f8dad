import { ask, useLoaded } from '../parts/ask.ts'
import { Figure, Page, Shown, Tag, Wide } from '../parts/bits.tsx'
import { ago, instant, number, words } from '../parts/format.ts'

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
  <section class="card flush" aria-labelledby="parts">
    <header>
      <h2 id="parts">Parts of the service</h2>
    </header>
    <table>
      <tbody>
        {components.map(({ name, status, message }) => (
          <tr key={name}>
            <th scope="row">
              {partNames[name] ?? words(name)}
              {message && <div class="quiet small">{message}</div>}
            </th>
            <td class="number">
              <Tag mood={moods[status]}>
                {status === 'disabled' ? 'Not used here' : words(status)}
              </Tag>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)

function Freshness({ categories }: { categories: Category[] }) {
  return (
    <section class="card flush" aria-labelledby="fresh">
      <header>
        <h2 id="fresh">How fresh the data is</h2>
        <span class="quiet small">Codes by whether they are as new as their schedule promises</span>
      </header>
      <Wide label="Freshness by category">
        <table>
          <thead>
            <tr>
              <th scope="col">Category</th>
              <th scope="col" class="number">
                Codes
              </th>
              <th scope="col" class="number">
                Current
              </th>
              <th scope="col" class="number">
                Delayed
              </th>
              <th scope="col" class="number">
                Stale
              </th>
              <th scope="col" class="number wide-only">
                No data
              </th>
              <th scope="col" class="wide-only">
                Share current
              </th>
            </tr>
          </thead>
          <tbody>
            {categories.map(({ name, codes, current, delayed, stale, missing }) => (
              <tr key={name}>
                <th scope="row">{words(name)}</th>
                <td class="number">{codes}</td>
                <td class="number">{current}</td>
                <td class="number">{delayed > 0 ? <Tag mood="warn">{delayed}</Tag> : '–'}</td>
                <td class="number">{stale > 0 ? <Tag mood="bad">{stale}</Tag> : '–'}</td>
                <td class="number wide-only">{missing || '–'}</td>
                <td class="wide-only">
                  <div class={`bar ${stale > 0 ? 'bad' : delayed > 0 ? 'warn' : ''}`}>
                    <i style={{ width: `${(100 * current) / Math.max(1, codes)}%` }} />
                  </div>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </section>
  )
}
