import { t } from '../../../http/answer/schema.ts'
import { Day, markSources } from '../../energy/operations/answer.ts'
import { type EnergyCall, energy } from '../../energy/operations/frame.ts'
import { basinKeys, isState } from '../math/drilling.ts'
import { Age, ageOf } from './answer.ts'
import { newestOn, recordsOn, regionalList, regionalRecord } from './regional.ts'
import {
  basinMap,
  nationalRigs,
  published,
  RigRecord,
  RigTypeCounts,
  rigChanges,
  rigRecord,
  rigTypeCounts,
  Span,
  stateMap,
} from './rig-count-row.ts'

const Latest = t.object('LatestRigCount', {
  us_total: t.integer({ examples: [546] }),
  basins: t.Record(t.String(), t.integer(), {
    examples: [{ permian: 251, eagle_ford: 44, other: 94 }],
  }),
  states: t.Record(t.String(), t.integer(), {
    description: 'By two letters; `other` contains the remaining states of the source.',
    examples: [{ tx: 247, nm: 95 }],
  }),
  ...RigRecord.properties,
  ...Age,
})
const Past = t.object('PastRigCount', { date: Day, ...RigTypeCounts, span: Span })
const regional = {
  rig_count: t.integer({ examples: [251] }),
  change: t.integerOrNull('Against the week before; null where that is missing.', -1),
  year_change: t.integerOrNull('Against 52 weeks before.', -12),
  date: Day,
}
export const ByBasin = t.object('BasinRigCount', {
  basin: t.String({ examples: ['permian'] }),
  ...regional,
})
export type ByBasin = (typeof ByBasin)['static']
const ByState = t.object('StateRigCount', { state: t.String({ examples: ['TX'] }), ...regional })

const newest = (call: EnergyCall) => newestOn(nationalRigs, call, nationalRigs.regions)

/** The counts of some regions in the newest week, largest first. */
function regions(call: EnergyCall, isWanted: (region: string) => boolean) {
  const { rigs } = call.at.drilling
  const on = newest(call)
  const rows = markSources(call, rigs.on(on))
  const largest = rows.filter(row => isWanted(row.region)).sort((a, b) => b.total - a.total)
  return largest.map(row => {
    const { week, year } = rigChanges(rigs, row.region, on)
    return { region: row.region, rig_count: row.total, change: week, year_change: year, date: on }
  })
}

/** Rigs of the country by week, and of its basins and states in the newest week. */
export const energyRigCountOperations = [
  energy.record({
    path: '/v1/ei/rig_counts/latest',
    operationId: 'getLatestRigCounts',
    summary: 'Get the latest rig counts',
    description: `Returns the latest weekly rig count for the country, by basin and by state. Parts may not add up exactly to the total; figures are as published. ${published}`,
    view: 'as_of',
    title: 'LatestRigCounts',
    data: Latest,
    handle(call) {
      const on = newest(call)
      const [record] = recordsOn(nationalRigs, call, on)
      const rows = markSources(call, call.at.drilling.rigs.on(on))
      return {
        us_total: record!.total,
        basins: basinMap(rows),
        states: stateMap(rows),
        ...rigRecord(record!),
        ...ageOf('week', on, call.at.now()),
      }
    },
  }),
  energy.wholeList({
    path: '/v1/ei/rig_counts/by_basin',
    operationId: 'listRigCountsByBasin',
    summary: 'List the latest rig counts by basin',
    description: `Returns the rigs of each basin in the newest week, largest first, with the change since the week before and since 52 weeks before. ${published}`,
    view: 'as_of',
    title: 'RigCountsByBasin',
    row: ByBasin,
    handle: call =>
      regions(call, region => basinKeys.includes(region)).map(({ region, ...row }) => ({
        basin: region,
        ...row,
      })),
  }),
  energy.wholeList({
    path: '/v1/ei/rig_counts/by_state',
    operationId: 'listRigCountsByState',
    summary: 'List the latest rig counts by state',
    description: `Returns the rigs of each state in the newest week, largest first, with the change since the week before and since 52 weeks before. \`OTHER\` contains the remaining states of the source. ${published}`,
    view: 'as_of',
    title: 'RigCountsByState',
    row: ByState,
    handle: call => regions(call, isState).map(({ region, ...row }) => ({ state: region, ...row })),
  }),
  regionalList(nationalRigs, {
    path: '/v1/ei/rig_counts',
    operationId: 'listRigCounts',
    summary: 'List weekly US rig counts',
    description: `Returns active rotary rigs of the country by target, newest first. ${published} Numbers run from 1 in chronological order.`,
    title: 'RigCounts',
    row: RigRecord,
    shape: rows => rows.map(rigRecord),
  }),
  regionalList(nationalRigs, {
    path: '/v1/ei/rig_counts/historical',
    operationId: 'getRigCountHistory',
    summary: 'List historical rig counts',
    description: `Returns all rig counts of the country, newest first. ${published}`,
    title: 'RigCountHistory',
    row: Past,
    shape: rows =>
      rows.map(row => ({ date: row.countedOn, ...rigTypeCounts(row), span: row.span })),
  }),
  regionalRecord(nationalRigs, {
    path: '/v1/ei/rig_counts/:id',
    operationId: 'getRigCount',
    summary: 'Get a rig count record',
    description:
      'Returns one weekly rig count by its number. Numbers run from 1 in chronological order.',
    subject: 'rig count',
    title: 'OneRigCount',
    data: RigRecord,
    shape: rigRecord,
  }),
]
