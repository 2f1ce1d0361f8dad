import { useSignal } from '@preact/signals'
import { Fragment } from 'preact'
import { Tag } from '../../parts/bits.tsx'
import { Submit } from '../../parts/fields.tsx'
import { ownKey } from '../../parts/person/own-key.ts'
import { parsedText } from '../../parts/requests/ask.ts'
import { boot } from '../../parts/requests/boot.ts'
import type { Call } from '../../parts/samples.tsx'
import { submits } from '../../parts/text/form.ts'
import { credentialOf, headerName, type Operation } from './document.ts'
import { OwnKey } from './own-key.tsx'

/** The beginning of a text, which scrolls. */
export const Long = ({ text }: { text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a long answer is scrolled by keyboard
  <pre class="tall" tabIndex={0}>
    {text.length > shownMax ? `${text.slice(0, shownMax)}\n…` : text}
  </pre>
)

const shownMax = 20_000

interface Answered {
  /** 0: there was no answer. */
  status: number
  text: string
  headers: [string, string][]
  ms: number
}

/** Headers of an answer that the next request may name. */
const carriedOn = (headers: readonly [string, string][]): { name: string; value: string }[] =>
  headers.flatMap(([name, value]) => {
    if (name === 'etag') return [{ name: 'If-None-Match', value }]
    return name.endsWith('-sequence') ? [{ name: headerName(name), value }] : []
  })

async function answerTo(call: Call, body: string | undefined): Promise<Answered> {
  const startedAt = performance.now()
  try {
    const response = await fetch(call.path, {
      method: call.method,
      credentials: 'same-origin',
      // A response from the browser's cache would hide the server's.
      cache: 'no-store',
      headers: {
        ...(ownKey.value !== '' && { authorization: `Bearer ${ownKey.value}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...call.headers,
      },
      ...(body !== undefined && { body }),
    })
    const text = await response.text()
    const data = parsedText(text)
    const pretty = typeof data === 'string' ? data : JSON.stringify(data, null, 2)
    return {
      status: response.status,
      text: pretty,
      headers: [...response.headers],
      ms: Math.round(performance.now() - startedAt),
    }
  } catch (error) {
    return { status: 0, text: (error as Error).message, headers: [], ms: 0 }
  }
}

/** Makes the call, as the signed-in user or with a key that is typed in. */
export function TryIt({
  call,
  operation,
  body,
  onHeader,
}: {
  call: Call
  operation: Operation
  /** Sent as typed: the server refuses invalid JSON. */
  body?: string
  onHeader: (name: string, value: string) => void
}) {
  const answer = useSignal<Answered | undefined>(undefined)
  return (
    <form
      class="stack"
      aria-label="Try it"
      onSubmit={submits(async () => {
        answer.value = await answerTo(call, body)
      })}
    >
      <div class="row end">
        {credentialOf(operation) !== undefined && (
          <OwnKey label={boot.isSignedIn ? 'API key (instead of your session)' : 'Key'} />
        )}
        <Submit>Send</Submit>
      </div>
      {answer.value && <TrialAnswer of={answer.value} onHeader={onHeader} />}
    </form>
  )
}

function TrialAnswer({
  of: { status, headers, text, ms },
  onHeader,
}: {
  of: Answered
  onHeader: (name: string, value: string) => void
}) {
  return (
    <>
      <p role="status">
        <Tag mood={status < 400 && status > 0 ? 'good' : 'bad'}>{status || 'No response'}</Tag>{' '}
        <span class="quiet small">{ms} ms</span>
      </p>
      {headers.length > 0 && (
        <details>
          <summary>Response headers ({headers.length})</summary>
          <dl class="facts small">
            {headers.map(([name, value]) => (
              <Fragment key={name}>
                <dt class="code">{name}</dt>
                <dd class="code break">{value}</dd>
              </Fragment>
            ))}
          </dl>
        </details>
      )}
      {carriedOn(headers).map(({ name, value }) => (
        <p key={name} class="small">
          <button type="button" class="tight" onClick={() => onHeader(name, value)}>
            Use as {name} in the next request
          </button>
        </p>
      ))}
      <Long text={text || 'The response has no body.'} />
    </>
  )
}
