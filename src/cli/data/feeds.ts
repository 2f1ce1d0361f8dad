import { readFileSync } from 'node:fs'
import { isPassingCode } from '../../feeds/reading/fault.ts'
import { within } from '../../lib/time/clock.ts'
import type {
  FeedDetail,
  FeedShape as FeedLine,
  RunShape as RunLine,
} from '../../topics/operator/operations/data/feeds.ts'
import { type CommandEnvironment, type CommandTools, Refusal } from '../command.ts'
import { type ExitCode, exitCodes, Temporary } from '../exit-codes.ts'
import { type Table, tableOf } from '../table.ts'

const feedsPath = '/admin/v1/feeds'
const pathOf = (name: string) => `${feedsPath}/${encodeURIComponent(name)}`
const runsShown = 50

const resultOf = (run: RunLine | null): string =>
  run === null
    ? '-'
    : `${run.result ?? 'under way'}${run.problem ? `: ${run.problem.message}` : ''}`

const listFeeds = async (env: CommandEnvironment): Promise<void> => {
  const body = await env.body<{ feeds: FeedLine[] }>('GET', feedsPath)
  env.print(body, ({ feeds }) =>
    tableOf(feeds, {
      FEED: 'name',
      PUBLISHER: 'publisher',
      STATE: 'state',
      LICENCE: 'license_class',
      CODES: 'codes',
      'LAST RUN': feed => resultOf(feed.last_run),
      'NEXT RUN': 'next_run_at',
    }),
  )
}

const showFeed = async (env: CommandEnvironment, name: string): Promise<void> => {
  const body = await env.body<FeedDetail>('GET', pathOf(name))
  env.print(body, ({ feed, map, settings, runs }) => [
    `${feed.name}: ${feed.title}, ${feed.publisher} (${feed.homepage})`,
    `${feed.state}; ${feed.attribution}`,
    ...settings.map(setting => `${setting.name} = ${setting.value} (${setting.source})`),
    '',
    ...tableOf(map, {
      'SOURCE ID': 'source_id',
      INTO: line => line.code ?? line.dataset ?? '',
      UNIT: 'unit',
      FROM: line => line.from?.slice(0, 10) ?? '-',
      TO: line => line.to?.slice(0, 10) ?? '-',
    }),
    '',
    ...runTable(runs),
  ])
}

const runTable = (runs: readonly RunLine[]): readonly [Table] =>
  tableOf(runs, {
    STARTED: 'started_at',
    FEED: 'feed',
    TRIGGER: 'trigger',
    RESULT: run => resultOf(run),
    READ: 'rows_read',
    NEW: 'inserted',
    REVISED: 'revised',
    REJECTED: 'rejected',
    NEWEST: 'newest_period',
  })

const testFeed = async (env: CommandEnvironment, name: string): Promise<void> => {
  const body = await env.body<{
    ok: boolean
    took_ms: number
    sample: { source_id: string; period: string; value: string; unit: string } | null
    problem?: Problem
  }>('POST', `${pathOf(name)}/test`, {})
  env.print(body, ({ sample, took_ms: tookMs }) =>
    sample
      ? [`${sample.source_id} ${sample.period}: ${sample.value} ${sample.unit} (${tookMs} ms)`]
      : [],
  )
  if (!body.ok) throw failureOf(body.problem)
}

interface Problem {
  code: string
  message: string
}

/** Why a feed could not be read: it may succeed later, or something must be changed first. */
const failureOf = (problem: Problem | null | undefined): Error => {
  const { code = '', message = 'nothing came' } = problem ?? {}
  return isPassingCode(code) ? new Temporary(message) : new Refusal([message])
}

interface RunOptions {
  since?: string
  dryRun?: boolean
}

const pollEveryMs = 500

/** Waits for a run; on a terminal with a line that shows its progress. */
async function watched<T>(env: CommandEnvironment, name: string, answer: Promise<T>): Promise<T> {
  const { terminal } = env
  if (!terminal || env.json) return answer
  let isOver = false
  const ended = answer.finally(() => {
    isOver = true
  })
  ended.catch(() => {})
  for (;;) {
    await within(pollEveryMs, ended).catch(() => {})
    if (isOver) break
    const { status, body } = await env.operator.call('GET', pathOf(name))
    const run = status === 200 ? (body as FeedDetail).feed.last_run : null
    if (isOver || run?.finished_at !== null) continue
    terminal.write(`\r\x1b[K${name}: reading, ${run.rows_read.toLocaleString('en-US')} rows`)
  }
  terminal.write('\r\x1b[K')
  return await ended
}

/**
 * Exit codes as those of an import: 2 where something was rejected or held, 1 where nothing could be
 * done, 75 where the publisher may answer later.
 */
async function runFeed(
  env: CommandEnvironment,
  name: string,
  { since, dryRun }: RunOptions,
): Promise<ExitCode> {
  const answer = env.body<{ run: RunLine }>('POST', `${pathOf(name)}/run`, {
    wait: true,
    since,
    ...(dryRun && { dry_run: true }),
  })
  const body = await watched(env, name, answer)
  env.print(body, ({ run }) => [
    `${run.feed}: ${run.result}, read ${run.rows_read}, inserted ${run.inserted}, revised ${run.revised}, unchanged ${run.unchanged}, rejected ${run.rejected}, held ${run.held}${run.kept_as_corrected > 0 ? `, kept as corrected ${run.kept_as_corrected}` : ''}`,
    `${((run.took_ms ?? 0) / 1000).toFixed(2)} s, ${run.requests} requests${dryRun ? '; dry run: nothing was written' : ''}`,
  ])
  const { run } = body
  if (run.result === 'failed') throw failureOf(run.problem)
  if (run.problem) env.err(`feeds run: ${run.problem.message}`)
  for (const { message } of run.notes) env.err(`feeds run: ${message}`)
  return run.held > 0 || run.rejected > 0 ? exitCodes.incomplete : exitCodes.done
}

const listRuns = async (env: CommandEnvironment, name: string | undefined): Promise<void> => {
  const runsOf = (name: string) =>
    env.body<{ runs: RunLine[] }>('GET', `${pathOf(name)}/runs?per_page=${runsShown}`)
  if (name !== undefined) {
    env.print(await runsOf(name), body => runTable(body.runs))
    return
  }
  const { feeds } = await env.body<{ feeds: FeedLine[] }>('GET', feedsPath)
  const runs: RunLine[] = []
  for (const feed of feeds) {
    if (feed.last_run !== null) runs.push(...(await runsOf(feed.name)).runs)
  }
  runs.sort((a, b) => b.started_at.localeCompare(a.started_at))
  env.print({ runs: runs.slice(0, runsShown) }, body => runTable(body.runs))
}

interface AddOptions {
  keyFile?: string
  codes?: string
  since?: string
  reread?: string
  baseUrl?: string
  license?: string
}

/**
 * Adds a feed. One that still lacks its key or licence is stored but does not run, which the exit
 * code shows.
 */
async function addFeed(
  env: CommandEnvironment,
  name: string,
  options: AddOptions,
): Promise<ExitCode> {
  const { keyFile, codes, since, reread, baseUrl, license } = options
  const body = await env.body<{ feed: FeedLine }>('PUT', pathOf(name), {
    ...(keyFile !== undefined && { key: readFileSync(keyFile, 'utf8').trim() }),
    codes: codes?.split(',').map(code => code.trim()),
    since,
    reread,
    base_url: baseUrl,
    license,
  })
  const { state, last_run: lastRun, next_run_at: firstRunAt } = body.feed
  const isNew = state === 'ok' && lastRun === null
  env.print(body, ({ feed }) => [
    `${feed.name}: ${isNew ? 'added' : feed.state}, ${feed.codes} codes${firstRunAt ? `, first read at ${firstRunAt}` : ''}`,
    ...(isNew
      ? [`To see the result of the first run, once it has ended: wellhead feeds runs ${feed.name}`]
      : []),
    ...(feed.state === 'needs_key'
      ? [
          `${feed.name} needs an API key. Get one from ${feed.publisher} (${feed.homepage}), then run: wellhead feeds add ${feed.name} --key-file FILE`,
        ]
      : []),
    ...(feed.state === 'needs_license'
      ? [
          `${feed.name} needs a licence from ${feed.publisher} (${feed.homepage}). If your licence covers your use, run: wellhead feeds add ${feed.name} --license accept`,
        ]
      : []),
    ...(feed.state === 'paused'
      ? [`${feed.name} is paused. To read it again, run: wellhead feeds resume ${feed.name}`]
      : []),
  ])
  return body.feed.state.startsWith('needs_') ? exitCodes.incomplete : exitCodes.done
}

const turnFeed = async (env: CommandEnvironment, name: string, verb: 'pause' | 'resume') => {
  const body = await env.body<{ feed: FeedLine }>('POST', `${pathOf(name)}/${verb}`, {})
  env.print(body, ({ feed }) => [`${feed.name}: ${feed.state}`])
}

/** `feeds`: public feeds that this instance reads on a schedule. */
export function feedCommands({ program, leaf, run }: CommandTools) {
  const feeds = program.command('feeds').description('manage public data feeds')
  leaf(feeds, 'list', 'list feeds and their state').action(run(listFeeds))
  leaf(feeds, 'show', 'show a feed, its series map and recent runs', ['<name>']).action(
    run(showFeed),
  )
  leaf(feeds, 'test', 'test a feed: read one value without writing', ['<name>']).action(
    run(testFeed),
  )
  leaf(feeds, 'run', 'run a feed now', ['<name>'])
    .option('--since <day>', 'read everything again from this day and compare')
    .option('--dry-run', 'read and compare without writing')
    .action(run(runFeed))
  leaf(feeds, 'runs', 'list recent runs of a feed', ['[name]']).action(run(listRuns))
  leaf(feeds, 'add', 'enable and configure a feed', ['<name>'])
    .option('--key-file <file>', 'file with the API key of the feed')
    .option('--codes <codes>', 'codes and datasets to read, comma-separated')
    .option('--since <day>', 'first day to read')
    .option('--reread <days>', 'overlap that each later run reads again, such as 60d')
    .option('--base-url <url>', 'a mirror of the publisher')
    .option('--license <word>', '"accept" if you accept its terms')
    .action(run(addFeed))
  for (const verb of ['pause', 'resume'] as const) {
    const description =
      verb === 'pause' ? 'pause a feed until it is resumed' : 'resume a paused feed'
    leaf(feeds, verb, description, ['<name>']).action(
      run((env, name: string) => turnFeed(env, name, verb)),
    )
  }
}
