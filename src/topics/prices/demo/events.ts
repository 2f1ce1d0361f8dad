import type { Observation } from '../math/bars.ts'
import type { Depth } from './history-depth.ts'
import type { WorldSeries } from './series.ts'
import type { World } from './world.ts'

/** An additional move of generated prices; it decays by half-lives. */
export interface Shock {
  codes: readonly string[]
  /** From when, Unix ms: earlier observations stay. */
  at: number
  halfLifeMs: number
  /** The factor that prices are multiplied by at first, or the price that all of them move to. */
  to: { factor: number } | { price: number }
}

/** A release that comes late: what would be published in `[from, to)` is published `byMs` later. */
export interface Delay {
  codes: readonly string[]
  from: number
  to: number
  byMs: number
}

/** Changes the prices for delivery in `[from, to)`, from the first publication on. */
export interface Spell {
  codes: readonly string[]
  from: number
  to: number
  factor: number
  add: number
}

/** Events that were applied to the generated market, oldest first. */
export interface Events {
  shocks: readonly Shock[]
  delays: readonly Delay[]
  /** Absent in states saved by versions without spells. */
  spells?: readonly Spell[]
}

/** Stores the events in the same database as the data, so that a restored state has its own. */
export type EventLog = ReturnType<typeof createEventLog>

const settingName = 'fixture.events'
const none: Events = { shocks: [], delays: [] }

export function createEventLog(settings: {
  get(name: string): string | undefined
  set(name: string, value: string): void
}) {
  /** No other process writes them, and every generated observation needs them. */
  let cached: Events | undefined
  const all = (): Events => {
    if (cached) return cached
    const text = settings.get(settingName)
    cached = text === undefined ? none : (JSON.parse(text) as Events)
    return cached
  }
  return {
    all,
    add({ shocks = [], delays = [], spells = [] }: Partial<Events>) {
      const before = all()
      const events: Events = {
        shocks: [...before.shocks, ...shocks],
        delays: [...before.delays, ...delays],
        spells: [...(before.spells ?? []), ...spells],
      }
      settings.set(settingName, JSON.stringify(events))
      cached = undefined
    },
  }
}

/** The value that an observation has after the shocks of its code. */
export function shockedValue(value: number, observedAt: number, shocks: readonly Shock[]): number {
  return shocks.reduce((price, { at, halfLifeMs, to }) => {
    if (observedAt < at) return price
    const share = 0.5 ** ((observedAt - at) / halfLifeMs)
    return 'factor' in to ? price * to.factor ** share : price + (to.price - price) * share
  }, value)
}

/** The generated market with its events. Without events it is unchanged. */
export function withEvents(world: World, series: readonly WorldSeries[], events: EventLog): World {
  const scaleOf = new Map(series.map(series => [series.code, 10 ** series.decimals]))

  const shocked = (code: string, observations: Observation[]): Observation[] => {
    const { shocks: allShocks, spells: allSpells = [] } = events.all()
    const shocks = allShocks.filter(shock => shock.codes.includes(code))
    const spells = allSpells.filter(spell => spell.codes.includes(code))
    if (shocks.length + spells.length === 0) return observations
    const scale = scaleOf.get(code) ?? 1
    return observations.map(observation => {
      const { observedAt } = observation
      const spelled = spells
        .filter(({ from, to }) => observedAt >= from && observedAt < to)
        .reduce((value, { factor, add }) => value * factor + add, observation.value)
      const value = Math.round(shockedValue(spelled, observedAt, shocks) * scale) / scale
      return { ...observation, value }
    })
  }

  const observations = (code: string, from: number, to: number, depth?: Depth): Observation[] => {
    const delays = events.all().delays.filter(delay => delay.codes.includes(code))
    if (delays.length === 0) return shocked(code, world.observations(code, from, to, depth))
    const longestMs = Math.max(...delays.map(delay => delay.byMs))
    const published = world.observations(code, from - longestMs, to, depth).map(observation => {
      const delay = delays.find(
        ({ from, to }) => observation.recordedAt >= from && observation.recordedAt < to,
      )
      return delay
        ? { ...observation, recordedAt: observation.recordedAt + delay.byMs }
        : observation
    })
    return shocked(
      code,
      published.filter(entry => entry.recordedAt >= from && entry.recordedAt < to),
    )
  }

  return {
    observations,
    history: (code, now) => shocked(code, world.history(code, now)),
    // An event invalidates cached values after it.
    changes: () => events.all().shocks.length + (events.all().spells ?? []).length,
  }
}
