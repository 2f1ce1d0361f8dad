import type { Command } from 'commander'
import { errorText } from '../lib/files/error-text.ts'
import { oneLine } from '../lib/log/log.ts'
import { withoutAbsent } from '../lib/text/json.ts'
import { shownValue } from '../lib/text/wrong-value.ts'
import { type ExitCode, exitCodeOf, exitCodes } from './exit-codes.ts'
import type { Operator } from './operator.ts'
import { fittedLines, type Table } from './table.ts'

/** The server and the output that an operator's command works with. */
interface CommandParts {
  operator: Pick<Operator, 'call'>
  /** One line of standard output. */
  out(line: string): void
  /** One line of standard error. */
  err(line: string): void
  /** Print the answer's data as JSON instead of a table. */
  json?: boolean
  /** Columns of the terminal that output goes to; undefined where it goes elsewhere. */
  width?: number | undefined
  /** The terminal that progress is drawn on; undefined where there is none. */
  terminal?: NodeJS.WritableStream | undefined
}

/** What an operator's command does with its server and its output. */
export type CommandEnvironment = ReturnType<typeof commandEnvironment>

export interface JsonOption {
  json?: boolean
}

/** The work of a command; it names an exit code where the end of its work is not enough. */
export type CommandWork = Promise<void> | Promise<ExitCode>

/** The parts that operator commands are declared with. */
export interface CommandTools {
  program: Command
  /** Adds a command with its arguments, the options that name its data directory, and `--json`. */
  leaf(
    group: Command,
    name: string,
    description: string,
    ...names: (readonly [flags: string, meaning?: string])[]
  ): Command
  /**
   * The action of a command: runs work against the data directory that the options name, with the
   * arguments and options of the command, and sets the exit code.
   */
  run<A extends unknown[]>(
    work: (env: CommandEnvironment, ...args: A) => CommandWork,
  ): (...args: A) => Promise<void>
}

interface RefusalBody {
  message?: string
  error?: string | { message?: string }
  errors?: { message: string }[]
}

/** A refusal by the service, in its own words, one line each. */
export class Refusal extends Error {
  constructor(readonly lines: readonly string[]) {
    super(lines.join('\n'))
  }
}

/** The refusal in an unsuccessful response. */
export function refusalOf({ status, body }: Awaited<ReturnType<Operator['call']>>): Refusal {
  const { message, error, errors = [] } = (body ?? {}) as RefusalBody
  const text =
    message ??
    (typeof error === 'object' ? error.message : error) ??
    `the server returned status ${status}`
  return new Refusal(errors.length > 0 ? errors.map(fault => fault.message) : [text])
}

/**
 * Runs the work of a command and returns its exit code: that of the work, 0 where it has none, or 1
 * on a refusal, which is printed to standard error after the words of the command.
 */
export async function attempt(
  words: string,
  { err }: Pick<CommandParts, 'err'>,
  work: () => CommandWork,
): Promise<ExitCode> {
  try {
    return (await work()) ?? exitCodes.done
  } catch (error) {
    const lines = error instanceof Refusal ? error.lines : [errorText(error)]
    for (const line of lines) err(`${words}: ${oneLine(line)}`)
    return exitCodeOf(error)
  }
}

/** The argument of commands about an account. */
export const anAccount = ['<account>', 'id or e-mail address'] as const

export const accountsPath = '/admin/v1/accounts'
const perPage = 100

/** The path of a list; filters that are undefined are left out. */
export const listPath = (path: string, filter: Record<string, string | undefined>): string =>
  `${path}?${new URLSearchParams(withoutAbsent(filter) as Record<string, string>)}`

export const printJson = ({ out }: { out(line: string): void }, data: unknown): void =>
  out(JSON.stringify(data, null, 2))

/** Data as people read it: lines, and tables between them. */
type Lines<T> = (data: T) => readonly (string | Table)[]

export function commandEnvironment(parts: CommandParts) {
  const { operator, out, json, width } = parts

  /** Returns the body of a successful response that has no envelope. */
  async function body<T>(method: string, path: string, sent?: unknown): Promise<T> {
    const answer = await operator.call(method, path, sent)
    if (answer.status >= 200 && answer.status < 300) return answer.body as T
    throw refusalOf(answer)
  }

  /** Returns the `data` of a successful response; otherwise throws the error of the service. */
  const answer = async <T>(method: string, path: string, sent?: unknown): Promise<T> =>
    (await body<{ data: T }>(method, path, sent)).data

  /** Prints data as JSON where that was requested, else as `lines` has it for people. */
  function print<T>(data: T, lines: Lines<T>): void {
    if (json) {
      printJson(parts, data)
      return
    }
    const linesOf = (part: string | Table) =>
      typeof part === 'string' ? [part] : fittedLines(part, width)
    for (const line of lines(data).flatMap(linesOf)) out(oneLine(line))
  }

  return {
    ...parts,
    body,
    answer,
    /** Finds the path of an account by its id or its e-mail address. */
    async accountPath(who: string): Promise<string> {
      if (!who.includes('@')) return `${accountsPath}/${encodeURIComponent(who)}`
      const { accounts } = await answer<{ accounts: { id: string }[] }>(
        'GET',
        `${accountsPath}?email=${encodeURIComponent(who)}`,
      )
      const [account] = accounts
      if (!account)
        throw new Error(
          `No account has the address ${shownValue(who)}. Run wellhead accounts list.`,
        )
      return `${accountsPath}/${account.id}`
    },
    /** The rows of all pages of a list, which its answers have under `name`. */
    async rows<T>(
      path: string,
      name: string,
      filter: Record<string, string | undefined> = {},
    ): Promise<T[]> {
      const list = listPath(path, { per_page: String(perPage), ...filter })
      const all: T[] = []
      for (let page = 1; ; page += 1) {
        const rows = (await answer<Record<string, T[]>>('GET', `${list}&page=${page}`))[name]!
        all.push(...rows)
        if (rows.length < perPage) return all
      }
    },
    print,
    /** Prints the `data` of a successful response, as `print` does. */
    show: async <T>(lines: Lines<T>, ...request: Parameters<typeof answer>): Promise<void> =>
      print(await answer<T>(...request), lines),
    /** Prints one field of the `data` of a successful response. */
    showField: async <T>(
      name: string,
      lines: Lines<T>,
      ...request: Parameters<typeof answer>
    ): Promise<void> => print((await answer<Record<string, T>>(...request))[name]!, lines),
  }
}
