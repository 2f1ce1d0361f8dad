import type { Database } from 'bun:sqlite'
import { recordTable } from '../../../database/record-table.ts'
import { statements } from '../../../database/statement.ts'
import type { Role } from '../../../plans/roles/roles.ts'
import { ownSubscription } from './own-subscription.ts'

export interface Organization {
  id: string
  name: string
  /** The account that all members act on: that of one of its admins. */
  accountId: string
  createdAt: number
}

export interface Member {
  id: string
  organizationId: string
  /** Null until the person accepts. */
  accountId: string | null
  email: string
  role: Role
  joinedAt: number
}

export interface Invitation {
  id: string
  organizationId: string
  email: string
  role: Role
  message: string | null
  /**
   * The member that was listed at once and is to accept; null for someone who becomes one by
   * accepting.
   */
  memberId: string | null
  tokenHash: Uint8Array
  /** Address of the inviter. */
  invitedBy: string
  createdAt: number
  expiresAt: number
  acceptedAt: number | null
}

/** The account that a user acts on, and their role. */
export interface Membership {
  accountId: string
  actsOnId: string
  role: Role
}

/** Reads of who acts on which account. */
export interface MembershipReader {
  memberships(): Membership[]
  membershipOf(accountId: string): Membership | undefined
}

export type OrganizationStore = ReturnType<typeof createOrganizationStore>

export function createOrganizationStore(db: Database) {
  return { ...organizations(db), ...members(db), ...invitations(db), ...addresses(db) }
}

function organizations(db: Database) {
  const sql = statements(db)
  const table = recordTable<Organization>(db, 'organizations', {
    columns: 'id, name, account_id, created_at',
  })
  const count = sql<{ total: number }, []>`SELECT count(*) AS total FROM organizations`
  const put = table.upsert('createdAt')
  const remove = sql`DELETE FROM organizations WHERE id = ?`
  const joined = `SELECT m.account_id AS accountId, o.account_id AS actsOnId, m.role FROM organization_members m
     JOIN organizations o ON o.id = m.organization_id`
  return {
    byId: table.where<[id: string]>('WHERE id = ?').get,
    /** By name. */
    page: table.where<[limit: number, offset: number]>('ORDER BY name, id LIMIT ? OFFSET ?').all,
    count: () => count.get()!.total,
    put: (organization: Organization) => void put(organization),
    /** Removes an organization with its members and invitations. */
    remove: (id: string) => void remove.run(id),
    memberships: sql<Membership, []>`${joined} WHERE m.account_id IS NOT NULL`.all,
    membershipOf: sql<Membership, [accountId: string]>`${joined} WHERE m.account_id = ?`.get,
    /** Members whose own account still pays for a subscription that they cannot see. */
    payingMembers: sql<Membership, [limit: number]>`${joined}
      JOIN ${ownSubscription('m.account_id')}
      WHERE m.account_id <> o.account_id LIMIT ?`.all,
  }
}

function members(db: Database) {
  const sql = statements(db)
  const table = recordTable<Member>(db, 'organization_members', {
    columns: 'id, organization_id, account_id, email, role, joined_at',
  })
  const put = table.upsert('organizationId')
  const remove = sql`DELETE FROM organization_members WHERE id = ?`
  return {
    memberByAddress: table.where<[organizationId: string, email: string]>(
      'WHERE organization_id = ? AND email = ?',
    ).get,
    /** In the order in which they joined. */
    members: table.where<[organizationId: string]>(
      'WHERE organization_id = ? ORDER BY joined_at, id',
    ).all,
    memberByAccount: table.where<[accountId: string]>('WHERE account_id = ?').get,
    putMember: (member: Member) => void put(member),
    removeMember: (id: string) => void remove.run(id),
  }
}

function invitations(db: Database) {
  const sql = statements(db)
  const table = recordTable<Invitation>(db, 'organization_invitations', {
    columns: `id, organization_id, email, role, message, member_id, token_hash, invited_by, created_at,
      expires_at, accepted_at`,
  })
  const put = table.insert()
  const accept = sql`
    UPDATE organization_invitations SET accepted_at = ?1 WHERE id = ?2 AND accepted_at IS NULL AND expires_at > ?1`
  const newer = sql<{ found: 1 }, [string, string, number, string]>`
    SELECT 1 AS found FROM organization_invitations
    WHERE organization_id = ? AND email = ? AND created_at >= ? AND id <> ? LIMIT 1`
  const end = sql`UPDATE organization_invitations SET expires_at = ?1
     WHERE organization_id = ?2 AND email = ?3 AND accepted_at IS NULL AND expires_at > ?1`
  return {
    /** Newest first. */
    invitations: table.where<[organizationId: string]>(
      'WHERE organization_id = ? ORDER BY created_at DESC, id',
    ).all,
    invitation: table.where<[id: string]>('WHERE id = ?').get,
    invitationByToken: table.where<[tokenHash: Uint8Array]>('WHERE token_hash = ?').get,
    putInvitation: (invitation: Invitation) => void put(invitation),
    /** Uses an invitation up; false when it was used or is over. */
    accept: (id: string, now: number) => accept.run(now, id).changes === 1,
    /** Whether another one was sent to the same address when it ended, or later. */
    isReplaced: ({ organizationId, email, expiresAt, id }: Invitation): boolean =>
      newer.get(organizationId, email, expiresAt, id) !== undefined,
    /** Ends the open invitations of an address. */
    endInvitations: (organizationId: string, email: string, now: number) =>
      void end.run(now, organizationId, email),
  }
}

function addresses(db: Database) {
  const sql = statements(db)
  const list = sql<{ email: string }, [string]>`
    SELECT email FROM account_addresses WHERE account_id = ? ORDER BY confirmed_at, email`
  const holder = sql<{ account_id: string }, [string]>`
    SELECT account_id FROM account_addresses WHERE email = ?`
  const add = sql`INSERT INTO account_addresses (email, account_id, confirmed_at)
     SELECT ?1, ?2, ?3 WHERE NOT EXISTS (SELECT 1 FROM accounts WHERE email = ?1) ON CONFLICT (email) DO NOTHING`
  return {
    /** Addresses alongside the first that belong to an account. */
    addresses: (accountId: string): string[] => list.all(accountId).map(row => row.email),
    /** The account that such an address belongs to. */
    holderOf: (email: string): string | undefined => holder.get(email)?.account_id,
    /** Notes an address of an account, unless it belongs to another one. */
    addAddress: (email: string, accountId: string, now: number) =>
      void add.run(email, accountId, now),
  }
}
