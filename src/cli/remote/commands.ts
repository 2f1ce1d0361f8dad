import { type Command, Option } from 'commander'
import { wrongValue } from '../../lib/text/wrong-value.ts'
import { createSystemClock } from '../../lib/time/clock.ts'
import type { Ask } from '../../topics/assistants/operations/tool.ts'
import { writeText } from '../../topics/prices/files/export.ts'
import { firstLine } from '../accounts/sign-in.ts'
import type { ProgramEnvironment } from '../environment.ts'
import { addAlert, listAlerts, operatorWords, removeAlert } from './alerts.ts'
import { addressOf, createRemoteAsk, headersOf, type RemoteServer } from './ask.ts'
import {
  drawChart,
  getCurve,
  getHistory,
  getPrices,
  historyText,
  type Range,
  watchPrices,
} from './prices.ts'
import type { Format } from './print.ts'
import {
  checkName,
  checkUrl,
  chosenServer,
  readServers,
  type ServerChoice,
  serversPath,
  unknownServer,
  writeServers,
} from './servers.ts'
import { keyFileOption, syncCommand } from './sync.ts'

/** Adds the options that select a server and a key. */
export const remote = (command: Command): Command =>
  command
    .option('--server <name>', 'a server saved with "wellhead login"')
    .option('--url <address>', 'address of the server (default: WELLHEAD_URL)')
    .option('--key <key>', 'API key (default: that of the saved server, or WELLHEAD_API_KEY)')
    .addOption(keyFileOption())

const formatted = (command: Command): Command =>
  command
    .addOption(new Option('--json', 'print JSON').conflicts('csv'))
    .addOption(new Option('--csv', 'print CSV'))

const ranged = (command: Command): Command =>
  command
    .option('--start <date>', 'first day or time, inclusive (default: 30 days ago)')
    .option('--end <date>', 'last day or time, inclusive (default: now)')
    .option('--as-of <moment>', 'raw prices as known at this time')

const everySecondsDefault = '5'

interface WatchCommandOptions {
  every: string
  updates?: string
  looks?: string
  json?: boolean
}

/** Commands for people who have only a key: they call a server over HTTP. */
export function remoteCommands(program: Command, env: ProgramEnvironment): void {
  const serverOf = (choice: ServerChoice): RemoteServer => ({
    ...chosenServer(choice, env.env),
    source: 'cli',
  })
  const askOf = (choice: ServerChoice): Ask => createRemoteAsk(serverOf(choice))
  const { write } = env

  formatted(
    remote(
      program
        .command('get')
        .argument('[codes...]', 'codes or aliases: wti brent (default: all)')
        .description('show the newest prices'),
    ),
  ).action((codes: string[], options: ServerChoice & Format) =>
    getPrices(askOf(options), codes, options, write, createSystemClock().now()),
  )

  formatted(
    ranged(
      remote(
        program
          .command('history')
          .argument('<codes...>', 'codes or aliases, at most 20')
          .description('show prices over time, newest first'),
      ),
    ),
  )
    .option('--interval <interval>', 'raw, hour, day, week or month', 'day')
    .action((codes: string[], options: ServerChoice & Format & Range) =>
      getHistory(askOf(options), codes, options, write),
    )

  formatted(
    remote(
      program
        .command('curve')
        .argument('<family>', 'such as exch-wti, or a ticker: CL, BZ, NG, TTF')
        .description('show a futures curve'),
    ),
  )
    .option('--date <date>', 'day of the curve')
    .action((family: string, options: ServerChoice & Format & { date?: string }) =>
      getCurve(askOf(options), family, options, write),
    )

  ranged(
    remote(
      program
        .command('chart')
        .argument('<code>', 'a code')
        .description('draw a chart in the terminal'),
    ),
  )
    .option('--interval <interval>', 'hour, day, week or month', 'day')
    .action((code: string, options: ServerChoice & Range) =>
      drawChart(askOf(options), code, options, write),
    )

  remote(
    program
      .command('watch')
      .argument('<codes...>', 'codes or aliases, at most 20')
      .description('follow prices as they change, until Ctrl-C'),
  )
    .option('--every <seconds>', 'seconds between two updates', everySecondsDefault)
    .option('--updates <number>', 'stop after this many updates')
    // The name of the option before 0.2.0.
    .addOption(new Option('--looks <number>').hideHelp())
    .option('--json', 'print each change as a line of JSON')
    .action(async (codes: string[], options: ServerChoice & WatchCommandOptions) => {
      let isStopped = false
      const everySeconds = Number(options.every)
      const count = options.updates ?? options.looks
      const updates = count === undefined ? undefined : Number(count)
      if (!(everySeconds >= 1))
        throw new Error(wrongValue('--every', 'at least 1 second', options.every))
      if (updates !== undefined && !(Number.isInteger(updates) && updates > 0)) {
        throw new Error(wrongValue('--updates', 'a whole number of 1 or more', count))
      }
      env.onStop(() => {
        isStopped = true
        env.exit(0)
      })
      await watchPrices(
        serverOf(options),
        codes,
        {
          everyMs: everySeconds * 1_000,
          updates,
          json: options.json === true,
          isLive: !options.json && env.terminal !== undefined && process.stdout.isTTY === true,
          isStopped: () => isStopped,
        },
        write,
      )
    })

  syncCommand(program, env)
  alertCommands(program, env, serverOf)
  serverCommands(program, env)

  remote(
    program
      .command('mcp')
      .description('serve the Model Context Protocol on standard input and output'),
  ).action(async (options: ServerChoice) => {
    const { serveMcp } = await import('./mcp.ts')
    await serveMcp(chosenServer(options, env.env))
  })
}

/** Whether `export` requests a server over HTTP instead of reading the data directory. */
/** An export that names a server: which, which days, and where to. */
export type RemoteExportOptions = ServerChoice & Range & { output: string }

export const isRemoteExport = ({ server, url }: ServerChoice): boolean =>
  server !== undefined || url !== undefined

/** Writes the history of codes as CSV to a file, or to standard output where it is `-`. */
export async function exportOverHttp(
  codes: readonly string[],
  options: RemoteExportOptions,
  env: ProgramEnvironment,
): Promise<void> {
  if (codes.length === 0) throw new Error('name the codes to export, at most 20')
  const ask = createRemoteAsk({ ...chosenServer(options, env.env), source: 'cli' })
  let rows = 0
  const text = historyText(ask, codes, options, more => {
    rows += more
  })
  if (options.output === '-') {
    for await (const part of text) await env.write(part)
    return
  }
  await writeText(options.output, text)
  env.err(`${rows} prices in ${options.output}`)
}

function alertCommands(
  program: Command,
  env: ProgramEnvironment,
  serverOf: (choice: ServerChoice) => RemoteServer,
): void {
  const { write } = env
  const alert = program.command('alert').description('manage the alerts of your account')
  remote(
    alert
      .command('add')
      .argument('<code>', 'a code')
      .argument('<operator>', operatorWords.join(', '))
      .argument('<value>', 'in the unit of the code')
      .description('backtest an alert over the past year; --yes creates it'),
  )
    .option('--name <name>', 'name of the alert')
    .option('--cooldown <minutes>', 'cooldown after it fires')
    .option('--yes', 'create the alert')
    .option('--json', 'print JSON')
    .action(
      (
        code: string,
        operator: string,
        value: string,
        options: ServerChoice & {
          name?: string
          cooldown?: string
          yes?: boolean
          json?: boolean
        },
      ) => {
        const { name, cooldown, yes = false, json = false } = options
        const ask = createRemoteAsk(serverOf(options))
        return addAlert(
          ask,
          { code, operator, value, name, cooldown },
          { isAgreed: yes, json },
          write,
        )
      },
    )
  formatted(remote(alert.command('list').description('list alerts'))).action(
    (options: ServerChoice & Format) =>
      listAlerts(createRemoteAsk(serverOf(options)), options, write),
  )
  remote(alert.command('remove').argument('<id>').description('delete an alert'))
    .option('--json', 'print JSON')
    .action((id: string, options: ServerChoice & { json?: boolean }) => {
      const server = serverOf(options)
      const remove = (path: string) =>
        fetch(addressOf(server, path), { method: 'DELETE', headers: headersOf(server) })
      return removeAlert(remove, id, write, options.json)
    })
}

function serverCommands(program: Command, env: ProgramEnvironment): void {
  const path = serversPath(env.env)
  program
    .command('login')
    .argument('<address>', 'URL of the server: https://prices.example.com')
    .option('--name <name>', 'name to save the server under', 'default')
    .option('--key <key>', 'API key (default: the first line of standard input)')
    .description('save a server and your API key for client commands')
    .action(async (address: string, { name, key }: { name: string; key?: string }) => {
      checkName(name)
      const url = checkUrl(address)
      const apiKey = (key ?? (await firstLine(env.stdin))).trim()
      if (apiKey === '') throw new Error('standard input must contain an API key; it was empty')
      const ask = createRemoteAsk({ url, apiKey, source: 'cli' })
      const { account, data } = await ask<{
        account: { email: string }
        data: { plan_name: string }
      }>('GET', '/v1/account')
      const saved = readServers(path)
      writeServers(path, {
        preferred: name,
        servers: { ...saved.servers, [name]: { url, apiKey } },
      })
      env.out(`${name}: ${url} as ${account.email} (${data.plan_name}), saved in ${path}`)
    })
  const servers = program.command('servers').description('manage saved servers')
  servers
    .command('list')
    .description('list saved servers; the star marks the current one')
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) => {
      const saved = readServers(path)
      if (options.json) {
        const rows = Object.entries(saved.servers).map(([name, { url }]) => ({
          name,
          url,
          preferred: name === saved.preferred,
        }))
        env.out(JSON.stringify(rows, null, 2))
        return
      }
      for (const [name, { url, apiKey }] of Object.entries(saved.servers)) {
        const star = name === saved.preferred ? '*' : ' '
        env.out(`${star} ${name}  ${url}  ${apiKey.slice(0, 4)}…${apiKey.slice(-4)}`)
      }
    })
  servers
    .command('use')
    .argument('<name>')
    .description('make a server the current one')
    .action((name: string) => {
      const saved = readServers(path)
      if (!saved.servers[name]) throw unknownServer(name, saved)
      writeServers(path, { ...saved, preferred: name })
      env.out(`${name} is now the current server`)
    })
  servers
    .command('remove')
    .argument('<name>')
    .description('remove a saved server and its key')
    .action((name: string) => {
      const saved = readServers(path)
      const { preferred, servers: all } = saved
      if (!all[name]) throw unknownServer(name, saved)
      const { [name]: removed, ...rest } = all
      writeServers(path, { preferred: preferred === name ? undefined : preferred, servers: rest })
      env.out(`${name} (${removed!.url}) was removed`)
    })
}
