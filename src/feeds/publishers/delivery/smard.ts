import { isObject } from '../../../lib/text/json.ts'
import { dayMs } from '../../../lib/time/instant.ts'
import { dayAt } from '../../../topics/delivery/math/days.ts'
import { type DeliveryTerms, resolutionOn } from '../../../topics/delivery/math/terms.ts'
import { sumDecimals } from '../../reading/decimal.ts'
import { headerFault, unreadable } from '../../reading/fault.ts'
import { jsonOf } from '../../reading/text.ts'
import type { Publisher, PublisherClient, Reading, SentSeries } from '../publisher.ts'
import { type Collected, collected } from '../series.ts'
import { addAt, sentSince, startOf, termsOf, timesOfDay } from './reading.ts'

const root = 'https://www.smard.de/app/chart_data'
/** A file covers a week, which a change of the clocks makes longer. */
const weekMs = 7 * dayMs + dayMs / 2

/** Names of the publisher's resolutions, and which of ours they are. */
const resolutions = { hour: 'PT1H', quarterhour: 'PT15M' } as const
type Resolution = keyof typeof resolutions

/** The weeks that there are files of. */
function smardWeeks(bytes: Uint8Array): number[] {
  const body = jsonOf(bytes, 'the index')
  if (!isObject(body) || !Array.isArray(body.timestamps))
    throw headerFault('the index', 'timestamps')
  return body.timestamps.map(Number).filter(Number.isFinite)
}

/** The values of a file that are of the resolution that the series had on their day. */
function addWeek(
  series: Collected,
  bytes: Uint8Array,
  terms: DeliveryTerms,
  resolution: Resolution,
  from: number,
): void {
  const body = jsonOf(bytes, 'a week')
  if (!isObject(body) || !Array.isArray(body.series)) throw headerFault('a week', 'series')
  for (const pair of body.series as unknown[]) {
    if (!Array.isArray(pair) || typeof pair[0] !== 'number') throw unreadable('a row of a week')
    const at = pair[0]
    if (at < from) continue
    if (resolutionOn(terms, dayAt(terms, at).date) !== resolutions[resolution]) continue
    addAt(series, at, pair[1])
  }
}

async function* read(client: PublisherClient, reading: Reading): AsyncIterable<SentSeries> {
  for (const entry of reading.entries) {
    const from = startOf(reading, entry)
    const [filters = '', region = ''] = entry.sourceId.split('/')
    const parts: Collected[] = []
    for (const filter of filters.split('+')) {
      const part = collected()
      for (const resolution of ['hour', 'quarterhour'] as const)
        await readResolution(client, termsOf(entry), { filter, region, resolution }, from, part)
      parts.push(part)
    }
    yield* sentSince([entry], new Map([[entry.sourceId, sumOf(parts)]]), from)
  }
}

/** Wind is published onshore and offshore: a period has the sum of its parts where it has all of them. */
function sumOf(parts: readonly Collected[]): Collected {
  if (parts.length === 1) return parts[0]!
  const sum = collected()
  const rows = Map.groupBy(
    parts.flatMap(part => part.rows),
    ({ period }) => period,
  )
  for (const [period, own] of rows)
    sum.add(period, own.length === parts.length ? sumDecimals(own.map(({ text }) => text)) : null)
  sum.faults = parts.flatMap(part => part.faults)
  return sum
}

async function readResolution(
  client: PublisherClient,
  terms: DeliveryTerms,
  { filter, region, resolution }: { filter: string; region: string; resolution: Resolution },
  from: number,
  series: Collected,
): Promise<void> {
  const inUse = terms.resolutions.filter((used, i) => {
    const next = terms.resolutions[i + 1]
    return used.resolution === resolutions[resolution] && !(next && Date.parse(next.from) < from)
  })
  if (inUse.length === 0) return
  const folder = `${root}/${filter}/${region}`
  const index = await client.get({ url: `${folder}/index_${resolution}.json` })
  const first = Date.parse(inUse[0]!.from)
  for (const week of smardWeeks(index.bytes)) {
    if (week + weekMs <= Math.max(from, first)) continue
    const url = `${folder}/${filter}_${region}_${resolution}_${week}.json`
    addWeek(series, (await client.get({ url })).bytes, terms, resolution, from)
  }
}

export const smard: Publisher = {
  name: 'smard',
  title: 'German electricity market data',
  publisher: 'Bundesnetzagentur | SMARD.de',
  homepage: 'https://www.smard.de/en',
  licenseClass: 'view',
  attribution: 'Source: Bundesnetzagentur | SMARD.de',
  key: 'none',
  guide: {
    content: 'day-ahead power, load, wind and solar of Germany by quarter hours',
    terms: 'check the terms of SMARD',
    format:
      "`timestamps` of the index and `series` of the weeks; `source_id` is filter and region. Hours are read up to the market's change to quarter hours, and quarters after it. Load and generation are in MWh for each quarter: factor 4",
  },
  hosts: ['www.smard.de'],
  requestsPerSecond: 5,
  rereadDays: 14,
  calendar: timesOfDay('Europe/Berlin', ['00:40', '06:40', '12:58', '14:30', '18:40']),
  read,
}
