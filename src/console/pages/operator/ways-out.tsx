import { useSignal } from '@preact/signals'
import { useAttempt } from '../../parts/ask.ts'
import { Notice, Refused } from '../../parts/bits.tsx'
import { asOperator } from '../../parts/operator-token.tsx'

interface Outcome {
  taken: boolean
  status_code: number | null
  message: string
}

const ways = [
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

/** A test of every way out, with what the other side said. */
export function WaysOut() {
  const { refusal, attempt } = useAttempt()
  const outcome = useSignal<(Outcome & { title: string }) | undefined>(undefined)
  const sending = useSignal('')
  const send = async (way: (typeof ways)[number], form: HTMLFormElement) => {
    outcome.value = undefined
    sending.value = way.name
    await attempt(async () => {
      const typed = way.field && String(new FormData(form).get(way.field) ?? '').trim()
      const { data } = await asOperator<{ data: Outcome }>(`/admin/v1/${way.name}/test`, {
        method: 'POST',
        ...(way.field && { body: { [way.field]: typed } }),
      })
      outcome.value = { ...data, title: way.title }
    })
    sending.value = ''
  }
  return (
    <section class="card" aria-labelledby="ways-out">
      <h2 id="ways-out">Test a way out</h2>
      <p class="quiet small">
        Each sends one message at once, past the outbox, and shows what the other side said.
      </p>
      {refusal.value && <Refused error={refusal.value} />}
      {outcome.value && (
        <Notice mood={outcome.value.taken ? 'good' : 'bad'}>
          {outcome.value.title}: {outcome.value.message}
          {outcome.value.status_code !== null && ` (${outcome.value.status_code})`}
        </Notice>
      )}
      <div class="columns pairs level">
        {ways.map(way => (
          <form
            key={way.name}
            class="row end ways"
            aria-label={`Test: ${way.title}`}
            onSubmit={event => {
              event.preventDefault()
              void send(way, event.currentTarget)
            }}
          >
            {way.field ? (
              <label class="grow">
                {way.title}
                <input
                  name={way.field}
                  inputMode={way.mode}
                  required
                  placeholder={way.hint}
                  autocomplete="off"
                />
              </label>
            ) : (
              <p class="grow quiet small">
                {way.title}: to the place that <code>notices.url</code> names
              </p>
            )}
            <button type="submit" disabled={sending.value === way.name}>
              {sending.value === way.name ? 'Sending …' : 'Send a test'}
            </button>
          </form>
        ))}
      </div>
    </section>
  )
}
