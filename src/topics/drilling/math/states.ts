import { usStates } from '../../geography/math/us-states.ts'

export interface DrillingState {
  code: string
  name: string
  /** Lower case with dashes, as addresses have it. */
  slug: string
  /** Keys of the basins that reach into it, the leading one first. */
  basins: readonly string[]
}

/** States of the basins that are named; every other state has `other` alone. */
const basinsByState: Readonly<Record<string, readonly string[]>> = {
  TX: ['permian', 'eagle_ford', 'haynesville', 'anadarko', 'other'],
  NM: ['permian', 'other'],
  ND: ['bakken', 'other'],
  MT: ['bakken', 'other'],
  LA: ['haynesville', 'other'],
  AR: ['haynesville', 'other'],
  PA: ['marcellus', 'appalachia_other'],
  WV: ['marcellus', 'appalachia_other'],
  OH: ['appalachia_other'],
  NY: ['marcellus', 'appalachia_other'],
  CO: ['dj_niobrara', 'other'],
  WY: ['dj_niobrara', 'other'],
  NE: ['dj_niobrara', 'other'],
  OK: ['anadarko', 'other'],
  KS: ['anadarko', 'other'],
}

export const states: readonly DrillingState[] = usStates.map(({ code, name }) => ({
  code,
  name,
  slug: name.toLowerCase().replaceAll(' ', '-'),
  basins: basinsByState[code] ?? ['other'],
}))

const byCode = new Map(states.map(state => [state.code, state]))
const bySlug = new Map(states.map(state => [state.slug, state]))

/** A state by its two letters or its name, in any case, with dashes, underscores or spaces. */
export function stateOf(text: string): DrillingState | undefined {
  const trimmed = text.trim()
  return (
    byCode.get(trimmed.toUpperCase()) ??
    bySlug.get(trimmed.toLowerCase().replaceAll(/[\s_-]+/g, '-'))
  )
}

/** Two-letter codes of the states that a basin leads in: each state is led by one. */
export const statesLedBy = (basin: string): string[] =>
  states.filter(state => state.basins[0] === basin).map(state => state.code)
