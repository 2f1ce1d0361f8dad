import type { Database } from 'bun:sqlite'
import { statements } from '../../../database/statement.ts'
import type { PermitNameKind } from './permit-names.ts'

export type CountedKind = Extract<PermitNameKind, 'state' | 'operator' | 'formation'>

/** How many permits have a word. */
export interface TermCount {
  id: number
  name: string
  label: string
  permits: number
}

export interface NamedCount {
  name: string
  permits: number
}

export type PermitCounts = ReturnType<typeof createPermitCounts>

/** The counts as of a past moment: permits keep no revisions. */
export const noPermitCounts: PermitCounts = {
  total: () => 0,
  ofState: () => 0,
  newestByState: () => new Map(),
  oldestOn: () => undefined,
  sourceOf: () => undefined,
  largest: () => [],
  count: () => 0,
  movements: () => new Map(),
  between: () => 0,
  topOperators: () => [],
  topCounties: () => [],
}

const columns: Readonly<Record<CountedKind, string>> = {
  state: 'state_id',
  operator: 'operator_id',
  formation: 'formation_id',
}

export function createPermitCounts(db: Database) {
  const sql = statements(db)
  const stateIs = "state_id = (SELECT id FROM permit_terms WHERE kind = 'state' AND name = ?1)"
  const states = sql<{ state: string; day: string | null }, []>`
    SELECT t.name AS state, (SELECT max(permit_on) FROM well_permits WHERE state_id = t.id) AS day
    FROM permit_terms t WHERE t.kind = 'state' AND t.permits > 0 ORDER BY t.name`
  const total = sql<{ n: number | null }, []>`
    SELECT sum(permits) AS n FROM permit_terms WHERE kind = 'state'`
  const ofState = sql<{ permits: number }, [string]>`
    SELECT permits FROM permit_terms WHERE kind = 'state' AND name = ?`
  const oldest = sql<{ day: string | null }, [string]>`
    SELECT min(permit_on) AS day FROM well_permits WHERE ${stateIs}`
  const source = sql<{ source: string }, [string]>`
    SELECT p.source FROM well_permits f JOIN well_permit_papers p ON p.id = f.id WHERE f.${stateIs} ORDER BY f.permit_on DESC LIMIT 1`
  const largest = sql<TermCount, [string, number, number]>`
    SELECT id, name, label, permits FROM permit_terms WHERE kind = ? AND permits > 0 ORDER BY permits DESC, name LIMIT ? OFFSET ?`
  const count = sql<{ n: number }, [string]>`
    SELECT count(*) AS n FROM permit_terms WHERE kind = ? AND permits > 0`
  const between = sql<{ n: number }, [string, string, string]>`
    SELECT count(*) AS n FROM well_permits WHERE ${stateIs} AND permit_on >= ?2 AND permit_on < ?3`
  const inState = (column: string) =>
    sql<{ id: number | null }, [string, string, string]>`
      SELECT ${column} AS id FROM well_permits INDEXED BY well_permits_by_state WHERE ${stateIs} AND permit_on >= ?2 AND permit_on < ?3`
  const [operators, counties] = [inState('operator_id'), inState('county_id')]
  const label = sql<{ label: string }, [number]>`SELECT label FROM permit_terms WHERE id = ?`
  // Counted here: SQLite would sort a year of permits to group them.
  const largestOf = (rows: readonly { id: number | null }[], limit: number): NamedCount[] => {
    const tally = new Map<number, number>()
    for (const { id } of rows) if (id) tally.set(id, (tally.get(id) ?? 0) + 1)
    return [...tally]
      .sort(([a, m], [b, n]) => n - m || a - b)
      .slice(0, limit)
      .map(([id, permits]) => ({ name: label.get(id)!.label, permits }))
  }
  const movementQueries = (kind: CountedKind) => ({
    newest: sql<{ day: string }, [number]>`
      SELECT max(permit_on) AS day FROM well_permits WHERE ${columns[kind]} = ?`,
    inSpan: sql<{ n: number }, [number, string, string]>`
      SELECT count(*) AS n FROM well_permits WHERE ${columns[kind]} = ? AND permit_on >= ? AND permit_on < ?`,
  })
  const movements = {
    state: movementQueries('state'),
    operator: movementQueries('operator'),
    formation: movementQueries('formation'),
  }
  return {
    total: () => total.get()!.n ?? 0,
    newestByState: () => new Map(states.all().map(row => [row.state, row.day!])),
    oldestOn: (state: string) => oldest.get(state)?.day ?? undefined,
    /** The source of the newest permit of a state. */
    sourceOf: (state: string) => source.get(state)?.source,
    /** Largest first, then by name. */
    largest: (kind: CountedKind, limit: number, offset: number) => largest.all(kind, limit, offset),
    /** Words of a kind that have a permit. */
    count: (kind: CountedKind) => count.get(kind)!.n,
    /** The counts of terms of one kind, in `[earlier, later)` and in `[later, end)`. */
    movements(
      kind: CountedKind,
      ids: readonly number[],
      earlier: string,
      later: string,
      end: string,
    ) {
      const { newest, inSpan } = movements[kind]
      return new Map(
        ids.map(id => [
          id,
          {
            newestOn: newest.get(id)!.day,
            change: inSpan.get(id, later, end)!.n - inSpan.get(id, earlier, later)!.n,
          },
        ]),
      )
    },
    ofState: (state: string) => ofState.get(state)?.permits ?? 0,
    /** In the half-open range of days. */
    between: (state: string, from: string, to: string) => between.get(state, from, to)!.n,
    /** The largest operators of a state in the half-open range of days. */
    topOperators: (state: string, from: string, to: string, limit: number) =>
      largestOf(operators.all(state, from, to), limit),
    topCounties: (state: string, from: string, to: string, limit: number) =>
      largestOf(counties.all(state, from, to), limit),
  }
}
