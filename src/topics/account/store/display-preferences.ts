import type { Database } from 'bun:sqlite'
import { statements } from '../../../database/statement.ts'
import type { DisplayPreferences } from '../../../plans/display.ts'

export interface StoredDisplayPreferences extends DisplayPreferences {
  updatedAt: number
}

/** The display preferences of each person. */
export function createDisplayPreferenceStore(db: Database) {
  const sql = statements(db)
  const ofAccount = sql<StoredDisplayPreferences, [string]>`
    SELECT scheme, density, time_zone AS timeZone, number_format AS numberFormat,
      move_colours AS moveColours, updated_at AS updatedAt
    FROM display_preferences WHERE account_id = ?`
  const put = sql`
    INSERT INTO display_preferences (account_id, scheme, density, time_zone, number_format, move_colours, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (account_id) DO UPDATE SET scheme = excluded.scheme, density = excluded.density,
      time_zone = excluded.time_zone, number_format = excluded.number_format,
      move_colours = excluded.move_colours, updated_at = excluded.updated_at`
  return {
    /** Undefined until the person has chosen. */
    of: (accountId: string) => ofAccount.get(accountId),
    put(accountId: string, chosen: StoredDisplayPreferences) {
      put.run(
        accountId,
        chosen.scheme,
        chosen.density,
        chosen.timeZone,
        chosen.numberFormat,
        chosen.moveColours,
        chosen.updatedAt,
      )
    },
  }
}
