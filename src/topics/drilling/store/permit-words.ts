import type { Database } from 'bun:sqlite'
import { statements } from '../../../database/statement.ts'
import { phraseOf } from '../../../database/text-match.ts'
import { countyKey, formationKey, operatorKey, wordKey } from '../math/permits.ts'
import type { PermitNameKind } from './permit-names.ts'

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
export interface PermitWords {
  states(codes: readonly string[]): Choice
  county(text: string): Choice
  /** Parts of names. */
  operator(text: string): Choice
  formation(text: string): Choice
  /** Throws TooCommon. */
  wellName(text: string): Choice
  permitType(text: string): Choice
  wellType(text: string): Choice
  /**
   * One word of free text: part of the name of an operator, county, formation or well, or a whole
   * permit or API number. Throws TooCommon.
   */
  anywhere(word: string): FoundWord
  everyState(): number[]
  /** How many permits have one of the numbers: exact for terms, a guess for the names of wells. */
  size(choice: Choice): number
}

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

export function createPermitWords(db: Database): PermitWords {
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

  return {
    states: codes => ({ column: 'state_id', ids: exactly('state', codes) }),
    county: text => ({ column: 'county_id', ids: idsOf(countyNamed.all(countyKey(text))) }),
    operator: text => ({ column: 'operator_id', ids: partly('operator', operatorKey(text)) }),
    formation: text => ({ column: 'formation_id', ids: partly('formation', formationKey(text)) }),
    wellName: text => ({ column: 'well_name_id', ids: wellNames(text.trim()) }),
    permitType: text => ({
      column: 'permit_type_id',
      ids: exactly('permit_type', [wordKey(text)]),
    }),
    wellType: text => ({ column: 'well_type_id', ids: exactly('well_type', [wordKey(text)]) }),
    anywhere(word) {
      const plain = word.toUpperCase()
      const choices: Choice[] = [
        { column: 'operator_id', ids: partly('operator', plain) },
        { column: 'county_id', ids: idsOf(countyPart.all(plain)) },
        { column: 'formation_id', ids: partly('formation', plain) },
        { column: 'well_name_id', ids: wellNames(word) },
      ]
      const digits = word.replaceAll('-', '')
      const wells = /^\d{10,14}$/.test(digits) ? idsOf(ofWell.all(digits, `${digits}:`)) : []
      return {
        choices: choices.filter(choice => choice.ids.length > 0),
        permitIds: [...new Set([...idsOf(numbered.all(word)), ...wells])],
      }
    },
    everyState: () => idsOf(states.all()),
    size: ({ column, ids }) =>
      column === 'well_name_id'
        ? ids.length * wellsPerName
        : (size.get(JSON.stringify(ids))!.n ?? 0),
  }
}
