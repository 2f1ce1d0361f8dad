import type { Database } from 'bun:sqlite'
import { statements } from '../../../database/statement.ts'

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

type Row = Omit<Account, 'addOns'> & { addOns: string }

const columns = `id, email, plan, add_ons AS addOns, trial_started_at AS trialStartedAt,
  trial_ends_at AS trialEndsAt, email_confirmed_at AS emailConfirmedAt,
  suspended_at AS suspendedAt, created_at AS createdAt`

const accountOf = (row: Row): Account => ({
  ...row,
  addOns: row.addOns.split(' ').filter(Boolean),
})

export type AccountStore = ReturnType<typeof createAccountStore>

export function createAccountStore(db: Database) {
  const sql = statements(db)
  const all = sql<Row, []>`SELECT ${columns} FROM accounts ORDER BY created_at, id`
  const put = sql`
    INSERT INTO accounts (id, email, plan, add_ons, trial_started_at, trial_ends_at, email_confirmed_at, suspended_at, created_at)
    VALUES ($id, $email, $plan, $addOns, $trialStartedAt, $trialEndsAt, $emailConfirmedAt, $suspendedAt, $createdAt)
    ON CONFLICT (id) DO UPDATE SET email = excluded.email, plan = excluded.plan, add_ons = excluded.add_ons, trial_started_at = excluded.trial_started_at,
      trial_ends_at = excluded.trial_ends_at, email_confirmed_at = excluded.email_confirmed_at, suspended_at = excluded.suspended_at`
  return {
    all: () => all.all().map(accountOf),
    /** Adds the account, or replaces everything but its id and creation when the id is known. */
    put: (a: Account) => void put.run({ ...a, addOns: a.addOns.join(' ') }),
  }
}
