import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { hasTable } from '../../../database/identity.ts'
import { statements } from '../../../database/statement.ts'

/** The owner of a sealed text. */
export type SealedKind = 'webhook' | 'account' | 'source' | 'second_factor'

export interface SealedText {
  kind: SealedKind
  /** Id of the webhook endpoint, account or data source. */
  id: string
  sealed: Uint8Array
}

/** Queries that check secrets and the age of the data. */
export type SecretCheckStore = ReturnType<typeof createSecretCheckStore>

/** Numbers of replaced secrets, by the kind of their owner. */
export interface Replaced {
  webhooks: number
  accounts: number
  sources: number
  secondFactors: number
}

const sealed: Readonly<Record<SealedKind, { table: string; id: string; text: string }>> = {
  webhook: { table: 'webhooks', id: 'id', text: 'secret' },
  account: { table: 'webhook_account_secrets', id: 'account_id', text: 'secret' },
  source: { table: 'data_sources', id: 'id', text: 'credentials' },
  second_factor: { table: 'second_factors', id: 'account_id', text: 'secret' },
}

export function createSecretCheckStore(db: Database) {
  const sql = statements(db)
  // Reads only the end of each series: there is no index by time of recording, and there are many
  // observations.
  const newestRecorded = sql<
    { at: number | null },
    []
  >`SELECT max(o.recorded_at) AS at FROM series s
     JOIN observations o ON o.series_id = s.id AND o.observed_at = (SELECT max(observed_at) FROM observations WHERE series_id = s.id)`
  const newestNoted = sql<{ at: number | null }, []>`
    SELECT max(at) AS at FROM (SELECT max(created_at) AS at FROM accounts
      UNION ALL SELECT noted_at FROM audit_entries WHERE id = (SELECT max(id) FROM audit_entries))`
  const kinds = Object.entries(sealed) as [SealedKind, (typeof sealed)[SealedKind]][]
  const texts = kinds.map(([kind, { table, id, text }]) => ({
    table,
    count: sql<{ n: number }, []>`SELECT count(${text}) AS n FROM ${table}`,
    sample: sql<SealedText, []>`
      SELECT '${kind}' AS kind, ${id} AS id, ${text} AS sealed FROM ${table}
      WHERE ${text} IS NOT NULL ORDER BY created_at DESC LIMIT 1`,
  }))
  /** A start reads this of an older schema too, which may lack a table. */
  const present = () => texts.filter(({ table }) => hasTable(db, table))
  const webhookIds = sql<{ id: string }, []>`SELECT id FROM webhooks`
  const resealWebhook = sql<null, [Uint8Array, string, string]>`
    UPDATE webhooks SET secret = ?, secret_hint = ?, previous_secret = NULL, previous_secret_until = NULL
    WHERE id = ?`
  const dropAccountSecrets = sql`DELETE FROM webhook_account_secrets`
  const dropCodes = sql`DELETE FROM recovery_codes`
  const dropFactors = sql`DELETE FROM second_factors`
  const dropCredentials = sql`
    UPDATE data_sources SET credentials = NULL WHERE credentials IS NOT NULL`
  return {
    /**
     * Replaces all sealed data: endpoints get the secrets that `secretOf` makes, the secrets of
     * accounts are generated when they are needed, data sources lose their credentials, and signing
     * in requires no code until users have set up two-factor authentication again.
     */
    replaceSealed: (
      secretOf: (webhookId: string) => { sealed: Uint8Array; hint: string },
    ): Replaced =>
      transact(db, () => {
        const webhooks = webhookIds.all()
        for (const { id } of webhooks) {
          const { sealed: secret, hint } = secretOf(id)
          resealWebhook.run(secret, hint, id)
        }
        dropCodes.run()
        return {
          secondFactors: dropFactors.run().changes,
          webhooks: webhooks.length,
          accounts: dropAccountSecrets.run().changes,
          sources: dropCredentials.run().changes,
        }
      }),
    /**
     * When the newest observation of any series was recorded, Unix ms: of those, the one recorded
     * last.
     */
    recordedAt: () => newestRecorded.get()?.at ?? undefined,
    /** When anything was last recorded, noted or made, Unix ms: how old a backup is at least. */
    newestAt() {
      const times = [newestRecorded.get()?.at, newestNoted.get()?.at].filter(
        at => typeof at === 'number',
      )
      return times.length === 0 ? undefined : Math.max(...times)
    },
    /** How many texts the vault has sealed: webhook secrets and credentials. */
    sealedCount: () => present().reduce((sum, { count }) => sum + count.get()!.n, 0),
    /** The newest sealed text of each kind. */
    sealedSamples: () => present().flatMap(({ sample }) => sample.get() ?? []),
  }
}
