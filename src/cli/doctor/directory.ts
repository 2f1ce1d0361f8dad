import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { databasePath } from '../../instance/services/directory.ts'
import { type Holder, holderOf } from '../../lib/files/directory-lock.ts'
import { bytesOf, megabyte } from '../../lib/files/free-space.ts'
import { masterKeyPath, storedMasterKey } from '../../lib/secrets/master-key.ts'
import { parseInstant } from '../../lib/time/instant.ts'
import { version } from '../../version.ts'
import { serverSocket } from '../socket.ts'
import { doubtful, type Finding, faulty, fine, megabytes, reasonOf } from './finding.ts'

const answerMsMax = 3_000
/** The WAL is truncated to this size after a checkpoint, and may grow by as much between two. */
const logBytes = 64 * megabyte
const logBytesMax = 4 * logBytes
const openFilesMin = 1024

/** Whether the directory is there, is its user's alone and can be written. */
export function examineDirectory(dir: string): Finding[] {
  const check = 'data directory'
  if (!existsSync(dir))
    return [
      faulty(
        check,
        `missing: ${dir}`,
        'start wellhead serve, which creates it, or name another with --data',
      ),
    ]
  const { mode, uid } = statSync(dir)
  if (!statSync(dir).isDirectory())
    return [faulty(check, `${dir} is not a directory`, 'name another with --data')]
  try {
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    return [faulty(check, `this user cannot write to ${dir}`, 'run as the user that owns it')]
  }
  const bits = (mode & 0o777).toString(8).padStart(4, '0')
  const modeFinding =
    (mode & 0o077) === 0
      ? fine(check, dir)
      : doubtful(check, `${dir} has mode ${bits}: other users can read it`, `chmod 700 ${dir}`)
  const foreign = readdirSync(dir).filter(name => lstatSync(join(dir, name)).uid !== uid)
  if (foreign.length === 0) return [modeFinding]
  const finding = `${foreign.join(', ')} belong to another user than the directory`
  return [
    modeFinding,
    doubtful('owner', finding, 'give them to the user that the server runs as, with chown'),
  ]
}

/**
 * The key that secrets are sealed with: the configured one, or the file of the directory; undefined
 * when there is none that can be read.
 */
export function masterKeyIn(
  dir: string,
  configured: string,
): { key: string | undefined; findings: Finding[] } {
  const check = 'master key'
  /** A start refuses a key that cannot be one, even where nothing is sealed. */
  const judged = (key: string, otherwise: () => Finding) => {
    try {
      storedMasterKey(dir, configured)
      return { key, findings: [otherwise()] }
    } catch (error) {
      return { key, findings: [faulty(check, reasonOf(error), 'restore the right key')] }
    }
  }
  if (configured !== '') return judged(configured, () => fine(check, 'secrets.master_key'))
  const path = masterKeyPath(dir)
  if (!existsSync(path)) return { key: undefined, findings: [] }
  try {
    const key = readFileSync(path, 'utf8').trim()
    if (key === '')
      return {
        key: undefined,
        findings: [faulty(check, `${path} is empty`, 'restore the key from your own copy')],
      }
    const isOpen = (statSync(path).mode & 0o077) !== 0
    return judged(key, () =>
      isOpen
        ? doubtful(check, `other users can read ${path}`, `chmod 600 ${path}`)
        : fine(check, path),
    )
  } catch (error) {
    const finding = `${path} cannot be read: ${(error as Error).message}`
    return { key: undefined, findings: [faulty(check, finding, 'run as the user that owns it')] }
  }
}

export interface ServerState {
  findings: Finding[]
  holder: Holder | undefined
  /** A server has the directory and answers. */
  answers: boolean
  /** The server's current time, Unix ms: the clock of a demo instance can be moved. */
  now: number | undefined
}

/** Whether a server holds the directory, and how it answers. */
export async function examineServer(dir: string): Promise<ServerState> {
  const check = 'server'
  const nobody = { holder: undefined, answers: false, now: undefined }
  let owner: ReturnType<typeof holderOf>
  try {
    owner = holderOf(dir)
  } catch (error) {
    const finding = `cannot determine whether a server runs: ${reasonOf(error)}`
    return {
      ...nobody,
      findings: [faulty(check, finding, 'run as the user that owns the directory')],
    }
  }
  const holder = owner?.heldBy
  const state = { ...nobody, holder }
  if (!owner) return { ...state, findings: [fine(check, 'none runs')] }
  const who = holder ? `${holder.role} (process ${holder.pid})` : 'another process'
  if (holder && holder.role !== 'serve' && holder.role !== 'dev')
    return { ...state, findings: [fine(check, `none runs; in use by ${who}`)] }
  try {
    const unix = serverSocket(dir)
    if (unix === undefined) throw new Error('it has no socket in the directory')
    const answer = await fetch('http://localhost/health', {
      unix,
      signal: AbortSignal.timeout(answerMsMax),
    })
    const health = (await answer.json()) as {
      status?: string
      version?: string
      timestamp?: string
      reason?: string
    }
    const server = { holder, answers: true, now: parseInstant(health.timestamp ?? '') }
    if (!answer.ok)
      return {
        ...server,
        findings: [
          faulty(check, `${who} says it is ${health.status}`, 'see its log; start it again'),
        ],
      }
    const sentence = `${who} is version ${health.version}, this command is ${version}`
    const answers =
      health.version === version
        ? fine(check, `${who} answers, version ${version}`)
        : doubtful(check, sentence, 'start the server again with the program that is installed')
    const degraded =
      health.reason === undefined
        ? []
        : [
            doubtful(
              'health',
              health.reason.replace(/(?: The log says why)?\.$/, ''),
              'see the log of the server',
            ),
          ]
    return { ...server, findings: [answers, ...degraded, ...(await examineWorkers(unix))] }
  } catch (error) {
    const sentence = `${who} holds the directory but does not respond: ${(error as Error).message}`
    return {
      ...state,
      findings: [faulty(check, sentence, 'see its log; stop the process and start it again')],
    }
  }
}

/** Whether the server's query workers start and work; nothing where it has none. */
async function examineWorkers(unix: string): Promise<Finding[]> {
  const check = 'query workers'
  const answer = await fetch('http://localhost/admin/v1/condition', {
    unix,
    signal: AbortSignal.timeout(answerMsMax),
  })
  // An older server has no such field.
  if (!answer.ok) return []
  const { data } = (await answer.json()) as {
    data?: { process?: { query_workers?: { ready: number; trouble: string | null } | null } }
  }
  const workers = data?.process?.query_workers
  if (!workers) return []
  if (workers.trouble === null) return [fine(check, `${workers.ready} ready`)]
  const advice = 'fix this; until then the main thread serves history and analytics slowly'
  return [faulty(check, workers.trouble, advice)]
}

/** Space for a copy of the database, and the size of its log. */
export function examineSpace(
  dir: string,
  freeBytes: number,
  autocheckpoint: number,
  hasServer: boolean,
): Finding[] {
  const path = databasePath(dir)
  const [size, log] = [bytesOf(path), bytesOf(`${path}-wal`)]
  const least = log + logBytes
  const finding = `${megabytes(freeBytes)} free, the database has ${megabytes(size)}`
  const space =
    freeBytes < least
      ? faulty(
          'disk',
          finding,
          `free at least ${megabytes(least)}: the write-ahead log is checkpointed and grows again`,
        )
      : freeBytes < 2 * size
        ? doubtful(
            'disk',
            finding,
            `${megabytes(2 * size)} recommended: a backup or restore needs space in addition to the database`,
          )
        : fine('disk', finding)
  const isLong = log > logBytesMax
  const advice = !hasServer
    ? 'start the server: it checkpoints the log'
    : autocheckpoint === 0
      ? 'sqlite.autocheckpoint is 0: check that the replicator makes checkpoints'
      : 'a reader never ends, such as a hanging backup: stop it, or restart the server'
  return [
    space,
    isLong
      ? doubtful('log', `the write-ahead log has ${megabytes(log)}`, advice)
      : fine('log', `the write-ahead log has ${megabytes(log)}`),
  ]
}

/** The limit of open files and connections of a process; undefined where it is not available. */
export function openFilesOf(pid: number | 'self'): number | undefined {
  const path = `/proc/${pid}/limits`
  if (!existsSync(path)) return undefined
  const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync(path, 'utf8')) ?? []
  return soft === undefined
    ? undefined
    : soft === 'unlimited'
      ? Number.POSITIVE_INFINITY
      : Number(soft)
}

export function examineOpenFiles(limit: number | undefined): Finding[] {
  if (limit === undefined) return []
  const finding = Number.isFinite(limit)
    ? `${limit} files and connections at a time`
    : 'unlimited files and connections'
  if (limit >= openFilesMin) return [fine('open files', finding)]
  const advice = `allow ${4 * openFilesMin}: LimitNOFILE= of a systemd unit, --ulimit nofile= of a container, or ulimit -n`
  return [doubtful('open files', finding, advice)]
}
