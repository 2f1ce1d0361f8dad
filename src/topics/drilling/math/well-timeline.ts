/** One thing that happened to a well. */
export interface WellEvent {
  type: 'permit' | 'spud' | 'frac_start' | 'frac_end' | 'completion' | 'first_production'
  on: string
  description: string
  source: string
  metadata: Readonly<Record<string, string | number | null>>
}

/** The order in which things happen to a well when they are of one day. */
const order: readonly WellEvent['type'][] = [
  'permit',
  'spud',
  'frac_start',
  'frac_end',
  'completion',
  'first_production',
]

/** Oldest first. */
export const timelineOf = (events: readonly WellEvent[]): WellEvent[] =>
  events.toSorted((a, b) =>
    a.on === b.on ? order.indexOf(a.type) - order.indexOf(b.type) : a.on < b.on ? -1 : 1,
  )
