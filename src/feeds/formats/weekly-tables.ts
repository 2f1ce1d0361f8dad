import type { Source } from '../files/source.ts'
import { weeklyTable } from '../publishers/eia-wpsr.ts'
import { codeEntries, publisherSeries } from './known-series.ts'
import { csvLine, spooled, wholeOf } from './spool.ts'

const tableBytesMax = 4 * 1024 * 1024

/**
 * A table of the weekly petroleum report with a line for each week and a column for each of its
 * stubs; differences and percentages are left out.
 */
export async function weeklySource(source: Source, directory: string): Promise<Source> {
  const { series } = weeklyTable(await wholeOf(source, tableBytesMax), source.name)
  const stubs = [...series.keys()]
  const weeks = [...new Set(stubs.flatMap(stub => series.get(stub)!.rows.map(row => row.period)))]
  const sentOf = (stub: string, week: string) =>
    series.get(stub)!.rows.find(row => row.period === week)?.text ??
    series.get(stub)!.faults.find(fault => fault.period === week)?.written
  const lines = weeks
    .toSorted()
    .map(week => csvLine([week, ...stubs.map(stub => sentOf(stub, week))]))
  const table = await spooled(source, directory, [csvLine(['week', ...stubs]), ...lines])
  const stubOf = (id: string) => id.slice(id.indexOf('/') + 1)
  const tableEntries = codeEntries('eia_wpsr').filter(entry => series.has(stubOf(entry.sourceId)))
  return { ...table, series: publisherSeries(tableEntries, entry => stubOf(entry.sourceId)) }
}
