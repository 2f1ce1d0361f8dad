import type { Database } from 'bun:sqlite'
import { statements } from '../../../database/statement.ts'

/** The words of a permit that it is counted under, by their numbers. */
export interface CountedPermit {
  permitOn: string
  stateId: number
  countyId: number | null
  operatorId: number
  formationId: number | null
  permitTypeId: number
  wellTypeId: number
}

/**
 * Changes of the counts by month and year, added up and written at the end of the transaction that
 * writes the permits.
 */
export type PermitPeriods = ReturnType<typeof createPermitPeriods>

/** The term under which every permit is counted. */
export const everyTerm = 0

/** Characters of a day that name its month or its year. */
export const periodCharacters = { month: 7, year: 4 } as const

type Keys = [term: number, period: string, state: number, permitType: number, wellType: number]

export function createPermitPeriods(db: Database) {
  const sql = statements(db)
  const put = sql`
    INSERT INTO permit_periods VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET permits = permits + excluded.permits`
  const putTerm = sql`UPDATE permit_terms SET permits = permits + ? WHERE id = ?`
  const changes = new Map<string, { keys: Keys; by: number }>()
  const terms = new Map<number, number>()
  const bump = (term: number, by: number) => terms.set(term, (terms.get(term) ?? 0) + by)
  const count = (keys: Keys, by: number) => {
    const key = keys.join()
    const change = changes.get(key)
    if (change) change.by += by
    else changes.set(key, { keys, by })
  }
  return {
    add(permit: CountedPermit, by: 1 | -1) {
      const { stateId, countyId, operatorId, formationId, permitTypeId, wellTypeId } = permit
      const [month, year] = [
        permit.permitOn.slice(0, periodCharacters.month),
        permit.permitOn.slice(0, periodCharacters.year),
      ]
      count([everyTerm, month, 0, permitTypeId, wellTypeId], by)
      count([stateId, month, stateId, permitTypeId, wellTypeId], by)
      if (formationId !== null) count([formationId, year, stateId, permitTypeId, wellTypeId], by)
      if (countyId !== null) count([countyId, year, stateId, 0, 0], by)
      count([operatorId, year, stateId, 0, 0], by)
      for (const term of [stateId, countyId, operatorId, formationId, permitTypeId, wellTypeId])
        if (term !== null) bump(term, by)
    },
    write() {
      for (const { keys, by } of changes.values()) if (by !== 0) put.run(...keys, by)
      for (const [term, by] of terms) if (by !== 0) putTerm.run(by, term)
    },
  }
}
