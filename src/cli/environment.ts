import type { InstalledPaths } from '../config/config.ts'
import type { LostListener } from '../lib/process/output.ts'

/**
 * The environment of a command line: variables, a directory, streams and the end of the process.
 */
export interface ProgramEnvironment {
  env: Record<string, string | undefined>
  directory: string
  /** The defaults of the package that installed this program. */
  installed?: InstalledPaths | undefined
  out(line: string): void
  err(line: string): void
  /** Reports lines that `err` lost. */
  onLost?(listener: LostListener): void
  /** Writes text unchanged, for streamed output. */
  write(text: string): void | Promise<void>
  stdin: AsyncIterable<Uint8Array>
  terminal: NodeJS.WritableStream | undefined
  /** A person reads standard output. */
  isTerminal?: boolean
  /** Whether the user can be prompted: standard input and standard error are a terminal. */
  canAsk?: boolean
  /** Columns of the terminal that output goes to; undefined where it goes elsewhere. */
  width?: number | undefined
  /**
   * Lowers the priority of the process; absent where the process does not belong to the command.
   */
  yieldTurn?(): void
  onStop(listener: () => void): void
  exit(code: number): never
}
