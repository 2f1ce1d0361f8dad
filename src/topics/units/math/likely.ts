import { productOf, targetUnits, unitsPer, wholeUnit } from './units.ts'

/** The likely unit of a value, and the factor that converts it to the unit of its series. */
export interface LikelyUnit {
  name: string
  scale: number
}

/** The facts about a series from which the usual range of its values follows. */
export interface Measured {
  code: string
  category: string
  currency: string | null
  unit: string
  /** A typical value. */
  level: number
}

/** A converted value is plausible within this factor of its level, up or down. */
const believedTimes = 3

const price = (unit: string) => `a price per ${unit.replaceAll('_', ' ')}`

/** Smaller counts of what stocks and flows are counted in. */
const smaller: Readonly<Record<string, readonly LikelyUnit[]>> = {
  million_barrels: [
    { name: 'thousand barrels', scale: 0.001 },
    { name: 'barrels', scale: 0.000_001 },
  ],
  million_barrels_per_day: [
    { name: 'thousand barrels a day', scale: 0.001 },
    { name: 'barrels a day', scale: 0.000_001 },
  ],
  bcf: [
    { name: 'million cubic feet', scale: 0.001 },
    { name: 'trillion cubic feet', scale: 1000 },
  ],
  bcf_per_day: [{ name: 'million cubic feet a day', scale: 0.001 }],
  metric_kilotons: [{ name: 'metric tons', scale: 0.001 }],
}

/**
 * The unit that makes a value one that its series could have: the one that brings it nearest to its
 * level. Undefined where the value is not above zero or nothing brings it near.
 */
export function likelyUnit(series: Measured, value: number): LikelyUnit | undefined {
  const { level } = series
  if (!(value > 0 && level > 0)) return undefined
  const distance = ({ scale }: LikelyUnit) => Math.abs(Math.log((value * scale) / level))
  return candidatesOf(series)
    .filter(unit => distance(unit) <= Math.log(believedTimes))
    .toSorted((a, b) => distance(a) - distance(b))[0]
}

function candidatesOf({ code, category, currency, unit }: Measured): LikelyUnit[] {
  if (currency === null) return [...(smaller[unit] ?? [])]
  const { unit: whole, perWhole } = wholeUnit(unit)
  const product = productOf(code, category)
  const others = targetUnits.flatMap(other => {
    const scale = other === whole ? undefined : unitsPer(other, whole, product)
    return scale === undefined
      ? []
      : [{ name: price(other), scale: Number((scale * perWhole).toPrecision(6)) }]
  })
  const hundredths = perWhole === 1 ? [{ name: 'hundredths of the currency', scale: 0.01 }] : []
  return [...others, ...hundredths]
}
