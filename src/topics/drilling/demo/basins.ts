import { otherStates } from '../math/drilling.ts'
import type { RigHabit } from './rig-types.ts'

export const basinHabits: Readonly<Record<string, RigHabit>> = {
  permian: { oil: 0.985, misc: 0.002 },
  eagle_ford: { oil: 0.88, misc: 0.002 },
  bakken: { oil: 0.99, misc: 0.001 },
  haynesville: { oil: 0.02, misc: 0.002 },
  marcellus: { oil: 0.01, misc: 0.002 },
  dj_niobrara: { oil: 0.95, misc: 0.002 },
  anadarko: { oil: 0.72, misc: 0.01 },
  appalachia_other: { oil: 0.42, misc: 0.005 },
  other: { oil: 0.6, misc: 0.05 },
}

/** The states that are counted by name; the rest is in one. */
export const stateHabits: Readonly<Record<string, RigHabit>> = {
  TX: { oil: 0.87, misc: 0.005 },
  NM: { oil: 0.98, misc: 0.004 },
  ND: { oil: 0.99, misc: 0.002 },
  OK: { oil: 0.74, misc: 0.01 },
  LA: { oil: 0.25, misc: 0.01 },
  PA: { oil: 0.01, misc: 0.002 },
  OH: { oil: 0.45, misc: 0.004 },
  WV: { oil: 0.01, misc: 0.002 },
  CO: { oil: 0.95, misc: 0.004 },
  WY: { oil: 0.85, misc: 0.01 },
  UT: { oil: 0.96, misc: 0.05 },
  AK: { oil: 0.9, misc: 0.02 },
  CA: { oil: 0.9, misc: 0.08 },
  [otherStates]: { oil: 0.6, misc: 0.12 },
}

/** How much of a basin's crews and wells are in each state. */
export const stateShares: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  permian: { TX: 0.7, NM: 0.3 },
  eagle_ford: { TX: 1 },
  bakken: { ND: 0.95, [otherStates]: 0.05 },
  haynesville: { LA: 0.62, TX: 0.38 },
  marcellus: { PA: 0.82, WV: 0.18 },
  dj_niobrara: { CO: 0.75, WY: 0.25 },
  anadarko: { OK: 0.85, TX: 0.15 },
  appalachia_other: { OH: 0.8, PA: 0.1, WV: 0.1 },
  other: { TX: 0.2, LA: 0.15, WY: 0.15, UT: 0.15, CA: 0.1, AK: 0.1, [otherStates]: 0.15 },
}
export const sharedStates = [
  ...new Set(Object.values(stateShares).flatMap(shares => Object.keys(shares))),
]

/**
 * Drilling productivity of a basin: new wells per rig, and all wells; oil in barrels a day, gas in
 * thousand cubic feet a day.
 */
export interface Yield {
  newWellOil: number
  newWellGas: number
  totalOil: number
  totalGas: number
}

export const yields: Readonly<Record<string, Yield>> = {
  permian: { newWellOil: 1410, newWellGas: 2650, totalOil: 6_550_000, totalGas: 27_500_000 },
  eagle_ford: { newWellOil: 1480, newWellGas: 5600, totalOil: 1_120_000, totalGas: 6_900_000 },
  bakken: { newWellOil: 1890, newWellGas: 2900, totalOil: 1_190_000, totalGas: 3_450_000 },
  haynesville: { newWellOil: 15, newWellGas: 11_600, totalOil: 32_000, totalGas: 15_900_000 },
  marcellus: { newWellOil: 60, newWellGas: 24_500, totalOil: 60_000, totalGas: 27_200_000 },
  dj_niobrara: { newWellOil: 2050, newWellGas: 4600, totalOil: 690_000, totalGas: 5_300_000 },
  anadarko: { newWellOil: 1010, newWellGas: 6400, totalOil: 385_000, totalGas: 6_700_000 },
  appalachia_other: { newWellOil: 610, newWellGas: 16_900, totalOil: 95_000, totalGas: 8_900_000 },
}
