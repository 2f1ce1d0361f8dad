import { t } from 'elysia'
import { numberParameter, textParameter } from '../../../http/input/typed.ts'
import type { Answering } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { invalidParameter, notFound } from '../../../http/problem/problem.ts'
import { markSources } from '../../energy/operations/answer.ts'
import {
  energyAccess,
  energyBody,
  energyHeavyAccess,
  energyPageOf,
  energyPageQuery,
  energyRefusals,
} from '../../energy/operations/frame.ts'
import { energyPage, energyRecord, rangeQuery, recordIdOf } from '../../energy/operations/list.ts'
import { roundTo } from '../../prices/math/format.ts'
import { parseApiNumber } from '../math/api-number.ts'
import type { StoredDisclosure } from '../store/frac-disclosures.ts'
import type { FracFilter } from '../store/frac-search.ts'
import {
  Chemicals,
  chemicalRow,
  Disclosure,
  disclosureRow,
  FracByChemical,
  FracByOperator,
  FracByState,
  FracSummary,
} from './frac-row.ts'
import {
  circleOf,
  circleQuery,
  daySpanOf,
  definedFields,
  numberOf,
  statesOf,
  statesQuery,
  typedText,
  wordsOf,
} from './permit-query.ts'

export type FracFocusDeps = Pick<
  Context,
  'access' | 'fracDisclosures' | 'fracChemicals' | 'marks' | 'tierRequired'
>

const text = (description: string, example: string) =>
  textParameter({ description, examples: [example] })
const gallonsMax = 1e12
const apiNumber = 'Ten, twelve or fourteen digits, with or without dashes.'

const filterQuery = {
  query: text(
    'Free text: each of its words of three characters or more, at most eight, is part of the name of the operator, well or county, or of a substance that was used.',
    'sand',
  ),
  ...statesQuery,
  county: text('Name of a county, without the word, in any case.', 'Midland'),
  operator: text('Part of the name of the operator.', 'Juniper Ridge'),
  well_name: text('Part of the name of the well.', 'Bradford'),
  api_number: textParameter({
    description: apiNumber,
    examples: ['42-329-40001'],
    pattern: '^[0-9-]{10,18}$',
  }),
  min_water_gallons: numberParameter({
    description: 'Water at least, in gallons.',
    examples: [10_000_000],
    minimum: 0,
    maximum: gallonsMax,
  }),
  ...circleQuery,
  ...rangeQuery,
}
const listQuery = t.Object({ ...energyPageQuery, ...filterQuery })
type ListQuery = { [name in keyof typeof listQuery.properties]?: string }

const operatorsInSummary = 100

/** Fourteen digits. */
export function parseWell(parameter: string, text: string): string {
  const number = parseApiNumber(text)
  if (number) return number.digits
  throw invalidParameter(
    parameter,
    text.slice(0, 100),
    'is not an API number: write 10, 12 or 14 digits, such as 42-329-40001.',
  )
}

const filterOf = (query: ListQuery): FracFilter =>
  definedFields({
    states: statesOf(query.states),
    county: typedText('county', query.county),
    operator: typedText('operator', query.operator),
    wellName: typedText('well_name', query.well_name),
    apiNumber: query.api_number?.trim() ? parseWell('api_number', query.api_number) : undefined,
    waterMin: query.min_water_gallons
      ? numberOf('min_water_gallons', query.min_water_gallons, 0, gallonsMax)
      : undefined,
    text: wordsOf('query', query.query),
    circle: circleOf(query),
    ...daySpanOf(query),
  })

/** Answers that are disclosures, or what was in the fluid of one. */
function createDisclosureAnswers(deps: FracFocusDeps) {
  const { fracDisclosures, fracChemicals, marks, tierRequired } = deps
  const marked = (set: Answering, rows: StoredDisclosure[]) => {
    markSources(set, marks, rows)
    return rows
  }
  const listOf = (filter: FracFilter, query: ListQuery, set: Answering, request: Request) => {
    const { page, perPage } = energyPageOf(query)
    const { rows, total } = fracDisclosures.page(filter, perPage, (page - 1) * perPage)
    const answer = {
      set,
      request,
      tierRequired: tierRequired('energy_intelligence'),
    }
    return energyPage(query, answer, { total, rows: () => marked(set, rows) }, disclosureRow)
  }
  const disclosureOf = (id: string, set: Answering): StoredDisclosure => {
    const disclosure = fracDisclosures.get(recordIdOf(id, 'Frac disclosure'))
    if (!disclosure) throw notFound(`Frac disclosure ${id}`)
    return marked(set, [disclosure])[0]!
  }
  const chemicals = (id: string, set: Answering) => {
    const disclosure = disclosureOf(id, set)
    return {
      id: String(disclosure.id),
      chemicals: fracChemicals.of(disclosure.id).map(chemicalRow),
    }
  }
  return { listOf, disclosureOf, chemicals }
}

/** The request of one page of counts. */
interface ListQuestion {
  query: ListQuery
  reply: Answering
  request: Request
}

/** Answers that are numbers of disclosures: in all, by state, operator and substance. */
function createDisclosureCounts(deps: FracFocusDeps) {
  const { fracDisclosures, fracChemicals, marks, tierRequired } = deps
  /** Counts have no source of their own: they are marked as the newest rows are. */
  const markNewest = (set: Answering) =>
    markSources(set, marks, fracDisclosures.page({}, 1, 0).rows)
  const summary = (set: Answering) => {
    markNewest(set)
    const countsByName = (counts: readonly { name: string; disclosures: number }[]) =>
      Object.fromEntries(counts.map(count => [count.name, count.disclosures]))
    return {
      total_disclosures: fracDisclosures.total(),
      by_state: countsByName(fracDisclosures.byState()),
      by_operator: countsByName(fracDisclosures.byOperator(operatorsInSummary, 0)),
      as_of_date: fracDisclosures.newestOn() ?? null,
    }
  }
  /** One page of counts with their part of all disclosures. */
  const shares = <T, R>(
    question: ListQuestion,
    list: { total: number; rows(limit: number, offset: number): T[] },
    shape: (row: T, percentOf: (n: number) => number) => R,
  ) => {
    markNewest(question.reply)
    const all = fracDisclosures.total()
    const answer = {
      set: question.reply,
      request: question.request,
      tierRequired: tierRequired('energy_intelligence'),
    }
    return energyPage(question.query, answer, list, row =>
      shape(row, n => roundTo((100 * n) / all, 2)),
    )
  }
  const byState = (question: ListQuestion) => {
    const all = fracDisclosures.byState()
    return shares(
      question,
      { total: all.length, rows: (limit, offset) => all.slice(offset, offset + limit) },
      (row, percentOf) => ({
        state: row.name,
        disclosure_count: row.disclosures,
        percentage: percentOf(row.disclosures),
        date: row.newestOn,
      }),
    )
  }
  const byOperator = (question: ListQuestion) =>
    shares(
      question,
      { total: fracDisclosures.operators(), rows: fracDisclosures.byOperator },
      (row, percentOf) => ({
        operator: row.name,
        disclosure_count: row.disclosures,
        percentage: percentOf(row.disclosures),
        date: row.newestOn,
      }),
    )
  const byChemical = (question: ListQuestion) =>
    shares(
      question,
      { total: fracChemicals.count(), rows: fracChemicals.substances },
      (row, percentOf) => ({
        chemical_name: row.name,
        cas_number: row.casNumber,
        usage_count: row.disclosures,
        percentage: percentOf(row.disclosures),
      }),
    )
  return { summary, byState, byOperator, byChemical }
}

const listNote = 'By the day on which the job ended, newest first; dates filter on that day.'

/** What was pumped into wells when they were fractured, as their operators disclosed it. */
export function fracFocusOperations(deps: FracFocusDeps) {
  const { listOf, disclosureOf, chemicals } = createDisclosureAnswers(deps)
  const { summary, byState, byOperator, byChemical } = createDisclosureCounts(deps)
  const tier = () => deps.tierRequired('energy_intelligence')
  const refusals = { 400: energyRefusals[400], 403: energyRefusals[403] }
  const listRoute = (operationId: string, summaryText: string, description: string) => ({
    operationId,
    summary: summaryText,
    description,
    tags: ['Energy intelligence'],
    access: energyHeavyAccess,
    query: listQuery.properties,
    answers: { 200: energyBody(t.Array(Disclosure), 'FracDisclosures'), ...refusals },
  })
  const sharesRoute = (
    shape: typeof FracByState | typeof FracByOperator | typeof FracByChemical,
    by: 'State' | 'Operator' | 'Chemical',
  ) => ({
    operationId: `getFracBy${by}`,
    summary: `Frac disclosures by ${by.toLowerCase()}`,
    description: `How many disclosures each ${by.toLowerCase()} has, largest first.`,
    tags: ['Energy intelligence'],
    access: energyHeavyAccess,
    query: energyPageQuery,
    answers: { 200: energyBody(t.Array(shape), `FracBy${by}Answer`), ...refusals },
  })
  const id = t.Object({
    id: t.String({ description: 'Number of the disclosure.', examples: ['1'] }),
  })
  const wells = t.Object({
    api_number: t.String({ description: apiNumber, examples: ['42329400010000'] }),
  })
  return [
    operation({
      method: 'GET',
      path: '/v1/ei/frac-focus',
      aliases: ['/v1/dark_data/frac-focus'],
      ...listRoute(
        'listFracDisclosures',
        'Frac disclosures',
        `${listNote} Takes the filters of the search.`,
      ),
      handle: ({ query, reply, request }) => listOf(filterOf(query), query, reply, request),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/frac-focus/latest',
      aliases: ['/v1/dark_data/frac-focus/latest'],
      ...listRoute('getLatestFracDisclosures', 'Latest frac disclosures', listNote),
      handle: ({ query, reply, request }) => listOf(filterOf(query), query, reply, request),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/frac-focus/search',
      aliases: ['/v1/dark_data/frac-focus/search'],
      ...listRoute(
        'searchFracDisclosures',
        'Search frac disclosures',
        `Disclosures that fit everything that is asked for. ${listNote}`,
      ),
      handle: ({ query, reply, request }) => listOf(filterOf(query), query, reply, request),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/frac-focus/summary',
      aliases: ['/v1/dark_data/frac-focus/summary'],
      operationId: 'getFracSummary',
      summary: 'Numbers of frac disclosures',
      description: 'All disclosures that are held, by state and by operator.',
      tags: ['Energy intelligence'],
      access: energyHeavyAccess,
      answers: { 200: energyBody(FracSummary, 'FracSummaryAnswer'), 403: refusals[403] },
      handle: ({ reply }) => energyRecord(summary(reply), tier()),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/frac-focus/by-state',
      aliases: ['/v1/dark_data/frac-focus/by-state'],
      ...sharesRoute(FracByState, 'State'),
      handle: byState,
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/frac-focus/by-operator',
      aliases: ['/v1/dark_data/frac-focus/by-operator'],
      ...sharesRoute(FracByOperator, 'Operator'),
      handle: byOperator,
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/frac-focus/by-chemical',
      aliases: ['/v1/dark_data/frac-focus/by-chemical'],
      ...sharesRoute(FracByChemical, 'Chemical'),
      handle: byChemical,
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/frac-focus/for-well/:api_number',
      aliases: ['/v1/dark_data/frac-focus/for-well/:api_number'],
      operationId: 'listFracDisclosuresOfWell',
      summary: 'Frac disclosures of a well',
      description: 'Every job on a well, newest first; an empty list for a well without one.',
      tags: ['Energy intelligence'],
      access: energyAccess,
      params: wells.properties,
      query: energyPageQuery,
      answers: { 200: energyBody(t.Array(Disclosure), 'WellFracDisclosures'), ...refusals },
      handle: ({ params, query, reply, request }) =>
        listOf({ apiNumber: parseWell('api_number', params.api_number) }, query, reply, request),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/frac-focus/:id/chemicals',
      aliases: ['/v1/dark_data/frac-focus/:id/chemicals'],
      operationId: 'getFracChemicals',
      summary: 'Chemicals of a frac disclosure',
      description:
        'What the fluid of a job was made of. The list is empty where none was disclosed.',
      tags: ['Energy intelligence'],
      access: energyAccess,
      params: id.properties,
      answers: {
        200: energyBody(Chemicals, 'FracChemicalsAnswer'),
        403: refusals[403],
        404: energyRefusals[404],
      },
      handle: ({ params, reply }) => energyRecord(chemicals(params.id, reply), tier()),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/frac-focus/:id',
      aliases: ['/v1/dark_data/frac-focus/:id'],
      operationId: 'getFracDisclosure',
      summary: 'A frac disclosure',
      description: 'One disclosure by its number here.',
      tags: ['Energy intelligence'],
      access: energyAccess,
      params: id.properties,
      answers: {
        200: energyBody(Disclosure, 'FracDisclosureAnswer'),
        403: refusals[403],
        404: energyRefusals[404],
      },
      handle: ({ params, reply }) =>
        energyRecord(disclosureRow(disclosureOf(params.id, reply)), tier()),
    }),
  ]
}
