import { useSignal } from '@preact/signals'
import type { LogShape } from '../../../topics/webhooks/operations/row.ts'
import { Empty, Shown, Tag } from '../../parts/bits.tsx'
import { Check } from '../../parts/fields.tsx'
import { useOperator } from '../../parts/person/operator-token.tsx'
import { useRepeated } from '../../parts/repeated.ts'
import { instant, words } from '../../parts/text/format.ts'
import { deliveryMoods } from '../webhooks/delivery-moods.ts'

interface Delivery extends LogShape {
  url: string | null
  account: string | null
}

/** Webhooks of every account, the newest first, with the receivers' responses. */
export function Deliveries() {
  const isLive = useSignal(true)
  const answer = useOperator<{ deliveries: Delivery[] }>('/_dev/deliveries?limit=100')
  useRepeated(isLive.value, answer.reload)
  return (
    <section class="card flush" aria-labelledby="deliveries">
      <header>
        <h2 id="deliveries">Webhook deliveries</h2>
        <Check of={isLive}>Live</Check>
      </header>
      <Shown of={answer} what="deliveries">
        {({ deliveries }) =>
          deliveries.length === 0 ? (
            <Empty>
              <p>
                No event has been sent. Create an <a href="/webhooks">endpoint</a> on this machine,
                or play <a href="/desk">receiver failing</a>.
              </p>
            </Empty>
          ) : (
            <div>
              {deliveries.map(delivery => (
                <Line key={delivery.id} {...delivery} />
              ))}
            </div>
          )
        }
      </Shown>
    </section>
  )
}

function Line(delivery: Delivery) {
  const { status, status_code: code, event_type: type, url, created_at: at } = delivery
  return (
    <details class="entry told of-types">
      <summary>
        <Tag mood={deliveryMoods[status]}>{code ?? words(status)}</Tag>
        <code>{type}</code>
        <code class="break path">{url ?? 'a deleted endpoint'}</code>
        <span class="quiet small number">
          {delivery.delivery_duration_ms === null ? '' : `${delivery.delivery_duration_ms} ms`}
        </span>
        <span class="quiet small nowrap">{instant(at)}</span>
        {delivery.last_error && <span class="small reason">{delivery.last_error}</span>}
      </summary>
      <div class="stack">
        <dl class="facts">
          <dt>Event</dt>
          <dd>
            <code>{delivery.event_id}</code>
          </dd>
          <dt>Account</dt>
          <dd>{delivery.account ?? '–'}</dd>
          <dt>Attempts</dt>
          <dd>{delivery.attempts}</dd>
          {delivery.next_attempt_at && (
            <>
              <dt>Next attempt</dt>
              <dd>{instant(delivery.next_attempt_at)}, by the clock above</dd>
            </>
          )}
        </dl>
        <h3>Body</h3>
        <pre class="wrap">{JSON.stringify(delivery.payload, null, 1)}</pre>
        {delivery.debug !== undefined && (
          <>
            <h3>Last attempt</h3>
            <pre class="wrap">{JSON.stringify(delivery.debug, null, 1)}</pre>
          </>
        )}
      </div>
    </details>
  )
}
