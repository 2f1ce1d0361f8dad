import type { ManualClock } from '../lib/time/clock.ts'
import type { Faults } from './faults.ts'
import type { RequestLog } from './request-log.ts'

/** Options of a scenario. All have defaults. */
export interface ScenarioOptions {
  /** `revision`, `late-release`: the code it is about. */
  code?: string
  /** `quota-edge`: how many requests are left of the free plan's day. */
  remaining?: number
  /** `dst`: whose clocks change, an IANA zone. */
  zone?: string
}

/** The result of a scenario, for the caller. */
export interface Played {
  /** One sentence. */
  done: string
  /** Its end, or its course as the clock moves. */
  after: string
  /** The subjects of the scenario: codes, moments, values, an account with its key. */
  details: Readonly<Record<string, unknown>>
}

/** An option that cannot be followed: nothing was done. */
export interface ScenarioFault {
  field: keyof ScenarioOptions
  fault: string
}

/** A situation that clients must cope with. */
export interface Scenario {
  name: string
  /** The visible effect after it was played. */
  description: string
  options: readonly (keyof ScenarioOptions)[]
  play(options: ScenarioOptions): Promise<Played | ScenarioFault>
}

/** The controls of a demo instance for developers. */
export interface DevControls {
  clock: ManualClock
  /** The account of visitors on this machine; undefined: visitors sign in. */
  visitorAccount: string | undefined
  /** Moves the clock forward and runs every job that falls due on the way, in order. */
  advance(to: number): Promise<void>
  feed: { paused: boolean; readonly codes: number }
  faults: Faults
  /** The latest requests, with the reasons of refusals. */
  requests: RequestLog
  /** Situations that can be brought about, by name. */
  scenarios: readonly Scenario[]
  /** Sends due messages, so that the effects of an action can be checked. */
  settle(): Promise<void>
  /** Keeps the state under a name, goes back to it, or to the start. */
  snapshot(name: string): Promise<SnapshotRefusal | undefined>
  /** Deletes a state; false: there is not one of that name. */
  dropSnapshot(name: string): boolean
  restore(name: string): Promise<boolean>
  reset(): Promise<void>
}

/** Why a state is not kept under another name. */
export interface SnapshotRefusal {
  /** The states that there are. */
  names: readonly string[]
  /** The limit that it would exceed, in words. */
  limit: string
}
