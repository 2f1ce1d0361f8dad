import type { Ids } from '../../../lib/ids.ts'
import type { NotificationStore } from '../store/notifications.ts'

/** What stands in the account's own list of notifications. */
export interface Notice {
  accountId: string
  /** `price_alert`, `webhook_disabled`, `invoice`, `usage`, `organization` ... */
  type: string
  title: string
  message: string
  data?: Readonly<Record<string, unknown>>
}

export interface Notices {
  /** Inside the caller's transaction. */
  post(notice: Notice, at: number): void
}

export const createNotices = (notifications: NotificationStore, ids: Ids): Notices => ({
  post: ({ data, ...notice }, at) =>
    notifications.add({
      ...notice,
      id: ids.uuid(),
      data: data ?? null,
      createdAt: at,
      readAt: null,
    }),
})
