import type { Database } from 'bun:sqlite'
import { namedValues } from '../../../database/record-table.ts'

/** Small facts of the installation itself, by name. */
export type Settings = ReturnType<typeof settingsStore>

/** When a database of production got its first account, Unix ms; those from before this was noted have none. */
export const databaseBeganAt = 'database.began_at'

/** Id of the operator's own account, whose sign-in opens the operator's pages. */
export const operatorAccount = 'operator.account'

export const settingsStore = (db: Database) => namedValues(db, 'settings')
