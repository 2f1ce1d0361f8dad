import { programOf } from '../../src/cli/all-commands.ts'

/** The commands, of which only the table is read: none of them runs. */
export const documentedProgram = () =>
  programOf(
    {
      env: {},
      directory: '/',
      out() {},
      err() {},
      write() {},
      stdin: new ReadableStream<Uint8Array>(),
      terminal: undefined,
      onStop() {},
      exit: code => process.exit(code),
    },
    { set() {} },
  )
