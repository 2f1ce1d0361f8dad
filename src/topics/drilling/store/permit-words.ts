import type { Database } from 'bun:sqlite'
import { statements } from '../../../database/statement.ts'
import { countyKey, formationKey, operatorKey, wordKey } from '../math/permits.ts'
import type { PermitNameKind } from './permit-names.ts'
import { phraseOf } from './text-match.ts'

/** The columns of well_permits that a word can be in. */
export type WordColumn =
  | 'state_id'
  | 'county_id'
  | 'operator_id'
  | 'formation_id'
  | 'permit_type_id'
  | 'well_type_id'
  | 'well_name_id'

/** A column has one of these numbers. */
export interface Choice {
  column: WordColumn
  ids: readonly number[]
}

/** Where a word of free text was found: any one of the choices, or one of the permits. */
export interface FoundWord {
  choices: Choice[]
  permitIds: readonly number[]
}

/**
 * Translates typed words into ids: they are searched among a few thousand terms, not among the
 * permits.
 */
export type PermitWords = ReturnType<typeof createPermitWords>

/**
 * Trigrams find nothing shorter; of operators and formations less than that finds how they begin.
 */
export const partCharactersMin = 3
/**
 * A part that more names of wells contain is too unspecific, and counting their permits would delay
 * other requests.
 */
const namesMax = 20_000
const wellsPerName = 4

/** A part of names that is on nearly every well. */
export class TooCommon extends Error {
  constructor(readonly part: string) {
    super(`${part} is part of more than ${namesMax} names of wells`)
  }
}

export function createPermitWords(db: Database) {
  const sql = statements(db)
  const exact = sql<{ id: number }, [string, string]>`
    SELECT t.id FROM permit_terms t WHERE t.kind = ?1 AND t.name IN (SELECT value FROM json_each(?2))`
  const part = sql<{ id: number }, [string, string]>`
    SELECT id FROM permit_terms WHERE kind = ?1 AND instr(name, ?2) > 0`
  const countyNamed = sql<{ id: number }, [string]>`
    SELECT id FROM permit_terms WHERE kind = 'county' AND substr(name, 4) = ?`
  const countyPart = sql<{ id: number }, [string]>`
    SELECT id FROM permit_terms WHERE kind = 'county' AND instr(substr(name, 4), ?) > 0`
  const start = sql<{ id: number }, [string, string]>`
    SELECT id FROM permit_terms WHERE kind = ?1 AND instr(name, ?2) = 1`
  const names = sql<{ id: number }, [string, number]>`
    SELECT rowid AS id FROM permit_well_name_text WHERE permit_well_name_text MATCH ? LIMIT ?`
  const numbered = sql<{ id: number }, [string]>`
    SELECT p.id FROM permit_terms t JOIN well_permit_papers p ON p.state_code = t.name AND p.reference = ? WHERE t.kind = 'state'`
  const ofWell = sql<{ id: number }, [string, string]>`
    SELECT id FROM well_permit_papers WHERE api_number >= ?1 AND api_number < ?2 AND api_number IS NOT NULL`
  const states = sql<{ id: number }, []>`
    SELECT id FROM permit_terms WHERE kind = 'state' AND permits > 0`
  const size = sql<{ n: number | null }, [string]>`
    SELECT sum(permits) AS n FROM permit_terms WHERE id IN (SELECT value FROM json_each(?))`
  const idsOf = (rows: readonly { id: number }[]) => rows.map(row => row.id)
  const exactly = (kind: PermitNameKind, texts: readonly string[]) =>
    idsOf(exact.all(kind, JSON.stringify(texts)))
  const partly = (kind: PermitNameKind, text: string) =>
    text === '' ? [] : idsOf((text.length < partCharactersMin ? start : part).all(kind, text))
  const wellNames = (typed: string) => {
    if ([...typed].length < partCharactersMin) return []
    const matches = names.all(phraseOf(typed), namesMax + 1)
    if (matches.length > namesMax) throw new TooCommon(typed)
    return idsOf(matches)
  }

  const choice = (column: WordColumn, ids: readonly number[]): Choice => ({ column, ids })

  return {
    states: (codes: readonly string[]) => choice('state_id', exactly('state', codes)),
    county: (text: string) => choice('county_id', idsOf(countyNamed.all(countyKey(text)))),
    /** Parts of names. */
    operator: (text: string) => choice('operator_id', partly('operator', operatorKey(text))),
    formation: (text: string) => choice('formation_id', partly('formation', formationKey(text))),
    /** Throws TooCommon. */
    wellName: (text: string) => choice('well_name_id', wellNames(text.trim())),
    permitType: (text: string) => choice('permit_type_id', exactly('permit_type', [wordKey(text)])),
    wellType: (text: string) => choice('well_type_id', exactly('well_type', [wordKey(text)])),
    /**
     * One word of free text: part of the name of an operator, county, formation or well, or a whole
     * permit or API number. Throws TooCommon.
     */
    anywhere(word: string): FoundWord {
      const plain = word.toUpperCase()
      const choices = [
        choice('operator_id', partly('operator', plain)),
        choice('county_id', idsOf(countyPart.all(plain))),
        choice('formation_id', partly('formation', plain)),
        choice('well_name_id', wellNames(word)),
      ]
      const digits = word.replaceAll('-', '')
      const wells = /^\d{10,14}$/.test(digits) ? idsOf(ofWell.all(digits, `${digits}:`)) : []
      return {
        choices: choices.filter(({ ids }) => ids.length > 0),
        permitIds: [...new Set([...idsOf(numbered.all(word)), ...wells])],
      }
    },
    /** Those that have a permit. */
    everyState: () => idsOf(states.all()),
    /** How many permits have one of the numbers: exact for terms, a guess for the names of wells. */
    size: ({ column, ids }: Choice) =>
      column === 'well_name_id'
        ? ids.length * wellsPerName
        : (size.get(JSON.stringify(ids))!.n ?? 0),
  }
}
