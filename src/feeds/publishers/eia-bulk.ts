import { isObject } from '../../lib/text/json.ts'
import { parseInstant } from '../../lib/time/instant.ts'
import { unreadable } from '../reading/fault.ts'
import { periodOf } from '../reading/periods.ts'
import { jsonOf } from '../reading/text.ts'
import { archiveFiles, linesOf } from '../reading/zip.ts'
import { eiaAttribution, eiaBulkCalendar, outlookOf } from './eia.ts'
import type { MapEntry } from './map.ts'
import type { Publisher, PublisherClient, Reading, SentSeries } from './publisher.ts'
import { type Collected, collected, grouped, sentSeries } from './series.ts'

const manifestUrl = 'https://api.eia.gov/bulk/manifest.txt'
/** The longest series has fewer than 20,000 values of 30 bytes. */
const lineBytesMax = 32 * 1024 * 1024
/** Where an identifier ends, at the latest. */
const headBytes = 200

/** When each archive was made, and its address. */
function manifestOf(bytes: Uint8Array): Map<string, { updated: string; url: string }> {
  const body = jsonOf(bytes, 'the manifest')
  const datasets = isObject(body) ? body.dataset : undefined
  if (!isObject(datasets)) throw unreadable('the manifest')
  const archives = new Map<string, { updated: string; url: string }>()
  for (const [name, dataset] of Object.entries(datasets)) {
    if (!isObject(dataset) || typeof dataset.accessURL !== 'string') continue
    archives.set(name, { updated: String(dataset.last_updated ?? ''), url: dataset.accessURL })
  }
  return archives
}

/** Reads the requested series of an archive; other lines are skipped without being parsed. */
async function readArchive(
  chunks: AsyncIterable<Uint8Array>,
  entries: readonly MapEntry[],
): Promise<Map<string, Collected>> {
  const wanted = new Map(entries.map(entry => [entry.sourceId, entry]))
  const entryIn = (head: string) => wanted.get(identifier.exec(head)?.[1] ?? '')
  const heads = { headBytes, isWanted: (head: string) => entryIn(head) !== undefined }
  const series = new Map<string, Collected>()
  for await (const file of archiveFiles(chunks, name => name.endsWith('.txt'))) {
    for await (const texts of linesOf(file.read(), heads, lineBytesMax)) {
      for (const text of texts) {
        const entry = entryIn(text.toString('latin1', 0, headBytes))!
        series.set(entry.sourceId, seriesOf(text, entry))
      }
    }
  }
  return series
}

const identifier = /^\s*\{\s*"series_id"\s*:\s*"([^"]+)"/

/** One line of an archive: a series with its values, the newest first. */
export function seriesOf(text: Uint8Array, entry: MapEntry): Collected {
  const body = jsonOf(text, entry.sourceId)
  if (!isObject(body) || !Array.isArray(body.data)) throw unreadable(entry.sourceId)
  const unit = [body.unitsshort, body.units].find(unit => typeof unit === 'string' && unit !== '')
  const series = collected(typeof unit === 'string' ? unit : '')
  const publishedAt =
    typeof body.last_updated === 'string' ? parseInstant(body.last_updated) : undefined
  for (const pair of body.data.toReversed()) {
    if (!Array.isArray(pair) || typeof pair[0] !== 'string') throw unreadable(entry.sourceId)
    const period = periodOf(pair[0], entry.kind) ?? pair[0]
    series.add(period, pair[1], publishedAt === undefined ? {} : { publishedAt })
  }
  return series
}

async function* read(client: PublisherClient, reading: Reading): AsyncIterable<SentSeries> {
  const manifest = await client.get({ url: manifestUrl, ifChanged: true })
  if (!manifest) return
  const archives = manifestOf(manifest.bytes)
  for (const entries of grouped(reading.entries, entry => entry.at)) {
    const name = entries[0]!.at
    const archive = archives.get(name)
    if (!archive) throw unreadable(`the entry of ${name} in the manifest`)
    if (archive.updated !== '' && client.stored(name) === archive.updated) continue
    const series = await readArchive(await client.stream({ url: archive.url }), entries)
    for (const sent of sentSeries(entries, series, undefined)) {
      yield name === 'STEO' ? outlookOf(sent, sent.entry.kind, reading.now) : sent
    }
    client.store(name, archive.updated)
  }
}

export const eiaBulk: Publisher = {
  name: 'eia_bulk',
  title: 'EIA bulk archives',
  publisher: 'U.S. Energy Information Administration',
  homepage: 'https://www.eia.gov/opendata/bulkfiles.php',
  licenseClass: 'open',
  attribution: eiaAttribution,
  key: 'none',
  guide: {
    content: 'the same, from daily archives with the whole history',
    terms: 'as `eia`',
    format:
      'archive names from the manifest (`at` in the map); series lines that begin with `{"series_id":"…"`',
  },
  hosts: ['api.eia.gov', 'www.eia.gov'],
  requestsPerSecond: 5,
  rereadDays: 0,
  calendar: eiaBulkCalendar,
  read,
}
