import type { Database } from 'bun:sqlite'
import { lazy } from '../statement.ts'

export interface Account {
  id: string
  email: string
  plan: string
  addOns: string[]
  trialStartedAt: number | null
  trialEndsAt: number | null
  emailConfirmedAt: number | null
  suspendedAt: number | null
  createdAt: number
}

interface Row {
  id: string
  email: string
  plan: string
  add_ons: string
  trial_started_at: number | null
  trial_ends_at: number | null
  email_confirmed_at: number | null
  suspended_at: number | null
  created_at: number
}

const accountOf = (row: Row): Account => ({
  id: row.id,
  email: row.email,
  plan: row.plan,
  addOns: row.add_ons.split(' ').filter(Boolean),
  trialStartedAt: row.trial_started_at,
  trialEndsAt: row.trial_ends_at,
  emailConfirmedAt: row.email_confirmed_at,
  suspendedAt: row.suspended_at,
  createdAt: row.created_at,
})

export interface AccountStore {
  all(): Account[]
  /** Adds the account, or replaces everything but its id and creation when the id is known. */
  put(account: Account): void
}

export function createAccountStore(db: Database): AccountStore {
  const all = lazy<Row, []>(db, 'SELECT * FROM accounts ORDER BY created_at, id')
  const put = lazy(
    db,
    `INSERT INTO accounts (id, email, plan, add_ons, trial_started_at, trial_ends_at, email_confirmed_at, suspended_at, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET email = excluded.email, plan = excluded.plan, add_ons = excluded.add_ons, trial_started_at = excluded.trial_started_at,
       trial_ends_at = excluded.trial_ends_at, email_confirmed_at = excluded.email_confirmed_at, suspended_at = excluded.suspended_at`,
  )
  return {
    all: () => all.all().map(accountOf),
    put: a =>
      void put.run(
        a.id,
        a.email,
        a.plan,
        a.addOns.join(' '),
        a.trialStartedAt,
        a.trialEndsAt,
        a.emailConfirmedAt,
        a.suspendedAt,
        a.createdAt,
      ),
  }
}
