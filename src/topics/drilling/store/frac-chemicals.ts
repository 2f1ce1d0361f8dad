import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import { statements } from '../../../database/statement.ts'
import { countsOf, type WriteOutcome } from '../../../database/write-counts.ts'
import type { FracChemical } from '../dataset/frac.ts'

export interface SubstanceCount {
  name: string
  casNumber: string | null
  disclosures: number
}

export function createFracChemicalStore(db: Database) {
  const sql = statements(db)
  const substance = sql<{ id: number }, [string, string]>`
    SELECT id FROM frac_substances WHERE name = ? AND cas_number = ?`
  const addSubstance = sql`
    INSERT INTO frac_substances (name, cas_number, disclosures) VALUES (?, ?, 0)`
  const countUse = sql`UPDATE frac_substances SET disclosures = disclosures + 1 WHERE id = ?`
  const isUsed = sql<{ used: number }, [number, number]>`
    SELECT 1 AS used FROM frac_chemicals WHERE disclosure_id = ? AND substance_id = ? LIMIT 1`
  const stored = sql<
    Pick<FracChemical, 'concentrationPercent' | 'massLbs' | 'source'>,
    [number, number, string]
  >`
    SELECT concentration_percent AS concentrationPercent, mass_lbs AS massLbs, source FROM frac_chemicals
    WHERE disclosure_id = ? AND substance_id = ? AND purpose = ?`
  const put = sql`INSERT INTO frac_chemicals VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET concentration_percent = excluded.concentration_percent,
       mass_lbs = excluded.mass_lbs, source = excluded.source, recorded_at = excluded.recorded_at`
  const count = sql<{ n: number }, []>`SELECT count(*) AS n FROM frac_substances`
  const substanceId = (name: string, cas: string) =>
    substance.get(name, cas)?.id ?? Number(addSubstance.run(name, cas).lastInsertRowid)

  const write = (chemical: FracChemical, recordedAt: number): WriteOutcome => {
    const id = substanceId(chemical.name, chemical.casNumber ?? '')
    const old = stored.get(chemical.disclosureId, id, chemical.purpose)
    const isSame =
      old &&
      old.concentrationPercent === chemical.concentrationPercent &&
      old.massLbs === chemical.massLbs &&
      old.source === chemical.source
    if (isSame) return 'unchanged'
    if (!old && !isUsed.get(chemical.disclosureId, id)) countUse.run(id)
    put.run(
      chemical.disclosureId,
      id,
      chemical.purpose,
      chemical.concentrationPercent,
      chemical.massLbs,
      chemical.source,
      recordedAt,
    )
    return old ? 'revised' : 'inserted'
  }
  return {
    /**
     * One transaction. The same again is unchanged; another amount of a substance for the same
     * purpose replaces it.
     */
    write: (chemicals: readonly FracChemical[], recordedAt: number) =>
      transact(db, () => countsOf(chemicals.map(chemical => write(chemical, recordedAt)))),
    /** By amount, largest first. */
    of: sql<FracChemical, [disclosureId: number]>`
      SELECT c.disclosure_id AS disclosureId, s.name, nullif(s.cas_number, '') AS casNumber, c.purpose,
        c.concentration_percent AS concentrationPercent, c.mass_lbs AS massLbs, c.source
      FROM frac_chemicals c JOIN frac_substances s ON s.id = c.substance_id WHERE c.disclosure_id = ?
      ORDER BY c.concentration_percent DESC NULLS LAST, s.name, c.purpose`.all,
    /** By the number of disclosures that name them, largest first. */
    substances: sql<SubstanceCount, [limit: number, offset: number]>`
      SELECT name, nullif(cas_number, '') AS casNumber, disclosures FROM frac_substances
      ORDER BY disclosures DESC, name, cas_number LIMIT ? OFFSET ?`.all,
    count: () => count.get()!.n,
  }
}
