import { t } from '../../../http/answer/schema.ts'
import { isoInstant } from '../../../lib/time/instant.ts'
import { sourceOf, sourcesOf } from '../../catalogue/math/catalogue.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { roundTo } from '../../prices/math/format.ts'
import type { StorageLevel } from '../service/storage.ts'

const levelFields = {
  value: t.number('Level, in `unit`.', 24.604),
  unit: t.String({ examples: ['million_barrels'] }),
}
const utilization = t.orNull(
  t.number('100 x level / working capacity; null while no capacity is known.', 31.38),
)
const changeWeek = t.orNull(t.number('Against the level a week before; null without one.', -0.821))

export const Sources = t.object('SourceNote', {
  source: t.String({ examples: ['EIA'] }),
  source_description: t.String({ examples: ['Published by EIA'] }),
})

/** Where the numbers of an answer come from. */
export function sourcesRow(series: readonly Series[]) {
  const { name, description } = sourcesOf(series)
  return { source: name, source_description: description }
}

const ownDates = {
  as_of: t.date('Day of the level.', '2026-11-18'),
  recorded_at: t.instant('When this service recorded the level.'),
}

const Brief = t.object('StorageBrief', {
  ...levelFields,
  change_week: changeWeek,
  updated_at: t.instant('Time of the level.'),
  ...ownDates,
  code: t.String({ examples: ['CUSHING_STORAGE'] }),
  name: t.String({ examples: ['Cushing Crude Storage'] }),
  utilization_percent: utilization,
})

export const Overview = t.object('StorageOverview', {
  cushing: Brief,
  spr: Brief,
  total_us: t.Optional(Brief),
  metadata: Sources,
})

const levelShape = {
  code: t.String({ examples: ['CUSHING_STORAGE'] }),
  name: t.String({ examples: ['Cushing Crude Storage'] }),
  ...levelFields,
  capacity: t.orNull(
    t.number(
      'Working capacity on the day of the level, in `unit`; null while none is known.',
      78.41,
    ),
  ),
  utilization_percent: utilization,
  change: t.Object(
    {
      week: changeWeek,
      month: t.orNull(t.Number({ examples: [-2.147] })),
      year: t.orNull(t.Number({ examples: [-5.5] })),
    },
    {
      description:
        'Against the level 7, 28 and 364 days before, the same weekday in weekly surveys. If there is no level of that day, the newest of the six days before it; null without one.',
    },
  ),
  change_percent: t.orNull(
    t.number('The change of the week in percent of the level before.', -3.23),
  ),
  updated_at: t.instant('Time of the level.'),
  source: t.String({ examples: ['EIA'] }),
  ...ownDates,
  level: t.number('The same as `value`.', 24.604),
  timestamp: t.instant('The same as `updated_at`.'),
  metadata: Sources,
}

export const Level = t.object('StorageLevel', levelShape)

export const Reserve = t.object('StrategicReserve', {
  ...levelShape,
  sites: t.Array(
    t.Object({
      name: t.String({ examples: ['Bryan Mound'] }),
      ...levelFields,
      capacity: t.orNull(t.number('Null while none is known.', 247.1)),
    }),
  ),
})

const Padd = t.object('PaddLevel', {
  name: t.String({ examples: ['PADD 3 Crude Storage'] }),
  ...levelFields,
  level: t.number('The same as `value`.', 240.312),
  change_week: changeWeek,
  updated_at: t.instant('Time of the level.'),
  ...ownDates,
})

export const AllRegions = t.object('RegionalStorage', {
  padd1: Padd,
  padd2: Padd,
  padd3: Padd,
  padd4: Padd,
  padd5: Padd,
  total_us: t.number(
    'US commercial crude as published; the sum of the regions while it is not.',
    424.2,
  ),
  updated_at: t.instant('Time of the newest of the levels.'),
  metadata: Sources,
})

export const OneRegion = t.Object(
  {
    padd1: t.Optional(Padd),
    padd2: t.Optional(Padd),
    padd3: t.Optional(Padd),
    padd4: t.Optional(Padd),
    padd5: t.Optional(Padd),
    code: t.String({ examples: ['PADD3'] }),
    name: t.String({ examples: ['PADD 3 Crude Storage'] }),
    ...levelFields,
    level: t.Number({ examples: [240.312] }),
    updated_at: t.instant('Time of the level.'),
    timestamp: t.instant('The same as `updated_at`.'),
    ...ownDates,
    metadata: Sources,
  },
  {
    title: 'RegionStorage',
    description: 'The requested region, under its name and at the top level.',
  },
)

/** More digits than any survey has, without the noise of binary fractions behind them. */
const percentDecimals = 10

const utilizationOf = (level: StorageLevel): number | null =>
  level.utilizationPercent === undefined ? null : roundTo(level.utilizationPercent, percentDecimals)

const datesRow = (level: StorageLevel) => ({
  as_of: level.on,
  recorded_at: isoInstant(level.recordedAt),
})

export const briefRow = (level: StorageLevel) => ({
  value: level.value,
  unit: level.series.unit,
  change_week: level.change.week ?? null,
  updated_at: isoInstant(level.observedAt),
  ...datesRow(level),
  code: level.series.code,
  name: level.series.name,
  utilization_percent: utilizationOf(level),
})

export const levelRow = (level: StorageLevel) => ({
  code: level.series.code,
  name: level.series.name,
  value: level.value,
  unit: level.series.unit,
  capacity: level.capacity ?? null,
  utilization_percent: utilizationOf(level),
  change: {
    week: level.change.week ?? null,
    month: level.change.month ?? null,
    year: level.change.year ?? null,
  },
  change_percent: level.weekPercent ?? null,
  updated_at: isoInstant(level.observedAt),
  source: sourceOf(level.series).name,
  ...datesRow(level),
  level: level.value,
  timestamp: isoInstant(level.observedAt),
})

export const siteRow = (level: StorageLevel) => ({
  name: level.series.name.replace(/^SPR /, ''),
  value: level.value,
  unit: level.series.unit,
  capacity: level.capacity ?? null,
})

export const paddRow = (level: StorageLevel) => ({
  name: level.series.name,
  value: level.value,
  unit: level.series.unit,
  level: level.value,
  change_week: level.change.week ?? null,
  updated_at: isoInstant(level.observedAt),
  ...datesRow(level),
})
