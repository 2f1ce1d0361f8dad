import type { Database } from 'bun:sqlite'
import { transact } from '../../../database/database.ts'
import type { Filler } from '../../../demo/filler.ts'
import { type Clock, createSystemClock } from '../../../lib/time/clock.ts'
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
import type { Progress } from '../../prices/demo/progress.ts'
import type { World } from '../../prices/demo/world.ts'
import { dayAfter } from '../../prices/math/window.ts'
import type { WellPermit } from '../store/well-permits.ts'
import type { Well } from '../store/wells.ts'
import { type PermitState, statePlaces } from './permit-places.ts'
import { permitsOn, samplePermit, sampleWell, wellOf, wellOn } from './permit-rows.ts'

/** Days of history, and how many of the last ones are whole. */
export interface PermitReach {
  days: number
  wholeDays: number
}

export interface PermitTarget {
  store: { write(permits: readonly WellPermit[], recordedAt: number): unknown }
  record(permits: readonly WellPermit[], recordedAt: number): unknown
}

export interface WellTarget {
  put(wells: readonly Well[], recordedAt: number): unknown
  unfinished(source: string, permittedSince: string): Well[]
}

/**
 * Every permit of the last days is there; of those before them this share, so that a copy is filled
 * soon.
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

/** When a copy began, as its permits remember it. */
export const permitsBegunName = 'fixture.permits_started_at'

const names = {
  startedAt: permitsBegunName,
  doneTo: 'fixture.permits_to',
  wellsOn: 'fixture.wells_on',
}

/** The list of a state and day, and when it comes out. */
interface DayList {
  state: PermitState
  day: string
  count: number
  at: number
}

export interface PermitFiller extends Required<Filler> {
  /** Whether the history is there. */
  isFilled(): boolean
}

interface PermitFillerDeps {
  seed: number
  world: World
  db: Database
  permits: PermitTarget
  wells: WellTarget
  settings: Progress
  reach?: PermitReach
  clock: Pick<Clock, 'now'>
  /** Measures the budget of a step; the copy's own clock may stand still. */
  stopwatch?: Pick<Clock, 'monotonic'>
}

/**
 * Permits in 26 states, as many a day as the catalogue's series of them say, and what becomes of
 * the wells. Nevada and New York publish by the quarter, so that a copy has states whose list has
 * fallen behind.
 */
export function createPermitFiller(deps: PermitFillerDeps): PermitFiller {
  const { clock, stopwatch = createSystemClock() } = deps
  const span = createFilledSpan(deps)
  const writes = createPermitWrites(deps, span)
  const { isFilled } = span
  return {
    isFilled,
    step(budgetMs) {
      const until = stopwatch.monotonic() + budgetMs
      while (!isFilled()) {
        writes.fill(clock.now())
        if (stopwatch.monotonic() >= until) break
      }
      return !isFilled()
    },
    advance(now) {
      if (!isFilled()) return 0
      const count = writes.publish(now)
      followWells(deps, now)
      return count
    },
  }
}

/** From where the history reaches, and up to where everything has come out. */
function createFilledSpan({ settings, clock, reach = fullReach }: PermitFillerDeps) {
  const startedAt = (): number => {
    const stored = settings.get(names.startedAt)
    if (stored !== undefined) return Number(stored)
    settings.set(names.startedAt, String(clock.now()))
    return clock.now()
  }
  const begin = () => startOfDay(startedAt()) - reach.days * dayMs
  const doneTo = () => Number(settings.get(names.doneTo) ?? begin())
  return {
    startedAt,
    begin,
    doneTo,
    isFilled: () => doneTo() >= startedAt(),
    setDoneTo: (at: number) => settings.set(names.doneTo, String(at)),
  }
}

/** Writes the permits of lists that have come out, with the wells that they are of. */
function createPermitWrites(
  { seed, world, db, permits, wells, settings, reach = fullReach }: PermitFillerDeps,
  { startedAt, begin, doneTo, setDoneTo }: ReturnType<typeof createFilledSpan>,
) {
  const lists = dayLists(seed, world)
  const permitsOf = ({ state, day, count, at }: DayList): WellPermit[] => {
    const dayAt = parseDay(day)!
    const isWhole = dayAt >= startedAt() - reach.wholeDays * dayMs
    const sampledCount = isWhole
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
  const sample = () => {
    const state = statePlaces.find(({ code }) => code === sampleWell.state)!
    return samplePermit(seed, state, isoDay(begin()), begin())
  }
  let lookedAt = Number.NEGATIVE_INFINITY
  return {
    /** One slice of the history. */
    fill(now: number): void {
      const from = doneTo()
      const to = Math.min(from + sliceDays * dayMs, startedAt())
      const rows = lists(from, to).flatMap(permitsOf)
      if (from === begin()) rows.unshift(sample())
      transact(db, () => {
        permits.store.write(rows, now)
        wells.put(wellsOf(rows, isoDay(now)), now)
        setDoneTo(to)
        // As the wells stand today; what an image brought is of the day on which it was made.
        if (from === begin()) settings.set(names.wellsOn, isoDay(now))
      })
    },
    /** The lists that have come out since; answers how many permits they have. */
    publish(now: number): number {
      // The clock may have been set back since.
      if (now >= lookedAt && now < lookedAt + minuteMs) return 0
      lookedAt = now
      let count = 0
      for (const list of lists(doneTo(), now).toSorted((a, b) => a.at - b.at)) {
        const rows = permitsOf(list)
        if (rows.length === 0) continue
        transact(db, () => {
          permits.record(rows, list.at)
          wells.put(wellsOf(rows, isoDay(now)), list.at)
        })
        count += rows.length
      }
      // Not without permits: a span in which nothing came out can be asked again, and a quiet
      // second should not cost a transaction.
      if (count > 0) setDoneTo(now)
      return count
    },
  }
}

/** What became of the wells since yesterday. */
function followWells({ seed, db, wells, settings }: PermitFillerDeps, now: number): void {
  const today = isoDay(now)
  if (settings.get(names.wellsOn) === today) return
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
  transact(db, () => {
    wells.put(changed, now)
    settings.set(names.wellsOn, today)
  })
}

/** What comes out in a span of time `[from, to)`, by state and day. */
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
    const exists = seriesExist.get(code) ?? world.observations(code, to - 14 * dayMs, to).length > 0
    seriesExist.set(code, exists)
    return exists
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
