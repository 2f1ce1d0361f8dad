import type { Command } from 'commander'
import { errorText } from '../lib/files/error-text.ts'
import { oneLine } from '../lib/log/log.ts'
import { withoutAbsent } from '../lib/text/json.ts'
import { shownValue } from '../lib/text/wrong-value.ts'
import { exitCodes } from './exit-codes.ts'
import type { Operator } from './operator.ts'
import { fittedLines, type Table } from './table.ts'

/** The server and the output of an operator's command. */
export interface CommandEnvironment {
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

export interface JsonOption {
  json?: boolean
}

/** The parts that operator commands are declared with. */
export interface CommandTools {
  program: Command
  /** Gives a command the options that name its data directory, and `--json`. */
  leaf(command: Command): Command
  /**
   * The action of a command: runs work against the data directory that the options name, with the
   * arguments and options of the command, and sets the exit code that it returns.
   */
  run<A extends unknown[]>(
    work: (env: CommandEnvironment, ...args: A) => Promise<number>,
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

/**
 * Runs a command and answers its exit code: 0 when it is done, 1 when it was refused, with the
 * reason on standard error.
 */
export async function runAgainstServer(
  env: CommandEnvironment,
  name: string,
  work: () => Promise<void>,
): Promise<number> {
  try {
    await work()
    return exitCodes.done
  } catch (error) {
    const lines = error instanceof Refusal ? error.lines : [errorText(error)]
    for (const line of lines) env.err(`${name}: ${oneLine(line)}`)
    return exitCodes.failed
  }
}

/** The data of a success; throws the service's refusal. */
export const answerOf = async <T>(
  env: CommandEnvironment,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> => (await bodyOf<{ data: T }>(env, method, path, body)).data

/** The body of a success, for operations whose data is not in an envelope. */
export async function bodyOf<T>(
  { operator }: CommandEnvironment,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const answer = await operator.call(method, path, body)
  if (answer.status >= 200 && answer.status < 300) return answer.body as T
  const { message, error, errors = [] } = (answer.body ?? {}) as RefusalBody
  const own =
    message ??
    (typeof error === 'object' ? error.message : error) ??
    `the service answered ${answer.status}`
  throw new Refusal(errors.length > 0 ? errors.map(error => error.message) : [own])
}

export const accountsPath = '/admin/v1/accounts'

/** The path of an account that is named by its id or its address. */
export async function accountPath(env: CommandEnvironment, who: string): Promise<string> {
  if (!who.includes('@')) return `${accountsPath}/${encodeURIComponent(who)}`
  const { accounts } = await answerOf<{ accounts: { id: string }[] }>(
    env,
    'GET',
    `${accountsPath}?email=${encodeURIComponent(who)}`,
  )
  const [account] = accounts
  if (!account)
    throw new Error(`No account has the address ${shownValue(who)}. Run wellhead accounts list.`)
  return `${accountsPath}/${account.id}`
}

const perPage = 100

/** The path of a list; filters that are undefined are left out. */
export const listPath = (path: string, filter: Record<string, string | undefined>): string =>
  `${path}?${new URLSearchParams(withoutAbsent(filter) as Record<string, string>)}`

/** The rows of all pages of a list, which its answers have under `name`. */
export async function allRows<T>(
  env: CommandEnvironment,
  path: string,
  name: string,
  filter: Record<string, string | undefined> = {},
): Promise<T[]> {
  const list = listPath(path, { per_page: String(perPage), ...filter })
  const all: T[] = []
  for (let page = 1; ; page += 1) {
    const answer = await answerOf<Record<string, T[]>>(env, 'GET', `${list}&page=${page}`)
    const rows = answer[name]!
    all.push(...rows)
    if (rows.length < perPage) return all
  }
}

/** Prints data as JSON. */
export const printJson = ({ out }: { out(line: string): void }, data: unknown): void =>
  out(JSON.stringify(data, null, 2))

/** Prints data as JSON where that was requested, else as `lines` has it for people. */
export function print<T>(
  env: CommandEnvironment,
  data: T,
  lines: (data: T) => readonly (string | Table)[],
): void {
  if (env.json) {
    printJson(env, data)
    return
  }
  const linesOf = (part: string | Table) =>
    typeof part === 'string' ? [part] : fittedLines(part, env.width)
  for (const line of lines(data).flatMap(linesOf)) env.out(oneLine(line))
}
