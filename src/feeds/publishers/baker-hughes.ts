import { usFederal } from '../../topics/calendars/math/holidays.ts'
import { headerFault } from '../reading/fault.ts'
import { dayOf, type SheetCell, sheetRows } from '../reading/workbook.ts'
import { weeklyBroughtForward } from './calendar.ts'
import { readLinkedFile } from './links.ts'
import type { MapEntry } from './map.ts'
import type { Publisher } from './publisher.ts'
import { type Collected, collections } from './series.ts'

const pageUrl = 'https://rigcount.bakerhughes.com/na-rig-count'
const headerRowsMax = 30

const titles = {
  country: 'Country',
  basin: 'Basin',
  drillFor: 'DrillFor',
  location: 'Location',
  state: 'State/Province',
  published: 'US_PublishDate',
  rigs: 'Rig Count Value',
} as const
type Column = keyof typeof titles

/**
 * The counts that a row of the cross table adds to: `country:UNITED STATES/Oil`, `basin:Permian/*`,
 * `state:TEXAS/Gas`, `location:Offshore/*`.
 */
function keysOf(row: Readonly<Record<Column, SheetCell>>): string[] {
  const isAmerican = String(row.country).toUpperCase() === 'UNITED STATES'
  const places = [
    `country:${String(row.country).toUpperCase()}`,
    ...(isAmerican ? [`basin:${row.basin}`, `state:${String(row.state).toUpperCase()}`] : []),
    ...(isAmerican ? [`location:${row.location}`] : []),
  ]
  return places.flatMap(place => [`${place}/${row.drillFor}`, `${place}/*`])
}

const placeOf = (key: string): string => key.slice(0, key.indexOf('/'))

/** Rigs by week and place, added up from the rows of the cross table. A place without rows in a week has none; one that has none at all is not there. */
async function weeklyRigs(
  workbook: Uint8Array,
  entries: readonly MapEntry[],
): Promise<Map<string, Collected>> {
  const ids = new Set(entries.map(entry => entry.sourceId))
  const weeks = new Map<string, Map<string, number>>()
  const places = new Set<string>()
  let columns: Record<Column, number> | undefined
  for await (const { number, cells } of sheetRows(workbook, name => name === 'NAM Weekly')) {
    if (!columns) {
      columns = columnsOf(cells)
      if (!columns && number > headerRowsMax) break
      continue
    }
    const row = Object.fromEntries(
      Object.entries(columns).map(([name, column]) => [name, cells[column]]),
    ) as Record<Column, SheetCell>
    const week = dayOf(row.published)
    if (!week || typeof row.rigs !== 'number') continue
    const counts = weeks.getOrInsertComputed(week, () => new Map<string, number>())
    for (const key of keysOf(row)) {
      places.add(placeOf(key))
      if (ids.has(key)) counts.set(key, (counts.get(key) ?? 0) + row.rigs)
    }
  }
  if (!columns) throw headerFault('NAM Weekly', 'header with Country and Rig Count Value')
  const series = collections(entries)
  for (const week of [...weeks.keys()].sort()) {
    for (const [id, values] of series) {
      if (places.has(placeOf(id))) values.add(week, weeks.get(week)!.get(id) ?? 0)
    }
  }
  return series
}

function columnsOf(cells: readonly SheetCell[]): Record<Column, number> | undefined {
  const names = [...cells].map(cell => (typeof cell === 'string' ? cell.trim() : ''))
  if (!names.includes(titles.country) || !names.includes(titles.rigs)) return undefined
  return Object.fromEntries(
    Object.entries(titles).map(([name, title]) => {
      if (!names.includes(title)) throw headerFault('NAM Weekly', title)
      return [name, names.indexOf(title)]
    }),
  ) as Record<Column, number>
}

const read = readLinkedFile(
  [
    pageUrl,
    'the new report',
    [
      link =>
        /north america rig count report - new report/i.test(link.text.replaceAll(/\s+/g, ' ')),
    ],
  ],
  weeklyRigs,
)

export const bakerHughes: Publisher = {
  name: 'baker_hughes',
  title: 'North America rotary rig count',
  publisher: 'Baker Hughes',
  homepage: pageUrl,
  licenseClass: 'view',
  attribution: 'Source: Baker Hughes rig count; not to be passed on without its consent',
  key: 'none',
  guide: {
    content: 'rigs by week, basin and state',
    terms: 'needs the consent of Baker Hughes',
    format:
      'the text of the link on the page; the sheet `NAM Weekly`. You can import the file with `wellhead import --dataset rig-counts` instead',
  },
  hosts: ['rigcount.bakerhughes.com'],
  requestsPerSecond: 1,
  rereadDays: 0,
  calendar: [weeklyBroughtForward(5, '12:00', usFederal, { zone: 'America/Chicago' })],
  read,
}
