import { Command } from 'commander'
import { version } from '../version.ts'
import type { ProgramEnvironment } from './environment.ts'
import { exitCodeMeanings } from './exit-codes.ts'

const exitCodeHelp = () =>
  [
    'Exit codes:',
    ...exitCodeMeanings.map(([code, meaning]) => `  ${code}`.padEnd(6) + meaning),
  ].join('\n')

/** Where the width of the terminal is not known, or reported as 0. */
const helpWidth = 80

/** The program without any command. */
export const emptyProgram = (env: ProgramEnvironment): Command =>
  new Command('wellhead')
    .description('Self-hosted energy price data service')
    .version(version)
    .commandsGroup('Other commands:')
    .exitOverride()
    .configureOutput({
      writeOut: text => env.out(text.trimEnd()),
      writeErr: text => env.err(text.trimEnd()),
      getOutHelpWidth: () => env.width ?? helpWidth,
      getErrHelpWidth: () => env.width ?? helpWidth,
    })
    .showHelpAfterError('Run "wellhead --help" for the commands, or "wellhead COMMAND --help".')
    .addHelpText('after', `\n${exitCodeHelp()}`)
