import type { Database } from 'bun:sqlite'
import type { Ids } from '../lib/ids.ts'
import type { Log } from '../lib/log/log.ts'
import type { LogTail } from '../lib/log/log-tail.ts'
import type { Clock } from '../lib/time/clock.ts'
import type { Config } from './config.ts'

/** The dependencies of every service, passed as arguments and never as globals. */
export interface Runtime {
  db: Database
  config: Config
  clock: Clock
  ids: Ids
  log: Log
  /** The newest lines of the log, where a server keeps them for its operator. */
  logTail?: LogTail
  /** The key that the vault seals with. */
  masterKey: string
  /**
   * The clock for the lifetime of sign-ins, where users can move `clock`: moving it must sign no
   * one out. Defaults to `clock`.
   */
  sessionClock?: Clock
  /** Measures how long work takes, by default in real time. Tests stop it. */
  stopwatch?: Clock
  /** Waits the given milliseconds before a publisher is polled again; by default in real time. */
  wait?: (ms: number) => Promise<void>
}

/** The runtime of an instance before its directory is opened. */
export interface ProcessRuntime extends Omit<Runtime, 'db' | 'masterKey'> {
  /** Replaces data that is sealed with another master key: the operator confirmed that. */
  takesNewMasterKey?: boolean
  /** Replaces a lost database by an empty one: the operator confirmed that. */
  takesNewDatabase?: boolean
}
