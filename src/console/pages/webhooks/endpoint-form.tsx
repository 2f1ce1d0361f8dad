import { useSignal } from '@preact/signals'
import { eventTypes } from '../../../plans/messages/event-types.ts'
import type { WebhookShape } from '../../../topics/webhooks/operations/row.ts'
import { Input, Submit } from '../../parts/fields.tsx'
import { fieldsOf, submits } from '../../parts/text/form.ts'
import { codesIn } from './schedule-forms.tsx'

/** A test is sent to every endpoint. */
const subscribable = eventTypes.filter(type => type !== 'webhook.test')

/** Checkboxes for all event types, and for other types that an endpoint already has. */
export function Events({ chosen }: { chosen: readonly string[] }) {
  const names = [...new Set([...subscribable, ...chosen])]
  return (
    <fieldset>
      <legend>Events</legend>
      <div class="figures events">
        {names.map(type => (
          <label class="inline" key={type}>
            <input
              type="checkbox"
              name="events"
              value={type}
              defaultChecked={chosen.includes(type)}
            />
            <code>{type}</code>
          </label>
        ))}
      </div>
    </fieldset>
  )
}

/** Fields that filter the events of an endpoint; empty ones do not filter. */
export const Filters = ({ terms }: { terms?: WebhookShape }) => (
  <div class="row end">
    <Input
      label="Codes (empty for all)"
      labelClass="grow"
      name="commodity_filters"
      placeholder="WTI_USD, BRENT_CRUDE_USD"
      defaultValue={terms?.commodity_filters.join(', ') ?? ''}
    />
    <Input
      label="States of permits (empty for all)"
      labelClass="grow"
      name="state_filters"
      placeholder="TX, NM"
      defaultValue={terms?.state_filters.join(', ') ?? ''}
    />
  </div>
)

/** What a form with those fields says of an endpoint. */
export const termsIn = (form: HTMLFormElement) => {
  const field = fieldsOf(form)
  return {
    url: field('url'),
    events: new FormData(form).getAll('events').map(String),
    commodity_filters: codesIn(field('commodity_filters')),
    state_filters: codesIn(field('state_filters')),
  }
}

interface Props {
  terms: WebhookShape
  /** Resolves to whether it was saved: the input is kept where it was refused. */
  onSave: (change: Record<string, unknown>) => Promise<boolean>
}

/** Edits the address, the events and the options of an endpoint. */
export function EndpointForm({ terms, onSave }: Props) {
  const isOpen = useSignal(false)
  const save = async (form: HTMLFormElement) => {
    const field = fieldsOf(form)
    const isSaved = await onSave({
      ...termsIn(form),
      description: field('description') || null,
      debug_mode: field('debug_mode') !== '',
      ordered: field('ordered') !== '',
    })
    if (isSaved) isOpen.value = false
  }
  return (
    <details
      class="card"
      open={isOpen.value}
      onToggle={event => {
        isOpen.value = event.currentTarget.open
      }}
    >
      <summary>Edit endpoint</summary>
      <form class="stack" aria-label="Edit endpoint" onSubmit={submits(save)}>
        <div class="row end">
          <Input
            label="Address"
            labelClass="grow"
            name="url"
            type="url"
            required
            defaultValue={terms.url}
          />
          <Input
            label="Name"
            labelClass="grow"
            name="description"
            maxLength={255}
            defaultValue={terms.description ?? ''}
          />
        </div>
        <Events chosen={terms.events} />
        <Filters terms={terms} />
        <div class="row">
          <label class="inline">
            <input name="debug_mode" type="checkbox" defaultChecked={terms.debug_mode} /> Store the
            headers and response of each delivery
          </label>
          <label class="inline">
            <input name="ordered" type="checkbox" defaultChecked={terms.ordered} /> Deliver one at a
            time, in order
          </label>
        </div>
        <div class="row">
          <Submit>Save endpoint</Submit>
        </div>
      </form>
    </details>
  )
}
