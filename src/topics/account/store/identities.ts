import type { Database } from 'bun:sqlite'
import { recordTable } from '../../../database/record-table.ts'
import { statements } from '../../../database/statement.ts'
import { ownSubscription } from './own-subscription.ts'

/** A person as the company's identity provider knows them. */
export interface Identity {
  issuer: string
  subject: string
  accountId: string
  isOperator: boolean
}

export type IdentityStore = ReturnType<typeof createIdentityStore>

export function createIdentityStore(db: Database) {
  const sql = statements(db)
  const table = recordTable<Identity>(db, 'oidc_identities', {
    columns: 'issuer, subject, account_id, is_operator',
    flags: ['isOperator'],
  })
  const bySubject = table.where<[string, string]>('WHERE issuer = ? AND subject = ?')
  const byAccount = table.where<[string, string]>('WHERE issuer = ? AND account_id = ?')
  const put = sql`
    INSERT INTO oidc_identities (issuer, subject, account_id, is_operator) VALUES (?, ?, ?, ?)
    ON CONFLICT (issuer, subject) DO UPDATE SET is_operator = excluded.is_operator`
  const putSession = sql`
    INSERT INTO oidc_sessions (family_id, issuer, subject, provider_session) VALUES (?, ?, ?, ?)`
  const families = sql<{ familyId: string }, [string, string | null, string | null]>`
    SELECT family_id AS familyId FROM oidc_sessions WHERE issuer = ?1
      AND (?2 IS NULL OR provider_session = ?2) AND (?3 IS NULL OR subject = ?3)`
  const apart = sql<{ accountId: string; isSubscribed: number }, [string, string, number]>`
    SELECT i.account_id AS accountId, s.id IS NOT NULL AS isSubscribed FROM oidc_identities i
      LEFT JOIN organization_members m ON m.account_id = i.account_id
      LEFT JOIN ${ownSubscription('i.account_id')}
    WHERE i.issuer = ? AND m.organization_id IS NOT ? AND (s.id IS NOT NULL OR EXISTS (
      SELECT 1 FROM organization_members n WHERE n.organization_id = m.organization_id
        AND n.account_id <> i.account_id)) LIMIT ?`
  const forget = sql`
    DELETE FROM oidc_sessions WHERE family_id NOT IN (SELECT family_id FROM sessions)`
  return {
    find: (issuer: string, subject: string) => bySubject.get(issuer, subject),
    /** Which person of the provider an account belongs to. */
    ofAccount: (issuer: string, accountId: string) => byAccount.get(issuer, accountId),
    put: ({ issuer, subject, accountId, isOperator }: Identity) =>
      void put.run(issuer, subject, accountId, isOperator ? 1 : 0),
    /**
     * People of the provider whose accounts are not in its organization, because they have their own
     * subscription or belong to another organization.
     */
    apart: (issuer: string, organizationId: string, limit: number) =>
      apart.all(issuer, organizationId, limit),
    /** Notes the provider's session that a sign-in came from; forgets those of ended sign-ins. */
    putSession(familyId: string, issuer: string, subject: string, session: string | null) {
      forget.run()
      putSession.run(familyId, issuer, subject, session)
    },
    /** The sign-ins of a session of the provider, or of a person; null: whichever. */
    families: (issuer: string, session: string | null, subject: string | null): string[] =>
      families.all(issuer, session, subject).map(({ familyId }) => familyId),
  }
}
