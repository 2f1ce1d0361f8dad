import { snakeCase } from '../../../lib/text/name-case.ts'
import { dayMs, minuteMs } from '../../../lib/time/instant.ts'

/** Lengths of a delivery period, the shortest first. */
export const resolutions = ['PT5M', 'PT15M', 'PT30M', 'PT1H', 'P1D'] as const
export type Resolution = (typeof resolutions)[number]

export const isResolution = (text: unknown): text is Resolution =>
  (resolutions as readonly unknown[]).includes(text)

/** Whether a resolution has longer periods than another. */
export const isCoarser = (resolution: Resolution, than: Resolution): boolean =>
  resolutions.indexOf(resolution) > resolutions.indexOf(than)

/** The longest horizon. */
export const horizonMax = 400 * dayMs

const minutesOf: Record<Exclude<Resolution, 'P1D'>, number> = {
  PT5M: 5,
  PT15M: 15,
  PT30M: 30,
  PT1H: 60,
}

/** How long a period is; a day is as long as its market day, mostly 24 hours. */
export const lengthOf = (resolution: Resolution): number =>
  resolution === 'P1D' ? dayMs : minutesOf[resolution] * minuteMs

/** The resolution from a market day on. */
export interface ResolutionFrom {
  /** `YYYY-MM-DD`. */
  from: string
  resolution: Resolution
}

/** When a period counts as peak, in the zone of the market. */
export interface PeakTerms {
  /** Minutes since midnight, half-open. */
  from: number
  to: number
  /** 1 = Monday. */
  weekdays: readonly number[]
  /** Closed days of the calendar have no peak. */
  holidays: boolean
}

/** The terms of a series whose values are of delivery periods. */
export interface DeliveryTerms {
  /** The IANA zone of the market day. */
  zone: string
  /** Minutes since midnight at which the market day begins. */
  dayStarts: number
  /** By their first market day; never empty. The first also counts for the days before it. */
  resolutions: readonly ResolutionFrom[]
  /** ISO duration: how far after now a period may begin. */
  horizon: string
  /** Minutes since midnight of the day before delivery; undefined: values come with delivery. */
  gateCloses: number | undefined
  publishesAt: number | undefined
  peak: PeakTerms
}

/** The resolution of a market day. */
export const resolutionOn = ({ resolutions: all }: DeliveryTerms, date: string): Resolution =>
  (all.findLast(({ from }) => from <= date) ?? all[0]!).resolution

/** The resolution in force now. */
export const newestResolution = ({ resolutions: all }: DeliveryTerms): Resolution =>
  all.at(-1)!.resolution

/** The delivery attributes that an operator set; they count only where `time` is `delivery`. */
export interface DeliverySettings {
  time?: 'observed' | 'delivery'
  resolutions?: ResolutionFrom[]
  zone?: string
  dayStarts?: string
  horizon?: string
  gateCloses?: string
  publishesAt?: string
  /** `08:00-20:00`. */
  peakHours?: string
  peakDays?: string[]
  peakHolidays?: boolean
}

export const weekdayNames = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const

/** A resolution that always was in force. */
export const sinceEver = (resolution: Resolution): ResolutionFrom[] => [
  { from: '1900-01-01', resolution },
]

const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))
const minuteOrNone = (time: string | undefined) => (time === undefined ? undefined : minuteOf(time))

/** The settings in force; undefined for a series whose values are of moments. */
export function deliveryTerms(settings: DeliverySettings): DeliveryTerms | undefined {
  const { time, zone, resolutions: all } = settings
  if (time !== 'delivery' || zone === undefined || !all?.length) return undefined
  const { peakHours = '08:00-20:00', peakDays = weekdayNames.slice(0, 5) } = settings
  const [peakFrom = '', peakTo = ''] = peakHours.split('-')
  return {
    zone,
    dayStarts: minuteOf(settings.dayStarts ?? '00:00'),
    resolutions: all,
    horizon: settings.horizon ?? 'P2D',
    gateCloses: minuteOrNone(settings.gateCloses),
    publishesAt: minuteOrNone(settings.publishesAt),
    peak: {
      from: minuteOf(peakFrom),
      to: minuteOf(peakTo),
      weekdays: peakDays.map(day => (weekdayNames as readonly string[]).indexOf(day) + 1),
      holidays: settings.peakHolidays ?? false,
    },
  }
}

export const timeText = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`

/** The terms as the API names them. */
export const deliveryRow = (terms: DeliveryTerms) => ({
  time: 'delivery' as const,
  resolution: newestResolution(terms),
  resolutions: [...terms.resolutions],
  zone: terms.zone,
  day_starts: timeText(terms.dayStarts),
  horizon: terms.horizon,
  ...(terms.gateCloses !== undefined && { gate_closes: timeText(terms.gateCloses) }),
  ...(terms.publishesAt !== undefined && { publishes_at: timeText(terms.publishesAt) }),
  peak_hours: `${timeText(terms.peak.from)}-${timeText(terms.peak.to)}`,
  peak_days: terms.peak.weekdays.map(day => weekdayNames[day - 1]!),
  peak_holidays: terms.peak.holidays,
})

export type DeliveryRow = ReturnType<typeof deliveryRow>

/** The settings that a row of the API describes. */
export const settingsOf = (row: DeliveryRow): DeliverySettings => ({
  time: row.time,
  resolutions: row.resolutions,
  zone: row.zone,
  dayStarts: row.day_starts,
  horizon: row.horizon,
  ...(row.gate_closes !== undefined && { gateCloses: row.gate_closes }),
  ...(row.publishes_at !== undefined && { publishesAt: row.publishes_at }),
  peakHours: row.peak_hours,
  peakDays: row.peak_days,
  peakHolidays: row.peak_holidays,
})

/** Settings that have no meaning for a series whose values are of moments. */
const onlyOfDelivery = [
  'resolutions',
  'zone',
  'dayStarts',
  'horizon',
  'gateCloses',
  'publishesAt',
  'peakHours',
  'peakDays',
  'peakHolidays',
] as const

/** Faults of settings that are right one by one and contradict each other. */
export function deliveryFaults(
  settings: DeliverySettings & { timeZone?: string; valueTime?: string },
): { field: string; why: string }[] {
  if (settings.time !== 'delivery')
    return onlyOfDelivery
      .filter(term => settings[term] !== undefined)
      .map(term => ({
        field: term === 'resolutions' ? 'resolution' : snakeCase(term),
        why: 'requires time delivery.',
      }))
  const faults: { field: string; why: string }[] = []
  if (settings.zone === undefined)
    faults.push({ field: 'zone', why: 'is required with time delivery.' })
  if (!settings.resolutions?.length)
    faults.push({ field: 'resolution', why: 'is required with time delivery.' })
  for (const term of ['timeZone', 'valueTime'] as const)
    if (settings[term] !== undefined)
      faults.push({ field: snakeCase(term), why: 'must be absent with time delivery; use zone.' })
  return faults
}
