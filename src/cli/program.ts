import { type Command, CommanderError } from 'commander'
import { errorText } from '../lib/files/error-text.ts'
import { OutputFault } from '../lib/process/output.ts'
import { emptyProgram } from './empty-program.ts'
import type { ProgramEnvironment } from './environment.ts'
import { exitCodeOf, exitCodes } from './exit-codes.ts'
import { addExamples } from './manual/table.ts'
import { type Results, requireDirectory } from './options.ts'
import { serverCommands } from './server/commands.ts'

/** Runs a command line; the answer is the exit code. */
export async function run(argv: readonly string[], env: ProgramEnvironment): Promise<number> {
  let code: number = exitCodes.done
  const results: Results = {
    set(value) {
      code = value
    },
  }
  const program = isServer(argv)
    ? serverProgramOf(env, results)
    : (await import('./all-commands.ts')).programOf(env, results)
  program.hook('preAction', (_, command) => requireDirectory(command, env))
  try {
    await program.parseAsync(argv, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode
    if (error instanceof OutputFault && error.isClosed) return exitCodes.done
    env.err(errorText(error))
    return exitCodeOf(error)
  }
  return code
}

/** A server starts sooner if the other commands are not loaded. */
const isServer = ([name]: readonly string[]) => name === 'serve' || name === 'dev'

function serverProgramOf(env: ProgramEnvironment, results: Results): Command {
  const program = emptyProgram(env)
  serverCommands(program, env, results)
  addExamples(program)
  return program
}
