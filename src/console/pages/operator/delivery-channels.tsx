import { useSignal } from '@preact/signals'
import type { Tried } from '../../../topics/operator/operations/system/trials.ts'
import { Notice, Refused } from '../../parts/bits.tsx'
import { Input } from '../../parts/fields.tsx'
import { asOperator } from '../../parts/person/operator-token.tsx'
import { useAttempt } from '../../parts/requests/ask.ts'
import { fieldsOf, submits } from '../../parts/text/form.ts'

const channels = [
  {
    name: 'mail',
    title: 'E-mail',
    field: 'to',
    label: 'Address',
    mode: 'email',
    hint: 'you@example.com',
  },
  {
    name: 'sms',
    title: 'Text message',
    field: 'to',
    label: 'Phone',
    mode: 'tel',
    hint: '+15550100002',
  },
  {
    name: 'webhooks',
    title: 'Webhook',
    field: 'url',
    label: 'Address',
    mode: 'url',
    hint: 'https://hooks.example.com/events',
  },
  { name: 'notices', title: 'Notices', field: undefined, label: '', mode: 'text', hint: '' },
] as const

/** Tests each delivery channel and shows the reply of the other side. */
export function DeliveryChannels() {
  const { refusal, attempt } = useAttempt()
  const outcome = useSignal<(Tried['data'] & { title: string }) | undefined>(undefined)
  const sending = useSignal('')
  const send = async (channel: (typeof channels)[number], form: HTMLFormElement) => {
    outcome.value = undefined
    sending.value = channel.name
    await attempt(async () => {
      const typed = channel.field && fieldsOf(form)(channel.field)
      const { data } = await asOperator<Tried>(`/admin/v1/${channel.name}/test`, {
        method: 'POST',
        ...(channel.field && { body: { [channel.field]: typed } }),
      })
      outcome.value = { ...data, title: channel.title }
    })
    sending.value = ''
  }
  return (
    <section class="card" aria-labelledby="ways-out">
      <h2 id="ways-out">Test delivery channels</h2>
      <p class="quiet small">
        Each test sends one message immediately, bypassing the outbox, and shows the provider’s
        response.
      </p>
      {refusal.value && <Refused error={refusal.value} />}
      {outcome.value && (
        <Notice mood={outcome.value.taken ? 'good' : 'bad'}>
          {outcome.value.title}: {outcome.value.message}
          {outcome.value.status_code !== null && ` (${outcome.value.status_code})`}
        </Notice>
      )}
      <div class="columns pairs level">
        {channels.map(channel => (
          <form
            key={channel.name}
            class="row end ways"
            aria-label={`Test: ${channel.title}`}
            onSubmit={submits(form => send(channel, form))}
          >
            {channel.field ? (
              <Input
                label={channel.title}
                labelClass="grow"
                name={channel.field}
                inputMode={channel.mode}
                required
                placeholder={channel.hint}
                autocomplete="off"
              />
            ) : (
              <p class="grow">
                <span class="quiet small block">{channel.title}</span>
                <code>notices.url</code>
              </p>
            )}
            <button type="submit" aria-disabled={sending.value === channel.name}>
              {sending.value === channel.name ? 'Sending …' : 'Send a test'}
            </button>
          </form>
        ))}
      </div>
    </section>
  )
}
