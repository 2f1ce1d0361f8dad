import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/**
 * R20: prices in, webhooks out, reads of every sort, people who sign in, for an hour; whether the
 * memory of the process and its open files stay level. Prints one line of JSON. Needs dist/wellhead.
 *
 *   bun scripts/torture/soak.ts [minutes, else 60] [minutes that do not count yet, else 10]
 */

const [minutes = 60, warmUpMinutes = 10] = process.argv.slice(2).map(Number)
const binary = resolve(import.meta.dir, '../../dist/wellhead')
const dir = mkdtempSync(join(tmpdir(), 'wellhead-soak-'))
const codes = ['BRENT_CRUDE_USD', 'WTI_USD', 'NATURAL_GAS_USD']
const minuteMs = 60_000
/** Of anonymous memory, over ten minutes. */
const slopeMbMax = 1
const descriptorsMax = 5

let received = 0
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    await request.text()
    received += 1
    // Some receivers are out of order.
    return new Response('', { status: request.url.endsWith('/broken') ? 500 : 200 })
  },
})

writeFileSync(
  join(dir, 'wellhead.toml'),
  `plans = "unlimited"
egress.allow = ["127.0.0.0/8"]
limits.per_minute = 100000
limits.unauthenticated_per_minute = 100000
`,
)
const ready = join(dir, 'ready')
const server = Bun.spawn(
  [
    binary,
    'serve',
    '--data',
    join(dir, 'data'),
    '--config',
    join(dir, 'wellhead.toml'),
    '--port',
    '0',
    '--ready-file',
    ready,
  ],
  { stdout: 'ignore', stderr: Bun.file(join(dir, 'log')) },
)
while (!existsSync(ready)) {
  if (server.exitCode !== null) throw new Error(readFileSync(join(dir, 'log'), 'utf8'))
  await Bun.sleep(10)
}
const { url, admin_token } = JSON.parse(readFileSync(ready, 'utf8')) as Record<string, string>
const operator = `Bearer ${admin_token}`

const answers = new Map<number, number>()
async function call(authorization: string, method: string, path: string, body?: unknown) {
  const response = await fetch(url + path, {
    method,
    headers: { authorization },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  answers.set(response.status, (answers.get(response.status) ?? 0) + 1)
  return await response.text()
}
const account = JSON.parse(
  await call(operator, 'POST', '/admin/v1/accounts', {
    email: 'soak@example.com',
    plan: 'enterprise',
  }),
) as { data: { api_key: { plain_token: string } } }
const key = `Token ${account.data.api_key.plain_token}`
const pushed = (at: number, n: number) =>
  call(operator, 'POST', '/admin/v1/observations', {
    observations: codes.map((code, i) => ({
      code,
      observed_at: new Date(at).toISOString(),
      price: [70, 68, 3][i]! * (1 + Math.sin(n / 50) / 20),
    })),
  })
for (let n = 2000; n > 0; n -= 1) await pushed(Date.now() - n * 6 * 3_600_000, n)
for (const path of ['fine', 'also-fine', 'broken'])
  await call(key, 'POST', '/v1/webhooks', {
    url: `http://127.0.0.1:${receiver.port}/${path}`,
    events: ['price.updated'],
  })

const reads = [
  '/v1/prices/latest',
  '/v1/prices/latest?by_code=WTI_USD',
  '/v1/prices/past_week?by_code=WTI_USD',
  '/v1/prices/past_year?by_code=BRENT_CRUDE_USD&interval=1d',
  '/v1/prices/historical?by_code=WTI_USD&format=csv',
  '/v1/commodities',
  '/v1/analytics/statistics?code=WTI_USD&days=90',
  '/v1/analytics/correlation?code1=WTI_USD&code2=BRENT_CRUDE_USD&days=90',
  '/v1/analytics/rolling?code=WTI_USD&window=20',
  '/v1/status',
  '/v1/users/me',
  '/v1/webhooks',
  '/v1/prices/nothing',
  '/health',
  '/openapi.json',
  '/console',
  '/metrics',
]

const megabytes = 1024
/** What the process holds of its own: pages of the database that are mapped are no leak. */
function standing(): { megabytes: number; descriptors: number } {
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8')
  return {
    megabytes: Number(/RssAnon:\s+(\d+)/.exec(status)![1]) / megabytes,
    descriptors: readdirSync(`/proc/${server.pid}/fd`).length,
  }
}

const samples: { minute: number; megabytes: number; descriptors: number }[] = []
const began = performance.now()
const passed = () => (performance.now() - began) / minuteMs
let [n, sampledMinute] = [0, 0]
while (passed() < minutes) {
  n += 1
  await Promise.all([
    pushed(Date.now(), n),
    call(key, 'GET', reads[n % reads.length]!),
    call(key, 'GET', reads[(n * 7) % reads.length]!),
    ...(n % 50 === 0 ? [call('', 'POST', '/v1/auth/link', { email: 'soak@example.com' })] : []),
    ...(n % 20 === 0 ? [call('Token wrong', 'GET', '/v1/prices/latest')] : []),
  ])
  if (passed() >= sampledMinute + 1) {
    sampledMinute += 1
    samples.push({ minute: sampledMinute, ...standing() })
    console.error(JSON.stringify(samples.at(-1)))
  }
  await Bun.sleep(100)
}

const counted = samples.filter(({ minute }) => minute > warmUpMinutes)
const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const [meanMinute, meanMb] = [
  mean(counted.map(({ minute }) => minute)),
  mean(counted.map(sample => sample.megabytes)),
]
const slope =
  counted.reduce((sum, s) => sum + (s.minute - meanMinute) * (s.megabytes - meanMb), 0) /
  counted.reduce((sum, s) => sum + (s.minute - meanMinute) ** 2, 0)
const descriptors = counted.map(sample => sample.descriptors)
const growth = descriptors.at(-1)! - descriptors[0]!
const fiveHundreds = [...answers].reduce(
  (sum, [status, count]) => sum + (status >= 500 ? count : 0),
  0,
)
const rounded = (value: number) => Math.round(value * 100) / 100
console.log(
  JSON.stringify({
    id: 'R20',
    n: [...answers.values()].reduce((sum, count) => sum + count, 0),
    failures: Number(slope * 10 > slopeMbMax) + Number(growth > descriptorsMax) + fiveHundreds,
    minutes: samples.length,
    mb_per_10_min: rounded(slope * 10),
    mb: [counted[0]!.megabytes, counted.at(-1)!.megabytes].map(rounded),
    descriptors: [descriptors[0], descriptors.at(-1)],
    webhooks: received,
    answers: Object.fromEntries(answers),
  }),
)
server.kill('SIGKILL')
await server.exited
rmSync(dir, { recursive: true, force: true })
process.exit(0)
