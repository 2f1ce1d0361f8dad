import { t } from 'elysia'
import { integer } from '../../../http/answer/integer.ts'
import { integerOf } from '../../../http/input/query.ts'
import { integerParameter, textParameter } from '../../../http/input/typed.ts'
import type { Answering } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { knownQuery } from '../../../http/operations/point-in-time.ts'
import { notFound, Problem } from '../../../http/problem/problem.ts'
import { isoDay, isoInstant, startOfMonth } from '../../../lib/time/instant.ts'
import { monthAfter, monthOf } from '../../calendars/math/period.ts'
import { markSources } from '../../energy/operations/answer.ts'
import {
  energyAccess,
  energyBody,
  energyPageQuery,
  energyRefusals,
} from '../../energy/operations/frame.ts'
import {
  energyPage,
  energyRecord,
  energyWholeList,
  rangeOf,
  rangeQuery,
  recordIdOf,
} from '../../energy/operations/list.ts'
import { roundTo } from '../../prices/math/format.ts'
import { opecCountry, rankedProducers, totalProduced } from '../math/opec.ts'
import type { OpecFilter, OpecRow } from '../store/opec.ts'

export type OpecDeps = Pick<Context, 'access' | 'pricesAt' | 'opec' | 'marks' | 'tierRequired'>

const barrelsEach = 1e6
const mbpdDecimals = 6
const unitName = 'million_barrels_per_day' as const
const mbpd = (bpd: number): number => roundTo(bpd / barrelsEach, mbpdDecimals)

const produced = {
  production_mbpd: t.Number({ description: 'Million barrels a day.', examples: [9.1] }),
  production_bpd: integer({ description: 'The same in barrels a day.', examples: [9100000] }),
}
const totals = {
  total_production_mbpd: t.Number({ description: 'Million barrels a day.', examples: [28.73] }),
  total_production_bpd: integer({
    description: 'The same in barrels a day.',
    examples: [28730000],
  }),
}
const change = t.Union([t.Number({ examples: [-0.05] }), t.Null()], {
  description: 'In million barrels a day against the month before; null without it.',
})
const country = t.String({ examples: ['Saudi Arabia'] })
const date = t.String({
  format: 'date',
  description: 'First day of the month that was produced in.',
  examples: ['2026-10-01'],
})
const monthField = t.String({ examples: ['2026-10'] })
const unit = t.Literal(unitName)
const percentage = t.Union([t.Number({ examples: [31.7] }), t.Null()], {
  description: 'Of all countries of the month.',
})

const Record = t.Object(
  {
    id: t.String({ examples: ['1'] }),
    country,
    ...produced,
    unit,
    change,
    date,
    month: monthField,
    source: t.String({ examples: ['EIA'] }),
    timestamp: t.String({
      format: 'date-time',
      description: 'When this service recorded the month.',
    }),
  },
  { title: 'OpecProduction' },
)
const Latest = t.Object(
  { month: monthField, ...totals, countries: t.Array(Record) },
  { title: 'LatestOpecProduction' },
)
const Past = t.Object({ date, country, ...produced, change }, { title: 'PastOpecProduction' })
const Total = t.Object(
  { ...totals, change, unit, as_of_date: date },
  { title: 'TotalOpecProduction' },
)
const Share = t.Object({ country, ...produced, change, percentage, date }, { title: 'OpecShare' })
const Producer = t.Object(
  { rank: integer({ examples: [1] }), name: country, country, ...produced, percentage },
  { title: 'OpecProducer' },
)
const Producers = t.Object({
  producers: t.Array(Producer),
  data: t.Array(Producer, { description: 'The same list.' }),
  as_of: date,
})

const numberNote =
  'Numbers follow the months in the order of their first arrival and never change; months filled in later get the next ones.'
const publicationNote = 'A month is published about the 15th of the next one.'

const dateOf = (month: string): string => `${month}-01`
const changeOf = ({ bpd, bpdBefore }: OpecRow) =>
  bpdBefore === undefined ? null : mbpd(bpd - bpdBefore)
const producedOf = ({ bpd }: { bpd: number }) => ({
  production_mbpd: mbpd(bpd),
  production_bpd: bpd,
})
const totalsOf = (bpd: number) => ({ total_production_mbpd: mbpd(bpd), total_production_bpd: bpd })
const shareOf = (percentage: number | undefined) =>
  percentage === undefined ? null : roundTo(percentage, 2)

const recordRow = (row: OpecRow) => ({
  id: String(row.id),
  country: row.country,
  ...producedOf(row),
  unit: unitName,
  change: changeOf(row),
  date: dateOf(row.month),
  month: row.month,
  source: row.source,
  timestamp: isoInstant(row.recordedAt),
})
const pastRow = (row: OpecRow) => ({
  date: dateOf(row.month),
  country: row.country,
  ...producedOf(row),
  change: changeOf(row),
})

/** The first month that begins at or after `at`. */
function monthFrom(at: number): string {
  if (at === Number.MIN_SAFE_INTEGER) return '0000-01'
  if (at === Number.MAX_SAFE_INTEGER) return '9999-12'
  const own = monthOf(isoDay(at))
  return startOfMonth(at) === at ? own : monthAfter(own, 1)
}

/** Crude oil production of the OPEC countries by month. */
export function opecOperations(deps: OpecDeps) {
  const { opec } = deps
  const tier = deps.tierRequired('energy_intelligence')
  const marked = <T extends readonly OpecRow[]>(set: Answering, rows: T): T => {
    markSources(set, deps.marks, rows)
    return rows
  }
  const newest = (set: Answering): { month: string; rows: OpecRow[] } => {
    const newestMonth = opec.newestMonth()
    if (newestMonth === undefined)
      throw new Problem('DATA_NOT_AVAILABLE', 'There is no month of OPEC production.')
    return { month: newestMonth, rows: marked(set, opec.ofMonth(newestMonth)) }
  }
  const listOf = (set: Answering, query: Parameters<typeof rangeOf>[0] & { country?: string }) => {
    const { from, to } = rangeOf(query)
    const name = query.country?.trim()
    const countryName = name && (opec.countryNamed(opecCountry(name)) ?? opecCountry(name))
    const filter: OpecFilter = {
      country: countryName || undefined,
      fromMonth: monthFrom(from),
      toMonth: monthFrom(to),
    }
    return {
      total: opec.count(filter),
      rows: (limit: number, offset: number) => marked(set, opec.page(filter, limit, offset)),
    }
  }
  const total = (set: Answering) => {
    const { month, rows } = newest(set)
    const before = opec.ofMonth(monthAfter(month, -1))
    const sum = totalProduced(rows)
    return {
      ...totalsOf(sum),
      change: before.length === 0 ? null : mbpd(sum - totalProduced(before)),
      unit: unitName,
      as_of_date: dateOf(month),
    }
  }
  const producers = (set: Answering, limit: number) => {
    const { month, rows } = newest(set)
    const list = rankedProducers(rows)
      .slice(0, limit)
      .map(producer => ({
        rank: producer.rank,
        name: producer.country,
        country: producer.country,
        percentage: shareOf(producer.percentage),
        ...producedOf(producer),
      }))
    return { producers: list, data: list, as_of: dateOf(month) }
  }
  const listQuery = t.Object({
    country: textParameter({
      description: 'Name of a country, in any letter case.',
      examples: ['Saudi Arabia'],
    }),
    ...rangeQuery,
    ...energyPageQuery,
    ...knownQuery,
  })

  return [
    operation({
      method: 'GET',
      path: '/v1/ei/opec_productions',
      aliases: ['/v1/dark_data/opec_productions'],
      operationId: 'listOpecProductions',
      summary: 'OPEC production',
      description: `Crude oil that each country produced, by month, newest first. ${publicationNote} ${numberNote}`,
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      query: listQuery.properties,
      answers: { 200: energyBody(t.Array(Record), 'OpecProductions'), ...energyRefusals },
      handle: ({ query, reply, request }) =>
        energyPage(
          query,
          { set: reply, request, tierRequired: tier },
          listOf(reply, query),
          recordRow,
        ),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/opec_productions/latest',
      aliases: ['/v1/dark_data/opec_productions/latest'],
      operationId: 'getLatestOpecProduction',
      summary: 'Newest month of OPEC production',
      description: `Every country of the newest month, and their sum. ${publicationNote}`,
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      answers: { 200: energyBody(Latest, 'OpecProductionsLatest'), ...energyRefusals },
      handle: ({ reply }) => {
        const { month, rows } = newest(reply)
        return energyRecord(
          { month, ...totalsOf(totalProduced(rows)), countries: rows.map(recordRow) },
          tier,
        )
      },
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/opec_productions/total',
      aliases: ['/v1/dark_data/opec_productions/total'],
      operationId: 'getTotalOpecProduction',
      summary: 'OPEC production in all',
      description:
        'The sum over the countries of the newest month; `change` against the sum of the month before.',
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      answers: { 200: energyBody(Total, 'OpecProductionsTotal'), ...energyRefusals },
      handle: ({ reply }) => energyRecord(total(reply), tier),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/opec_productions/by_country',
      aliases: ['/v1/dark_data/opec_productions/by_country'],
      operationId: 'getOpecProductionByCountry',
      summary: 'Newest OPEC production by country',
      description:
        'The countries of the newest month, largest first, each with its part of their sum in percent.',
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      answers: {
        200: energyBody(t.Array(Share), 'OpecProductionsByCountry'),
        ...energyRefusals,
      },
      handle: ({ reply }) =>
        energyWholeList(
          rankedProducers(newest(reply).rows).map(producer => ({
            ...pastRow(producer),
            percentage: shareOf(producer.percentage),
          })),
          tier,
        ),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/opec_productions/historical',
      aliases: ['/v1/dark_data/opec_productions/historical'],
      operationId: 'getOpecProductionHistory',
      summary: 'Past OPEC production',
      description: 'Crude oil by month and country, newest first, all countries or one.',
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      query: listQuery.properties,
      answers: { 200: energyBody(t.Array(Past), 'OpecProductionHistory'), ...energyRefusals },
      handle: ({ query, reply, request }) =>
        energyPage(
          query,
          { set: reply, request, tierRequired: tier },
          listOf(reply, query),
          pastRow,
        ),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/opec_productions/top_producers',
      aliases: ['/v1/dark_data/opec_productions/top_producers'],
      operationId: 'getTopOpecProducers',
      summary: 'Largest OPEC producers',
      description:
        'The countries of the newest month by what they produced; countries that produced the same in the order of their names.',
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      query: {
        limit: integerParameter({
          description: 'Countries, 1 to 50 (10).',
          examples: [5],
          default: 10,
          minimum: 1,
          maximum: 50,
        }),
      },
      answers: { 200: energyBody(Producers, 'OpecTopProducers'), ...energyRefusals },
      handle: ({ query, reply }) =>
        energyRecord(producers(reply, integerOf('limit', query.limit, 10, 1, 50)), tier),
    }),
    operation({
      method: 'GET',
      path: '/v1/ei/opec_productions/:id',
      aliases: ['/v1/dark_data/opec_productions/:id'],
      operationId: 'getOpecProduction',
      summary: 'One month of one country',
      description: `What one country produced in one month. ${numberNote}`,
      tags: ['Energy intelligence'],
      access: energyAccess,
      view: 'as_of',
      params: {
        id: t.String({ description: 'Number of the record.', examples: ['1'] }),
      },
      answers: { 200: energyBody(Record, 'OpecProductionRecord'), ...energyRefusals },
      handle: ({ params, reply }) => {
        const row = opec.byId(recordIdOf(params.id, 'OPEC production'))
        if (!row) throw notFound(`OPEC production ${params.id}`)
        marked(reply, [row])
        return energyRecord(recordRow(row), tier)
      },
    }),
  ]
}
