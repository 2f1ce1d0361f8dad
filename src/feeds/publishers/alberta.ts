import { isObject } from '../../lib/text/json.ts'
import { headerFault, unreadable } from '../reading/fault.ts'
import { leadingDay, periodWith } from '../reading/periods.ts'
import { jsonOf } from '../reading/text.ts'
import { monthlyDay } from './calendar.ts'
import { readFileAt } from './links.ts'
import type { MapEntry } from './map.ts'
import type { Publisher } from './publisher.ts'
import { type Collected, collections } from './series.ts'

const url = 'https://api.economicdata.alberta.ca/data?table=OilPrices'

/** Monthly means by type of crude. The names of fields sometimes end with a space. */
export function oilPrices(bytes: Uint8Array, entries: readonly MapEntry[]): Map<string, Collected> {
  const body = jsonOf(bytes, 'the oil prices')
  if (!Array.isArray(body)) throw unreadable('the oil prices')
  const series = collections(entries)
  for (const entry of body as unknown[]) {
    if (!isObject(entry)) throw unreadable('a row of the oil prices')
    const row = Object.fromEntries(
      Object.entries(entry).map(([name, value]) => [name.trim(), value]),
    )
    for (const name of ['Date', 'Type', 'Value']) {
      if (!(name in row)) throw headerFault('a row of the oil prices', name)
    }
    const values = series.get(String(row.Type).trim())
    if (!values) continue
    const day = leadingDay(String(row.Date))
    values.state(typeof row.Unit === 'string' ? row.Unit : '')
    values.add(day ? periodWith(day, 'month') : String(row.Date), row.Value)
  }
  return series
}

const read = readFileAt(url, oilPrices)

export const alberta: Publisher = {
  name: 'alberta',
  title: 'Alberta economic dashboard, oil prices',
  publisher: 'Government of Alberta',
  homepage: 'https://economicdashboard.alberta.ca/dashboard/oil-price/',
  licenseClass: 'open',
  attribution: 'Source: Government of Alberta, Open Government Licence - Alberta',
  key: 'none',
  guide: {
    content: 'Western Canadian Select, monthly',
    terms: 'Open Government Licence - Alberta',
    format: 'keys of the rows, with and without a space after `Type`',
  },
  hosts: ['api.economicdata.alberta.ca'],
  requestsPerSecond: 1,
  rereadDays: 0,
  // The day is not announced; two polls a month find it soon enough.
  calendar: [5, 15].map(day => monthlyDay(day, '12:00', () => [], { zone: 'America/Edmonton' })),
  read,
}
