import { isoInstant } from '../../../lib/time/instant.ts'
import { permitStateOf } from '../../geography/math/us-states.ts'
import type { ServiceEvent } from '../../webhooks/service/events.ts'
import type { StoredPermit } from '../store/well-permits.ts'

/** Permits of one event. */
export const batchMax = 100

/** The fields of a permit in responses and in events. */
export const permitHead = (permit: StoredPermit) => ({
  api_number: permit.apiNumber,
  api_number_raw: permit.apiNumberRaw,
  state_code: permit.state,
  county: permit.county,
  permit_number: permit.permitNumber,
  permit_type: permit.permitType,
  permit_status: permit.permitStatus,
  permit_date: permit.permitOn,
})

/** The parts of a land survey that a well is in. */
export const surveyPlace = (permit: StoredPermit) => ({
  county: permit.county,
  section: permit.section,
  township: permit.township,
  range: permit.range,
})

export const permitProvenance = (permit: StoredPermit) => ({
  source: permit.source,
  source_url: permit.sourceUrl,
  fetched_at: isoInstant(permit.fetchedAt),
  data_as_of: permit.dataAsOfOn,
})

/** A permit as events carry it: its place in numbers. */
const permitData = (permit: StoredPermit) => ({
  ...permitHead(permit),
  operator: { name: permit.operatorName, name_raw: permit.operator, number: permit.operatorNumber },
  well: { name: permit.wellName, number: permit.wellNumber, type: permit.wellType },
  location: { latitude: permit.latitude, longitude: permit.longitude, ...surveyPlace(permit) },
  target: {
    formation: permit.formationName,
    formation_raw: permit.formation,
    total_depth_proposed: permit.totalDepth,
  },
  provenance: permitProvenance(permit),
})

export const newPermitEvent = (permit: StoredPermit, at: number): ServiceEvent => ({
  type: 'drilling.well_permit.new',
  data: permitData(permit),
  at,
  dedupe: `well permit ${permit.id}`,
  state: permit.state,
})

/** The newest of `count` new permits of a state, at most `batchMax`. */
export function permitBatchEvent(
  state: string,
  permits: readonly StoredPermit[],
  count: number,
  at: number,
): ServiceEvent {
  const batchId = `${state}-${permits[0]!.id}-${count}`
  return {
    type: 'drilling.well_permits.batch',
    data: {
      state,
      batch_id: batchId,
      count,
      permits: permits.map(permitData),
      truncated: count > permits.length,
      pagination: {
        page: 1,
        total_pages: Math.ceil(count / batchMax),
        per_page: batchMax,
        total_count: count,
        has_next: count > batchMax,
      },
      batch_timestamp: isoInstant(at),
    },
    at,
    dedupe: `well permits ${batchId}`,
    state,
  }
}

/** Permits of a state in the last 30 days and in the 30 before. */
export interface PermitPace {
  value: number
  previous: number
}

export function permitStatusEvent(
  permit: StoredPermit,
  { from, to }: { from: string; to: string },
  { value, previous }: PermitPace,
  at: number,
): ServiceEvent {
  const commodity = `${permitStateOf(permit.state)!.name.toUpperCase().replaceAll(' ', '_')}_WELL_PERMITS`
  return {
    type: 'drilling.well_permit.updated',
    data: {
      commodity,
      region: permit.state,
      state_code: permit.state,
      value,
      previous_value: previous,
      change: value - previous,
      change_percent:
        previous === 0 ? null : Math.round((10_000 * (value - previous)) / previous) / 100,
      unit: 'permits',
      source: permit.source,
      api_number: permit.apiNumber,
      permit_status: to,
      status_change: { from, to },
      timestamp: isoInstant(at),
    },
    at,
    dedupe: `well permit ${permit.id} ${from} ${to} ${at}`,
    commodity,
    state: permit.state,
  }
}
