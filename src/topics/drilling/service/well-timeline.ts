import type { Well } from '../dataset/wells.ts'
import { timelineOf, type WellEvent } from '../math/well-timeline.ts'
import type { FracDisclosureStore, StoredDisclosure } from '../store/frac-disclosures.ts'
import type { StoredPermit, WellPermitStore } from '../store/well-permits.ts'
import type { WellStore } from '../store/wells.ts'

export interface WellTimeline {
  wellName: string
  operator: string
  state: string
  /** Oldest first. */
  events: WellEvent[]
}

export interface TimelineStores {
  permits: Pick<WellPermitStore, 'ofWell'>
  disclosures: Pick<FracDisclosureStore, 'ofWell'>
  wells: Pick<WellStore, 'get'>
}

/** The history of a well by its fourteen digits; undefined for a well that is not stored. */
export function wellTimeline(
  { permits, disclosures, wells }: TimelineStores,
  apiNumber: string,
): WellTimeline | undefined {
  const [permitted, fractured, well] = [
    permits.ofWell(apiNumber),
    disclosures.ofWell(apiNumber),
    wells.get(apiNumber),
  ]
  const [newest, last] = [permitted.at(-1), fractured.at(-1)]
  const state = newest?.state ?? well?.state ?? last?.state
  if (state === undefined) return undefined
  return {
    wellName: newest?.wellName ?? well?.name ?? last!.wellName,
    operator: newest?.operatorName ?? well?.operator ?? last!.operator,
    state,
    events: timelineOf([
      ...permitted.map(permitEvent),
      ...fractured.flatMap(fracEvents),
      ...(well ? wellEvents(well, permitted) : []),
    ]),
  }
}

const permitEvent = (permit: StoredPermit): WellEvent => ({
  type: 'permit',
  on: permit.permitOn,
  description: `Permit${permit.permitNumber === null ? '' : ` ${permit.permitNumber}`} (${permit.permitType.replaceAll('_', ' ')}), ${permit.permitStatus}.`,
  source: permit.source,
  metadata: {
    permit_id: String(permit.id),
    permit_number: permit.permitNumber,
    permit_type: permit.permitType,
    permit_status: permit.permitStatus,
    operator: permit.operatorName,
  },
})

function fracEvents(disclosure: StoredDisclosure): WellEvent[] {
  const { source } = disclosure
  const metadata = {
    disclosure_id: String(disclosure.id),
    water_gallons: disclosure.waterGallons,
    operator: disclosure.operator,
  }
  return [
    {
      type: 'frac_start',
      on: disclosure.startedOn,
      description: 'Hydraulic fracturing began.',
      source,
      metadata,
    },
    {
      type: 'frac_end',
      on: disclosure.endedOn,
      description: 'Hydraulic fracturing ended.',
      source,
      metadata,
    },
  ]
}

function wellEvents(
  { permitOn, spudOn, completedOn, firstProductionOn, source }: Well,
  permitted: readonly StoredPermit[],
): WellEvent[] {
  const event = (type: WellEvent['type'], on: string | null, description: string): WellEvent[] =>
    on === null ? [] : [{ type, on, description, source, metadata: {} }]
  return [
    // The permits themselves have more detail.
    ...(permitted.length > 0 ? [] : event('permit', permitOn, 'Drilling was permitted.')),
    ...event('spud', spudOn, 'Drilling began.'),
    ...event('completion', completedOn, 'The well was completed.'),
    ...event('first_production', firstProductionOn, 'The well produced for the first time.'),
  ]
}
