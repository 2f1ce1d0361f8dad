import type { Static, TSchema } from 'elysia'
import { t } from '../../../http/answer/schema.ts'
import type { PageRequest } from '../../../http/input/page.ts'
import { numberParameter, textParameter } from '../../../http/input/typed.ts'
import type { Context } from '../../../http/operations/context.ts'
import { invalidParameter } from '../../../http/problem/problem.ts'
import { withoutAbsent } from '../../../lib/text/json.ts'
import { markSources } from '../../energy/operations/answer.ts'
import { type EnergyCall, energy, type PagedRows } from '../../energy/operations/frame.ts'
import { rangeQuery } from '../../energy/operations/list.ts'
import { roundTo } from '../../prices/math/format.ts'
import { parseApiNumber } from '../math/api-number.ts'
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
  numberOf,
  statesOf,
  statesQuery,
  typedText,
  wordsOf,
} from './permit-query.ts'

const gallonsMax = 1e12
const apiNumber = 'Ten, twelve or fourteen digits, with or without dashes.'

const filterQuery = {
  query: textParameter(
    'Free text: each of its words of three characters or more, at most eight, is part of the name of the operator, well or county, or of a substance that was used.',
    'sand',
  ),
  ...statesQuery,
  county: textParameter('Name of a county, without the word, in any case.', 'Midland'),
  operator: textParameter('Part of the name of the operator.', 'Juniper Ridge'),
  well_name: textParameter('Part of the name of the well.', 'Bradford'),
  api_number: textParameter(apiNumber, '42-329-40001', { pattern: '^[0-9-]{10,18}$' }),
  min_water_gallons: numberParameter('Water at least, in gallons.', 10_000_000, {
    minimum: 0,
    maximum: gallonsMax,
  }),
  ...circleQuery,
  ...rangeQuery,
}
type Query = { [name in keyof typeof filterQuery]?: string }

const operatorsInSummary = 100

/** Fourteen digits. */
export function parseWell(parameter: string, text: string): string {
  const number = parseApiNumber(text)
  if (number) return number.digits
  throw invalidParameter(
    parameter,
    text.slice(0, 100),
    'an API number of 10, 12 or 14 digits, such as 42-329-40001',
  )
}

const filterOf = (query: Query): FracFilter =>
  withoutAbsent({
    states: statesOf(query.states),
    county: typedText('county', query.county),
    operator: typedText('operator', query.operator),
    wellName: typedText('well_name', query.well_name),
    apiNumber: query.api_number?.trim() ? parseWell('api_number', query.api_number) : undefined,
    waterMin: query.min_water_gallons
      ? numberOf('min_water_gallons', query.min_water_gallons, 0, gallonsMax)
      : undefined,
    text: wordsOf('query', query.query),
    circle: circleOf(query, 'latitude', 'longitude'),
    ...daySpanOf(query),
  })

function listOf(call: EnergyCall & { page: PageRequest }, filter: FracFilter) {
  const { perPage, offset } = call.page
  const { rows, total } = call.at.fracDisclosures.page(filter, perPage, offset)
  return { total, rows: () => markSources(call, rows).map(disclosureRow) }
}

/** Counts have no source: they are marked with the source of the newest row. */
const markNewest = (call: EnergyCall) =>
  markSources(call, call.at.fracDisclosures.page({}, 1, 0).rows)

const listNote =
  'Returns disclosures by the end date of the job, newest first; dates filter on that day.'
const listRefusals = { 400: energy.refusals[400], 403: energy.refusals[403] }
const recordRefusals = { 403: energy.refusals[403], 404: energy.refusals[404] }

const disclosureList = (
  path: string,
  words: { operationId: string; summary: string; description: string },
) =>
  energy.pages({
    path,
    ...words,
    access: energy.heavyAccess,
    map: true,
    query: filterQuery,
    title: 'FracDisclosures',
    row: Disclosure,
    refusals: listRefusals,
    list: call => listOf(call, filterOf(call.query)),
  })

/** One page of counts with their part of all disclosures. */
const shares = <Row extends TSchema, Count>(
  by: 'State' | 'Operator' | 'Chemical',
  row: Row,
  countsOf: (at: Context) => PagedRows<Count>,
  shape: (count: Count, percentOf: (n: number) => number) => Static<Row>,
) =>
  energy.pages({
    path: `/v1/ei/frac-focus/by-${by.toLowerCase()}`,
    operationId: `getFracBy${by}`,
    summary: `Count frac disclosures by ${by.toLowerCase()}`,
    description: `Returns how many disclosures each ${by.toLowerCase()} has, largest first.`,
    access: energy.heavyAccess,
    title: `FracBy${by}Answer`,
    row,
    refusals: listRefusals,
    list(call) {
      markNewest(call)
      const all = call.at.fracDisclosures.total()
      const percentOf = (n: number) => roundTo((100 * n) / all, 2)
      const { total, rows } = countsOf(call.at)
      return {
        total,
        rows: (limit, offset) => rows(limit, offset).map(count => shape(count, percentOf)),
      }
    },
  })

const countsByName = (counts: readonly { name: string; disclosures: number }[]) =>
  Object.fromEntries(counts.map(count => [count.name, count.disclosures]))

/** A disclosure by its number, marked with its source. */
const findDisclosure = (id: number, call: EnergyCall) => {
  const disclosure = call.at.fracDisclosures.get(id)
  return disclosure && markSources(call, [disclosure])[0]
}

/** The fluids pumped into wells during fracturing, as their operators disclosed them. */
export const fracFocusOperations = [
  disclosureList('/v1/ei/frac-focus', {
    operationId: 'listFracDisclosures',
    summary: 'List frac disclosures',
    description: `${listNote} Takes the filters of the search.`,
  }),
  disclosureList('/v1/ei/frac-focus/latest', {
    operationId: 'getLatestFracDisclosures',
    summary: 'Get the latest frac disclosures',
    description: listNote,
  }),
  disclosureList('/v1/ei/frac-focus/search', {
    operationId: 'searchFracDisclosures',
    summary: 'Search frac disclosures',
    description: `Returns disclosures that match all filters. ${listNote}`,
  }),
  energy.record({
    path: '/v1/ei/frac-focus/summary',
    operationId: 'getFracSummary',
    summary: 'Get frac disclosure statistics',
    description: 'Returns statistics of all disclosures by state and operator.',
    access: energy.heavyAccess,
    title: 'FracSummaryAnswer',
    data: FracSummary,
    refusals: { 403: energy.refusals[403] },
    handle(call) {
      const { fracDisclosures } = call.at
      markNewest(call)
      return {
        total_disclosures: fracDisclosures.total(),
        by_state: countsByName(fracDisclosures.byState()),
        by_operator: countsByName(fracDisclosures.byOperator(operatorsInSummary, 0)),
        as_of_date: fracDisclosures.newestOn() ?? null,
      }
    },
  }),
  shares(
    'State',
    FracByState,
    ({ fracDisclosures }) => {
      const all = fracDisclosures.byState()
      return { total: all.length, rows: (limit, offset) => all.slice(offset, offset + limit) }
    },
    (row, percentOf) => ({
      state: row.name,
      disclosure_count: row.disclosures,
      percentage: percentOf(row.disclosures),
      date: row.newestOn,
    }),
  ),
  shares(
    'Operator',
    FracByOperator,
    ({ fracDisclosures }) => ({
      total: fracDisclosures.operators(),
      rows: fracDisclosures.byOperator,
    }),
    (row, percentOf) => ({
      operator: row.name,
      disclosure_count: row.disclosures,
      percentage: percentOf(row.disclosures),
      date: row.newestOn,
    }),
  ),
  shares(
    'Chemical',
    FracByChemical,
    ({ fracChemicals }) => ({ total: fracChemicals.count(), rows: fracChemicals.substances }),
    (row, percentOf) => ({
      chemical_name: row.name,
      cas_number: row.casNumber,
      usage_count: row.disclosures,
      percentage: percentOf(row.disclosures),
    }),
  ),
  energy.pages({
    path: '/v1/ei/frac-focus/for-well/:api_number',
    operationId: 'listFracDisclosuresOfWell',
    summary: 'List the frac disclosures of a well',
    description: 'Returns the jobs on a well, newest first; empty for a well without any.',
    params: { api_number: t.string(apiNumber, '42329400010000') },
    title: 'WellFracDisclosures',
    row: Disclosure,
    refusals: listRefusals,
    list: call => listOf(call, { apiNumber: parseWell('api_number', call.params.api_number) }),
  }),
  energy.byId({
    path: '/v1/ei/frac-focus/:id/chemicals',
    operationId: 'getFracChemicals',
    summary: 'List the chemicals of a frac disclosure',
    description: "Returns the chemicals of a job's fluid; empty if none were disclosed.",
    subject: 'frac disclosure',
    what: 'Number of the disclosure.',
    title: 'FracChemicalsAnswer',
    data: Chemicals,
    refusals: recordRefusals,
    find: findDisclosure,
    shape: ({ id }, { at }) => ({
      id: String(id),
      chemicals: at.fracChemicals.of(id).map(chemicalRow),
    }),
  }),
  energy.byId({
    path: '/v1/ei/frac-focus/:id',
    operationId: 'getFracDisclosure',
    summary: 'Get a frac disclosure',
    description: 'Returns one disclosure by its number.',
    subject: 'frac disclosure',
    what: 'Number of the disclosure.',
    title: 'FracDisclosureAnswer',
    data: Disclosure,
    refusals: recordRefusals,
    find: findDisclosure,
    shape: disclosureRow,
  }),
]
