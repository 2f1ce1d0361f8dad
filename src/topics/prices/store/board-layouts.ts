import type { Database } from 'bun:sqlite'
import { statements } from '../../../database/statement.ts'

/** Codes under a heading, in the order in which someone wants to see them. */
export interface BoardGroup {
  /** Empty where the codes have no heading. */
  name: string
  codes: string[]
}

export interface BoardLayout {
  groups: BoardGroup[]
  updatedAt: number
}

export interface SharedLayout extends BoardLayout {
  name: string
}

export function createBoardLayoutStore(db: Database) {
  const sql = statements(db)
  const ofAccount = sql<{ groups: string; updated_at: number }, [string]>`
    SELECT groups, updated_at FROM board_layouts WHERE account_id = ?`
  const put = sql`INSERT INTO board_layouts (account_id, groups, updated_at) VALUES (?, ?, ?)
     ON CONFLICT (account_id) DO UPDATE SET groups = excluded.groups, updated_at = excluded.updated_at`
  const remove = sql`DELETE FROM board_layouts WHERE account_id = ?`
  const sharedOf = sql<{ name: string; groups: string; updated_at: number }, [string]>`
    SELECT name, groups, updated_at FROM shared_layouts WHERE account_id = ? ORDER BY name`
  const share = sql`INSERT INTO shared_layouts (account_id, name, groups, updated_at)
     VALUES (?, ?, ?, ?) ON CONFLICT (account_id, name)
     DO UPDATE SET groups = excluded.groups, updated_at = excluded.updated_at`
  const unshare = sql`DELETE FROM shared_layouts WHERE account_id = ? AND name = ?`
  return {
    /** Undefined until the person has chosen. */
    of(accountId: string): BoardLayout | undefined {
      const row = ofAccount.get(accountId)
      if (!row) return undefined
      return { groups: JSON.parse(row.groups) as BoardGroup[], updatedAt: row.updated_at }
    },
    put(accountId: string, { groups, updatedAt }: BoardLayout) {
      put.run(accountId, JSON.stringify(groups), updatedAt)
    },
    /** Whether there was one. */
    remove: (accountId: string) => remove.run(accountId).changes > 0,
    /** The named layouts of an account, which every member of its organization sees. */
    shared: (accountId: string): SharedLayout[] =>
      sharedOf.all(accountId).map(row => ({
        name: row.name,
        groups: JSON.parse(row.groups) as BoardGroup[],
        updatedAt: row.updated_at,
      })),
    share(accountId: string, { name, groups, updatedAt }: SharedLayout) {
      share.run(accountId, name, JSON.stringify(groups), updatedAt)
    },
    unshare(accountId: string, name: string) {
      unshare.run(accountId, name)
    },
  }
}
