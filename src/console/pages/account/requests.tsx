import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { RequestRow as Request } from '../../../topics/account/operations/requests.ts'
import { Tag } from '../../parts/bits.tsx'
import { Button, Copy } from '../../parts/buttons.tsx'
import { Choice, SearchField } from '../../parts/fields.tsx'
import { ask, parsedText, useLoaded } from '../../parts/requests/ask.ts'
import { Table } from '../../parts/tables/table.tsx'
import { sets } from '../../parts/text/form.ts'
import { number, second } from '../../parts/text/format.ts'

interface Answer {
  data: { requests: Request[] }
  meta: { total: number }
}

const outcomes = [
  { value: '', text: 'All' },
  { value: 'refused', text: 'Refused' },
  { value: 'failed', text: 'Failed' },
] as const

const shownMax = 1000
const mood = (status: number) => (status < 400 ? 'good' : status < 500 ? 'warn' : 'bad')
const keyName = ({ key }: Request): string => key?.name ?? key?.id ?? 'Signed in'

/** The latest requests of the account, with the reasons of refusals. */
export function Requests() {
  const outcome = useSignal<(typeof outcomes)[number]['value']>('')
  const route = useSignal('')
  const query = new URLSearchParams({ per_page: String(shownMax) })
  if (outcome.value !== '') query.set('outcome', outcome.value)
  if (route.value !== '') query.set('route', route.value)
  const answer = useLoaded(`requests ${query}`, signal =>
    ask<Answer>(`/v1/account/requests?${query}`, { signal }),
  )
  const opened = useSignal<Request | undefined>(undefined)
  return (
    <>
      <Table
        caption="Request log"
        file="requests"
        of={answer}
        rows={answer.data?.data.requests}
        keyOf={({ request_id: id, at }, i) => id ?? `${at} ${i}`}
        isTall
        empty={
          <>
            {outcome.value || route.value ? 'No matching requests.' : 'No requests yet.'}{' '}
            <a href="/docs/quickstart">Make a first call</a>
          </>
        }
        note={
          answer.data &&
          `${number(answer.data.meta.total)} ${answer.data.meta.total === 1 ? 'request' : 'requests'} with your keys; the last 10,000 are kept until a restart.`
        }
        actions={
          <>
            <SearchField label="Part of the route" placeholder="/v1/prices" of={route} />
            <Choice label="Outcome" options={outcomes} of={outcome} />
            <Button className="tight" label="Refresh" onClick={() => answer.reload()} />
          </>
        }
        columns={({ column, numeric }) => [
          column('Time', 'at', row => (
            <button
              type="button"
              class="plain tight"
              aria-expanded={opened.value === row}
              onClick={sets(opened, opened.value === row ? undefined : row)}
            >
              {second(row.at)}
              <span class="only-heard">
                , {row.method} {row.route}
              </span>
            </button>
          )),
          column('Request', row => `${row.method} ${row.route}`, { className: 'code break' }),
          column('Status', 'status', ({ status }) => <Tag mood={mood(status)}>{status}</Tag>),
          numeric('ms', 'ms', { isWide: true, show: ({ ms }) => number(ms, 1) }),
          { name: 'Key', isWide: true, value: keyName },
          column('Request ID', 'request_id', { isWide: true, className: 'code small' }),
        ]}
      />
      {opened.value && <Details key={opened.value.request_id} request={opened.value} />}
    </>
  )
}

/** One request below the list; it gets the focus, or a keyboard would go through all of the list first. */
function Details({ request }: { request: Request }) {
  const { method, route, status, request_id: id, refusal } = request
  const part = useRef<HTMLElement>(null)
  useEffect(() => part.current?.focus(), [])
  return (
    <section class="card" aria-labelledby="request" tabIndex={-1} ref={part}>
      <h2 id="request">
        {method} {route}: {status}
      </h2>
      <p class="row">
        <code>{id ?? '–'}</code>
        {id && <Copy text={id} label="Copy request ID" className="plain tight" />}
      </p>
      {refusal === null ? (
        <p class="quiet">Bodies of successful responses are not stored.</p>
      ) : (
        <pre class="wrap">{JSON.stringify(parsedText(refusal), null, 1)}</pre>
      )}
    </section>
  )
}
