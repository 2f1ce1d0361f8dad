import { existsSync } from 'node:fs'
import { type Config, ConfigProblem, type Mode } from '../../config/config.ts'
import { freeBytesOf } from '../../lib/files/free-space.ts'
import { oneLine } from '../../lib/log/log.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { Paint } from '../colours.ts'
import { exitCodes } from '../exit-codes.ts'
import { tableLines } from '../table.ts'
import { examineCluster } from './cluster.ts'
import { examineDatabase, modeOf } from './data.ts'
import {
  examineDirectory,
  examineOpenFiles,
  examineServer,
  examineSpace,
  masterKeyIn,
  openFilesOf,
} from './directory.ts'
import { checked, type Finding, faulty, type Verdict } from './finding.ts'
import { examinePriceFiles } from './price-files.ts'
import { tryProviders } from './providers.ts'
import { examineSetup, type SetupSources } from './setup.ts'

export interface DoctorEnvironment {
  out(line: string): void
  json: boolean
  /** Whether it connects to the providers. */
  online: boolean
  paint: Paint
  clock: Clock
  sources: SetupSources
  /** Throws a ConfigProblem. */
  config(mode: Mode): Config
  /**
   * The configuration to use when the real one is refused: the directory from the command line, and
   * defaults.
   */
  fallback(): Config
  machine?: Machine
}

/** Figures that the operating system provides. */
export interface Machine {
  /** On the disk of a directory, for this user. */
  freeBytes(dir: string): number
  /** The number of open files of a process; undefined where it is not available. */
  openFiles(pid: number | 'self'): number | undefined
}

const thisMachine: Machine = {
  freeBytes: freeBytesOf,
  openFiles: openFilesOf,
}

/**
 * Finds faults of an installation without changing anything, and returns the exit code: 1 where
 * there is one.
 */
export async function runDoctor(env: DoctorEnvironment): Promise<number> {
  const findings = await examined(env)
  const worst =
    (['error', 'warning'] as const).find(status =>
      findings.some(finding => finding.status === status),
    ) ?? 'ok'
  if (env.json) env.out(JSON.stringify({ status: worst, checks: findings }, null, 2))
  else for (const line of linesOf(findings, env.paint)) env.out(line)
  return worst === 'error' ? exitCodes.failed : exitCodes.done
}

async function examined(env: DoctorEnvironment): Promise<readonly Finding[]> {
  const { config, findings, isRefused } = configured(env)
  const { dir } = config.data
  const { freeBytes, openFiles } = env.machine ?? thisMachine
  const cluster = isRefused ? [] : await examineCluster(config)
  // A setting that is missing or wrong is found without them.
  const isSetUp = findings.every(finding => finding.status !== 'error')
  const providers = env.online && isSetUp ? await tryProviders(config, env.clock) : []
  const directory = checked('data directory', () => examineDirectory(dir))
  if (
    directory.some(finding => finding.check === 'data directory' && finding.status === 'error') ||
    !existsSync(dir)
  ) {
    return [
      ...findings,
      ...providers,
      ...cluster,
      ...directory,
      ...checked('open files', () => examineOpenFiles(openFiles('self'))),
    ]
  }
  const server = await examineServer(dir)
  const { key, findings: keyFindings } = masterKeyIn(dir, config.secrets.masterKey.reveal())
  const hasServer = server.answers
  return [
    ...findings,
    ...providers,
    ...cluster,
    ...directory,
    ...server.findings,
    ...checked('open files', () =>
      examineOpenFiles(openFiles(server.answers ? server.holder!.pid : 'self')),
    ),
    ...checked('disk', () =>
      examineSpace(dir, freeBytes(dir), config.sqlite.autocheckpoint, hasServer),
    ),
    ...keyFindings,
    ...(await examinePriceFiles(config, server.now ?? env.clock.now())),
    ...examineDatabase(dir, {
      now: server.now ?? env.clock.now(),
      masterKey: key ?? (isRefused ? null : undefined),
      hasServer,
      isCopy: config.mode === 'dev',
    }),
  ]
}

/**
 * The configuration as the directory is served: a demo instance captures what production sends.
 */
function configured({ config: load, fallback, sources }: DoctorEnvironment): {
  config: Config
  findings: readonly Finding[]
  isRefused: boolean
} {
  try {
    const production = load('serve')
    const config = modeOf(production.data.dir) === 'dev' ? load('dev') : production
    return { config, findings: examineSetup(config, sources), isRefused: false }
  } catch (error) {
    if (!(error instanceof ConfigProblem)) throw error
    const findings = error.problems.map(problem => faulty('configuration', problem, 'correct it'))
    return { config: fallback(), findings, isRefused: true }
  }
}

function linesOf(findings: readonly Finding[], paint: Paint): string[] {
  const count = (status: Verdict) => findings.filter(finding => finding.status === status).length
  const [errors, warnings] = [count('error'), count('warning')]
  const rows = findings.map(({ check, status, found: sentence, advice }) => [
    status,
    check,
    advice === null ? sentence : `${sentence}; ${advice}`,
  ])
  const [heading, ...lines] = tableLines(['STATUS', 'CHECK', 'RESULT'], rows).map(oneLine)
  return [
    heading!,
    // The verdict is the first word of its line.
    ...lines.map(line => line.replace(/^\w+/, word => paint(word as Verdict, word))),
    '',
    errors + warnings === 0
      ? 'no problems found'
      : `${errors} ${errors === 1 ? 'error' : 'errors'}, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`,
  ]
}
