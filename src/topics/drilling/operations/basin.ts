import { t } from '../../../http/answer/schema.ts'
import { isoDay } from '../../../lib/time/instant.ts'
import { yearOfWeeksDays } from '../../calendars/math/weeks.ts'
import { Day, markSources, requireData } from '../../energy/operations/answer.ts'
import { type EnergyCall, energy } from '../../energy/operations/frame.ts'
import { dayAfter } from '../../prices/math/window.ts'
import { statesLedBy } from '../math/states.ts'
import { basinIn, countOrNull } from './answer.ts'
import { newestCounts, newPermits } from './metric.ts'

const rigs = t.integer({ examples: [251] })

const BasinBody = t.object('BasinDrilling', {
  basin: t.String({ examples: ['permian'] }),
  active_rigs: rigs,
  rig_count: rigs,
  frac_spreads: countOrNull(92),
  permits: t.integerOrNull(
    'New permits in the last 30 days of the states that the basin leads in; null if there are none, and with `as_of`, because permits have no history.',
    811,
  ),
  duc_wells: countOrNull(890),
  completions: countOrNull(398),
  wells_drilled: countOrNull(401),
  as_of_date: Day,
  trend: t.objects('Weekly rigs of 52 weeks, oldest first.', { date: Day, rigs }),
})

/** Permits of the states that a basin leads in; undefined where none of them has any. */
function permitsOf({ at }: EnergyCall, basin: string): number | undefined {
  const { counts } = at.permits
  const newestByState = counts.newestByState()
  const states = statesLedBy(basin).filter(state => newestByState.has(state))
  return newPermits(counts, states, isoDay(at.now()))
}

/** Everything about one basin. */
export const drillingBasinOperation = energy.record({
  path: '/v1/drilling-intelligence/basin/:name',
  operationId: 'getBasinDrilling',
  summary: 'Get the drilling metrics of a basin',
  description:
    'Returns the newest count of each metric for a basin, and its rigs of 52 weeks. `as_of_date` is the day of the rigs.',
  access: energy.heavyAccess,
  view: 'as_of',
  params: {
    name: t.string('A basin: `permian`, `Eagle Ford`, `dj-niobrara` ...', 'permian'),
  },
  title: 'BasinDrillingBody',
  data: BasinBody,
  handle(call) {
    const { drilling } = call.at
    const basin = basinIn(call.params.name)
    const newest = newestCounts(drilling, basin)
    const count = requireData(newest.rig_count, `rig counts of ${basin}`, 'rig-counts')
    markSources(call, Object.values(newest))
    const weeks = drilling.metrics.ofRegion(
      'rig_count',
      basin,
      dayAfter(count.on, 1 - yearOfWeeksDays),
      dayAfter(count.on, 1),
    )
    return {
      basin,
      active_rigs: count.value,
      rig_count: count.value,
      frac_spreads: newest.frac_spreads?.value ?? null,
      permits: permitsOf(call, basin) ?? null,
      duc_wells: newest.duc_wells?.value ?? null,
      completions: newest.completions?.value ?? null,
      wells_drilled: newest.wells_drilled?.value ?? null,
      as_of_date: count.on,
      trend: weeks.map(week => ({ date: week.on, rigs: week.value })),
    }
  },
})
