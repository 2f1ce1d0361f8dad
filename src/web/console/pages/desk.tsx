import { useSignal } from '@preact/signals'
import { useAttempt, useLoaded } from '../parts/ask.ts'
import { Empty, Notice, Page, Refused, Shown, Tag } from '../parts/bits.tsx'
import { boot } from '../parts/boot.ts'
import { instant } from '../parts/format.ts'
import { asOperator, Operators } from '../parts/operator-token.tsx'

interface Clock {
  now: string
  frozen: boolean
}

interface Message {
  channel: string
  to: string
  subject: string | null
  text: string
  at: string
}

interface Scenario {
  name: string
  description: string
}

const steps = [
  { text: '1 minute', by: 'PT1M' },
  { text: '1 hour', by: 'PT1H' },
  { text: '1 day', by: 'P1D' },
  { text: '1 week', by: 'P7D' },
] as const

/** What only an evaluation copy has: a clock that moves, faults, the captured letters. */
export function Desk() {
  if (!boot.isEvaluation)
    return (
      <Page title="Desk">
        <p>
          Only an evaluation copy has these controls: <code>wellhead dev</code>.
        </p>
      </Page>
    )
  return (
    <Operators title="Desk">
      {() => (
        <Page title="Desk" about="The controls of this evaluation copy.">
          <div class="columns">
            <Time />
            <Faults />
            <Snapshots />
          </div>
          <Scenarios />
          <Inbox />
        </Page>
      )}
    </Operators>
  )
}

function Time() {
  const answer = useLoaded('clock', () => asOperator<Clock>('/_dev/clock'))
  const { refusal, attempt } = useAttempt()
  const to = useSignal('')
  const move = (body: object) =>
    attempt(async () => {
      answer.set(await asOperator<Clock>('/_dev/clock', { method: 'POST', body }))
    })
  return (
    <section class="card" aria-labelledby="clock">
      <h2 id="clock">Clock</h2>
      {refusal.value && <Refused error={refusal.value} />}
      <Shown of={answer} what="the clock">
        {({ now, frozen }) => (
          <>
            <p class="row">
              <strong>{instant(now)}</strong>
              {frozen ? <Tag mood="warn">Stands still</Tag> : <Tag mood="good">Runs</Tag>}
            </p>
            <div class="row">
              {steps.map(({ text, by }) => (
                <button
                  type="button"
                  class="tight"
                  key={text}
                  onClick={() => void move({ advance: by })}
                >
                  + {text}
                </button>
              ))}
              <button type="button" class="tight" onClick={() => void move({ freeze: !frozen })}>
                {frozen ? 'Let it run' : 'Freeze'}
              </button>
            </div>
            <form
              class="row end"
              onSubmit={event => {
                event.preventDefault()
                void move({ now: `${to.value}T12:00:00Z` })
              }}
            >
              <label>
                Run on to a day
                <input
                  type="date"
                  required
                  min={now.slice(0, 10)}
                  value={to.value}
                  onInput={event => {
                    to.value = event.currentTarget.value
                  }}
                />
              </label>
              <button type="submit">Run on</button>
            </form>
          </>
        )}
      </Shown>
    </section>
  )
}

const faultCodes = [
  'OVERLOADED',
  'RATE_LIMIT_EXCEEDED',
  'INTERNAL_ERROR',
  'STORAGE_UNAVAILABLE',
] as const

function Faults() {
  const answer = useLoaded('faults', () =>
    asOperator<{ faults: Record<string, unknown>[] }>('/_dev/faults'),
  )
  const { refusal, attempt } = useAttempt()
  const route = useSignal('/v1/prices/latest')
  const code = useSignal<string>('OVERLOADED')
  const add = () =>
    attempt(async () => {
      await asOperator('/_dev/faults', {
        method: 'POST',
        body: { path: route.value, code: code.value },
      })
      await answer.reload()
    })
  const clear = () =>
    attempt(async () => {
      await asOperator('/_dev/faults', { method: 'DELETE' })
      await answer.reload()
    })
  return (
    <section class="card" aria-labelledby="faults">
      <h2 id="faults">Faults</h2>
      {refusal.value && <Refused error={refusal.value} />}
      <form
        class="row end"
        onSubmit={event => {
          event.preventDefault()
          void add()
        }}
      >
        <label>
          Route
          <input
            required
            value={route.value}
            onInput={event => {
              route.value = event.currentTarget.value
            }}
          />
        </label>
        <label>
          Answers
          <select
            value={code.value}
            onChange={event => {
              code.value = event.currentTarget.value
            }}
          >
            {faultCodes.map(code => (
              <option key={code} value={code}>
                {code}
              </option>
            ))}
          </select>
        </label>
        <button type="submit">Make it fail</button>
      </form>
      <Shown of={answer} what="faults">
        {({ faults }) =>
          faults.length === 0 ? (
            <p class="quiet">Every route works.</p>
          ) : (
            <>
              <pre class="wrap">{JSON.stringify(faults, null, 1)}</pre>
              <div class="row">
                <button type="button" onClick={() => void clear()}>
                  End all faults
                </button>
              </div>
            </>
          )
        }
      </Shown>
    </section>
  )
}

function Snapshots() {
  const name = useSignal('before')
  const outcome = useSignal('')
  const { refusal, attempt } = useAttempt()
  const send = (what: 'snapshot' | 'restore') =>
    attempt(async () => {
      const answer = await asOperator<{ now: string }>(`/_dev/${what}`, {
        method: 'POST',
        body: { name: name.value },
      })
      outcome.value =
        what === 'snapshot'
          ? `Kept as ${name.value}, at ${instant(answer.now)}.`
          : `Back at ${name.value}, ${instant(answer.now)}.`
    })
  return (
    <section class="card" aria-labelledby="states">
      <h2 id="states">States</h2>
      {refusal.value && <Refused error={refusal.value} />}
      {outcome.value && <Notice mood="good">{outcome.value}</Notice>}
      <label>
        Name
        <input
          value={name.value}
          onInput={event => {
            name.value = event.currentTarget.value
          }}
        />
      </label>
      <div class="row">
        <button type="button" onClick={() => void send('snapshot')}>
          Keep the state
        </button>
        <button type="button" onClick={() => void send('restore')}>
          Go back to it
        </button>
      </div>
    </section>
  )
}

function Scenarios() {
  const answer = useLoaded('scenarios', () =>
    asOperator<{ scenarios: Scenario[] }>('/_dev/scenario'),
  )
  const outcome = useSignal<unknown>(undefined)
  const { refusal, attempt } = useAttempt()
  const play = (name: string) =>
    attempt(async () => {
      outcome.value = await asOperator('/_dev/scenario', { method: 'POST', body: { name } })
    })
  return (
    <section class="card" aria-labelledby="scenarios">
      <h2 id="scenarios">Scenarios</h2>
      {refusal.value && <Refused error={refusal.value} />}
      {outcome.value !== undefined && (
        <pre class="wrap tall">{JSON.stringify(outcome.value, null, 1)}</pre>
      )}
      <Shown of={answer} what="scenarios">
        {({ scenarios }) => (
          <ul class="plain">
            {scenarios.map(({ name, description }) => (
              <li key={name}>
                <button
                  type="button"
                  class="tight"
                  aria-label={`Play ${name}`}
                  onClick={() => void play(name)}
                >
                  Play
                </button>{' '}
                <code>{name}</code> <span class="quiet small">{description}</span>
              </li>
            ))}
          </ul>
        )}
      </Shown>
    </section>
  )
}

function Inbox() {
  const answer = useLoaded('inbox', () => asOperator<{ messages: Message[] }>('/_dev/inbox'))
  return (
    <section class="card flush" aria-labelledby="inbox">
      <header>
        <h2 id="inbox">Captured messages</h2>
        <button type="button" class="tight" onClick={() => void answer.reload()}>
          Refresh
        </button>
      </header>
      <Shown of={answer} what="messages">
        {({ messages }) =>
          messages.length === 0 ? (
            <Empty>
              No e-mail or text message has been sent. Nothing leaves an evaluation copy.
            </Empty>
          ) : (
            <div>
              {messages.toReversed().map((message, i) => (
                <details class="entry" key={String(i)}>
                  <summary>
                    <Tag>{message.channel}</Tag>
                    <span class="break">{message.subject ?? message.text.slice(0, 60)}</span>
                    <span class="quiet small">
                      to {message.to}, {instant(message.at)}
                    </span>
                  </summary>
                  <pre class="wrap">{message.text}</pre>
                </details>
              ))}
            </div>
          )
        }
      </Shown>
    </section>
  )
}
