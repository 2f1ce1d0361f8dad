import type { Database } from 'bun:sqlite'
import { recordTable } from '../../../database/record-table.ts'
import { statements } from '../../../database/statement.ts'

export interface Notification {
  id: string
  accountId: string
  type: string
  title: string
  message: string
  data: Readonly<Record<string, unknown>> | null
  createdAt: number
  readAt: number | null
}

/**
 * The lists of all accounts; every query names the account, so that rows of others are invisible.
 */
export type NotificationStore = ReturnType<typeof createNotificationStore>

export function createNotificationStore(db: Database) {
  const sql = statements(db)
  const notifications = recordTable<Notification>(db, 'notifications', {
    columns: 'id, account_id, type, title, message, data, created_at, read_at',
    json: ['data'],
  })
  const add = notifications.insert()
  const has = sql<{ id: string }, [string]>`SELECT id FROM notifications WHERE id = ?`
  const order = 'ORDER BY created_at DESC, number DESC LIMIT ? OFFSET ?'
  const page = notifications.where<[string, number, number]>(`WHERE account_id = ? ${order}`)
  const pageUnread = notifications.where<[string, number, number]>(
    `WHERE account_id = ? AND read_at IS NULL ${order}`,
  )
  const count = sql<{ n: number }, [string]>`
    SELECT count(*) AS n FROM notifications WHERE account_id = ?`
  const unread = sql<{ n: number }, [string]>`
    SELECT count(*) AS n FROM notifications WHERE account_id = ? AND read_at IS NULL`
  const find = notifications.where<[string, string]>('WHERE account_id = ? AND id = ?')
  const read = sql`
    UPDATE notifications SET read_at = ?3 WHERE account_id = ?1 AND id = ?2 AND read_at IS NULL`
  const readAll = sql`
    UPDATE notifications SET read_at = ?2 WHERE account_id = ?1 AND read_at IS NULL`
  const forget = sql`
    DELETE FROM notifications WHERE number IN (SELECT number FROM notifications WHERE created_at < ? LIMIT ?)`
  return {
    add: (notification: Notification) => void add(notification),
    has: (id: string) => has.get(id) !== undefined,
    /** Newest first. */
    page: (accountId: string, unreadOnly: boolean, limit: number, offset: number) =>
      (unreadOnly ? pageUnread : page).all(accountId, limit, offset),
    count: (accountId: string) => count.get(accountId)!.n,
    unread: (accountId: string) => unread.get(accountId)!.n,
    find: (accountId: string, id: string) => find.get(accountId, id),
    /** The first time stays. */
    read: (accountId: string, id: string, at: number) => void read.run(accountId, id, at),
    /** How many were unread. */
    readAll: (accountId: string, at: number) => readAll.run(accountId, at).changes,
    /** Drops at most `rowsMax` that are older than a moment; how many there were. */
    forget: (before: number, rowsMax: number) => forget.run(before, rowsMax).changes,
  }
}
