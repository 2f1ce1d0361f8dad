import type { PreferencesShape as Channels } from '../../../topics/messages/operations/notifications.ts'
import { Refused, Shown } from '../bits.tsx'
import { ask, useAnswer, useAttempt } from '../requests/ask.ts'
import { boot, mayDo } from '../requests/boot.ts'

const switches = [
  { channel: 'email', name: 'enabled', text: 'E-mail' },
  { channel: 'email', name: 'price_alerts', text: 'Alerts by e-mail' },
  { channel: 'email', name: 'weekly_digest', text: 'Weekly digest' },
  { channel: 'email', name: 'product_updates', text: 'Service news' },
  { channel: 'sms', name: 'enabled', text: 'Text messages' },
  { channel: 'sms', name: 'price_alerts', text: 'Alerts by text message' },
] as const

const path = '/v1/notification_preferences'

/** The messages that the account receives on each channel, all of them or those of one kind. */
export function NotificationSwitches({ only }: { only?: string }) {
  const answer = useAnswer<Channels>(path)
  const { refusal, attempt } = useAttempt()
  const set = (channel: 'email' | 'sms', name: string, isOn: boolean) =>
    attempt(async () => {
      const body = { [channel]: { [name]: isOn } }
      answer.set(await ask<Channels>(path, { method: 'PATCH', body }))
    })
  return (
    <>
      {refusal.value && <Refused error={refusal.value} />}
      <Shown of={answer} what="notification settings">
        {channels =>
          switches
            .filter(({ name }) => only === undefined || name === only)
            .map(({ channel, name, text }) => {
              const values: Readonly<Record<string, boolean>> = channels[channel]
              const isOff = name !== 'enabled' && !channels[channel].enabled
              return (
                <label class="inline" key={text}>
                  <input
                    type="checkbox"
                    checked={values[name]}
                    disabled={!mayDo('change_data') || isOff}
                    onChange={event => void set(channel, name, event.currentTarget.checked)}
                  />
                  {text}
                  {name === (only ?? 'enabled') && !boot.reaches[channel] && (
                    <span class="quiet small"> (not sent: no provider is configured)</span>
                  )}
                </label>
              )
            })
        }
      </Shown>
    </>
  )
}
