import { programOf } from '../../src/cli/all-commands.ts'
import type { ProgramEnvironment } from '../../src/cli/environment.ts'

/** An environment in which commands print nothing. */
export const silentEnvironment = (directory: string): ProgramEnvironment => ({
  env: {},
  directory,
  out() {},
  err() {},
  write() {},
  stdin: new ReadableStream<Uint8Array>(),
  terminal: undefined,
  onStop() {},
  exit: code => process.exit(code),
})

/** The commands, of which only the table is read: none of them runs. */
export const documentedProgram = () => programOf(silentEnvironment('/'), { set() {} })
