import { t } from '../../../http/answer/schema.ts'
import { parsed, textParameter } from '../../../http/input/typed.ts'
import { Problem } from '../../../http/problem/problem.ts'
import { isoDay, isoInstant, startOfMonth } from '../../../lib/time/instant.ts'
import { monthAfter, monthOf } from '../../calendars/math/period.ts'
import { markSources } from '../../energy/operations/answer.ts'
import { type EnergyCall, energy, pagedRows } from '../../energy/operations/frame.ts'
import { rangeOf, rangeQuery } from '../../energy/operations/list.ts'
import { roundTo } from '../../prices/math/format.ts'
import { opecCountry, rankedProducers, totalProduced } from '../math/opec.ts'
import type { OpecFilter, OpecRow } from '../store/opec.ts'

const barrelsEach = 1e6
const mbpdDecimals = 6
const unitName = 'million_barrels_per_day' as const
const mbpd = (bpd: number): number => roundTo(bpd / barrelsEach, mbpdDecimals)

const produced = {
  production_mbpd: t.number('Million barrels a day.', 9.1),
  production_bpd: t.integer('The same in barrels a day.', 9100000),
}
const totals = {
  total_production_mbpd: t.number('Million barrels a day.', 28.73),
  total_production_bpd: t.integer('The same in barrels a day.', 28730000),
}
const change = t.numberOrNull(
  'In million barrels a day against the month before; null without it.',
  -0.05,
)
const country = t.String({ examples: ['Saudi Arabia'] })
const date = t.date('First day of the month of production.', '2026-10-01')
const monthField = t.String({ examples: ['2026-10'] })
const unit = t.Literal(unitName)
const percentage = t.numberOrNull('Of all countries of the month.', 31.7)

const Record = t.object('OpecProduction', {
  id: t.String({ examples: ['1'] }),
  country,
  ...produced,
  unit,
  change,
  date,
  month: monthField,
  source: t.String({ examples: ['EIA'] }),
  timestamp: t.instant('When this service recorded the month.'),
})
const Latest = t.object('LatestOpecProduction', {
  month: monthField,
  ...totals,
  countries: t.Array(Record),
})
const Past = t.object('PastOpecProduction', { date, country, ...produced, change })
const Total = t.object('TotalOpecProduction', { ...totals, change, unit, as_of_date: date })
const Share = t.object('OpecShare', { country, ...produced, change, percentage, date })
const Producer = t.object('OpecProducer', {
  rank: t.integer({ examples: [1] }),
  name: country,
  country,
  ...produced,
  percentage,
})
const Producers = t.Object({
  producers: t.Array(Producer),
  data: t.Array(Producer, { description: 'The same list.' }),
  as_of: date,
})

const numberNote =
  'Record numbers are assigned in the order of arrival and never change; months that arrive later get the next numbers.'
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
  const month = monthOf(isoDay(at))
  return startOfMonth(at) === at ? month : monthAfter(month, 1)
}

function newest(call: EnergyCall): { month: string; rows: OpecRow[] } {
  const { opec } = call.at
  const month = opec.newestMonth()
  if (month === undefined)
    throw new Problem('DATA_NOT_AVAILABLE', 'There is no month of OPEC production.')
  return { month, rows: markSources(call, opec.ofMonth(month)) }
}

const listQuery = {
  country: textParameter('Name of a country, in any letter case.', 'Saudi Arabia'),
  ...rangeQuery,
}

function listOf<R>(
  call: EnergyCall & { query: { country?: string; start_date?: string; end_date?: string } },
  shape: (row: OpecRow) => R,
) {
  const { opec } = call.at
  const { from, to } = rangeOf(call.query)
  const name = call.query.country?.trim()
  const countryName = name && (opec.countryNamed(opecCountry(name)) ?? opecCountry(name))
  const filter: OpecFilter = {
    country: countryName || undefined,
    fromMonth: monthFrom(from),
    toMonth: monthFrom(to),
  }
  return pagedRows(opec, filter, rows => markSources(call, rows).map(shape))
}

export const opecOperations = [
  energy.pages({
    path: '/v1/ei/opec_productions',
    operationId: 'listOpecProductions',
    summary: 'List OPEC production',
    description: `Returns the crude oil production of each country by month, newest first. ${publicationNote} ${numberNote}`,
    view: 'as_of',
    query: listQuery,
    title: 'OpecProductions',
    row: Record,
    list: call => listOf(call, recordRow),
  }),
  energy.record({
    path: '/v1/ei/opec_productions/latest',
    operationId: 'getLatestOpecProduction',
    summary: 'Get the latest month of OPEC production',
    description: `Returns every country of the newest month and their sum. ${publicationNote}`,
    view: 'as_of',
    title: 'OpecProductionsLatest',
    data: Latest,
    handle(call) {
      const { month, rows } = newest(call)
      return { month, ...totalsOf(totalProduced(rows)), countries: rows.map(recordRow) }
    },
  }),
  energy.record({
    path: '/v1/ei/opec_productions/total',
    operationId: 'getTotalOpecProduction',
    summary: 'Get total OPEC production',
    description:
      'Returns the total over the countries of the newest month; `change` is against the previous month.',
    view: 'as_of',
    title: 'OpecProductionsTotal',
    data: Total,
    handle(call) {
      const { month, rows } = newest(call)
      const before = call.at.opec.ofMonth(monthAfter(month, -1))
      const sum = totalProduced(rows)
      return {
        ...totalsOf(sum),
        change: before.length === 0 ? null : mbpd(sum - totalProduced(before)),
        unit: unitName,
        as_of_date: dateOf(month),
      }
    },
  }),
  energy.wholeList({
    path: '/v1/ei/opec_productions/by_country',
    operationId: 'getOpecProductionByCountry',
    summary: 'Get the latest OPEC production by country',
    description:
      'Returns the countries of the newest month, largest first, each with its share in percent.',
    view: 'as_of',
    title: 'OpecProductionsByCountry',
    row: Share,
    handle: call =>
      rankedProducers(newest(call).rows).map(producer => ({
        ...pastRow(producer),
        percentage: shareOf(producer.percentage),
      })),
  }),
  energy.pages({
    path: '/v1/ei/opec_productions/historical',
    operationId: 'getOpecProductionHistory',
    summary: 'List historical OPEC production',
    description:
      'Returns crude oil production by month and country, newest first, for all countries or one.',
    view: 'as_of',
    query: listQuery,
    title: 'OpecProductionHistory',
    row: Past,
    list: call => listOf(call, pastRow),
  }),
  energy.record({
    path: '/v1/ei/opec_productions/top_producers',
    operationId: 'getTopOpecProducers',
    summary: 'List the largest OPEC producers',
    description: 'Returns the countries of the newest month by production; equal ones by name.',
    view: 'as_of',
    query: { limit: parsed.integer('Countries', [1, 50], 10, 5) },
    title: 'OpecTopProducers',
    data: Producers,
    handle(call) {
      const { limit } = call.query
      const { month, rows } = newest(call)
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
    },
  }),
  energy.byId({
    path: '/v1/ei/opec_productions/:id',
    operationId: 'getOpecProduction',
    summary: 'Get an OPEC production record',
    description: `Returns the production of one country in one month. ${numberNote}`,
    view: 'as_of',
    subject: 'OPEC production record',
    title: 'OpecProductionRecord',
    data: Record,
    find: (id, { at }) => at.opec.byId(id),
    shape: (row, call) => recordRow(markSources(call, [row])[0]!),
  }),
]
