import { Input, Select, Submit } from '../../parts/fields.tsx'
import { type Fields, fieldsOf, submits } from '../../parts/text/form.ts'

/** Codes as people write them: with commas, spaces or lines between them. */
export const codesIn = (text: string): string[] => text.split(/[\s,;]+/).filter(Boolean)

interface FormProps {
  /** Resolves to whether it was created: the input is kept where it was refused. */
  onMake(body: Record<string, unknown>): Promise<boolean>
}

const sendForm = (
  bodyOf: (field: Fields) => Record<string, unknown>,
  onMake: FormProps['onMake'],
) =>
  submits(async form => {
    if (await onMake(bodyOf(fieldsOf(form)))) form.reset()
  })

/** The usual one first: a form that was sent shows it again. */
const intervals = [
  { value: '3600', text: 'hour' },
  { value: '21600', text: '6 hours' },
  { value: '86400', text: 'day' },
  { value: '900', text: '15 minutes' },
  { value: '300', text: '5 minutes' },
]

/** Creates a watch: some codes at an interval. */
export function NewWatch({ onMake }: FormProps) {
  const bodyOf = (field: Fields) => ({
    codes: codesIn(field('codes')),
    interval_seconds: Number(field('interval')),
    name: field('name') || null,
    ...(field('threshold') && { threshold_percent: Number(field('threshold')) }),
    deliver_webhook: field('webhook') !== '',
  })
  return (
    <details class="card">
      <summary>Watch codes on a schedule</summary>
      <form class="row end" aria-label="New watch" onSubmit={sendForm(bodyOf, onMake)}>
        <Input label="Codes" name="codes" required placeholder="WTI_USD, BRENT_CRUDE_USD" />
        <Select label="Every" name="interval" of={intervals} />
        <Input
          label="Minimum change, %"
          name="threshold"
          type="number"
          min="0.01"
          max="1000"
          step="any"
        />
        <Input label="Name" name="name" maxLength={100} />
        <label class="inline">
          <input name="webhook" type="checkbox" /> Notify webhooks
        </label>
        <Submit>Create watch</Submit>
      </form>
    </details>
  )
}

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const cadences = [
  { value: 'weekdays', text: 'Monday to Friday' },
  { value: 'daily', text: 'Every day' },
  ...weekdays.map((text, i) => ({ value: String(i + 1), text })),
]

/** Makes a scheduled delivery: prices of some codes by e-mail. */
export function NewDelivery({ onMake }: FormProps) {
  const bodyOf = (field: Fields) => {
    const days = field('days')
    const isWeekly = /^\d$/.test(days)
    const recipient = field('recipient')
    return {
      commodity_codes: codesIn(field('codes')),
      cadence: isWeekly ? 'weekly' : days,
      ...(isWeekly && { weekday: Number(days) }),
      delivery_time: field('time'),
      time_zone: field('zone'),
      name: field('name') || null,
      ...(recipient && { recipient_email: recipient }),
    }
  }
  return (
    <details class="card">
      <summary>Send prices on a schedule</summary>
      <form class="row end" aria-label="New delivery" onSubmit={sendForm(bodyOf, onMake)}>
        <Input label="Codes" name="codes" required placeholder="WTI_USD, BRENT_CRUDE_USD" />
        <Input label="To" name="recipient" type="email" placeholder="your own address" />
        <Select label="On" name="days" of={cadences} />
        <Input label="At" name="time" type="time" required defaultValue="07:00" />
        <Input
          label="Time zone"
          name="zone"
          required
          defaultValue={Intl.DateTimeFormat().resolvedOptions().timeZone}
        />
        <Input label="Name" name="name" maxLength={100} />
        <Submit>Create schedule</Submit>
      </form>
    </details>
  )
}
