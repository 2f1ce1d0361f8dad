import type { Ids } from '../../../lib/ids.ts'
import type { NotificationStore } from '../store/notifications.ts'

/** An entry in the account's list of notifications. */
export interface Notice {
  accountId: string
  /** `price_alert`, `webhook_disabled`, `invoice`, `usage`, `organization` ... */
  type: string
  title: string
  message: string
  data?: Readonly<Record<string, unknown>>
}

export type Notices = ReturnType<typeof createNotices>

export const createNotices = (notifications: NotificationStore, ids: Ids) => ({
  /** Inside the caller's transaction. */
  post: ({ data, ...notice }: Notice, at: number) =>
    notifications.add({
      ...notice,
      id: ids.uuid(),
      data: data ?? null,
      createdAt: at,
      readAt: null,
    }),
})
