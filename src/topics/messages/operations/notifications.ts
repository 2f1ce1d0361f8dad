import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import { accountIdOf } from '../../../http/gate/request-context.ts'
import { bareOrPart, flag, optional, part } from '../../../http/input/body-schema.ts'
import { PageMetaShape } from '../../../http/input/page.ts'
import { parsed } from '../../../http/input/typed.ts'
import { operation } from '../../../http/operations/operation.ts'
import { notFound } from '../../../http/problem/problem.ts'
import type { Notification } from '../store/notifications.ts'
import type { Preferences } from '../store/preferences.ts'

const perPageMax = 100
const perPageDefault = 20

const NotificationShape = t.Object({
  id: t.String({ examples: ['00000000-0000-4000-8000-000000000701'] }),
  type: t.string('What it is about.', 'price_alert'),
  title: t.String({ examples: ['Brent above 90'] }),
  message: t.String({ examples: ['Brent Crude Oil is at 90.42 USD, above 90.'] }),
  read: t.Boolean(),
  created_at: t.String({ format: 'date-time' }),
  data: t.orNull(t.Object({}, { additionalProperties: true }), 'Details of the event, by type.'),
})
export type NotificationShape = (typeof NotificationShape)['static']
const unreadCount = t.integer({ examples: [1] })
const Listed = t.Object({
  notifications: t.Array(NotificationShape),
  unread_count: unreadCount,
  meta: PageMetaShape,
})
const Counted = t.Object({ unread_count: unreadCount })
const Marked = t.Object({ notification: NotificationShape, unread_count: unreadCount })
const AllMarked = t.Object({
  marked: t.integer('Number of notifications that were unread.'),
  unread_count: t.Literal(0),
})
const EmailShape = t.Object({
  enabled: t.Boolean(),
  price_alerts: t.Boolean(),
  weekly_digest: t.Boolean(),
  product_updates: t.Boolean(),
})
const PreferencesShape = t.Object({
  email: EmailShape,
  sms: t.Object({ enabled: t.Boolean(), price_alerts: t.Boolean() }),
  push: t.Object({ enabled: t.Boolean() }),
})
export type PreferencesShape = (typeof PreferencesShape)['static']
/** The editable settings, bare or as `notification_preferences`; all are optional. */
const PreferencesBody = bareOrPart(
  {
    email: optional(
      part({
        enabled: optional(flag()),
        price_alerts: optional(flag()),
        weekly_digest: optional(flag()),
        product_updates: optional(flag()),
      }),
    ),
    sms: optional(part({ enabled: optional(flag()), price_alerts: optional(flag()) })),
    push: optional(part({ enabled: optional(flag()) })),
  },
  'notification_preferences',
)

const params = t.Object({
  id: t.string('Id of the notification.', '00000000-0000-4000-8000-000000000701'),
})
const read = { meter: false } as const
const write = { meter: false, header: true } as const

const list = [
  operation('GET /v1/notifications', {
    operationId: 'listNotifications',
    summary: 'List notifications',
    description: "Returns the account's notifications of the last 90 days, newest first.",
    access: read,
    page: { max: perPageMax, default: perPageDefault },
    query: {
      unread: parsed.flag('True returns only unread notifications.', true, { default: false }),
    },
    answers: Listed,
    handle: ({ at, caller, query, page }) => {
      const { notifications: store } = at
      const accountId = accountIdOf(caller)
      const unreadOnly = query.unread
      const unread = store.unread(accountId)
      const meta = page.meta(unreadOnly ? unread : store.count(accountId))
      const rows = store.page(accountId, unreadOnly, page.perPage, page.offset)
      return { notifications: rows.map(rowOf), unread_count: unread, meta }
    },
  }),
  operation('GET /v1/notifications/unread_count', {
    operationId: 'countUnreadNotifications',
    summary: 'Count unread notifications',
    description: 'Returns the number of unread notifications.',
    access: read,
    answers: Counted,
    handle: ({ at: { notifications }, caller }) => ({
      unread_count: notifications.unread(accountIdOf(caller)),
    }),
  }),
]

const marks = [
  operation('POST /v1/notifications/:id/mark_read', {
    operationId: 'markNotificationRead',
    summary: 'Mark a notification as read',
    description: 'Marks a notification as read. Repeating the request changes nothing.',
    access: write,
    params: params.properties,
    answers: Marked,
    handle: ({ at, caller, params: { id } }) => {
      const { notifications: store, now } = at
      const accountId = accountIdOf(caller)
      store.read(accountId, id, now())
      const notification = store.find(accountId, id)
      if (!notification) throw notFound('notification', id)
      return { notification: rowOf(notification), unread_count: store.unread(accountId) }
    },
  }),
  operation('POST /v1/notifications/mark_all_read', {
    operationId: 'markAllNotificationsRead',
    summary: 'Mark all notifications as read',
    description: 'Marks all unread notifications of the account as read.',
    access: write,
    answers: AllMarked,
    handle: ({ at, caller }) => {
      const { notifications: store, now } = at
      return {
        marked: store.readAll(accountIdOf(caller), now()),
        unread_count: 0 as const,
      }
    },
  }),
]

const preferences = [
  operation('GET /v1/notification_preferences', {
    operationId: 'getNotificationPreferences',
    summary: 'Get notification settings',
    description: 'Returns which notifications the account gets on which channels.',
    access: read,
    answers: PreferencesShape,
    handle: ({ at: { preferences }, caller }) =>
      preferencesRow(preferences.of(accountIdOf(caller))),
  }),
  operation('PATCH /v1/notification_preferences', {
    operationId: 'updateNotificationPreferences',
    summary: 'Update notification settings',
    description:
      'Updates the given settings; the body may be wrapped in `notification_preferences`. Scheduled deliveries have separate settings.',
    access: write,
    body: PreferencesBody.schema,
    answers: PreferencesShape,
    handle: ({ at, body, caller }) => {
      const { preferences: store } = at
      const changed = preferencesOf(body, store.of(accountIdOf(caller)))
      store.put(accountIdOf(caller), changed)
      return preferencesRow(changed)
    },
  }),
]

const rowOf = (notification: Notification) =>
  answerRow(NotificationShape, notification, {
    read: notification.readAt !== null,
    data: notification.data as Record<string, unknown> | null,
  })

const preferencesRow = ({ email, sms, push }: Preferences) => ({
  email: answerRow(EmailShape, email, {}),
  sms: { enabled: sms.enabled, price_alerts: sms.priceAlerts },
  push: { enabled: push.enabled },
})

/** The preferences after a change; what the body does not name stays. */
function preferencesOf(input: unknown, before: Preferences): Preferences {
  const { email, sms, push } = PreferencesBody.read(input)
  return {
    email: {
      enabled: email?.enabled ?? before.email.enabled,
      priceAlerts: email?.price_alerts ?? before.email.priceAlerts,
      weeklyDigest: email?.weekly_digest ?? before.email.weeklyDigest,
      productUpdates: email?.product_updates ?? before.email.productUpdates,
    },
    sms: {
      enabled: sms?.enabled ?? before.sms.enabled,
      priceAlerts: sms?.price_alerts ?? before.sms.priceAlerts,
    },
    push: { enabled: push?.enabled ?? before.push.enabled },
  }
}

/** The notifications of the account, and the channels on which it receives them. */
export const notificationOperations = [...list, ...marks, ...preferences]
