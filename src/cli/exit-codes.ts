/** The exit codes of commands; 75 is `EX_TEMPFAIL` of `sysexits`. */
export const exitCodes = {
  done: 0,
  failed: 1,
  incomplete: 2,
  otherHistory: 3,
  temporary: 75,
} as const

/** The same command may succeed later: another process holds the directory, or the server stopped. */
export class Temporary extends Error {}

/** The exit code of a command that ended with an error. */
export const exitCodeOf = (error: unknown): ExitCode =>
  error instanceof Temporary ? exitCodes.temporary : exitCodes.failed

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** The meaning of each code, in the words of the manual, the help and the documentation. */
export const exitCodeMeanings: readonly (readonly [code: ExitCode, meaning: string])[] = [
  [exitCodes.done, 'Done.'],
  [
    exitCodes.failed,
    'The command failed; the reason is on standard error. doctor and verify: a problem was found.',
  ],
  [
    exitCodes.incomplete,
    'Done, but values were held for review or rejected, a file had no rows (import, feeds run), or a feed still needs its key or licence (feeds add).',
  ],
  [
    exitCodes.otherHistory,
    'The server has another history than the file: it was restored from a backup (sync).',
  ],
  [
    exitCodes.temporary,
    'A temporary failure, such as another process that holds the data directory: try again.',
  ],
]
