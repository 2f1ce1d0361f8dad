import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Captured, createCaptured } from './captured.ts'
import {
  type Account,
  type Controls,
  createControls,
  type Message,
  type Moment,
  type Plan,
} from './controls.ts'
import { type Delivery, openReceiver } from './receiver.ts'

export { type Captured, NotCapturedError, type WaitOptions } from './captured.ts'
export {
  type Account,
  type AccountOptions,
  ControlError,
  type Controls,
  type Fault,
  type Message,
  type Moment,
  type Plan,
  type Played,
  type Price,
  type ScenarioName,
  type ScenarioOptions,
} from './controls.ts'
export type { Delivery } from './receiver.ts'

export interface StartOptions {
  /** Where the copy's clock stands until it is moved; absent: real time. */
  clock?: Moment
  /**
   * The demo world: the same seed gives the same prices. `small` has some codes of each kind with a year of history, and
   * starts sooner.
   */
  world?: { seed?: number; size?: 'whole' | 'small' }
  /** The plan of `apiKey`; absent: the instance's own account, which has every feature and no rate limit of note. */
  plan?: Plan
  /** The program, with arguments before its command where there are any; default `WELLHEAD_BINARY`, then `wellhead` on the path. */
  binary?: string | readonly string[]
  /** Settings as environment variables, such as `{ WELLHEAD_LIMITS_PER_MINUTE: '100000' }`. */
  settings?: Record<string, string>
  /** A data directory that is to stay; absent: a temporary one that is removed at the stop. */
  data?: string
}

/** A running evaluation copy. */
export interface Wellhead extends Controls {
  readonly url: string
  /** Of the copy's process. */
  readonly pid: number
  readonly apiKey: string
  readonly adminToken: string
  /** E-mail and text messages that would have gone out. */
  readonly mail: Captured<Message>
  /** Webhooks that arrived at `webhooks.url`. */
  readonly webhooks: Captured<Delivery> & {
    /** Where to let webhooks be sent. */
    readonly url: string
    /** The status that the next deliveries are answered with. */
    answerWith(status: number): void
  }
  /** A request with the key: `get('/v1/prices/latest', { by_code: 'WTI_USD' })`. */
  get(path: string, query?: Record<string, string | number | boolean>): Promise<Response>
  /** Keeps the state and answers a function that returns to it: one line in `beforeEach`, one in `afterEach`. */
  keep(): Promise<() => Promise<void>>
  /** Ends the copy, and resolves when it has ended and its files are gone. */
  stop(): Promise<void>
}

const readyPollMs = 5

function commandOf(binary: StartOptions['binary']): readonly string[] {
  const program = binary ?? process.env.WELLHEAD_BINARY ?? 'wellhead'
  return typeof program === 'string' ? [program] : program
}

/** Copies that run: they end with this process, whatever ends it. */
const running = new Set<ChildProcess>()
let endsWithProcess = false

function endWithProcess(child: ChildProcess): void {
  running.add(child)
  child.once('exit', () => running.delete(child))
  if (endsWithProcess) return
  endsWithProcess = true
  process.once('exit', () => {
    for (const open of running) open.kill('SIGKILL')
  })
}

/** Resolves with the contents of the ready file, which is there when the copy listens. */
async function readyOf(child: ChildProcess, path: string, errors: () => string) {
  let failure: Error | undefined
  child.once('error', error => {
    failure = error
  })
  for (;;) {
    if (failure) throw new Error(`the copy could not be started: ${failure.message}`)
    if (child.exitCode !== null)
      throw new Error(`the copy ended with ${child.exitCode}: ${errors()}`)
    if (existsSync(path)) {
      const text = readFileSync(path, 'utf8')
      if (text.trimEnd().endsWith('}'))
        return JSON.parse(text) as { url: string; api_key: string; admin_token: string }
    }
    await new Promise(resolve => setTimeout(resolve, readyPollMs))
  }
}

/** Starts an evaluation copy on a free port of this machine. Stop it with `stop()`. */
export async function startWellhead(options: StartOptions = {}): Promise<Wellhead> {
  const { clock, world = {}, plan, settings = {} } = options
  const directory = mkdtempSync(join(tmpdir(), 'wellhead-'))
  const readyPath = join(directory, 'ready.json')
  const [program = '', ...before] = commandOf(options.binary)
  const flags = [
    'dev',
    '--data',
    options.data ?? join(directory, 'data'),
    '--port',
    '0',
    '--ready-file',
    readyPath,
  ]
  if (clock !== undefined)
    flags.push('--clock', typeof clock === 'string' ? clock : clock.toISOString())
  if (world.seed !== undefined) flags.push('--seed', String(world.seed))
  if (world.size !== undefined) flags.push('--world', world.size)
  const child = spawn(program, [...before, ...flags], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...settings },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  endWithProcess(child)
  let errorText = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    // The end of it says why a start failed.
    errorText = (errorText + chunk.toString('utf8')).slice(-4_000)
  })
  const end = async () => {
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      const exited = new Promise(resolve => child.once('exit', resolve))
      child.kill('SIGTERM')
      await exited
    }
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    const ready = await readyOf(child, readyPath, () => errorText)
    const controls = createControls(ready.url, ready.admin_token)
    const receiver = await openReceiver()
    const account: Account | undefined = plan && (await controls.account({ plan }))
    const apiKey = account?.apiKey ?? ready.api_key
    let states = 0
    return {
      ...controls,
      url: ready.url,
      pid: child.pid!,
      apiKey,
      adminToken: ready.admin_token,
      mail: createCaptured('message', controls.messages),
      webhooks: {
        ...createCaptured('webhook', async () => [...receiver.deliveries]),
        url: receiver.url,
        answerWith: receiver.answerWith,
      },
      get(path, query = {}) {
        const address = new URL(path, ready.url)
        for (const [name, value] of Object.entries(query))
          address.searchParams.set(name, String(value))
        return fetch(address, { headers: { authorization: `Token ${apiKey}` } })
      },
      async keep() {
        states += 1
        const name = `kept-${states}`
        await controls.snapshot(name)
        return async () => {
          await controls.restore(name)
          states -= 1
          await controls.clearFaults()
          receiver.deliveries.length = 0
          receiver.answerWith(200)
        }
      },
      async stop() {
        await receiver.close()
        await end()
      },
    }
  } catch (error) {
    await end()
    throw error
  }
}
