import { dayMs, minuteMs } from '../../../lib/time/instant.ts'

/** Lengths of a delivery period, the shortest first. */
export const resolutions = ['PT5M', 'PT15M', 'PT30M', 'PT1H', 'P1D'] as const
export type Resolution = (typeof resolutions)[number]

export const isResolution = (text: unknown): text is Resolution =>
  (resolutions as readonly unknown[]).includes(text)

/** Whether a resolution has longer periods than another. */
export const isCoarser = (resolution: Resolution, than: Resolution): boolean =>
  resolutions.indexOf(resolution) > resolutions.indexOf(than)

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
  /** Of the market day. */
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
