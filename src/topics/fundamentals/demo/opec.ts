import { type DemoData, writtenAtOnce } from '../../../demo/demo-data.ts'
import { dayMs, isoDay, parseDay } from '../../../lib/time/instant.ts'
import { monthAfter, monthOf } from '../../calendars/math/period.ts'
import { generatedSource } from '../../catalogue/math/catalogue.ts'
import { createPath } from '../../prices/demo/path.ts'
import type { World } from '../../prices/demo/world.ts'
import type { Observation } from '../../prices/math/bars.ts'
import type { OpecProduction } from '../dataset/opec-productions.ts'
import { opecMembers, shareOut } from '../math/opec.ts'
import type { OpecStore } from '../store/opec.ts'

/** The series that the countries add up to, which comes out on the 15th, of the month before. */
const totalCode = 'OPEC_PRODUCTION'
const barrelsEach = 1e6

/** Usual production in thousand barrels a day, in the order of the members. */
const usual = [9100, 4150, 3200, 3250, 2450, 1450, 1200, 920, 880, 260, 210, 60]
const halfLifeDays = 500
const weight = 0.08
const stepBpd = 1000

/** The production of each country, published with the generated total and adding up to it. */
export function createOpecData(deps: { seed: number; world: World; opec: OpecStore }): DemoData {
  const { seed, world, opec } = deps
  const paths = opecMembers.map(country => createPath(seed, `opec/${country}`, halfLifeDays, false))

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
  const write = (totals: readonly Observation[], now: number): number => {
    if (totals.length === 0) return 0
    const knownMonths = new Set(opec.months())
    const missing = totals
      .flatMap(monthOfTotal)
      .filter(production => !knownMonths.has(production.month))
    if (missing.length > 0) opec.write(missing, now)
    return missing.length
  }
  return {
    percent: 1,
    generate: now => writtenAtOnce(() => write(world.history(totalCode, now), now)),
    publish: (from, to) => write(world.observations(totalCode, from, to), to),
  }
}
