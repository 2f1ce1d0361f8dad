import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { buildBinary, isBinaryBuilt } from '../test/support/instance/binary.ts'
import { installOf, missingIn } from '../test/support/requirements.ts'
import { readReport, secondsOfFiles, type TestResult } from './test/report.ts'

/**
 * `bun run test [PATTERN...] [FLAG...]` runs the test files whose path contains a pattern and passes
 * every flag on to `bun test`. The files run in batches, in a process per batch: a process keeps what
 * the files before left in memory, which grows to gigabytes over all of them.
 */
/** Three batches at a time keep two cores busy: a quarter of the time, tests wait for timers. */
const lanes = 3
const filesInBatch = 24
/** Files that start the binary take longer, so that fewer of them last as long. */
const filesInBinaryBatch = 12
/** More files with failures are not an accident of a busy machine. */
const failedFilesMax = 3
const root = resolve(import.meta.dir, '..')

/** Sweeps, and the console in a browser, take minutes: each has a command that runs it. */
const scopes = {
  '--console': (file: string) => file.startsWith('test/e2e/console/'),
  '--full': (file: string) => !file.startsWith('test/e2e/console/'),
  '--default': (file: string) => !file.startsWith('test/e2e/console/') && !sweeps.includes(file),
}
const sweeps = [
  'test/clients/families.test.ts',
  'test/clients/pipelines.test.ts',
  'test/clients/spreadsheets.test.ts',
  'test/clients/testkit.test.ts',
  'test/console/console/appearance.test.ts',
  'test/console/console/focus.test.ts',
  'test/console/console/lists.test.ts',
  'test/console/console/refusals.test.ts',
  'test/demo/file.test.ts',
  'test/demo/whole.test.ts',
  'test/e2e/data/feeds-month.test.ts',
  'test/e2e/data/files-in-browser.test.ts',
  'test/e2e/data/recorded.test.ts',
  'test/e2e/demo/demo-disk.test.ts',
  'test/e2e/demo/fresh-copy.test.ts',
  'test/e2e/documents/docs-walk.test.ts',
  'test/e2e/documents/docs.test.ts',
  'test/e2e/documents/package.test.ts',
  'test/e2e/load/attacks.test.ts',
  'test/e2e/load/overload.test.ts',
  'test/e2e/load/readers.test.ts',
  'test/e2e/load/troubles.test.ts',
  'test/e2e/operating/configurations.test.ts',
  'test/e2e/replication/replicas.test.ts',
  'test/e2e/sending/outbox-crash.test.ts',
  'test/e2e/storage/crash.test.ts',
  'test/guards/audit-secrets.test.ts',
  'test/replication/large-changes.test.ts',
  'test/replication/replica-stale.test.ts',
  'test/replication/replica-strangers.test.ts',
  'test/threads/replication-publisher.test.ts',
]
const flagsWithValue = [
  '-t',
  '--test-name-pattern',
  '--timeout',
  '--seed',
  '--rerun-each',
  '--retry',
]

const { scope, flags, patterns } = readArguments(process.argv.slice(2))
const namePattern = valueOfFlag('-t') ?? valueOfFlag('--test-name-pattern')
const files = chosenFiles()
if (files.length === 0) {
  console.error(`No test file has ${patterns.join(' or ')} in its path.`)
  process.exit(1)
}

const needsBinary = (file: string) => /^test\/(e2e|clients)\//.test(file)
const binaryBatches = batchesOf(files.filter(needsBinary), filesInBinaryBatch)
const otherBatches = batchesOf(
  files.filter(file => !needsBinary(file)),
  filesInBatch,
)
const batchCount = binaryBatches.length + otherBatches.length
let started = 0
const reports = mkdtempSync(join(tmpdir(), 'wellhead-tests-'))
const results: TestResult[] = []
const times: [file: string, seconds: number][] = []
const running = new Set<Bun.Subprocess>()
let isInterrupted = false
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    isInterrupted = true
    for (const child of running) child.kill('SIGINT')
  })

const began = performance.now()
// Built here, because two batches that find it old would both build it.
let isBuilt = binaryBatches.length === 0 || isBinaryBuilt()
const built = isBuilt ? Promise.resolve() : build()
let ended = 0
await Promise.all([built.then(runBatches), ...Array.from({ length: lanes - 1 }, runBatches)])
const failedAmongOthers = await runFailedFilesAlone()
rmSync(reports, { recursive: true, force: true })

printFailed('Failed', failedIn(results))
printFailed('Failed among other tests, passed alone', failedAmongOthers)
printMissing()
printSlowest()
console.log(`\n${files.length} files in ${secondsSince(began)} s`)
console.log(`${totals(results)}${isInterrupted ? ' (interrupted)' : ''}`)
process.exit(isInterrupted ? 130 : failedIn(results).length > 0 ? 1 : 0)

/** Consecutive files, in batches of about the same number. */
function batchesOf(some: string[], filesMax: number): string[][] {
  const count = Math.ceil(some.length / filesMax)
  const startOf = (batch: number) => Math.round((batch * some.length) / count)
  return Array.from({ length: count }, (_, i) => some.slice(startOf(i), startOf(i + 1)))
}

async function build(): Promise<void> {
  console.log('Building dist/wellhead, which is older than its sources …')
  await buildBinary(running).catch((error: unknown) => {
    if (!isInterrupted) throw error
  })
  isBuilt = true
}

/**
 * Runs batches one after the other. Those with the binary come first, as soon as it is built: they
 * take longest, and with short ones at the end all lanes end at about the same time.
 */
async function runBatches(): Promise<void> {
  while (!isInterrupted) {
    if (otherBatches.length === 0) await built
    const batch = (isBuilt ? binaryBatches.shift() : undefined) ?? otherBatches.shift()
    if (!batch) return
    const batchBegan = performance.now()
    const batchResults = await run(batch)
    results.push(...batchResults)
    ended += 1
    if (batchCount > 1)
      console.log(
        `[${ended}/${batchCount}] ${batch[0]} to ${batch.at(-1)}: ${totals(batchResults)} in ${secondsSince(batchBegan)} s`,
      )
  }
}

function readArguments(args: string[]) {
  let scope: keyof typeof scopes = '--default'
  const flags: string[] = []
  const patterns: string[] = []
  for (let i = 0; i < args.length; i += 1) {
    const arg = args[i]!
    if (arg in scopes) scope = arg as keyof typeof scopes
    else if (flagsWithValue.includes(arg)) flags.push(arg, args[++i] ?? '')
    else if (arg.startsWith('-')) flags.push(arg)
    else patterns.push(arg)
  }
  return { scope, flags, patterns }
}

function valueOfFlag(flag: string): string | undefined {
  const at = flags.indexOf(flag)
  if (at >= 0) return flags[at + 1]
  return flags.find(each => each.startsWith(`${flag}=`))?.slice(flag.length + 1)
}

/** Files that are named are run, also where the scope leaves them out. */
function chosenFiles(): string[] {
  const all = [...new Bun.Glob('test/**/*.test.ts').scanSync(root)].sort()
  if (patterns.length === 0) return all.filter(scopes[scope])
  const named = patterns.filter(pattern => pattern.endsWith('.ts') && existsSync(pattern))
  const others = patterns.filter(pattern => !named.includes(pattern))
  const inScope = scope === '--default' ? () => true : scopes[scope]
  const found = all.filter(file => inScope(file) && others.some(other => file.includes(other)))
  return [...new Set([...named.map(inRoot), ...found])]
}

/** A path from the root of the repository; of files elsewhere, as they are. */
function inRoot(path: string): string {
  const full = resolve(path)
  return full.startsWith(`${root}/`) ? full.slice(root.length + 1) : full
}

async function run(batch: string[]): Promise<TestResult[]> {
  started += 1
  const report = join(reports, `${started}.xml`)
  const options = ['--timeout', '60000', `--parallel=${batchCount === 1 ? lanes : 1}`]
  options.push('--no-isolate', '--no-orphans')
  const reporting = ['--only-failures', '--reporter=junit', `--reporter-outfile=${report}`]
  const paths = batch.map(file => (file.startsWith('/') ? file : `./${file}`))
  const isAlone = batchCount === 1
  const child = Bun.spawn(
    [process.execPath, 'test', ...options, ...reporting, ...flags, ...paths],
    {
      cwd: root,
      env: {
        ...process.env,
        MIMALLOC_PURGE_DELAY: '-1',
        TEST_SCOPE: scope === '--full' ? 'full' : 'usual',
      },
      stdin: 'ignore',
      stdout: isAlone ? 'inherit' : 'pipe',
      stderr: isAlone ? 'inherit' : 'pipe',
    },
  )
  running.add(child)
  if (!isAlone) {
    const outputs = [child.stdout, child.stderr] as ReadableStream<Uint8Array>[]
    const texts = await Promise.all(outputs.map(output => new Response(output).text()))
    for (const text of texts) printSectionsWithFailures(text)
  }
  const code = await child.exited
  running.delete(child)
  // A test ended the process: the halves show which file it is in.
  if (!existsSync(report) && batch.length > 1 && !isInterrupted) {
    const half = Math.ceil(batch.length / 2)
    return [...(await run(batch.slice(0, half))), ...(await run(batch.slice(half)))]
  }
  const text = existsSync(report) ? readFileSync(report, 'utf8') : ''
  times.push(...secondsOfFiles(text))
  const batchResults = readReport(text).filter(
    ({ name, outcome }) =>
      outcome !== 'skipped' || namePattern === undefined || new RegExp(namePattern).test(name),
  )
  if (isInterrupted || (code === 0 && text !== '')) return batchResults
  // A file that cannot be loaded has no test that fails.
  const reported = new Set(readReport(text).map(({ file }) => resolve(root, file)))
  for (const file of batch)
    if (!reported.has(resolve(root, file)) && namePattern === undefined)
      batchResults.push({ file, name: '(no test ran)', outcome: 'failed', message: '' })
  if (!batchResults.some(({ outcome }) => outcome === 'failed')) {
    const message = `bun test ended with ${code}; see its output above`
    batchResults.push({ file: batch.join(' '), name: '(unknown)', outcome: 'failed', message })
  }
  return batchResults
}

/** Leaves out the output of files that pass. */
function printSectionsWithFailures(text: string): void {
  for (const section of text.split(/^(?=\S+\.test\.ts:$)/m))
    if (/^\(fail\)|^✗|^# Unhandled error|^error:/m.test(section)) console.log(section.trimEnd())
}

function totals(of: TestResult[]): string {
  const count = (wanted: TestResult['outcome']) =>
    of.filter(({ outcome }) => outcome === wanted).length
  return `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`
}

function failedIn(of: TestResult[]): TestResult[] {
  return of.filter(({ outcome }) => outcome === 'failed')
}

/**
 * Runs a few files with failures again, each alone, because a busy machine must not decide. Returns
 * the failures that did not repeat, which are named and are to be mended.
 */
async function runFailedFilesAlone(): Promise<TestResult[]> {
  const failed = failedIn(results)
  const failedFiles = [...new Set(failed.map(({ file }) => file))].filter(file =>
    existsSync(resolve(root, file)),
  )
  if (isInterrupted || batchCount === 1 || failedFiles.length > failedFilesMax) return []
  for (const file of failedFiles) {
    console.log(`Running ${file} again, alone …`)
    const again = await run([file])
    const others = results.filter(result => result.file !== file)
    results.splice(0, results.length, ...others, ...again)
  }
  const stillFailed = failedIn(results).map(({ file, name }) => `${file}: ${name}`)
  return failed.filter(({ file, name }) => !stillFailed.includes(`${file}: ${name}`))
}

function printFailed(title: string, failed: TestResult[]): void {
  if (failed.length === 0) return
  console.log(`\n${title}:`)
  for (const { file, name, message } of failed) {
    console.log(`  ${file}: ${name}`)
    const [first = ''] = message.split('\n')
    if (first !== '') console.log(`    ${first}`)
  }
}

function printMissing(): void {
  const counts = new Map<string, number>()
  for (const { name, outcome } of results)
    if (outcome === 'skipped')
      for (const missing of new Set(missingIn(name)))
        counts.set(missing, (counts.get(missing) ?? 0) + 1)
  if (counts.size === 0) return
  const rows = [...counts].sort(([, a], [, b]) => b - a)
  const width = Math.max('missing'.length, ...rows.map(([name]) => name.length))
  console.log(`\n${'missing'.padEnd(width)}  skipped tests  how to get it`)
  for (const [name, count] of rows)
    console.log(`${name.padEnd(width)}  ${String(count).padStart(13)}  ${installOf(name)}`)
}

function printSlowest(): void {
  if (batchCount === 1) return
  const slowest = times.sort(([, a], [, b]) => b - a).slice(0, 10)
  console.log('\nSlowest files:')
  for (const [file, seconds] of slowest)
    console.log(`  ${seconds.toFixed(1).padStart(6)} s  ${file}`)
}

function secondsSince(time: number): number {
  return Math.round((performance.now() - time) / 1000)
}
