import { t } from '../../../http/answer/schema.ts'
import { envelope, success } from '../../../http/operations/answer.ts'
import { Day, markSources, requireData } from '../../energy/operations/answer.ts'
import { energy } from '../../energy/operations/frame.ts'
import { basinKeys, country } from '../math/drilling.ts'
import { permitsOfMonth } from './intelligence.ts'
import { newestCounts } from './metric.ts'

const Latest = t.object('LatestDrilling', {
  total_wells: t.integer('Wells drilled in the newest month.', 868),
  active_rigs: t.integer({ examples: [546] }),
  permits_issued: t.integerOrNull(
    'New permits of the last 30 days; null if there are none, and with `as_of`, because permits have no history.',
    2134,
  ),
  completions: t.integerOrNull('Wells completed in the newest month.', 812),
  region_breakdown: t.objects('Active rigs by basin, largest first.', {
    region: t.String({ examples: ['permian'] }),
    count: t.integer({ examples: [251] }),
  }),
  date: Day,
})

/** Drilling in one answer. */
export const latestDrillingOperation = energy.operation({
  path: '/v1/drilling/latest',
  operationId: 'getLatestDrilling',
  summary: 'Get current US drilling activity',
  description:
    'Returns active rigs of the newest week, and wells drilled and completed in the newest month. `date` is the day of the rigs.',
  view: 'as_of',
  answers: { 200: envelope(Latest), ...energy.refusals },
  handle({ at, reply }) {
    const newest = newestCounts(at.drilling, country)
    const active = requireData(newest.rig_count, 'rig counts', 'rig-counts')
    const drilled = requireData(newest.wells_drilled, 'wells drilled', 'duc-wells')
    markSources({ at, reply }, Object.values(newest))
    const byBasin = at.drilling.rigs.on(active.on).filter(row => basinKeys.includes(row.region))
    return success({
      total_wells: drilled.value,
      active_rigs: active.value,
      permits_issued: permitsOfMonth(at) ?? null,
      completions: newest.completions?.value ?? null,
      region_breakdown: byBasin
        .sort((a, b) => b.total - a.total)
        .map(row => ({ region: row.region, count: row.total })),
      date: active.on,
    })
  },
})
