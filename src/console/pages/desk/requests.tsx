import { useSignal } from '@preact/signals'
import type { ReceivedRequest as Request } from '../../../topics/operator/operations/evaluation/dev-log.ts'
import { Empty, Refused, Shown, Tag } from '../../parts/bits.tsx'
import { Button, Copy } from '../../parts/buttons.tsx'
import { Check, SearchField } from '../../parts/fields.tsx'
import { asOperator, useOperator } from '../../parts/person/operator-token.tsx'
import { useRepeated } from '../../parts/repeated.ts'
import { parsedText, useChange } from '../../parts/requests/ask.ts'
import { instant, number } from '../../parts/text/format.ts'

interface Answer {
  requests: Request[]
  total: number
  kept: number
}

const shown = 100

/** Requests that this instance received, the newest first, with the reasons of refusals. */
export function Requests() {
  const isRefused = useSignal(false)
  const path = useSignal('')
  const isLive = useSignal(true)
  const query = new URLSearchParams({ limit: String(shown) })
  if (isRefused.value) query.set('refused', 'true')
  if (path.value !== '') query.set('path', path.value)
  const answer = useOperator<Answer>(`/_dev/requests?${query}`)
  const { refusal, change } = useChange(answer, asOperator)
  useRepeated(isLive.value, answer.reload)
  const forget = () => change('/_dev/requests', 'DELETE')
  return (
    <section class="card flush" aria-labelledby="requests">
      <header>
        <h2 id="requests">Recent requests</h2>
        <div class="row">
          <SearchField label="Part of the path" placeholder="/v1/prices" of={path} />
          <Check of={isRefused}>Refused only</Check>
          <Check of={isLive}>Live</Check>
          <Button className="tight" label="Clear the list" onClick={() => forget()} />
        </div>
      </header>
      {refusal.value && <Refused error={refusal.value} />}
      <Shown of={answer} what="requests">
        {({ requests, total, kept }) =>
          requests.length === 0 ? (
            <Empty>
              <p>No matching requests yet. Every call to this instance is shown here:</p>
              <code>curl {location.origin}/v1/demo/prices</code>
            </Empty>
          ) : (
            <>
              <div>
                {requests.map(request => (
                  <Line key={request.number} request={request} />
                ))}
              </div>
              <p class="inset quiet small">
                Showing {number(requests.length)} of {number(total)}. The last {number(kept)} are
                kept.
              </p>
            </>
          )
        }
      </Shown>
    </section>
  )
}

const mood = (status: number) => (status < 400 ? 'good' : status < 500 ? 'warn' : 'bad')

function Line({ request }: { request: Request }) {
  const { at, method, path, status, ms, refusal } = request
  return (
    <details class="entry told">
      <summary>
        <Tag mood={mood(status)}>{status}</Tag>
        <code>{method}</code>
        <code class="break path">{path}</code>
        <span class="quiet small number">{ms} ms</span>
        <span class="quiet small nowrap">{instant(at)}</span>
        {refusal?.code && <span class="small reason">{refusal.code}</span>}
      </summary>
      <div class="stack">
        {refusal && (
          <div class="stack">
            {refusal.message && <p>{refusal.message}</p>}
            {refusal.meaning && (
              <p class="quiet small">
                <code>{refusal.code}</code>: {refusal.meaning}
              </p>
            )}
          </div>
        )}
        <dl class="facts">
          <dt>Route</dt>
          <dd>{request.route ? <code>{request.route}</code> : 'No matching route'}</dd>
          <dt>Caller</dt>
          <dd>{callerOf(request)}</dd>
          <dt>Request ID</dt>
          <dd class="row">
            <code>{request.request_id ?? '–'}</code>
            {request.request_id && <Copy text={request.request_id} className="plain tight" />}
          </dd>
        </dl>
        {request.body !== null && (
          <>
            <h3>Body</h3>
            <pre class="wrap">{request.body}</pre>
          </>
        )}
        {refusal && refusal.answer !== '' && (
          <>
            <h3>Response</h3>
            <pre class="wrap">{readable(refusal.answer)}</pre>
          </>
        )}
      </div>
    </details>
  )
}

function callerOf({ key, operator }: Request): string {
  if (operator !== null) return `the operator, as ${operator}`
  if (key === null) return 'anonymous'
  if (key.is_session) return `${key.account}, signed in`
  return `${key.account}, with the key ${key.name ?? 'without a name'}`
}

/** An answer as it is read best: JSON over several lines. */
function readable(text: string): string {
  const answer = parsedText(text)
  return typeof answer === 'string' ? text : JSON.stringify(answer, null, 1)
}
