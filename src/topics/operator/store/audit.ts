import type { Database } from 'bun:sqlite'
import { createHash } from 'node:crypto'
import { transact } from '../../../database/database.ts'
import { statements } from '../../../database/statement.ts'

/** An action. Nothing in it is secret, and it identifies a user only by their account. */
export interface NewAuditEntry {
  /** The actor: `operator ci`, `command ann`, `key <id>`, `person <id>`, `feed ecb`. */
  actor: string
  /** The account of a key or a person. */
  accountId?: string | undefined
  /** The action: `PATCH /admin/v1/accounts/:id`, `sign in`. */
  action: string
  /** To which: the path of a request, a batch, an account. */
  thing: string
  /** From where: an address; undefined: from inside. */
  place?: string | undefined
  /** The outcome: an HTTP status, `done`, `refused`. */
  outcome: string
  /** Fields of the response that identify the subject, as JSON. */
  details?: string | undefined
}

export interface AuditEntry {
  id: number
  at: number
  actor: string
  accountId: string | null
  action: string
  thing: string
  place: string | null
  outcome: string
  details: string | null
  hash: Uint8Array
}

export interface AuditFilter {
  since?: number
  until?: number
  /** Part of the actor, or an account. */
  actor?: string
  /** Part of the action, the thing or its details. */
  thing?: string
}

/**
 * The audit trail. Each entry carries the SHA-256 of itself and of the entry before it, so that
 * none can be changed, taken out or put in without showing; the table itself refuses changes.
 */
export type AuditStore = ReturnType<typeof createAuditStore>

const placesOf = 20_000
const columns = `id, noted_at AS at, actor, account_id AS accountId, action, thing, place, outcome, details, hash`
const matching = `(?1 IS NULL OR noted_at >= ?1) AND (?2 IS NULL OR noted_at < ?2)
  AND (?3 IS NULL OR account_id = ?3 OR instr(lower(actor), lower(?3)) > 0)
  AND (?4 IS NULL OR instr(lower(action || ' ' || thing || ' ' || coalesce(details, '')), lower(?4)) > 0)`

type Unsigned = Omit<AuditEntry, 'hash'>

/** The stored values of an entry, in the order of its columns. */
const valuesOf = (entry: Unsigned) => [
  entry.id,
  entry.at,
  entry.actor,
  entry.accountId,
  entry.action,
  entry.thing,
  entry.place,
  entry.outcome,
  entry.details,
]

const hashOf = (before: Uint8Array, entry: Unsigned): Uint8Array =>
  createHash('sha256')
    .update(before)
    .update(JSON.stringify(valuesOf(entry)))
    .digest()

interface Link {
  id: number
  hash: Uint8Array
}

export function createAuditStore(db: Database) {
  const sql = statements(db)
  const last = sql<Link, []>`SELECT id, hash FROM audit_entries ORDER BY id DESC LIMIT 1`
  const anchor = sql<Link, []>`SELECT entry_id AS id, hash FROM audit_anchor`
  const add = sql`
    INSERT INTO audit_entries (id, noted_at, actor, account_id, action, thing, place, outcome, details, hash)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
  type Filter = [number | null, number | null, string | null, string | null]
  const list = sql<AuditEntry, [...Filter, number, number]>`
    SELECT ${columns} FROM audit_entries WHERE ${matching} ORDER BY id DESC LIMIT ?5 OFFSET ?6`
  const total = sql<{ n: number }, Filter>`
    SELECT count(*) AS n FROM audit_entries WHERE ${matching}`
  // No one waits long for a sign-in, however much is kept.
  const places = sql<{ place: string }, [string]>`
    SELECT DISTINCT place FROM (SELECT * FROM audit_entries ORDER BY id DESC LIMIT ${placesOf})
     WHERE account_id = ? AND action LIKE 'sign in with %' AND outcome = 'done' AND place IS NOT NULL`
  const oldest = sql<Link & { at: number }, [number]>`
    SELECT id, noted_at AS at, hash FROM audit_entries ORDER BY id LIMIT ?`
  const setAnchor = sql`UPDATE audit_anchor SET entry_id = ?, hash = ?`
  const remove = sql`DELETE FROM audit_entries WHERE id <= ?`
  /** The places that an account has signed in from, as far as the newest entries show. */
  const signInPlaces = (accountId: string) => places.all(accountId).map(row => row.place)
  const filterOf = ({ since, until, actor, thing }: AuditFilter): Filter => [
    since ?? null,
    until ?? null,
    actor ?? null,
    thing ?? null,
  ]
  return {
    append: (given: NewAuditEntry, at: number) =>
      transact(db, () => {
        const before = last.get() ?? anchor.get()!
        const entry: Unsigned = {
          id: before.id + 1,
          at,
          actor: given.actor,
          accountId: given.accountId ?? null,
          action: given.action,
          thing: given.thing,
          place: given.place ?? null,
          outcome: given.outcome,
          details: given.details ?? null,
        }
        add.run(...valuesOf(entry), hashOf(before.hash, entry))
      }),
    /** Newest first. */
    list: (filter: AuditFilter, limit: number, offset: number) =>
      list.all(...filterOf(filter), limit, offset),
    signInPlaces,
    total: (filter: AuditFilter) => total.get(...filterOf(filter))!.n,
    /**
     * Takes out entries older than `before`, at most `limit` of them, from the oldest on; the hash
     * of the last of them stays as what the chain begins with. How many they were.
     */
    prune: (before: number, limit: number) =>
      transact(db, () => {
        const rows = oldest.all(limit)
        const kept = rows.findIndex(({ at }) => at >= before)
        const old = kept === -1 ? rows : rows.slice(0, kept)
        const end = old.at(-1)
        if (end === undefined) return 0
        setAnchor.run(end.id, end.hash)
        remove.run(end.id)
        return old.length
      }),
  }
}

/**
 * Checks the hash chain of a database; returns a sentence where it is broken, else nothing. It
 * detects a changed entry, unless all later hashes were rewritten too: to detect that, compare the
 * newest hash with one that is stored elsewhere.
 */
export function auditFaults(db: Database): string[] {
  const anchors = db.query<Link, []>('SELECT entry_id AS id, hash FROM audit_anchor').all()
  const [anchor] = anchors
  if (!anchor || anchors.length !== 1) return ['the audit trail has no beginning']
  let before = anchor
  const rows = db.query<AuditEntry, []>(`SELECT ${columns} FROM audit_entries ORDER BY id`)
  for (const entry of rows.iterate()) {
    if (entry.id !== before.id + 1)
      return [`the audit trail lacks what stood between entry ${before.id} and entry ${entry.id}`]
    if (!Buffer.from(hashOf(before.hash, entry)).equals(entry.hash))
      return [
        `the audit trail was changed: entry ${entry.id} does not follow from the entries before it`,
      ]
    before = entry
  }
  const newest = db
    .query<{ seq: number }, []>("SELECT seq FROM sqlite_sequence WHERE name = 'audit_entries'")
    .get()
  if ((newest?.seq ?? anchor.id) > before.id)
    return [`the audit trail lacks its end, after entry ${before.id}`]
  return []
}
