import { Input } from '../../parts/bits.tsx'

/** Codes as people write them: with commas, spaces or lines between them. */
export const codesIn = (text: FormDataEntryValue | null): string[] =>
  String(text ?? '')
    .split(/[\s,;]+/)
    .filter(code => code !== '')

const textOf = (value: FormDataEntryValue | null): string | undefined =>
  String(value ?? '').trim() || undefined

interface FormProps {
  /** Resolves to whether it was created: the input is kept where it was refused. */
  onMake(body: Record<string, unknown>): Promise<boolean>
}

const sendForm =
  (bodyOf: (values: FormData) => Record<string, unknown>, onMake: FormProps['onMake']) =>
  async (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault()
    const form = event.currentTarget
    if (await onMake(bodyOf(new FormData(form)))) form.reset()
  }

/** The usual one first: a form that was sent shows it again. */
const intervals = [
  { seconds: 3600, text: 'hour' },
  { seconds: 21_600, text: '6 hours' },
  { seconds: 86_400, text: 'day' },
  { seconds: 900, text: '15 minutes' },
  { seconds: 300, text: '5 minutes' },
]

/** Creates a watch: some codes at an interval. */
export function NewWatch({ onMake }: FormProps) {
  const bodyOf = (values: FormData) => ({
    codes: codesIn(values.get('codes')),
    interval_seconds: Number(values.get('interval')),
    name: textOf(values.get('name')) ?? null,
    ...(textOf(values.get('threshold')) && { threshold_percent: Number(values.get('threshold')) }),
    deliver_webhook: values.get('webhook') !== null,
  })
  return (
    <details class="card">
      <summary>Watch codes on a schedule</summary>
      <form class="row end" aria-label="New watch" onSubmit={sendForm(bodyOf, onMake)}>
        <Input label="Codes" name="codes" required placeholder="WTI_USD, BRENT_CRUDE_USD" />
        <label>
          Every
          <select name="interval">
            {intervals.map(({ seconds, text }) => (
              <option key={seconds} value={seconds}>
                {text}
              </option>
            ))}
          </select>
        </label>
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
        <button type="submit" class="main">
          {' '}
          Create watch{' '}
        </button>
      </form>
    </details>
  )
}

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

/** Makes a scheduled delivery: prices of some codes by e-mail. */
export function NewDelivery({ onMake }: FormProps) {
  const bodyOf = (values: FormData) => {
    const days = String(values.get('days'))
    const isWeekly = /^\d$/.test(days)
    const recipient = textOf(values.get('recipient'))
    return {
      commodity_codes: codesIn(values.get('codes')),
      cadence: isWeekly ? 'weekly' : days,
      ...(isWeekly && { weekday: Number(days) }),
      delivery_time: values.get('time'),
      time_zone: values.get('zone'),
      name: textOf(values.get('name')) ?? null,
      ...(recipient && { recipient_email: recipient }),
    }
  }
  return (
    <details class="card">
      <summary>Send prices on a schedule</summary>
      <form class="row end" aria-label="New delivery" onSubmit={sendForm(bodyOf, onMake)}>
        <Input label="Codes" name="codes" required placeholder="WTI_USD, BRENT_CRUDE_USD" />
        <Input label="To" name="recipient" type="email" placeholder="your own address" />
        <label>
          On
          <select name="days">
            <option value="weekdays">Monday to Friday</option>
            <option value="daily">Every day</option>
            {weekdays.map((day, i) => (
              <option key={day} value={i + 1}>
                {day}
              </option>
            ))}
          </select>
        </label>
        <Input label="At" name="time" type="time" required defaultValue="07:00" />
        <Input
          label="Time zone"
          name="zone"
          required
          defaultValue={Intl.DateTimeFormat().resolvedOptions().timeZone}
        />
        <Input label="Name" name="name" maxLength={100} />
        <button type="submit" class="main">
          Create schedule
        </button>
      </form>
    </details>
  )
}
