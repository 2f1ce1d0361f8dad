import { useSignal } from '@preact/signals'
import { May, Refused, Shown, Tag } from '../../parts/bits.tsx'
import { Button } from '../../parts/buttons.tsx'
import { Choice } from '../../parts/fields.tsx'
import { ask, useAnswer, useAttempt, useChange } from '../../parts/requests/ask.ts'
import { mayDo } from '../../parts/requests/boot.ts'
import { pagedRows, usePages } from '../../parts/requests/pages.ts'
import { actions, aside } from '../../parts/tables/columns.tsx'
import { Table } from '../../parts/tables/table.tsx'
import { boundChoice } from '../../parts/text/form.ts'
import { instant, words } from '../../parts/text/format.ts'
import { TextMessages } from './text-messages.tsx'

interface Notification {
  id: string
  type: string
  title: string
  message: string
  read: boolean
  created_at: string
  data: Record<string, unknown> | null
}

interface Listed {
  notifications: Notification[]
  unread_count: number
}

/** The account's notifications, its delivery channels and its phone. */
export const Notifications = () => (
  <>
    <List />
    <div class="columns">
      <Preferences />
      <May action="change_data">
        <TextMessages />
      </May>
    </div>
  </>
)

/** The page that a notification speaks of; undefined where it speaks of none. */
function pageOf({ type, data }: Notification): string | undefined {
  const id = (name: string) => (typeof data?.[name] === 'string' ? String(data[name]) : undefined)
  const alert = id('alert_id')
  const endpoint = id('webhook_endpoint_id') ?? id('endpoint_id') ?? id('webhook_id')
  if (alert !== undefined) return `/alerts/${encodeURIComponent(alert)}`
  if (endpoint !== undefined) return `/webhooks/${encodeURIComponent(endpoint)}`
  if (type.startsWith('invoice')) return '/account/plan'
  if (type.startsWith('usage')) return '/account/usage'
  return undefined
}

function List() {
  const shown = useSignal<'all' | 'unread'>('all')
  const answer = usePages<Listed, Notification>(
    `/v1/notifications?per_page=20${shown.value === 'unread' ? '&unread=true' : ''}`,
    ({ notifications }) => notifications,
  )
  const { refusal, change } = useChange(answer)
  const post = (what: string) => change(`/v1/notifications/${what}`, 'POST', {})
  const unread = answer.data?.[0]?.unread_count ?? 0
  return (
    <>
      {refusal.value && <Refused error={refusal.value} />}
      <Table
        caption="Notifications"
        file="notifications"
        {...pagedRows(answer)}
        empty={
          shown.value === 'unread' ? (
            'No unread notifications. Choose All to see earlier ones.'
          ) : (
            <>
              No notifications in the last 90 days. <a href="/alerts/new">Create an alert</a> to be
              notified of a price.
            </>
          )
        }
        actions={
          <>
            <Choice
              label="Show"
              options={[
                { value: 'all', text: 'All' },
                { value: 'unread', text: `Unread (${unread})` },
              ]}
              {...boundChoice(shown)}
            />
            {unread > 0 && (
              <May action="change_data">
                <Button
                  className="tight"
                  label="Mark all as read"
                  onClick={() => post('mark_all_read')}
                />
              </May>
            )}
          </>
        }
        columns={({ column }) => [
          column('Notification', ({ title, message }) => `${title}: ${message}`, {
            show: row => {
              const to = pageOf(row)
              return (
                <>
                  {to ? <a href={to}>{row.title}</a> : <b>{row.title}</b>}{' '}
                  {!row.read && <Tag mood="good">New</Tag>}
                  <div class="quiet small">{row.message}</div>
                </>
              )
            },
          }),
          column('Type', ({ type }) => words(type), { isWide: true }),
          column('When', 'created_at', { ...aside, write: instant }),
          {
            ...actions,
            needs: 'change_data',
            show: row =>
              !row.read && (
                <Button
                  className="tight"
                  label="Mark as read"
                  of={row.title}
                  onClick={() => post(`${row.id}/mark_read`)}
                />
              ),
          },
        ]}
      />
    </>
  )
}

interface Ways {
  email: Record<'enabled' | 'price_alerts' | 'weekly_digest' | 'product_updates', boolean>
  sms: Record<'enabled' | 'price_alerts', boolean>
}

const switches = [
  { way: 'email', name: 'enabled', text: 'E-mail' },
  { way: 'email', name: 'price_alerts', text: 'Alerts by e-mail' },
  { way: 'email', name: 'weekly_digest', text: 'Weekly digest' },
  { way: 'email', name: 'product_updates', text: 'Service news' },
  { way: 'sms', name: 'enabled', text: 'Text messages' },
  { way: 'sms', name: 'price_alerts', text: 'Alerts by text message' },
] as const

function Preferences() {
  const answer = useAnswer<Ways>('/v1/notification_preferences')
  const { refusal, attempt } = useAttempt()
  const set = (way: 'email' | 'sms', name: string, isOn: boolean) =>
    attempt(async () => {
      answer.set(
        await ask<Ways>('/v1/notification_preferences', {
          method: 'PATCH',
          body: { [way]: { [name]: isOn } },
        }),
      )
    })
  return (
    <section class="card" aria-labelledby="ways">
      <h2 id="ways">Notification settings</h2>
      {refusal.value && <Refused error={refusal.value} />}
      <Shown of={answer} what="notification settings">
        {ways =>
          switches.map(({ way, name, text }) => {
            const values: Readonly<Record<string, boolean>> = ways[way]
            return (
              <label class="inline" key={text}>
                <input
                  type="checkbox"
                  checked={values[name]}
                  disabled={!mayDo('change_data') || (name !== 'enabled' && !ways[way].enabled)}
                  onChange={event => void set(way, name, event.currentTarget.checked)}
                />
                {text}
              </label>
            )
          })
        }
      </Shown>
    </section>
  )
}
