import { type Clause, clause, whereOf } from '../../../database/clause.ts'
import { boxAround, type Circle, spansOf } from '../../geography/math/geography.ts'
import { countyKey } from '../math/permits.ts'
import { phraseOf } from './text-match.ts'

/** Conditions that disclosures must all meet. */
export interface FracFilter {
  states?: readonly string[]
  county?: string
  operator?: string
  /** Parts of names, in any letter case. */
  wellName?: string
  /** Fourteen digits. */
  apiNumber?: string
  /** Gallons of water at least. */
  waterMin?: number
  /**
   * Every word of the search is part of the operator's, well's or county's name or of a substance.
   */
  text?: string
  circle?: Circle
  /** Half-open range of the days on which jobs ended. */
  from?: string
  to?: string
}

/** Trigrams find nothing shorter. */
const trigramCharacters = 3

/**
 * Conditions on frac_disclosures, behind WHERE. Of a circle the box: the corners are for the caller
 * to leave out.
 */
export function fracWhere(filter: FracFilter): Clause {
  const clauses: Clause[] = []
  const add = (...of: Parameters<typeof clause>) => void clauses.push(clause(...of))
  if (filter.states)
    add('state_code IN (SELECT value FROM json_each(?))', JSON.stringify(filter.states))
  if (filter.county !== undefined) add('upper(county) = ?', countyKey(filter.county))
  if (filter.operator !== undefined)
    add('instr(upper(operator), ?) > 0', filter.operator.trim().toUpperCase())
  if (filter.wellName !== undefined)
    add('instr(upper(well_name), ?) > 0', filter.wellName.trim().toUpperCase())
  if (filter.apiNumber !== undefined) add('api_number = ?', filter.apiNumber)
  if (filter.waterMin !== undefined) add('water_gallons >= ?', filter.waterMin)
  if (filter.from !== undefined) add('ended_on >= ?', filter.from)
  if (filter.to !== undefined) add('ended_on < ?', filter.to)
  for (const word of (filter.text ?? '').split(/\s+/).filter(Boolean)) addWord(word, add)
  if (filter.circle) {
    const box = boxAround(filter.circle)
    add('latitude BETWEEN ? AND ?', box.south, box.north)
    const spans = spansOf(box)
    add(`(${spans.map(() => 'longitude BETWEEN ? AND ?').join(' OR ')})`, ...spans.flat())
  }
  return whereOf(clauses)
}

function addWord(word: string, add: (sql: string, ...values: (string | number)[]) => void) {
  const upper = word.toUpperCase()
  const substances = `id IN (SELECT c.disclosure_id FROM frac_substances s JOIN frac_chemicals c ON c.substance_id = s.id WHERE instr(upper(s.name), ?) > 0)`
  if ([...word].length < trigramCharacters) {
    const names = ['operator', 'well_name', 'county']
      .map(column => `instr(upper(${column}), ?) > 0`)
      .join(' OR ')
    add(`(${names} OR ${substances})`, upper, upper, upper, upper)
  } else {
    const names =
      'id IN (SELECT rowid FROM frac_disclosure_text WHERE frac_disclosure_text MATCH ?)'
    add(`(${names} OR ${substances})`, phraseOf(word), upper)
  }
}
