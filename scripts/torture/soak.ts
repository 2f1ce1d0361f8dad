import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from './start-server.ts'

/**
 * R20: prices in, webhooks out, reads of every sort, people who sign in, for an hour; whether the
 * memory of the process and its open files stay level. Prints one line of JSON. Needs dist/wellhead.
 *
 *   bun scripts/torture/soak.ts [minutes, else 60] [minutes that do not count yet, else 10]
 *                               [milliseconds between rounds of requests, else 100]
 */

const [minutes = 60, warmUpMinutes = 10, pauseMs = 100] = process.argv.slice(2).map(Number)
const dir = mkdtempSync(join(tmpdir(), 'wellhead-soak-'))
const codes = ['BRENT_CRUDE_USD', 'WTI_USD', 'NATURAL_GAS_USD']
const minuteMs = 60_000
/** The growth of anonymous memory over ten minutes. */
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
const { child: server, url, admin_token } = await startServer(dir)
process.on('exit', () => {
  server.kill('SIGKILL')
  rmSync(dir, { recursive: true, force: true })
})
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
  '/health',
  '/openapi.json',
  '/board',
  '/metrics',
]
const nowhere = '/v1/prices/nothing'
const asker = (path: string) => (path === '/metrics' ? operator : key)
for (const path of reads) {
  const { status } = await fetch(url + path, { headers: { authorization: asker(path) } })
  if (status !== 200) throw new Error(`${path} answers ${status}: it would be no load`)
}

const megabytes = 1024
/** The memory of the process itself: mapped pages of the database are not a leak. */
function resources(): { megabytes: number; descriptors: number } {
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8')
  return {
    megabytes: Number(/RssAnon:\s+(\d+)/.exec(status)![1]) / megabytes,
    descriptors: readdirSync(`/proc/${server.pid}/fd`).length,
  }
}

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const rounded = (value: number) => Math.round(value * 100) / 100
const samples: { minute: number; megabytes: number; descriptors: number }[] = []
const began = performance.now()
const passed = () => (performance.now() - began) / minuteMs
// Memory swings by what waits to be collected, so each second counts.
const sampling = setInterval(() => {
  samples.push({ minute: passed(), ...resources() })
}, 1000)
let [n, told] = [0, 0]
while (passed() < minutes) {
  n += 1
  await Promise.all([
    pushed(Date.now(), n),
    ...[n, n * 7].map(at => {
      const path = reads[at % reads.length]!
      return call(asker(path), 'GET', path)
    }),
    ...(n % 50 === 0 ? [call('', 'POST', '/v1/auth/link', { email: 'soak@example.com' })] : []),
    ...(n % 20 === 0 ? [call('Token wrong', 'GET', '/v1/prices/latest')] : []),
    ...(n % 20 === 10 ? [call(key, 'GET', nowhere)] : []),
  ])
  if (passed() >= told + 1) {
    const latest = samples.filter(({ minute }) => minute >= told).map(sample => sample.megabytes)
    told += 1
    console.error(
      JSON.stringify({ minute: told, n, mb: [Math.min(...latest), mean(latest)].map(rounded) }),
    )
  }
  await Bun.sleep(pauseMs)
}
clearInterval(sampling)

const counted = samples.filter(({ minute }) => minute > warmUpMinutes)
/** Megabytes that the line through the points rises in ten minutes, by least squares. */
function rise(points: readonly { minute: number; megabytes: number }[]): number {
  const [minute, megabytes] = [
    mean(points.map(point => point.minute)),
    mean(points.map(point => point.megabytes)),
  ]
  const together = points.reduce(
    (sum, point) => sum + (point.minute - minute) * (point.megabytes - megabytes),
    0,
  )
  return (together / points.reduce((sum, point) => sum + (point.minute - minute) ** 2, 0)) * 10
}
// The memory after garbage collection: the lowest sample of each minute. The rest varies more in
// seconds than the limit allows in an hour.
const kept = [...Map.groupBy(counted, ({ minute }) => Math.floor(minute)).values()].map(samples =>
  samples.reduce((least, sample) => (sample.megabytes < least.megabytes ? sample : least)),
)
const slope = rise(kept)
const descriptors = counted.map(sample => sample.descriptors)
const growth = descriptors.at(-1)! - descriptors[0]!
const fiveHundreds = [...answers].reduce(
  (sum, [status, count]) => sum + (status >= 500 ? count : 0),
  0,
)
console.log(
  JSON.stringify({
    id: 'R20',
    n: [...answers.values()].reduce((sum, count) => sum + count, 0),
    failures: Number(slope > slopeMbMax) + Number(growth > descriptorsMax) + fiveHundreds,
    minutes,
    mb_per_10_min: rounded(slope),
    mb_per_10_min_with_garbage: rounded(rise(counted)),
    mb_kept: kept.map(({ megabytes }) => Math.round(megabytes)),
    descriptors: [descriptors[0], descriptors.at(-1)],
    webhooks: received,
    answers: Object.fromEntries(answers),
  }),
)
process.exit(0)
