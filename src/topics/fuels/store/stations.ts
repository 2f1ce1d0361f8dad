import type { Database } from 'bun:sqlite'
import { selected } from '../../../database/clause.ts'
import { transact } from '../../../database/database.ts'
import { statements } from '../../../database/statement.ts'
import { countsOf, type WriteOutcome } from '../../../database/write-counts.ts'
import { boxAround, milesBetween, type Place, spansOf } from '../../geography/math/geography.ts'
import { dieselStations, type Station } from '../dataset/diesel-stations.ts'

export interface StationNearby extends Station {
  id: number
  /** Along the great circle. */
  miles: number
}

export type StationStore = ReturnType<typeof createStationStore>

interface Row extends Omit<Station, 'fuelTypes'> {
  id: number
  fuelTypes: string
}

const { stored } = dieselStations
const columns = selected(stored)
const names = Object.values(stored)
/**
 * Both trees and tables have them in millionths, so that the search and the measured distance
 * agree.
 */
const degree = 1e6

const rowOf = (station: Station) => ({ ...station, fuelTypes: station.fuelTypes.join(' ') })
const stationOf = (row: Row) => ({ ...row, fuelTypes: row.fuelTypes.split(' ').filter(Boolean) })

export function createStationStore(db: Database) {
  const sql = statements(db)
  const known = sql<Row, [string]>`SELECT id, ${columns} FROM diesel_stations WHERE reference = ?`
  const put = sql<{ id: number }, Record<string, string | number>[]>`
    INSERT INTO diesel_stations (${names.join(', ')}, recorded_at)
    VALUES (${Object.keys(stored)
      .map(field => `$${field}`)
      .join(', ')}, $recordedAt)
    ON CONFLICT (reference) DO UPDATE SET
      ${[...names, 'recorded_at'].map(name => `${name} = excluded.${name}`).join(', ')}
    RETURNING id`
  const unplace = sql`DELETE FROM diesel_station_places WHERE id = ?`
  const place = sql`INSERT INTO diesel_station_places VALUES (?1, ?2, ?2, ?3, ?3)`
  // The tree first: it holds few of the many.
  const inside = sql<Row, number[]>`
    SELECT s.id, ${columns} FROM diesel_station_places p CROSS JOIN diesel_stations s ON s.id = p.id
    WHERE p.south >= ? AND p.north <= ? AND p.west >= ? AND p.east <= ?`

  const writeStation = (station: Station, recordedAt: number): WriteOutcome => {
    const { reference, latitude, longitude, observedAt } = station
    const old = known.get(reference)
    const row = rowOf(station)
    if (
      old &&
      (old.observedAt > observedAt ||
        Object.entries(row).every(([name, value]) => old[name as keyof Row] === value))
    )
      return 'unchanged'
    const { id } = put.get({ ...row, recordedAt })!
    if (!old || old.latitude !== latitude || old.longitude !== longitude) {
      unplace.run(id)
      place.run(id, Math.round(latitude * degree), Math.round(longitude * degree))
    }
    return old ? 'revised' : 'inserted'
  }

  return {
    /**
     * One transaction. The same station with the same price is unchanged, and so is one whose price
     * is older than the stored one; anything else replaces the station under its reference.
     */
    write: (stations: readonly Station[], recordedAt: number) =>
      transact(db, () => countsOf(stations.map(station => writeStation(station, recordedAt)))),
    /**
     * Within a distance, the nearest first, and how many there are; of equally near ones the one that
     * was stored first.
     */
    near(centre: Place, radiusMiles: number, limit: number) {
      const box = boxAround({ ...centre, radiusMiles })
      const [south, north] = [Math.floor(box.south * degree), Math.ceil(box.north * degree)]
      const stations = spansOf(box)
        .flatMap(([west, east]) =>
          inside.all(south, north, Math.floor(west * degree), Math.ceil(east * degree)),
        )
        .map(row => ({ ...stationOf(row), miles: milesBetween(centre, row) }))
        .filter(station => station.miles <= radiusMiles)
        .sort((a, b) => a.miles - b.miles || a.id - b.id)
      return { stations: stations.slice(0, limit), total: stations.length }
    },
  }
}
