import { useSignal } from '@preact/signals'
import { useLocation, useRoute } from 'preact-iso'
import { eventTypes } from '../../plans/messages/event-types.ts'
import type {
  LogShape as Delivery,
  WebhookShape as Endpoint,
} from '../../topics/webhooks/operations/row.ts'
import {
  Empty,
  May,
  Notice,
  Parted,
  Refused,
  Result,
  Shown,
  ShownOnce,
  Tag,
} from '../parts/bits.tsx'
import { Button, Confirmed } from '../parts/buttons.tsx'
import { Input, Select, Submit } from '../parts/fields.tsx'
import { Absent, Members, Page } from '../parts/page.tsx'
import { Included } from '../parts/person/included.tsx'
import { ask, dataOf, useAttempt, useData, useLoaded } from '../parts/requests/ask.ts'
import { mayDo } from '../parts/requests/boot.ts'
import { usePages } from '../parts/requests/pages.ts'
import { aside } from '../parts/tables/columns.tsx'
import { Table, twoLines } from '../parts/tables/table.tsx'
import { bound, submits } from '../parts/text/form.ts'
import { ago, instant, number, words } from '../parts/text/format.ts'
import { deliveryMoods } from './webhooks/delivery-moods.ts'
import { EndpointForm, Events, Filters, termsIn } from './webhooks/endpoint-form.tsx'
import { Deliveries, Watches } from './webhooks/schedules.tsx'
import { SignatureChecker } from './webhooks/signature-checker.tsx'

interface TestResult {
  success: boolean
  status_code: number | null
  response_time_ms: number | null
  error: string | null
}

/** A delivery that was skipped on purpose or is waiting has not failed. */
const outcomeOf = ({ status, status_code: code }: Delivery): string =>
  status === 'skipped' || status === 'pending' || code === null
    ? words(status)
    : `${words(status)}, ${code}`

const logStatuses = ['delivered', 'failed', 'pending', 'retry_scheduled', 'skipped'] as const

export function Webhooks() {
  const { params } = useRoute()
  return (
    <Members
      title="Webhooks"
      about="Signed requests to your server for prices, alerts and releases, with a log of every delivery."
    >
      {() => (
        <Included title="Webhooks" features={['webhooks']}>
          {() => (params.id ? <One key={params.id} id={params.id} /> : <List />)}
        </Included>
      )}
    </Members>
  )
}

const firstEvents = ['price.updated']

function List() {
  const answer = useData<{ webhooks: Endpoint[]; limit: number }>('/v1/webhooks')
  const { refusal, attempt } = useAttempt()
  const secret = useSignal<string | undefined>(undefined)
  const make = (form: HTMLFormElement) =>
    attempt(async () => {
      const endpoint = await dataOf<{ secret: string }>('/v1/webhooks', {
        method: 'POST',
        body: termsIn(form),
      })
      secret.value = endpoint.secret
      form.reset()
      await answer.reload()
    })
  return (
    <Page title="Webhooks" about="Your endpoints receive a signed request for each event.">
      {secret.value && <Secret secret={secret.value} />}
      <Table
        caption="Endpoints"
        of={answer}
        rows={answer.data?.webhooks}
        empty={mayDo('change_data') ? 'No endpoints yet. Add one below.' : 'No endpoints yet.'}
        columns={({ column, numeric }) => [
          column('Endpoint', 'url', ({ id, url, description }) =>
            twoLines(
              <a href={`/webhooks/${id}`}>
                <Parted text={url} />
              </a>,
              description,
            ),
          ),
          column('Events', ({ events }) => events.join(', '), { isWide: true, className: 'code' }),
          numeric('Delivered', 'successful_deliveries'),
          numeric('Failed', 'failed_deliveries'),
          column('Last', 'last_delivery_at', { ...aside, write: ago }),
          column('State', 'status', ({ active, status }) => (
            <Tag mood={active ? 'good' : 'warn'}>{words(status)}</Tag>
          )),
        ]}
      />
      <May action="change_data">
        <details class="card" open={answer.data?.webhooks.length === 0}>
          <summary id="add">Add an endpoint</summary>
          <form class="stack" aria-labelledby="add" onSubmit={submits(make)}>
            <Input
              label="Address"
              name="url"
              type="url"
              required
              placeholder="https://hooks.example.com/energy"
            />
            <Events chosen={firstEvents} />
            <Filters />
            {refusal.value && <Refused error={refusal.value} />}
            <div class="row">
              <Submit>Add endpoint</Submit>
            </div>
          </form>
        </details>
      </May>
      <Watches />
      <Deliveries />
      <SignatureChecker />
    </Page>
  )
}

const Secret = ({ secret }: { secret: string }) => (
  <ShownOnce what="The signing secret, shown once:" secret={secret} />
)

function One({ id }: { id: string }) {
  const { route } = useLocation()
  const endpoint = useLoaded(`webhook ${id}`, signal =>
    dataOf<Endpoint | { webhook: Endpoint }>(`/v1/webhooks/${encodeURIComponent(id)}`, {
      signal,
    }).then(data => ('webhook' in data ? data.webhook : data)),
  )
  const path = `/v1/webhooks/${encodeURIComponent(id)}`
  const log = useLog(path)
  const { events } = log
  const { refusal, attempt } = useAttempt()
  const secret = useSignal<string | undefined>(undefined)
  const result = useSignal<TestResult | undefined>(undefined)
  const test = () =>
    attempt(async () => {
      result.value = await dataOf<TestResult>(`${path}/test`, { method: 'POST', body: {} })
      await events.reload()
    })
  const rotate = () =>
    attempt(async () => {
      const rotated = await dataOf<{ secret?: string; webhook?: { secret: string } }>(
        `${path}/rotate_secret`,
        { method: 'POST', body: {} },
      )
      secret.value = rotated.secret ?? rotated.webhook?.secret
      await endpoint.reload()
    })
  const change = (terms: Record<string, unknown>) =>
    attempt(async () => {
      await ask(path, { method: 'PATCH', body: terms })
      await endpoint.reload()
    })
  const remove = () =>
    attempt(async () => {
      await ask(path, { method: 'DELETE' })
      route('/webhooks')
    })
  const resend = (eventId: string) =>
    attempt(async () => {
      await ask(`${path}/events/${encodeURIComponent(eventId)}/resend`, {
        method: 'POST',
        body: {},
      })
      await events.reload()
    })
  if (!endpoint.data)
    return <Absent title="Webhook endpoint" of={endpoint} href="/webhooks" text="All endpoints" />
  const { data } = endpoint
  return (
    <Page
      title="Webhook endpoint"
      about={<span class="break">{data.url}</span>}
      actions={
        <May action="change_data">
          <Button className="main" label="Send a test" onClick={() => test()} />
          <Confirmed
            label="New secret"
            className=""
            question="Rotate the secret? New requests are signed with the new one, so update your receiver."
            onConfirm={rotate}
          />
          <Button
            label={data.active ? 'Pause' : 'Resume'}
            onClick={() => change({ status: data.active ? 'paused' : 'active' })}
          />
          <Confirmed
            label="Delete"
            className="danger"
            question="Delete the endpoint and its log? It receives no more events."
            onConfirm={remove}
          />
        </May>
      }
    >
      {refusal.value && <Refused error={refusal.value} />}
      {secret.value && <Secret secret={secret.value} />}
      {result.value && (
        <Notice mood={result.value.success ? 'good' : 'bad'}>
          {result.value.success
            ? `The endpoint returned ${result.value.status_code} in ${result.value.response_time_ms} ms.`
            : `The test failed: ${result.value.error ?? `the endpoint returned ${result.value.status_code}`}.`}
        </Notice>
      )}
      <Facts endpoint={data} />
      <Log log={log} onResend={resend} />
      <May action="change_data">
        <Replay path={path} onReplayed={events.reload} />
        <EndpointForm terms={data} onSave={change} />
      </May>
    </Page>
  )
}

const Facts = ({ endpoint: data }: { endpoint: Endpoint }) => (
  <section class="card" aria-label="Endpoint">
    <dl class="facts">
      <dt>State</dt>
      <dd>
        <Tag mood={data.active ? 'good' : 'warn'}>{words(data.status)}</Tag> {data.disabled_reason}
      </dd>
      <dt>Events</dt>
      <dd class="code">{data.events.join(', ')}</dd>
      {(data.commodity_filters.length > 0 || data.state_filters.length > 0) && (
        <>
          <dt>Filters</dt>
          <dd class="code">{[...data.commodity_filters, ...data.state_filters].join(', ')}</dd>
        </>
      )}
      <dt>Secret</dt>
      <dd class="code">{data.secret_hint}</dd>
      <dt>Deliveries</dt>
      <dd>
        {data.successful_deliveries + data.failed_deliveries === 0
          ? 'None yet'
          : `${number(data.successful_deliveries)} delivered, ${number(data.failed_deliveries)} failed, last ${ago(data.last_delivery_at)}`}
      </dd>
    </dl>
  </section>
)

/** The latest deliveries to an endpoint, filtered by outcome and event. */
function useLog(path: string) {
  const status = useSignal('')
  const type = useSignal('')
  const filter = new URLSearchParams({
    per_page: '50',
    ...(status.value && { status: status.value }),
    ...(type.value && { event_type: type.value }),
  })
  const events = usePages<Delivery>(`${path}/events?${filter}`, 'events')
  return { status, type, events }
}

type OnResend = (eventId: string) => unknown

interface LogProps {
  log: ReturnType<typeof useLog>
  onResend: OnResend
}

function Log({ log: { status, type, events }, onResend }: LogProps) {
  return (
    <section class="card flush" aria-labelledby="log">
      <header>
        <h2 id="log">Log</h2>
        <div class="row end">
          <Select label="Outcome" none="All" of={logStatuses} textOf={words} {...bound(status)} />
          <Select label="Event" none="Any" of={eventTypes} {...bound(type)} />
          <Button label="Refresh" onClick={() => events.reload()} />
        </div>
      </header>
      <Shown of={events} what="the log">
        {() => {
          const rows = events.rows ?? []
          return rows.length === 0 ? (
            <Empty>
              {status.value || type.value
                ? 'No matching deliveries. Choose another outcome or event.'
                : 'No deliveries in the last 30 days. Send a test event.'}
            </Empty>
          ) : (
            rows.map(row => <Entry key={row.id} row={row} onResend={onResend} />)
          )
        }}
      </Shown>
      {events.more && (
        <div class="inset row spread quiet small">
          <span role="status">
            {number(events.rows?.length ?? 0)} of {number(events.total)} are shown.
          </span>
          <Button className="tight" label="Show more" onClick={events.more} />
        </div>
      )}
    </section>
  )
}

const Entry = ({ row, onResend }: { row: Delivery; onResend: OnResend }) => (
  <details class="entry">
    <summary>
      <span class="code">{row.event_type}</span>
      <Tag mood={deliveryMoods[row.status]}>{outcomeOf(row)}</Tag>
      <span class="quiet small">{instant(row.created_at)}</span>
    </summary>
    <div class="stack">
      <p class="quiet small">
        {row.event_id} · {row.attempts} {row.attempts === 1 ? 'attempt' : 'attempts'}
        {row.delivery_duration_ms !== null && ` · ${row.delivery_duration_ms} ms`}
        {row.next_attempt_at && ` · next attempt ${ago(row.next_attempt_at)}`}
        {row.error && ` · ${row.error}`}
      </p>
      <pre class="wrap">{JSON.stringify(row.payload, null, 2)}</pre>
      {row.debug !== undefined && row.debug !== null && (
        <pre class="wrap">{JSON.stringify(row.debug, null, 2)}</pre>
      )}
      <May action="change_data">
        <div class="row">
          <Button
            className="tight"
            label="Send again"
            of={row.event_id}
            onClick={() => onResend(row.event_id)}
          />
        </div>
      </May>
    </div>
  </details>
)

/** Sends what was made in a range once more, with the same ids and bodies. */
function Replay({ path, onReplayed }: { path: string; onReplayed: () => Promise<void> }) {
  const from = useSignal('')
  const to = useSignal('')
  const status = useSignal('failed')
  const { attempt, ...outcome } = useAttempt()
  const replay = () =>
    attempt(async () => {
      const { replayed } = await dataOf<{ replayed: number }>(`${path}/replay`, {
        method: 'POST',
        body: {
          from: `${from.value}:00Z`,
          ...(to.value && { to: `${to.value}:00Z` }),
          status: status.value,
        },
      })
      await onReplayed()
      return `${replayed} ${replayed === 1 ? 'event' : 'events'} will be sent again.`
    })
  return (
    <details class="card">
      <summary id="replay">Replay events</summary>
      <form class="stack" aria-labelledby="replay" onSubmit={submits(() => replay())}>
        <Result {...outcome} />
        <div class="row end">
          <Input label="From (UTC)" type="datetime-local" required {...bound(from)} />
          <Input label="Until (UTC; empty for now)" type="datetime-local" {...bound(to)} />
          <Select
            label="Deliveries"
            of={[
              { value: 'failed', text: 'Failed only' },
              { value: 'all', text: 'All' },
            ]}
            {...bound(status)}
          />
          <button type="submit">Send again</button>
        </div>
      </form>
    </details>
  )
}
