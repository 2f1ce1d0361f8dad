import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { answered, receiver } from '../../test/support/servers/receiver.ts'
import { smtpServer } from '../../test/support/servers/smtp-server.ts'
import { binary, launchServer, startServer } from './start-server.ts'

/**
 * R03: a server is killed at named points of its work, again and again: in the commit of prices, from
 * the claim of a message to the mark that it was sent, with a letter that was taken, in a checkpoint,
 * in retention; `upgrade-kills.ts` does the same in a migration. After each kill the server is started
 * again, and everything that was acknowledged must arrive before the next one: nothing lost, nothing
 * stuck, nothing under two ids. Prints one line of JSON. Needs dist/wellhead and strace.
 *
 *   bun scripts/torture/named-points.ts [kills at each point, else 20]
 */

const [killsEach = 20] = process.argv.slice(2).map(Number)
const dir = mkdtempSync(join(tmpdir(), 'wellhead-points-'))
const data = join(dir, 'data')
const database = join(data, 'wellhead.db')
const dayMs = 86_400_000
/** Longer than the first retry waits. */
const patienceMs = 90_000
const killMs = 15_000
const levels = new Map([
  ['WTI_USD', 70],
  ['BRENT_CRUDE_USD', 75],
  ['NATURAL_GAS_USD', 4],
])

const failures: string[] = []
let credentials: { api_key?: string; admin_token?: string } = {}

/**
 * The receiver's behaviour for the next request or connection; later ones are answered promptly.
 */
let atRequest: ((answer: () => void) => void) | undefined
let atConnection: (() => void) | undefined
const arrivedIds = new Map<string, Set<string>>()
const hook = await receiver(
  (socket, { body }) => {
    const { id, data } = JSON.parse(body.toString()) as {
      id: string
      data: { commodity_code: string; timestamp: string }
    }
    const answer = () => {
      const key = `${data.commodity_code} ${Date.parse(data.timestamp)}`
      arrivedIds.set(key, (arrivedIds.get(key) ?? new Set()).add(id))
      socket.end(answered('200 OK'))
    }
    const act = atRequest
    atRequest = undefined
    if (act) act(answer)
    else answer()
  },
  () => {
    const act = atConnection
    atConnection = undefined
    act?.()
  },
)
let atLetter: (() => void) | undefined
const mails = await smtpServer(command => {
  if (command !== '.' || !atLetter) return undefined
  const act = atLetter
  atLetter = undefined
  act()
  return 'silence'
})
writeFileSync(
  join(dir, 'wellhead.toml'),
  `plans = "unlimited"
egress.allow = ["127.0.0.0/8"]
limits.per_minute = 1000000
limits.unauthenticated_per_minute = 1000000
feeds.enabled = false
mail.provider = "smtp"
mail.smtp_url = "${mails.url}"
`,
)

async function start() {
  const { child, url, ...named } = await startServer(dir)
  if (named.admin_token) credentials = named
  return { child, url }
}
let server = await start()
const kill = () => void server.child.kill('SIGKILL')

const call = async (authorization: string, path: string, body: unknown): Promise<boolean> => {
  try {
    const answer = await fetch(server.url + path, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    await answer.text()
    if (!answer.ok) failures.push(`${path}: ${answer.status}`)
    return answer.ok
  } catch {
    return false
  }
}
const operator = () => `Bearer ${credentials.admin_token}`

const acknowledged = new Set<string>()
let observedAt = Date.now() - dayMs
async function push(): Promise<void> {
  observedAt += 1000
  const at = observedAt
  const observations = [...levels].map(([code, level]) => ({
    code,
    observed_at: new Date(at).toISOString(),
    price: level + (at % 17_000) / 100_000,
  }))
  if (await call(operator(), '/admin/v1/observations', { observations }))
    for (const code of levels.keys()) acknowledged.add(`${code} ${at}`)
}

/** The server is killed at its next call of these, or of the `when`-th. */
async function killAt(syscalls: string, when = 1, path: readonly string[] = []) {
  const tracer = Bun.spawn(
    [
      'strace',
      '-f',
      '-p',
      String(server.child.pid),
      ...path,
      '-e',
      `trace=${syscalls}`,
      '-e',
      `inject=${syscalls}:signal=SIGKILL:when=${when}`,
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
}

const writes = 'pwrite64'
const syncs = 'fsync,fdatasync'
let mailMessages = 0
const letterTo = () => `person${mailMessages}@example.com`

/** Ages what was sent by forty days, so that the next start forgets it, and kills that start. */
async function inRetention(n: number) {
  kill()
  await server.child.exited
  const db = new Database(database)
  db.run(
    `UPDATE outbox SET created_at = created_at - ${40 * dayMs}, settled_at = settled_at - ${40 * dayMs} WHERE state = 'delivered'`,
  )
  db.close()
  const inject = `inject=${writes}:signal=SIGKILL:when=${1 + 2 * n}`
  const under = ['strace', '-f', '-qq', '-e', `trace=${writes}`, '-e', inject, '-o', '/dev/null']
  const tracer = launchServer(dir, join(dir, 'ready-traced'), { under })
  await tracer.exited
}

/** Brings a server to a point and kills it there, for the n-th time. */
const points: Record<string, (n: number) => Promise<void>> = {
  'a write of the commit of prices': async () => {
    await killAt(writes)
    await push()
  },
  'the sync of the commit of prices': async () => {
    await killAt(syncs)
    await push()
  },
  'a message is claimed, not connected': async () => {
    await killAt('connect')
    await push()
  },
  'a message is connected, not sent': async () => {
    atConnection = kill
    await push()
  },
  'a message is sent, not answered': async () => {
    atRequest = kill
    await push()
  },
  'a message is answered, not marked': async () => {
    atRequest = answer => {
      answer()
      setImmediate(kill)
    }
    await push()
  },
  'a write of the mark of a message': async () => {
    atRequest = answer => void killAt(writes).then(answer)
    await push()
  },
  'the sync of the mark of a message': async () => {
    atRequest = answer => void killAt(syncs).then(answer)
    await push()
  },
  'an e-mail is accepted, not acknowledged': async () => {
    mailMessages += 1
    if (!(await call(operator(), '/admin/v1/accounts', { email: letterTo() }))) return
    atLetter = kill
    await call('', '/v1/auth/link', { email: letterTo() })
  },
  'a write of a checkpoint': async n => {
    await killAt(writes, 1 + 2 * n, ['-P', database])
    while (server.child.exitCode === null && server.child.signalCode === null) await push()
  },
  'a write of retention': inRetention,
}

await call(`Token ${credentials.api_key}`, '/v1/webhooks', {
  url: hook.url,
  events: ['price.updated'],
  rate_limit_per_second: 50,
})

const missing = () => [...acknowledged].filter(key => !arrivedIds.has(key))
const waiting = () => {
  const db = new Database(database, { readonly: true })
  const { n } = db
    .query<{ n: number }, []>(
      "SELECT count(*) AS n FROM outbox WHERE state IN ('pending', 'leased', 'retry')",
    )
    .get()!
  db.close()
  return n
}
function verify() {
  const { exitCode, stderr } = Bun.spawnSync([binary, 'verify', '--data', data])
  if (exitCode !== 0) failures.push(`verify: ${stderr}`)
}
const kills: Record<string, number> = {}
for (const [point, reach] of Object.entries(points)) {
  kills[point] = 0
  // Verify treats changes by another program as damage, and the retention test makes such changes.
  if (reach === inRetention) verify()
  for (let n = 0; n < killsEach; n += 1) {
    const { child } = server
    const lettersBefore = mails.accepted.length
    const reached = reach(n)
    const isKilled = await Promise.race([
      Promise.all([reached, child.exited]).then(() => true),
      Bun.sleep(killMs).then(() => false),
    ])
    if (!isKilled) {
      failures.push(`${point}: the point was not reached`)
      kill()
      await child.exited
    } else kills[point] += 1
    server = await start()
    const began = performance.now()
    const isWhole = () =>
      missing().length === 0 &&
      waiting() === 0 &&
      (point !== 'an e-mail is accepted, not acknowledged' ||
        mails.accepted.slice(lettersBefore).filter(({ to }) => to.includes(letterTo())).length >= 2)
    while (!isWhole() && performance.now() - began < patienceMs) await Bun.sleep(50)
    if (missing().length > 0) failures.push(`${point}: lost ${missing()}`)
    else if (!isWhole()) failures.push(`${point}: ${waiting()} messages are stuck`)
    acknowledged.clear()
  }
}
const renamed = [...arrivedIds].filter(([, ids]) => ids.size > 1)
for (const [key] of renamed) failures.push(`${key} came under two ids`)
kill()
await server.child.exited
await hook.close()
mails.close()
rmSync(dir, { recursive: true, force: true })
console.log(
  JSON.stringify({
    id: 'R03',
    n: Object.values(kills).reduce((sum, count) => sum + count, 0),
    failures: failures.length,
    kills,
    arrived: arrivedIds.size,
    ...(failures.length > 0 && { failed: failures.slice(0, 8) }),
  }),
)
process.exit(failures.length > 0 ? 1 : 0)
