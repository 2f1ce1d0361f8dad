import { isObject } from '../../lib/text/json.ts'
import { dayMs, parseDay } from '../../lib/time/instant.ts'
import { usFederal } from '../../topics/calendars/math/holidays.ts'
import { FeedFault, headerFault, unreadable } from '../reading/fault.ts'
import { namedDay, periodOf } from '../reading/periods.ts'
import { jsonOf } from '../reading/text.ts'
import { weeklyBroughtForward, zonedAt } from './calendar.ts'
import { eastern, eiaAttribution } from './eia.ts'
import type { Publisher, PublisherClient, Reading, SentSeries } from './publisher.ts'
import { type Collected, collected, sentSeries } from './series.ts'

const url = 'https://ir.eia.gov/ngs/wngsr.json'
const releaseTime = '10:30'

/** The values of the weekly gas report for each region, by the identifier of its series. */
export interface GasReport {
  series: Map<string, Collected>
  /** The week before the reported one. */
  covers: string
  /** Weeks whose value the report marks as revised, by series. */
  revised: Map<string, string[]>
}

export function gasReport(bytes: Uint8Array): GasReport {
  const body = jsonOf(bytes, 'the gas report')
  if (!isObject(body) || !Array.isArray(body.series)) throw headerFault('the gas report', 'series')
  const released = typeof body.release_date === 'string' ? namedDay(body.release_date) : undefined
  const covers = typeof body.week_ago === 'string' ? periodOf(body.week_ago, 'week') : undefined
  if (!released || !covers) throw headerFault('the gas report', 'release_date and week_ago')
  const publishedAt = zonedAt(parseDay(released)! / dayMs, releaseTime, eastern.zone)
  const series = new Map<string, Collected>()
  const revised = new Map<string, string[]>()
  for (const region of body.series) {
    if (!isObject(region) || typeof region.series_id !== 'string' || !Array.isArray(region.data)) {
      throw unreadable('a region of the gas report')
    }
    const id = idOf(region.series_id)
    // Each report has one week: a report without rows is invalid, whatever week it claims to cover.
    if (region.data.length === 0) {
      throw new FeedFault('series_empty', `the gas report has no week of ${id}`)
    }
    const values = collected(typeof region.unitsshort === 'string' ? region.unitsshort : '')
    const flags = Array.isArray(region.revision_flag) ? region.revision_flag : []
    for (const [i, pair] of region.data.entries()) {
      if (!Array.isArray(pair) || typeof pair[0] !== 'string')
        throw unreadable('a week of the gas report')
      const week = periodOf(pair[0], 'week') ?? pair[0]
      values.add(week, pair[1], { publishedAt })
      if (String(flags[i]) === 'true') revised.set(id, [...(revised.get(id) ?? []), week])
    }
    series.set(id, values)
  }
  return { series, covers, revised }
}

/** `NW2_EPG0_SWO_R48_BCF` of `png.nw2_epg0_swo_r48_bcf.w`: the name that the other feeds know. */
const idOf = (seriesId: string): string => seriesId.replace(/^png\.|\.w$/gi, '').toUpperCase()

async function* read(client: PublisherClient, { entries }: Reading): AsyncIterable<SentSeries> {
  const answer = await client.get({ url, ifChanged: true })
  if (!answer) return
  const { series, covers } = gasReport(answer.bytes)
  yield* sentSeries(entries, series, covers)
}

export const eiaWngsr: Publisher = {
  name: 'eia_wngsr',
  title: 'EIA weekly natural gas storage report',
  publisher: 'U.S. Energy Information Administration',
  homepage: 'https://ir.eia.gov/ngs/ngs.html',
  licenseClass: 'open',
  attribution: eiaAttribution,
  key: 'none',
  guide: {
    content: 'weekly gas storage',
    terms: 'as `eia`',
    format: 'series ids of the JSON; `eia` has the same data a little later',
  },
  hosts: ['ir.eia.gov'],
  requestsPerSecond: 1,
  rereadDays: 0,
  calendar: [weeklyBroughtForward(4, releaseTime, usFederal, { ...eastern, earlierTime: '12:00' })],
  read,
}
