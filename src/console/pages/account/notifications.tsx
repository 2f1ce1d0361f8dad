import { useSignal } from '@preact/signals'
import type { NotificationShape as Notification } from '../../../topics/messages/operations/notifications.ts'
import { May, Tag } from '../../parts/bits.tsx'
import { Button } from '../../parts/buttons.tsx'
import { Choice } from '../../parts/fields.tsx'
import { NotificationSwitches } from '../../parts/person/notification-switches.tsx'
import { useChange } from '../../parts/requests/ask.ts'
import { pagedRows, usePages } from '../../parts/requests/pages.ts'
import { actions, aside } from '../../parts/tables/columns.tsx'
import { Table } from '../../parts/tables/table.tsx'
import { instant, words } from '../../parts/text/format.ts'
import { TextMessages } from './text-messages.tsx'

/** The account's notifications, its delivery channels and its phone. */
export const Notifications = () => (
  <>
    <List />
    <div class="columns">
      <section class="card" aria-labelledby="ways">
        <h2 id="ways">Notification settings</h2>
        <NotificationSwitches />
      </section>
      <May action="change_data">
        <TextMessages />
      </May>
    </div>
  </>
)

/** The page that a notification speaks of; undefined where it speaks of none. */
function pageOf({ type, ...row }: Notification): string | undefined {
  const data = row.data as Record<string, unknown> | null
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
  const answer = usePages<Notification, { unread_count: number }>(
    `/v1/notifications?per_page=20${shown.value === 'unread' ? '&unread=true' : ''}`,
    'notifications',
  )
  const { change, ...outcome } = useChange(answer)
  const post = (what: string) => change(`/v1/notifications/${what}`, 'POST', {})
  const unread = answer.data?.[0]?.unread_count ?? 0
  return (
    <Table
      outcome={outcome}
      caption="Notifications"
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
            of={shown}
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
  )
}
