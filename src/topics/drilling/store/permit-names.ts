import type { Database } from 'bun:sqlite'
import { statements } from '../../../database/statement.ts'

export type PermitNameKind =
  | 'state'
  | 'county'
  | 'operator'
  | 'formation'
  | 'permit_type'
  | 'well_type'

/** Numbers of the words in permits, within one transaction. */
export type PermitNames = ReturnType<typeof createPermitNames>

export function createPermitNames(db: Database) {
  const sql = statements(db)
  const storedTerm = sql<{ id: number }, [string, string]>`
    SELECT id FROM permit_terms WHERE kind = ? AND name = ?`
  const add = sql`INSERT INTO permit_terms (kind, name, label, permits) VALUES (?, ?, ?, 0)`
  const storedName = sql<{ id: number }, [string]>`SELECT id FROM permit_well_names WHERE name = ?`
  const addName = sql`INSERT INTO permit_well_names (name) VALUES (?)`
  const addText = sql`INSERT INTO permit_well_name_text (rowid, name) VALUES (?, ?)`
  // For one transaction only: ids that a rollback takes back must not be remembered.
  const ids = new Map<string, number>()
  const remembered = (key: string, find: () => number) => ids.getOrInsertComputed(key, find)
  return {
    /** The id of a term as filed; `read` gives its normalized name, and the label of a new term. */
    id: (
      kind: PermitNameKind,
      filed: string,
      read: (filed: string) => { name: string; label: string },
    ) =>
      remembered(`${kind}/${filed}`, () => {
        const { name, label } = read(filed)
        return storedTerm.get(kind, name)?.id ?? Number(add.run(kind, name, label).lastInsertRowid)
      }),
    wellNameId: (name: string) =>
      remembered(`/${name}`, () => {
        const old = storedName.get(name)
        if (old) return old.id
        const id = Number(addName.run(name).lastInsertRowid)
        addText.run(id, name)
        return id
      }),
  }
}
