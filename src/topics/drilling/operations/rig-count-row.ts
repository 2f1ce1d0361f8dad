import type { Stored } from '../../../database/dataset-store.ts'
import { t } from '../../../http/answer/schema.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { weekDays, weekNameOf, yearOfWeeksDays } from '../../calendars/math/weeks.ts'
import { Day, Stamp } from '../../energy/operations/answer.ts'
import { dayAfter } from '../../prices/math/window.ts'
import { type RigCount, rigCounts as rigCountDataset } from '../dataset/counts.ts'
import { type Count, changeOver } from '../math/change.ts'
import { country, isState } from '../math/drilling.ts'
import type { Numbered, RegionalStore } from '../store/regional.ts'
import { countsByBasin } from './answer.ts'
import type { RegionalFamily } from './regional.ts'

/** When counts come, for descriptions. */
export const published =
  'Counted every Friday and published at 17:00 UTC; after a federal holiday, publication moves to the next working day.'

const byType = 'Null where the source has the total alone.'

export const RigTypeCounts = {
  total_rigs: t.integer({ examples: [546] }),
  oil_rigs: t.orNull(t.integer({ examples: [413] }), byType),
  gas_rigs: t.orNull(t.integer({ examples: [127] }), byType),
  misc_rigs: t.orNull(t.integer({ examples: [6] }), byType),
}

export const Span = t.oneOf(
  ['week', 'month'],
  '`week`: a count. `month`: the mean of a month, dated in its middle, where an operator has loaded no weekly counts.',
)

export const RigRecord = t.object('RigCount', {
  id: t.String({ examples: ['1'] }),
  ...RigTypeCounts,
  change: t.integerOrNull('Against the count before; null for the first.', -2),
  date: Day,
  week: t.string('ISO week of the date.', '2026-W47'),
  unit: t.Literal('rigs'),
  span: Span,
  source: t.String({ examples: ['Rig survey'] }),
  timestamp: Stamp,
})

export const rigTypeCounts = ({ total, oil, gas, misc }: RigCount) => ({
  total_rigs: total,
  oil_rigs: oil,
  gas_rigs: gas,
  misc_rigs: misc,
})

export const rigRecord = (row: Numbered<RigCount>) => ({
  id: String(row.id),
  ...rigTypeCounts(row),
  change: row.change ?? null,
  date: row.countedOn,
  week: weekNameOf(row.countedOn),
  unit: 'rigs' as const,
  span: row.span,
  source: row.source,
  timestamp: isoInstant(row.recordedAt),
})

export const nationalRigs: RegionalFamily<RigCount> = {
  dataset: rigCountDataset,
  regions: [country],
  calendar: 'week',
  subject: 'rig counts',
}

/** Counts by basin of one day, in the order of the basins. */
export const basinMap = (rows: readonly Stored<RigCount>[]): Record<string, number> =>
  countsByBasin(rows, row => row.total)

/** Counts by state of one day. */
export const stateMap = (rows: readonly Stored<RigCount>[]): Record<string, number> =>
  Object.fromEntries(
    rows.filter(row => isState(row.region)).map(row => [row.region.toLowerCase(), row.total]),
  )

/**
 * Counts of a region up to a day, oldest first, as far back as comparisons reach. Only weekly
 * counts: a monthly mean is not a count.
 */
export function rigCounts(
  rigs: RegionalStore<RigCount>,
  region: string,
  lastOn: string,
  days: number,
): Count[] {
  return rigs
    .between(region, dayAfter(lastOn, -days), dayAfter(lastOn, 1))
    .filter(row => row.span === 'week')
    .map(row => ({ on: row.countedOn, value: row.total }))
}

/** The longest span that counts are compared over, and the slack of a missing week. */
export const comparedDays = yearOfWeeksDays + weekDays

/**
 * Change of a region's total over a week and over 52 weeks; null where the count to compare with is
 * missing.
 */
export function rigChanges(rigs: RegionalStore<RigCount>, region: string, lastOn: string) {
  const counts = rigCounts(rigs, region, lastOn, comparedDays)
  return {
    week: changeOver(counts, 'week') ?? null,
    month: changeOver(counts, 'month') ?? null,
    year: changeOver(counts, 'year') ?? null,
  }
}
