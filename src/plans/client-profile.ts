import type { SwitchName } from './switches.ts'

/** A request header and what its text must fit, in any letter case. */
export interface HeaderMatch {
  header: string
  pattern: RegExp
}

/** The shapes that one sort of client gets. */
export interface ClientProfile {
  name: string
  /** All of them must fit. */
  match: readonly HeaderMatch[]
  switches: ReadonlySet<SwitchName>
  retryAfterCapSeconds: number
}
