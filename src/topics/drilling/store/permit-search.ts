import type { Database } from 'bun:sqlite'
import { allOf, type Clause } from '../../../database/clause.ts'
import { once, rowsOnce } from '../../../database/statement.ts'
import { boxAround, type Circle, milesBetween, spansOf } from '../../geography/math/geography.ts'
import { everyTerm, periodCharacters } from './permit-periods.ts'
import {
  type Choice,
  createPermitWords,
  type FoundWord,
  type PermitWords,
  type WordColumn,
} from './permit-words.ts'
import { dayNumberOf } from './well-permits.ts'

/** Conditions that permits must all meet; names in any letter case. */
export interface PermitFilter {
  /** Two letters, upper case. */
  states?: readonly string[]
  county?: string
  /** Parts of names. */
  operator?: string
  formation?: string
  wellName?: string
  permitType?: string
  wellType?: string
  /** Every word of it stands somewhere in the permit. */
  text?: string
  circle?: Circle
  /** Half-open range of days. */
  from?: string
  to?: string
}

export interface PermitPage {
  /** Newest first. */
  ids: number[]
  /** The exact number of rows on all pages. */
  total: number
}

export interface PermitSearch {
  /** Throws TooCommon for a part of names that is on nearly every well. */
  page(filter: PermitFilter, limit: number, offset: number): PermitPage
}

/** Indexes that cover a search, by their first column. */
const indexes: Readonly<Partial<Record<WordColumn, string>>> = {
  state_id: 'well_permits_by_state',
  county_id: 'well_permits_by_county',
  operator_id: 'well_permits_by_operator',
  formation_id: 'well_permits_by_formation',
  well_name_id: 'well_permits_by_well_name',
}
const leaders: readonly WordColumn[] = ['operator_id', 'county_id', 'formation_id', 'well_name_id']
const types: readonly WordColumn[] = ['permit_type_id', 'well_type_id']

/**
 * Whether the counts by period suffice: states, dates and one of county, operator and formation;
 * types alongside states and formations.
 */
function isCounted(choices: readonly Choice[]): boolean {
  const narrow = choices
    .filter(choice => leaders.includes(choice.column))
    .map(choice => choice.column)
  if (narrow.length === 0) return true
  if (narrow.length > 1 || narrow[0] === 'well_name_id') return false
  return narrow[0] === 'formation_id' || choices.every(choice => !types.includes(choice.column))
}

/** Before and after every day that a permit may have. */
const firstDay = '0101-01-01'
const lastDay = '9999-12-31'

const listed = (ids: readonly number[]) => JSON.stringify(ids)
const inList = (column: string, ids: readonly number[]): Clause =>
  ids.length === 1
    ? { sql: `${column} = ?`, values: [ids[0]!] }
    : { sql: `${column} IN (SELECT value FROM json_each(?))`, values: [listed(ids)] }

const choiceClause = ({ column, ids }: Choice): Clause => inList(`f.${column}`, ids)

/** Without the permits of a choice: also those that have nothing there. */
const otherwise = ({ column, ids }: Choice): Clause => ({
  sql: `coalesce(f.${column}, 0) NOT IN (SELECT value FROM json_each(?))`,
  values: [listed(ids)],
})

function wordClause({ choices, permitIds }: FoundWord): Clause {
  const parts = choices.map(choiceClause)
  if (permitIds.length > 0) parts.push(inList('f.id', permitIds))
  if (parts.length === 0) return { sql: '0', values: [] }
  return {
    sql: `(${parts.map(part => part.sql).join(' OR ')})`,
    values: parts.flatMap(part => part.values),
  }
}

const days = (from: string, to: string): Clause => ({
  sql: 'f.permit_on >= ? AND f.permit_on < ?',
  values: [from, to],
})

/**
 * A filter in numbers: every choice must match, and every word must match somewhere.
 */
interface Question {
  choices: Choice[]
  words: FoundWord[]
  from: string
  to: string
}

const nothing: PermitPage = { ids: [], total: 0 }

export function createPermitSearch(db: Database): PermitSearch {
  const words = createPermitWords(db)
  const byPeriods = searchByPeriods(db, words)
  const walk = searchByScan(db, words)
  const around = searchAround(db)
  return {
    page(filter, limit, offset) {
      const question = questionOf(filter, words)
      if (!question) return nothing
      if (filter.circle) return around(question, filter.circle, limit, offset)
      const { choices } = question
      const areCounted = question.words.length === 0 && isCounted(choices)
      return areCounted ? byPeriods(question, limit, offset) : walk(question, limit, offset)
    },
  }
}

/** Undefined where the filter contains a word that no permit has. */
function questionOf(filter: PermitFilter, words: PermitWords): Question | undefined {
  const choices: Choice[] = []
  if (filter.states) choices.push(words.states(filter.states))
  if (filter.county !== undefined) choices.push(words.county(filter.county))
  if (filter.operator !== undefined) choices.push(words.operator(filter.operator))
  if (filter.formation !== undefined) choices.push(words.formation(filter.formation))
  if (filter.permitType !== undefined) choices.push(words.permitType(filter.permitType))
  if (filter.wellType !== undefined) choices.push(words.wellType(filter.wellType))
  if (filter.wellName !== undefined) choices.push(words.wellName(filter.wellName))
  if (choices.some(choice => choice.ids.length === 0)) return undefined
  const foundWords = (filter.text ?? '').split(/\s+/).filter(Boolean).map(words.anywhere)
  if (foundWords.some(word => word.choices.length === 0 && word.permitIds.length === 0))
    return undefined
  return { choices, words: foundWords, from: filter.from ?? firstDay, to: filter.to ?? lastDay }
}

interface Span {
  from: string
  to: string
  permits: number
}

const startOf = (period: string) =>
  `${period}${'-01-01'.slice(period.length - periodCharacters.year)}`

function endOf(period: string): string {
  const [year, month] = [Number(period.slice(0, 4)), Number(period.slice(5, 7))]
  const isYear = period.length === periodCharacters.year
  const [nextYear, nextMonth] = isYear || month === 12 ? [year + 1, 1] : [year, month + 1]
  return `${String(nextYear).padStart(4, '0')}-${String(nextMonth).padStart(2, '0')}-01`
}

/**
 * The whole months or years in a range `[first, end)`, and what of it lies before and after them.
 */
function wholePeriods(from: string, to: string, characters: number) {
  const period = from.slice(0, characters)
  const firstOn = startOf(period) === from ? from : endOf(period)
  const endOn = startOf(to.slice(0, characters))
  if (firstOn > endOn) return { first: '', end: '', rest: [{ from, to }] }
  const rest = [
    { from: endOn, to },
    { from, to: firstOn },
  ]
  return {
    first: firstOn.slice(0, characters),
    end: endOn.slice(0, characters),
    rest: rest.filter(span => span.from < span.to),
  }
}

/**
 * Searches that name states, types and at most one of operators, counties and formations: counted
 * from the periods, read where the page lies.
 */
function searchByPeriods(db: Database, words: PermitWords) {
  return ({ choices, from, to }: Question, limit: number, offset: number): PermitPage => {
    const narrow = choices.find(choice => leaders.includes(choice.column))
    const leader = narrow ?? choices.find(choice => choice.column === 'state_id')
    const otherChoices = choices.filter(choice => choice !== leader)
    const { first, end, rest } = wholePeriods(
      from,
      to,
      narrow ? periodCharacters.year : periodCharacters.month,
    )
    const inPeriods = allOf([
      inList('term_id', leader?.ids ?? [everyTerm]),
      ...otherChoices.map(choice => inList(choice.column, choice.ids)),
    ])
    const spans: Span[] = rowsOnce<{ period: string; permits: number }>(
      db,
      `SELECT period, sum(permits) AS permits FROM permit_periods WHERE ${inPeriods.sql} AND period >= ? AND period < ? GROUP BY period`,
      [...inPeriods.values, first, end],
    ).map(({ period, permits }) => ({ from: startOf(period), to: endOf(period), permits }))
    // Without a leader it is all states: their index has the types, the one by day has not.
    const walked = leader ?? { column: 'state_id' as const, ids: words.everyState() }
    const index = indexes[walked.column]
    for (const span of rest) {
      const where = allOf([
        ...[walked, ...otherChoices].map(choiceClause),
        days(span.from, span.to),
      ])
      const sql = `SELECT count(*) AS n FROM well_permits f INDEXED BY ${index} WHERE ${where.sql}`
      spans.push({
        ...span,
        permits: rowsOnce<{ n: number }>(db, sql, where.values)[0]!.n,
      })
    }
    const total = spans.reduce((sum, span) => sum + span.permits, 0)
    const place = placeOf(spans, limit, offset)
    if (!place) return { ids: [], total }
    const where = allOf([
      ...(choices.length === 0 ? [] : [walked, ...otherChoices]).map(choiceClause),
      days(place.from, place.to),
    ])
    const along = choices.length === 0 ? 'well_permits_by_day' : index
    const sql = `SELECT f.id FROM well_permits f INDEXED BY ${along} WHERE ${where.sql} ORDER BY f.permit_on DESC, f.id DESC LIMIT ? OFFSET ?`
    return {
      ids: idsOf(
        rowsOnce<{ id: number }>(db, sql, [...where.values, limit, offset - place.before]),
      ),
      total,
    }
  }
}

const idsOf = (rows: readonly { id: number }[]) => rows.map(row => row.id)

/** The days in which a page lies, and how many permits are newer; undefined past the end. */
function placeOf(
  spans: readonly Span[],
  limit: number,
  offset: number,
): { from: string; to: string; before: number } | undefined {
  let [passed, before] = [0, 0]
  let [from, to]: (string | undefined)[] = []
  for (const span of spans.toSorted((a, b) => (a.from < b.from ? 1 : -1))) {
    if (to === undefined && passed + span.permits > offset) [to, before] = [span.to, passed]
    passed += span.permits
    if (to !== undefined) from = span.from
    if (passed >= offset + limit) break
  }
  return from === undefined || to === undefined ? undefined : { from, to, before }
}

/**
 * Every other search walks once through its most selective condition for the count, and once for
 * the page.
 */
function searchByScan(db: Database, words: PermitWords) {
  /** Disjoint parts of a search, each along an index. */
  const branchesOf = ({ choices, words: foundWords, from, to }: Question): Clause[] => {
    const branch = (index: string, clauses: readonly Clause[]): Clause => {
      const where = allOf([...clauses, days(from, to)])
      return {
        sql: `SELECT f.id, f.permit_on FROM well_permits f ${index} WHERE ${where.sql}`,
        values: where.values,
      }
    }
    const smallest = least(
      choices.filter(choice => leaders.includes(choice.column)),
      words.size,
    )
    if (smallest) {
      const rest = choices.filter(choice => choice !== smallest)
      const clauses = [
        choiceClause(smallest),
        ...rest.map(choiceClause),
        ...foundWords.map(wordClause),
      ]
      return [branch(`INDEXED BY ${indexes[smallest.column]}`, clauses)]
    }
    const sizeOf = (word: FoundWord) =>
      word.choices.reduce((sum, choice) => sum + words.size(choice), word.permitIds.length)
    const word = least(foundWords, sizeOf)!
    const common = [
      ...choices.map(choiceClause),
      ...foundWords.filter(foundWord => foundWord !== word).map(wordClause),
    ]
    const branches = word.choices.map((choice, i) =>
      branch(`INDEXED BY ${indexes[choice.column]}`, [
        choiceClause(choice),
        ...word.choices.slice(0, i).map(otherwise),
        ...common,
      ]),
    )
    if (word.permitIds.length > 0) {
      branches.push(
        branch('', [inList('f.id', word.permitIds), ...word.choices.map(otherwise), ...common]),
      )
    }
    return branches
  }
  return (question: Question, limit: number, offset: number): PermitPage => {
    const branches = branchesOf(question)
    const union = branches.map(branch => branch.sql).join(' UNION ALL ')
    const values = branches.flatMap(branch => branch.values)
    const [counted] = rowsOnce<{ n: number }>(db, `SELECT count(*) AS n FROM (${union})`, values)
    const total = counted!.n
    if (offset >= total) return { ids: [], total }
    const sql = `SELECT id FROM (${union}) ORDER BY permit_on DESC, id DESC LIMIT ? OFFSET ?`
    return {
      ids: idsOf(rowsOnce<{ id: number }>(db, sql, [...values, limit, offset])),
      total,
    }
  }
}

function least<T>(items: readonly T[], sizeOf: (item: T) => number): T | undefined {
  if (items.length < 2) return items[0]
  const sized = items.map(item => ({ item, size: sizeOf(item) }))
  return sized.reduce((a, b) => (b.size < a.size ? b : a)).item
}

/** More than a permit has: a day and an id as one number that sorts like the pair. */
const idsMax = 2 ** 32
/** Days before 1970 count backwards. */
const dayShift = 2 ** 20

/** Searches around a place: the box from the tree, the circle by great-circle distance. */
function searchAround(db: Database) {
  return (
    { choices, words: foundWords, from, to }: Question,
    circle: Circle,
    limit: number,
    offset: number,
  ): PermitPage => {
    const box = boxAround(circle)
    const clauses = [...choices.map(choiceClause), ...foundWords.map(wordClause)]
    // The tree first: without the word the planner may begin with an index and query the tree once
    // for each of its rows.
    const join = clauses.length === 0 ? '' : 'CROSS JOIN well_permits f ON f.id = p.id'
    const where = allOf([
      {
        sql: 'p.south >= ? AND p.north <= ? AND p.west >= ? AND p.east <= ? AND p.first_day >= ? AND p.last_day < ?',
        values: [],
      },
      ...clauses,
    ])
    const [south, north] = [Math.floor(box.south * 1e6), Math.ceil(box.north * 1e6)]
    const [fromDay, toDay] = [dayNumberOf(from), dayNumberOf(to)]
    const keys: number[] = []
    const sql = `SELECT p.id, p.south, p.west, p.first_day FROM well_permit_places p ${join} WHERE ${where.sql}`
    for (const [west, east] of spansOf(box)) {
      const span = [south, north, Math.floor(west * 1e6), Math.ceil(east * 1e6), fromDay, toDay]
      const found = once(db, sql, query => query.values(...span, ...where.values))
      for (const [id, latitude, longitude, day] of found as [number, number, number, number][]) {
        if (
          milesBetween(circle, { latitude: latitude / 1e6, longitude: longitude / 1e6 }) <=
          circle.radiusMiles
        ) {
          keys.push((day + dayShift) * idsMax + id)
        }
      }
    }
    const sorted = Float64Array.from(keys).sort()
    const page = sorted.subarray(
      Math.max(0, sorted.length - offset - limit),
      Math.max(0, sorted.length - offset),
    )
    return { ids: Array.from(page, key => key % idsMax).reverse(), total: sorted.length }
  }
}
