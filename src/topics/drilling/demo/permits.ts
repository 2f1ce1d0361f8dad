import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import type { DemoData } from '../../../demo/demo-data.ts'
import {
  dayMs,
  hourMs,
  isoDay,
  minuteMs,
  parseDay,
  startOfDay,
  weekdayOf,
} from '../../../lib/time/instant.ts'
import { generatedSource } from '../../catalogue/math/catalogue.ts'
import { permitStateOf } from '../../geography/math/us-states.ts'
import { draw, keyOf, uniform } from '../../prices/demo/noise.ts'
import type { World } from '../../prices/demo/world.ts'
import { dayAfter } from '../../prices/math/window.ts'
import type { WellPermit } from '../dataset/permits.ts'
import type { Permits } from '../service/permits.ts'
import type { WellStore } from '../store/wells.ts'
import { type PermitState, statePlaces } from './permit-places.ts'
import { permitsOn, samplePermit, sampleWell, wellOf, wellOn } from './permit-rows.ts'

/** Days of history, and how many of the last ones are whole. */
export interface PermitReach {
  days: number
  wholeDays: number
}

/**
 * Every permit of the last days is there, and this share of those before them, so that the file
 * stays small.
 */
const sampledShare = 0.05
const fullReach: PermitReach = { days: 3 * 365 + 1, wholeDays: 90 }
/** Days of history that are written in one transaction. */
const sliceDays = 20
/** Where the catalogue has no series the list of a day comes out in its evening. */
const listHour = 22
/** Quarterly lists come out so long after the end of the quarter. */
const quarterlyLagDays = 35
/** A well that has not produced by then never will. */
const unfinishedDays = 500

/** The list of a state and day, and when it comes out. */
interface DayList {
  state: PermitState
  day: string
  count: number
  at: number
}

interface PermitDataDeps {
  seed: number
  world: World
  db: Database
  permits: Pick<Permits, 'store' | 'record'>
  wells: Pick<WellStore, 'put' | 'unfinished'>
  reach?: PermitReach
}

/**
 * Permits in 26 states, as many a day as in the catalogue's series of permits, and the later states
 * of the wells. Nevada and New York publish by the quarter, so that there are states whose list has
 * fallen behind.
 */
export function createPermitData(deps: PermitDataDeps): DemoData {
  const { seed, world, db, permits, wells, reach = fullReach } = deps
  const lists = dayLists(seed, world)
  /** The permits of a list; for a list before `wholeFrom` a sample. */
  const permitsOf = ({ state, day, count, at }: DayList, wholeFrom: number): WellPermit[] => {
    const dayAt = parseDay(day)!
    const sampledCount =
      dayAt >= wholeFrom
        ? count
        : Math.floor(
            count * sampledShare + uniform(keyOf(`${seed}/sample/${state.code}`), dayAt / dayMs),
          )
    return permitsOn(seed, state, day, sampledCount, at).filter(
      permit => permit.apiNumber !== sampleWell.apiNumber,
    )
  }
  const wellsOf = (rows: readonly WellPermit[], today: string) =>
    rows.flatMap(permit => wellOf(seed, permit, today) ?? [])
  const sample = (at: number) => {
    const state = statePlaces.find(({ code }) => code === sampleWell.state)!
    return samplePermit(seed, state, isoDay(at), at)
  }
  return {
    percent: 6,
    *generate(now) {
      const start = startOfDay(now) - reach.days * dayMs
      for (let from = start; from < now; from += sliceDays * dayMs) {
        const to = Math.min(from + sliceDays * dayMs, now)
        const rows = lists(from, to).flatMap(list => permitsOf(list, now - reach.wholeDays * dayMs))
        if (from === start) rows.unshift(sample(start))
        transact(db, () => {
          permits.store.write(rows, now)
          wells.put(wellsOf(rows, isoDay(now)), now)
        })
        yield (to - start) / (now - start)
      }
    },
    publish(from, to) {
      let count = 0
      for (const list of lists(from, to).toSorted((a, b) => a.at - b.at)) {
        const rows = permitsOf(list, Number.NEGATIVE_INFINITY)
        if (rows.length === 0) continue
        transact(db, () => {
          permits.record(rows, list.at)
          wells.put(wellsOf(rows, isoDay(to)), list.at)
        })
        count += rows.length
      }
      return isoDay(from) === isoDay(to) ? count : count + followWells(deps, to)
    },
  }
}

/** Writes what became of the wells by the day of `now`; returns how many changed. */
function followWells({ seed, wells }: PermitDataDeps, now: number): number {
  const today = isoDay(now)
  const changed = wells
    .unfinished(generatedSource, dayAfter(today, -unfinishedDays))
    .flatMap(well => {
      const updated = wellOn(seed, well, today)
      const isSame =
        updated.spudOn === well.spudOn &&
        updated.completedOn === well.completedOn &&
        updated.firstProductionOn === well.firstProductionOn
      return isSame ? [] : [updated]
    })
  if (changed.length > 0) wells.put(changed, now)
  return changed.length
}

/** The lists published in a span of time `[from, to)`, by state and day. */
function dayLists(seed: number, world: World) {
  const bySeries = (state: PermitState, code: string, from: number, to: number): DayList[] =>
    world.observations(code, from, to).map(({ observedAt, recordedAt, value }) => ({
      state,
      day: isoDay(observedAt),
      count: Math.max(0, Math.round(value)),
      at: recordedAt,
    }))
  const countOn = (state: PermitState, dayAt: number): number => {
    const key = keyOf(`${seed}/lists/${state.code}`)
    const slot = (2 * dayAt) / dayMs
    return weekdayOf(dayAt) > 5
      ? 0
      : Math.floor(state.daily * 2 * uniform(key, slot) + uniform(key, slot + 1))
  }
  const byDay = (state: PermitState, from: number, to: number): DayList[] => {
    const dayLists: DayList[] = []
    const lag = state.isQuarterly ? (92 + quarterlyLagDays + 1) * dayMs : dayMs
    for (let dayAt = startOfDay(from - lag); dayAt < to; dayAt += dayMs) {
      const at = state.isQuarterly
        ? quarterEndAfter(dayAt) + quarterlyLagDays * dayMs
        : dayAt + listHour * hourMs + (draw(keyOf(state.code), dayAt / dayMs) % (30 * minuteMs))
      if (at >= from && at < to)
        dayLists.push({ state, day: isoDay(dayAt), count: countOn(state, dayAt), at })
    }
    return dayLists
  }
  const seriesExist = new Map<string, boolean>()
  const hasSeries = (code: string, to: number) => {
    return seriesExist.getOrInsertComputed(
      code,
      () => world.observations(code, to - 14 * dayMs, to).length > 0,
    )
  }
  return (from: number, to: number): DayList[] =>
    statePlaces
      .flatMap(state => {
        const code = `${permitStateOf(state.code)!.name.toUpperCase().replaceAll(' ', '_')}_WELL_PERMITS`
        return !state.isQuarterly && hasSeries(code, to)
          ? bySeries(state, code, from, to)
          : byDay(state, from, to)
      })
      .filter(list => list.count > 0)
}

/** Midnight after the last day of the quarter that a day is in. */
function quarterEndAfter(dayAt: number): number {
  const [year, month] = [Number(isoDay(dayAt).slice(0, 4)), Number(isoDay(dayAt).slice(5, 7))]
  return Date.UTC(year, Math.ceil(month / 3) * 3, 1)
}
