import type { PhoneShape } from '../../../topics/messages/operations/phone.ts'
import type {
  Eligibility,
  SmsSettingsShape as Settings,
} from '../../../topics/messages/operations/sms.ts'
import { Result, Shown, Tag } from '../../parts/bits.tsx'
import { Button, Confirmed } from '../../parts/buttons.tsx'
import { Input, Select, Submit } from '../../parts/fields.tsx'
import { ask, useChange, useLoaded } from '../../parts/requests/ask.ts'
import { fieldsOf, submits } from '../../parts/text/form.ts'
import { number } from '../../parts/text/format.ts'

const load = async (signal: AbortSignal) => {
  const [phone, eligibility, settings] = await Promise.all([
    ask<PhoneShape>('/v1/phone', { signal }),
    ask<Eligibility>('/v1/sms/eligibility', { signal }),
    ask<Settings>('/v1/sms/settings', { signal }),
  ])
  return { phone, eligibility, settings }
}

/** The phone of the account: its number, the proof of it, consent, quiet hours and a test. */
export function TextMessages() {
  const answer = useLoaded('phone', load)
  const { change, ...outcome } = useChange(answer)
  const send: Send = (path, method, body = method === 'DELETE' ? undefined : {}) =>
    change(path, method, body, ({ message = 'Saved.' }: { message?: string }) => message)
  return (
    <section class="card" aria-labelledby="texts">
      <h2 id="texts">Text messages</h2>
      <Result {...outcome} />
      <Shown of={answer} what="the phone">
        {({ phone, eligibility, settings }) => (
          <>
            {!eligibility.feature && (
              <p>
                Your plan does not include text messages. <a href="/account/plan">See the plans</a>
              </p>
            )}
            {phone.phone === null ? (
              eligibility.feature && (
                <NumberForm countries={eligibility.supported_countries} send={send} />
              )
            ) : (
              <>
                <p class="row">
                  <strong>{phone.phone}</strong>
                  {phone.verified ? (
                    <Tag mood="good">Verified</Tag>
                  ) : (
                    <Tag mood="warn">Not verified</Tag>
                  )}
                  {phone.verified && !eligibility.opted_in && <Tag mood="warn">No consent yet</Tag>}
                  <Confirmed
                    label="Remove"
                    question={`Remove ${phone.phone}? No more text messages will be sent.`}
                    onConfirm={() => send('/v1/phone', 'DELETE')}
                  />
                </p>
                {!phone.verified && <CodeForm send={send} />}
                {phone.verified && eligibility.feature && (
                  <>
                    <p class="quiet small">
                      {number(eligibility.used_this_month)} sent this month
                      {eligibility.monthly_limit === null
                        ? '; the plan sets no limit.'
                        : ` of ${number(eligibility.monthly_limit)}.`}
                    </p>
                    <div class="row">
                      {eligibility.opted_in ? (
                        <>
                          <Button
                            label="Send a test"
                            onClick={() => send('/v1/sms/test', 'POST')}
                          />
                          <Button
                            label="Withdraw consent"
                            onClick={() => send('/v1/sms/optin', 'DELETE')}
                          />
                        </>
                      ) : (
                        <Button
                          className="main"
                          label="I agree to alerts by text message"
                          onClick={() => send('/v1/sms/optin', 'POST')}
                        />
                      )}
                    </div>
                    <Quiet settings={settings} send={send} />
                  </>
                )}
              </>
            )}
          </>
        )}
      </Shown>
    </section>
  )
}

type Send = (path: string, method: 'POST' | 'PATCH' | 'DELETE', body?: object) => unknown

const countryNames = new Intl.DisplayNames('en', { type: 'region' })
const countryName = (code: string): string => countryNames.of(code) ?? code

const NumberForm = ({ countries, send }: { countries: string[]; send: Send }) => (
  <form
    class="stack"
    onSubmit={submits(form => {
      const field = fieldsOf(form)
      return send('/v1/phone', 'POST', {
        phone_number: field('phone'),
        country_code: field('country'),
      })
    })}
  >
    <p class="quiet small">
      You receive a six-digit code to confirm the number. Text messages are available in the listed
      countries only.
    </p>
    <div class="row end">
      <Select label="Country" name="country" of={countries} textOf={countryName} />
      <Input
        label="Phone number"
        name="phone"
        type="tel"
        required
        maxLength={34}
        autocomplete="tel"
      />
      <Submit>Send code</Submit>
    </div>
  </form>
)

const CodeForm = ({ send }: { send: Send }) => (
  <form
    class="row end"
    onSubmit={submits(form =>
      send('/v1/phone/verify', 'POST', { verification_code: fieldsOf(form)('code') }),
    )}
  >
    <Input
      label="Code from the text message"
      name="code"
      required
      inputmode="numeric"
      autocomplete="one-time-code"
      maxLength={12}
    />
    <Submit>Verify</Submit>
    <Button label="Send a new code" onClick={() => send('/v1/phone/resend', 'POST')} />
  </form>
)

const Quiet = ({ settings, send }: { settings: Settings; send: Send }) => (
  <form
    class="row end"
    onSubmit={submits(form => {
      const field = fieldsOf(form)
      return send('/v1/sms/settings', 'PATCH', {
        quiet_hours: {
          start: field('start') || null,
          end: field('end') || null,
          timezone: field('timezone') || 'UTC',
        },
        max_messages_per_day: Number(field('most')),
      })
    })}
  >
    <Input
      label="Quiet from"
      type="time"
      name="start"
      defaultValue={settings.quiet_hours.start ?? ''}
    />
    <Input label="to" type="time" name="end" defaultValue={settings.quiet_hours.end ?? ''} />
    <Input
      label="Time zone"
      name="timezone"
      defaultValue={settings.quiet_hours.timezone}
      size={16}
    />
    <Input
      label="Maximum per day"
      type="number"
      name="most"
      min={1}
      max={100}
      required
      defaultValue={String(settings.max_messages_per_day)}
    />
    <button type="submit">Save</button>
  </form>
)
