import type { Filler } from '../../../demo/filler.ts'
import { dayMs, isoDay, minuteMs, parseDay } from '../../../lib/time/instant.ts'
import { monthAfter, monthOf } from '../../calendars/math/period.ts'
import { releasedAt, scheduleOf } from '../../calendars/math/schedule.ts'
import { generatedSource } from '../../catalogue/math/catalogue.ts'
import { createPath } from '../../prices/demo/path.ts'
import type { Observation, World } from '../../prices/demo/world.ts'
import { opecMembers, shareOut } from '../math/opec.ts'
import type { OpecProduction, OpecStore } from '../store/opec.ts'

/**
 * The series that the countries add up to, and when it comes out: on the 15th, of the month before.
 */
const listing = { code: 'OPEC_PRODUCTION', category: 'supply_demand', cadence: 'monthly' } as const
const barrelsEach = 1e6

/** Usual production in thousand barrels a day, in the order of the members. */
const usual = [9100, 4150, 3200, 3250, 2450, 1450, 1200, 920, 880, 260, 210, 60]
const halfLifeDays = 500
const weight = 0.08
const stepBpd = 1000

/**
 * What each country produced, published with the total of the fixture world and adding up to it.
 */
export function createOpecFiller(deps: {
  seed: number
  world: World
  opec: OpecStore
  now(): number
}): Filler {
  const { seed, world, opec } = deps
  const paths = opecMembers.map(country => createPath(seed, `opec/${country}`, halfLifeDays, false))
  const schedule = scheduleOf(listing)
  let dueAt = Number.NEGATIVE_INFINITY

  const weightOn = (i: number, day: number): number => {
    const out = new Float64Array(1)
    paths[i]!.addTo(out, day, weight, true)
    return usual[i]! * Math.exp(out[0]!)
  }
  const monthOfTotal = ({
    observedAt,
    value: total,
    recordedAt,
  }: Observation): OpecProduction[] => {
    const month = monthAfter(monthOf(isoDay(observedAt)), -1)
    const day = parseDay(`${month}-15`)! / dayMs
    const parts = shareOut(
      Math.round(total * barrelsEach),
      opecMembers.map((_, i) => weightOn(i, day)),
      stepBpd,
    )
    return opecMembers.map((country, i) => ({
      country,
      month,
      bpd: parts[i]!,
      source: generatedSource,
      recordedAt,
    }))
  }

  /** Imported months are kept. */
  const publish = (now: number): number => {
    if (now < dueAt) return 0
    const knownMonths = new Set(opec.months())
    const published = world.history(listing.code, now)
    const missing = published
      .flatMap(monthOfTotal)
      .filter(production => !knownMonths.has(production.month))
    if (missing.length > 0) opec.write(missing, now)
    const last = published.at(-1)
    const next =
      last &&
      parseDay(`${monthAfter(monthOf(isoDay(last.observedAt)), 1)}-15`)! +
        schedule.minutes[0]! * minuteMs
    dueAt = next === undefined ? now : releasedAt(schedule, next)
    return missing.length
  }
  return { step: () => publish(deps.now()) > 0, advance: publish }
}
