import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { binary, startServer } from './start-server.ts'

/**
 * R05: the disk of a running server fails each write, or each sync, while some accounts are created
 * (strace injects the errors). Nothing may be answered as made while it does; afterwards the same
 * server must take accounts again, and one that is killed must have each that it answered. Prints
 * one line of JSON. Needs strace and dist/wellhead.
 *
 * bun scripts/torture/io-errors.ts [faults, else 100]
 */

const [faults = 100] = process.argv.slice(2).map(Number)
const dir = mkdtempSync(join(tmpdir(), 'wellhead-io-'))
const asksEach = 5
const patienceMs = 60_000
const kinds = [
  'fsync,fdatasync:error=EIO',
  'pwrite64:error=EIO',
  'pwrite64:error=ENOSPC',
  'fsync,fdatasync,pwrite64:error=EIO',
] as const

const start = () => startServer(dir, { env: { WELLHEAD_LIMITS_PER_MINUTE: '100000' } })
let server = await start()
const token = server.admin_token!
process.on('exit', () => {
  server.child.kill('SIGKILL')
  rmSync(dir, { recursive: true, force: true })
})

const answered: string[] = []
const statuses = new Map<number, number>()
let asked = 0
/** Asks for an account; whether it was answered as made. */
async function make(): Promise<boolean> {
  asked += 1
  const email = `person${asked}@example.com`
  const { status } = await fetch(`${server.url}/admin/v1/accounts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ email }),
  })
  statuses.set(status, (statuses.get(status) ?? 0) + 1)
  if (status < 300) answered.push(email)
  return status < 300
}
/** The server with a disk that fails; resolves when strace has taken hold of it. */
async function failing(inject: string) {
  const tracer = Bun.spawn(
    [
      'strace',
      '-f',
      '-p',
      String(server.child.pid),
      '-e',
      `trace=${inject.split(':')[0]}`,
      '-e',
      `inject=${inject}`,
      '-o',
      '/dev/null',
    ],
    { stdout: 'ignore', stderr: 'pipe' },
  )
  const reader = tracer.stderr.getReader()
  for (let text = ''; !text.includes('attached'); ) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`strace did not attach: ${text}`)
    text += new TextDecoder().decode(value)
  }
  return async () => {
    tracer.kill('SIGINT')
    await tracer.exited
  }
}

const problems: string[] = []
let wrong = 0
const fails = (problem: string) => {
  wrong += 1
  if (problems.length < 5) problems.push(problem)
}
let slowestRecoveryMs = 0
for (let fault = 0; fault < faults; fault += 1) {
  const inject = kinds[fault % kinds.length]!
  const heal = await failing(inject)
  for (let n = 0; n < asksEach; n += 1)
    if (await make()) fails(`${inject}: answered as made on a disk that fails`)
  await heal()
  const began = performance.now()
  while (!(await make())) {
    if (performance.now() - began > patienceMs)
      throw new Error(`${inject}: takes nothing a minute after the disk is well again`)
    await Bun.sleep(20)
  }
  slowestRecoveryMs = Math.max(slowestRecoveryMs, performance.now() - began)
  if (fault % 10 !== 9) continue
  server.child.kill('SIGKILL')
  await server.child.exited
  const database = new Database(join(dir, 'data', 'wellhead.db'), { readonly: true })
  const emails = new Set(
    database
      .query<{ email: string }, []>('SELECT email FROM accounts')
      .all()
      .map(row => row.email),
  )
  database.close()
  for (const email of answered) if (!emails.has(email)) fails(`${email} was answered and is lost`)
  const { exitCode, stderr } = Bun.spawnSync([binary, 'verify', '--data', join(dir, 'data')])
  if (exitCode !== 0) fails(`verify: ${stderr}`)
  server = await start()
}
console.log(
  JSON.stringify({
    id: 'R05',
    n: faults,
    failures: wrong,
    answered: answered.length,
    statuses: Object.fromEntries(statuses),
    slowest_recovery_ms: Math.round(slowestRecoveryMs),
    ...(problems.length > 0 && { problems }),
  }),
)
process.exit(wrong === 0 ? 0 : 1)
