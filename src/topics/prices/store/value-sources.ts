import type { Database } from 'bun:sqlite'
import { onUndone } from '../../../database/database.ts'
import { statements } from '../../../database/statement.ts'

/** A source of observations. */
export interface ValueSource {
  id: number
  /** feed: a public source that is polled. named: a name that the sender of the values gave. */
  kind: 'feed' | 'named'
  name: string
  /** 0 a day, 1 a week, 2 a month, 3 a quarter, 4 a year. */
  periodKind: number
}

export type ValueSourceStore = ReturnType<typeof createValueSourceStore>

const columns = 'id, kind, name, period_kind AS periodKind'

export function createValueSourceStore(db: Database) {
  const sql = statements(db)
  const all = sql<ValueSource, []>`SELECT ${columns} FROM value_sources ORDER BY id`
  const add = sql`
    INSERT INTO value_sources (kind, name, period_kind) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`
  const note = sql`
    INSERT INTO series_sources (series_id, source_id) VALUES (?, ?) ON CONFLICT DO NOTHING`
  const newest = sql<{ sourceId: number }, [number]>`
    SELECT source_id AS sourceId FROM observations WHERE series_id = ? ORDER BY observed_at DESC LIMIT 1`
  const ofValue = sql<{ sourceId: number }, [number, number, number]>`
    SELECT source_id AS sourceId FROM observations
    WHERE series_id = ?1 AND observed_at = ?2 AND recorded_at = ?3
    UNION ALL
    SELECT source_id FROM observation_revisions
    WHERE series_id = ?1 AND observed_at = ?2 AND recorded_at = ?3
    LIMIT 1`
  const ofCurrent = sql<{ sourceId: number }, [number, number]>`
    SELECT source_id AS sourceId FROM observations WHERE series_id = ? AND observed_at = ?`
  const seriesSources = sql<{ sourceId: number }, [number]>`
    SELECT source_id AS sourceId FROM series_sources WHERE series_id = ? ORDER BY source_id`
  const between = sql<{ sourceId: number }, [number, number, number]>`
    SELECT DISTINCT source_id AS sourceId FROM observations
    WHERE series_id = ? AND observed_at >= ? AND observed_at < ? ORDER BY source_id`
  // Mostly all of them are of one source: to see that takes less than half of sorting them out.
  const anyBetween = sql<{ sourceId: number }, [number, number, number]>`
    SELECT source_id AS sourceId FROM observations
    WHERE series_id = ? AND observed_at >= ? AND observed_at < ? LIMIT 1`
  const otherBetween = sql<{ sourceId: number }, [number, number, number, number]>`
    SELECT source_id AS sourceId FROM observations
    WHERE series_id = ? AND observed_at >= ? AND observed_at < ? AND source_id <> ? LIMIT 1`
  const byInstant = sql<{ at: number; sourceId: number }, [number, number, number]>`
    SELECT observed_at AS at, source_id AS sourceId FROM observations
    WHERE series_id = ? AND observed_at >= ? AND observed_at < ?`
  const series = sql<{ id: number }, []>`SELECT DISTINCT series_id AS id FROM series_sources`
  /** Cached, because there are few sources and every write reads them. */
  let cachedSources: Map<number, ValueSource> | undefined
  // A source that a transaction added is not one when that is rolled back.
  onUndone(db, () => {
    cachedSources = undefined
  })
  const byId = (id: number): ValueSource | undefined => {
    // Another thread may have added one.
    if (!cachedSources || (id !== 0 && !cachedSources.has(id)))
      cachedSources = new Map(all.all().map(source => [source.id, source]))
    return cachedSources.get(id)
  }
  return {
    all: (): ValueSource[] => all.all(),
    byId,
    /** Whether any source gives values of longer periods than these. */
    hasLonger(periodKind: number) {
      byId(0)
      return cachedSources!.values().some(source => source.periodKind > periodKind)
    },
    /** The number of a source, which gets one when it has none yet. */
    idOf({ kind, name, periodKind }: Omit<ValueSource, 'id'>) {
      const find = () =>
        [...cachedSources!.values()].find(
          source =>
            source.kind === kind && source.name === name && source.periodKind === periodKind,
        )
      byId(0)
      const source = find()
      if (source) return source.id
      add.run(kind, name, periodKind)
      cachedSources = undefined
      byId(0)
      return find()!.id
    },
    /** The number of a named source; -1 if it has none yet. */
    named(name: string) {
      byId(0)
      const source = [...cachedSources!.values()].find(
        known => known.kind === 'named' && known.name === name,
      )
      return source?.id ?? -1
    },
    /** Notes that a series has values of a source; inside the transaction that writes them. */
    note: (seriesId: number, sourceId: number) => void note.run(seriesId, sourceId),
    /** The source of the newest observation of a series. */
    ofNewest(seriesId: number): ValueSource | undefined {
      const row = newest.get(seriesId)
      return row ? byId(row.sourceId) : undefined
    },
    /** The source of a current or earlier value; undefined: unknown. */
    ofValue(seriesId: number, observedAt: number, recordedAt: number): ValueSource | undefined {
      const row = ofValue.get(seriesId, observedAt, recordedAt)
      return row ? byId(row.sourceId) : undefined
    },
    ofCurrent(seriesId: number, observedAt: number): ValueSource | undefined {
      const row = ofCurrent.get(seriesId, observedAt)
      return row ? byId(row.sourceId) : undefined
    },
    /** Sources that a series ever had a value of. */
    ofSeries: (seriesId: number): number[] => seriesSources.all(seriesId).map(row => row.sourceId),
    /** The sources of the values in `[from, to)`, read value by value; 0 is unknown. */
    between(seriesId: number, from: number, to: number): number[] {
      const sourceId = anyBetween.get(seriesId, from, to)?.sourceId
      if (sourceId === undefined) return []
      if (!otherBetween.get(seriesId, from, to, sourceId)) return [sourceId]
      return between.all(seriesId, from, to).map(row => row.sourceId)
    },
    /** Those of each value of them, by the instant that it was observed at. */
    byInstant: (...range: [seriesId: number, from: number, to: number]): Map<number, number> =>
      new Map(byInstant.all(...range).map(row => [row.at, row.sourceId])),
    /** Series that ever had a value of any source. */
    everySeries: (): number[] => series.all().map(row => row.id),
  }
}
