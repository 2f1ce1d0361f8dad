import { readFileSync } from 'node:fs'
import { within } from '../../lib/time/clock.ts'
import type {
  FeedShape as FeedLine,
  RunShape as RunLine,
} from '../../topics/operator/operations/data/feeds.ts'
import {
  bodyOf,
  type CommandEnvironment,
  type CommandTools,
  print,
  Refusal,
  runAgainstServer,
} from '../command.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { type Table, table } from '../table.ts'

interface Shown {
  feed: FeedLine & { title: string; homepage: string; attribution: string }
  map: {
    source_id: string
    code?: string
    dataset?: string
    unit: string
    from: string | null
    to: string | null
  }[]
  settings: { name: string; value: string; source: string }[]
  runs: RunLine[]
}

const feedsPath = '/admin/v1/feeds'
const pathOf = (name: string) => `${feedsPath}/${encodeURIComponent(name)}`
const runsShown = 50

const resultOf = (run: RunLine | null): string =>
  run === null
    ? '-'
    : `${run.result ?? 'under way'}${run.problem ? `: ${run.problem.message}` : ''}`

const listFeeds = (env: CommandEnvironment): Promise<number> =>
  runAgainstServer(env, 'feeds list', async () => {
    const body = await bodyOf<{ feeds: FeedLine[] }>(env, 'GET', feedsPath)
    print(env, body, ({ feeds }) =>
      table(
        ['FEED', 'PUBLISHER', 'STATE', 'LICENCE', 'CODES', 'LAST RUN', 'NEXT RUN'],
        feeds.map(feed => [
          feed.name,
          feed.publisher,
          feed.state,
          feed.license_class,
          String(feed.codes),
          resultOf(feed.last_run),
          feed.next_run_at ?? '-',
        ]),
      ),
    )
  })

const showFeed = (env: CommandEnvironment, name: string): Promise<number> =>
  runAgainstServer(env, 'feeds show', async () => {
    const body = await bodyOf<Shown>(env, 'GET', pathOf(name))
    print(env, body, ({ feed, map, settings, runs }) => [
      `${feed.name}: ${feed.title}, ${feed.publisher} (${feed.homepage})`,
      `${feed.state}; ${feed.attribution}`,
      ...settings.map(setting => `${setting.name} = ${setting.value} (${setting.source})`),
      '',
      ...table(
        ['SOURCE ID', 'INTO', 'UNIT', 'FROM', 'TO'],
        map.map(line => [
          line.source_id,
          line.code ?? line.dataset ?? '',
          line.unit,
          line.from?.slice(0, 10) ?? '-',
          line.to?.slice(0, 10) ?? '-',
        ]),
      ),
      '',
      ...runTable(runs),
    ])
  })

const runTable = (runs: readonly RunLine[]): readonly [Table] =>
  table(
    ['STARTED', 'FEED', 'TRIGGER', 'RESULT', 'READ', 'NEW', 'REVISED', 'REJECTED', 'NEWEST'],
    runs.map(run => [
      run.started_at,
      run.feed,
      run.trigger,
      resultOf(run),
      String(run.rows_read),
      String(run.inserted),
      String(run.revised),
      String(run.rejected),
      run.newest_period ?? '-',
    ]),
  )

const testFeed = (env: CommandEnvironment, name: string): Promise<number> =>
  runAgainstServer(env, 'feeds test', async () => {
    const body = await bodyOf<{
      ok: boolean
      took_ms: number
      sample: { source_id: string; period: string; value: string; unit: string } | null
      problem?: { message: string }
    }>(env, 'POST', `${pathOf(name)}/test`, {})
    print(env, body, ({ sample, took_ms: tookMs }) =>
      sample
        ? [`${sample.source_id} ${sample.period}: ${sample.value} ${sample.unit} (${tookMs} ms)`]
        : [],
    )
    if (!body.ok) throw new Refusal([body.problem?.message ?? 'nothing came'])
  })

interface RunOptions {
  since?: string
  dryRun?: boolean
}

const lookEveryMs = 500

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
    await within(lookEveryMs, ended).catch(() => {})
    if (isOver) break
    const { status, body } = await env.operator.call('GET', pathOf(name))
    const run = status === 200 ? (body as Shown).feed.last_run : null
    if (isOver || run?.finished_at !== null) continue
    terminal.write(`\r\x1b[K${name}: reading, ${run.rows_read.toLocaleString('en-US')} rows`)
  }
  terminal.write('\r\x1b[K')
  return await ended
}

/** Exit codes as those of an import: 2 where something was rejected or held, 1 where nothing could be done. */
async function runFeed(
  env: CommandEnvironment,
  name: string,
  { since, dryRun }: RunOptions,
): Promise<number> {
  let code: ExitCode = exitCodes.done
  const outcome = await runAgainstServer(env, 'feeds run', async () => {
    const answer = bodyOf<{ run: RunLine }>(env, 'POST', `${pathOf(name)}/run`, {
      wait: true,
      since,
      ...(dryRun && { dry_run: true }),
    })
    const body = await watched(env, name, answer)
    print(env, body, ({ run }) => [
      `${run.feed}: ${run.result}, read ${run.rows_read}, inserted ${run.inserted}, revised ${run.revised}, unchanged ${run.unchanged}, rejected ${run.rejected}, held ${run.held}${run.kept_as_corrected > 0 ? `, kept as corrected ${run.kept_as_corrected}` : ''}`,
      `${((run.took_ms ?? 0) / 1000).toFixed(2)} s, ${run.requests} requests${dryRun ? '; dry run: nothing was written' : ''}`,
    ])
    const { run } = body
    if (run.result === 'failed') throw new Refusal([run.problem?.message ?? 'it failed'])
    if (run.problem) env.err(`feeds run: ${run.problem.message}`)
    for (const { message } of run.notes) env.err(`feeds run: ${message}`)
    if (run.held > 0 || run.rejected > 0) code = exitCodes.incomplete
  })
  return outcome === 0 ? code : exitCodes.failed
}

const listRuns = (env: CommandEnvironment, name: string | undefined): Promise<number> =>
  runAgainstServer(env, 'feeds runs', async () => {
    const of = (name: string) =>
      bodyOf<{ runs: RunLine[] }>(env, 'GET', `${pathOf(name)}/runs?per_page=${runsShown}`)
    if (name !== undefined) {
      print(env, await of(name), body => runTable(body.runs))
      return
    }
    const { feeds } = await bodyOf<{ feeds: FeedLine[] }>(env, 'GET', feedsPath)
    const runs: RunLine[] = []
    for (const feed of feeds) {
      if (feed.last_run !== null) runs.push(...(await of(feed.name)).runs)
    }
    runs.sort((a, b) => b.started_at.localeCompare(a.started_at))
    print(env, { runs: runs.slice(0, runsShown) }, body => runTable(body.runs))
  })

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
): Promise<number> {
  let isIncomplete = false
  const code = await runAgainstServer(env, 'feeds add', async () => {
    const { keyFile, codes, since, reread, baseUrl, license } = options
    const body = await bodyOf<{ feed: FeedLine }>(env, 'PUT', pathOf(name), {
      ...(keyFile !== undefined && { key: readFileSync(keyFile, 'utf8').trim() }),
      codes: codes?.split(',').map(code => code.trim()),
      since,
      reread,
      base_url: baseUrl,
      license,
    })
    print(env, body, ({ feed }) => [
      `${feed.name}: ${feed.state}, ${feed.codes} codes${feed.next_run_at ? `, first read at ${feed.next_run_at}` : ''}`,
      ...(feed.state === 'needs_key'
        ? [
            `It is read with a key: get one from ${feed.publisher} (${feed.homepage}), then: wellhead feeds add ${feed.name} --key-file FILE`,
          ]
        : []),
      ...(feed.state === 'needs_license'
        ? [
            `Its data needs a licence of ${feed.publisher} (${feed.homepage}). If you have one: wellhead feeds add ${feed.name} --license accept`,
          ]
        : []),
    ])
    isIncomplete = body.feed.state.startsWith('needs_')
  })
  return code === exitCodes.done && isIncomplete ? exitCodes.incomplete : code
}

const turnFeed = (env: CommandEnvironment, name: string, verb: 'pause' | 'resume') =>
  runAgainstServer(env, `feeds ${verb}`, async () => {
    const body = await bodyOf<{ feed: FeedLine }>(env, 'POST', `${pathOf(name)}/${verb}`, {})
    print(env, body, ({ feed }) => [`${feed.name}: ${feed.state}`])
  })

/** `feeds`: public feeds that this instance reads on a schedule. */
export function feedCommands({ program, leaf, run }: CommandTools) {
  const feeds = program.command('feeds').description('manage public data feeds')
  leaf(feeds.command('list').description('list feeds and their state')).action(run(listFeeds))
  leaf(
    feeds
      .command('show')
      .argument('<name>')
      .description('show a feed, its series map and recent runs'),
  ).action(run(showFeed))
  leaf(
    feeds
      .command('test')
      .argument('<name>')
      .description('test a feed: read one value without writing'),
  ).action(run(testFeed))
  leaf(feeds.command('run').argument('<name>').description('run a feed now'))
    .option('--since <day>', 'read everything again from this day and compare')
    .option('--dry-run', 'read and compare without writing')
    .action(run(runFeed))
  leaf(feeds.command('runs').argument('[name]').description('list recent runs of a feed')).action(
    run(listRuns),
  )
  leaf(feeds.command('add').argument('<name>').description('enable and configure a feed'))
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
    leaf(feeds.command(verb).argument('<name>').description(description)).action(
      run((env, name: string) => turnFeed(env, name, verb)),
    )
  }
}
