import { usFederal } from '../../topics/calendars/math/holidays.ts'
import { FeedFault, headerFault } from '../reading/fault.ts'
import { americanDay } from '../reading/periods.ts'
import { tableOf } from '../reading/text.ts'
import { weeklyHeldBack } from './calendar.ts'
import { eastern, eiaAttribution } from './eia.ts'
import type { Publisher, PublisherClient, Reading, SentSeries } from './publisher.ts'
import { type Collected, collected, grouped, sentSeries } from './series.ts'

/** Values of the weekly petroleum tables by their stubs, and the weeks that the first table compares. */
export interface WeeklyTable {
  series: Map<string, Collected>
  /** The older of the two weeks that stand first. */
  covers: string
}

/**
 * A table of the weekly petroleum report. A file may contain several tables, each with its header;
 * weeks are the columns whose title is a day, the first of each. Of a repeated stub, such as crude
 * by region, the first row counts.
 */
export function weeklyTable(bytes: Uint8Array, name: string): WeeklyTable {
  const { header, rows } = tableOf(bytes, name)
  const series = new Map<string, Collected>()
  let weeks: { column: number; week: string }[] = []
  let covers: string | undefined
  let stubs = 1
  for (const row of [header, ...rows]) {
    if (/^STUB_1$/i.test(row[0] ?? '')) {
      weeks = weeksOf(row)
      stubs = row.filter(title => /^STUB_\d$/i.test(title)).length
      if (weeks.length < 2) throw headerFault(name, 'columns of two weeks')
      covers ??= weeks
        .map(({ week }) => week)
        .slice(0, 2)
        .sort()[0]!
      continue
    }
    if (weeks.length === 0) throw headerFault(name, 'header that begins with STUB_1')
    const stub =
      row
        .slice(0, stubs)
        .filter(text => text !== '')
        .at(-1) ?? ''
    if (stub === '' || series.has(stub)) continue
    const values = collected()
    for (const { column, week } of weeks) values.add(week, row[column], { thousands: true })
    series.set(stub, values)
  }
  if (covers === undefined) throw headerFault(name, 'header that begins with STUB_1')
  return { series, covers }
}

function weeksOf(titles: readonly string[]): { column: number; week: string }[] {
  const weeks = new Map<string, number>()
  for (const [column, title] of titles.entries()) {
    const week = americanDay(title)
    if (week && !weeks.has(week)) weeks.set(week, column)
  }
  return [...weeks].map(([week, column]) => ({ week, column }))
}

async function* read(
  client: PublisherClient,
  { entries: wanted }: Reading,
): AsyncIterable<SentSeries> {
  for (const entries of grouped(wanted, entry => entry.at)) {
    const name = entries[0]!.at
    try {
      const answer = await client.get({
        url: `https://ir.eia.gov/wpsr/${name}.csv`,
        ifChanged: true,
      })
      if (!answer) continue
      const { series, covers } = weeklyTable(answer.bytes, name)
      const bySource = new Map(
        entries.map(entry => [entry.sourceId, series.get(stubOf(entry.sourceId))]),
      )
      const sent = [...bySource].filter(
        (pair): pair is [string, Collected] => pair[1] !== undefined,
      )
      yield* sentSeries(entries, new Map(sent), covers)
    } catch (error) {
      // A table that is not there is series without rows.
      if (!(error instanceof FeedFault && error.status === 404)) throw error
      yield* sentSeries(entries, new Map(), undefined)
    }
  }
}

/** `Cushing` of `table4/Cushing`. */
const stubOf = (sourceId: string): string => sourceId.slice(sourceId.indexOf('/') + 1)

export const eiaWpsr: Publisher = {
  name: 'eia_wpsr',
  title: 'EIA weekly petroleum tables',
  publisher: 'U.S. Energy Information Administration',
  homepage: 'https://www.eia.gov/petroleum/supply/weekly/',
  licenseClass: 'open',
  attribution: eiaAttribution,
  key: 'none',
  guide: {
    content: 'weekly petroleum stocks within minutes of the release',
    terms: 'as `eia`',
    format: 'row labels of the tables (`source_id`); if a row is renamed, change the map',
  },
  hosts: ['ir.eia.gov'],
  requestsPerSecond: 1,
  rereadDays: 0,
  calendar: [weeklyHeldBack(3, '10:30', usFederal, eastern)],
  read,
}
