import { londonBank } from '../../topics/calendars/math/holidays.ts'
import { headerFault } from '../reading/fault.ts'
import { britishDay, leadingDay } from '../reading/periods.ts'
import { tableOf } from '../reading/text.ts'
import { weeklyHeldBack } from './calendar.ts'
import { readLinkedFile } from './links.ts'
import type { MapEntry } from './map.ts'
import type { Publisher } from './publisher.ts'
import { type Collected, collections } from './series.ts'

const pageUrl = 'https://www.gov.uk/government/statistics/weekly-road-fuel-prices'

/** `pence/litre` of `ULSP (Ultra low sulphur unleaded petrol) Pump price in pence/litre`. */
const unitOfTitle = (title: string): string =>
  title
    .replace(/^.*pump price(\s+in\b)?/i, '')
    .replaceAll(/[()]/g, '')
    .trim()

/** Pence per litre at the pump, by the first word of the columns: `ULSP` is unleaded, `ULSD` diesel. */
export function pumpPrices(
  bytes: Uint8Array,
  entries: readonly MapEntry[],
): Map<string, Collected> {
  const { header, rows } = tableOf(bytes, 'the weekly prices')
  if (!/^date$/i.test(header[0] ?? '')) throw headerFault('the weekly prices', 'Date')
  const series = collections(entries)
  const columns = [...series].map(([id, values]) => {
    const column = header.findIndex(
      title => title.toUpperCase().startsWith(id) && /pump price/i.test(title),
    )
    if (column < 0) throw headerFault('the weekly prices', `pump price of ${id}`)
    const unit = unitOfTitle(header[column]!)
    if (unit !== '') values.state(unit)
    return { column, values }
  })
  for (const row of rows) {
    const week = britishDay(row[0] ?? '') ?? leadingDay(row[0] ?? '') ?? row[0] ?? ''
    for (const { column, values } of columns) values.add(week, row[column])
  }
  return series
}

const read = readLinkedFile(
  [pageUrl, 'the weekly prices', [link => /weekly_road_fuel_prices_\d{6}\.csv/i.test(link.url)]],
  pumpPrices,
)

export const ukRoadFuel: Publisher = {
  name: 'uk_road_fuel',
  title: 'Weekly road fuel prices',
  publisher: 'UK Department for Energy Security and Net Zero',
  homepage: pageUrl,
  licenseClass: 'open',
  attribution:
    'Contains public sector information licensed under the Open Government Licence v3.0 (DESNZ)',
  key: 'none',
  guide: {
    content: 'petrol and diesel at the pump in the UK, weekly',
    terms: 'Open Government Licence v3.0',
    format:
      'the link on the page; `ULSP` and `ULSD` in the header, with the unit after `Pump price`',
  },
  hosts: ['www.gov.uk', 'assets.publishing.service.gov.uk'],
  requestsPerSecond: 1,
  rereadDays: 0,
  calendar: [weeklyHeldBack(2, '09:30', londonBank, { zone: 'Europe/London' })],
  read,
}
