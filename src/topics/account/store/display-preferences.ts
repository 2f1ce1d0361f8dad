import type { Database } from 'bun:sqlite'
import { recordTable } from '../../../database/record-table.ts'
import type { DisplayPreferences } from '../../../plans/display.ts'

export interface StoredDisplayPreferences extends DisplayPreferences {
  updatedAt: number
}

/** The display preferences of each person. */
export function createDisplayPreferenceStore(db: Database) {
  const table = recordTable<StoredDisplayPreferences & { accountId: string }>(
    db,
    'display_preferences',
    {
      columns: 'account_id, scheme, density, time_zone, number_format, move_colours, updated_at',
    },
  )
  const put = table.upsert()
  return {
    /** Undefined until the person has chosen. */
    of: table.where<[accountId: string]>('WHERE account_id = ?').get,
    put: (accountId: string, chosen: StoredDisplayPreferences) =>
      void put({ ...chosen, accountId }),
  }
}
