import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from './start-server.ts'

/**
 * R10: a server is stopped (SIGTERM) while requests are under way on connections that it has
 * answered on before: heavy analytics, exports, windows and writes. Each must be answered whole,
 * and the server must end with 0. Prints one line of JSON. Needs dist/wellhead.
 *
 * bun scripts/torture/stops.ts [stops, else 50] [requests each, else 20]
 */

const [stops = 50, requestsEach = 20] = process.argv.slice(2).map(Number)
const dir = mkdtempSync(join(tmpdir(), 'wellhead-stops-'))
const codes = ['BRENT_CRUDE_USD', 'WTI_USD']
const rows = 2_000
const hourMs = 3_600_000

async function start() {
  const server = await startServer(dir, { env: { WELLHEAD_LIMITS_PER_MINUTE: '100000' } })
  process.once('exit', () => server.child.kill('SIGKILL'))
  return server
}
process.on('exit', () => rmSync(dir, { recursive: true, force: true }))

/** A separate connection, so that the server has certainly accepted it before it is stopped. */
async function connection(url: string) {
  const { hostname, port } = new URL(url)
  const socket = await new Promise<Socket>((done, fail) => {
    const opening = connect(Number(port), hostname, () => done(opening))
    opening.once('error', fail)
  })
  let text = ''
  let look = () => {}
  let isClosed = false
  socket.on('data', chunk => {
    text += chunk.toString('latin1')
    look()
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosed = true
    look()
  })
  return {
    /** The status; 0 where the connection ended before the answer was whole. */
    ask(method: string, path: string, authorization: string, body = ''): Promise<number> {
      text = ''
      socket.write(
        `${method} ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      )
      return new Promise(done => {
        look = () => {
          if (isWhole(text)) done(Number(text.slice(9, 12)))
          else if (isClosed) done(0)
        }
        look()
      })
    },
    close: () => socket.destroy(),
  }
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return false
  const length = /content-length: (\d+)/i.exec(text.slice(0, end))
  return length ? text.length >= end + 4 + Number(length[1]) : text.endsWith('\r\n0\r\n\r\n')
}

let server = await start()
const [key, operator] = [`Token ${server.api_key}`, `Bearer ${server.admin_token}`]
const now = Date.now()
const observations = (from: number, count: number) =>
  JSON.stringify({
    observations: Array.from({ length: count }, (_, i) => ({
      code: codes[i % codes.length],
      observed_at: new Date(now - (rows - from - i) * hourMs).toISOString(),
      price: 70 + ((from + i) % 7) / 10,
    })),
  })
for (let from = 0; from < rows; from += 500) {
  const response = await fetch(`${server.url}/admin/v1/observations`, {
    method: 'POST',
    headers: { authorization: operator },
    body: observations(from, 500),
  })
  if (!response.ok) throw new Error(await response.text())
}

const reads = [
  `/v1/analytics/correlation?code1=${codes[0]}&code2=${codes[1]}&days=90`,
  `/v1/analytics/statistics?code=${codes[0]}&days=90`,
  `/v1/prices/past_year?by_code=${codes[0]}&interval=1d`,
  `/v1/prices/historical?by_code=${codes[1]}&format=csv`,
]
const statuses = new Map<number, number>()
let [asked, wrong] = [0, 0]
const endings: number[] = []
for (let stop = 0; stop < stops; stop += 1) {
  const connections = await Promise.all(
    Array.from({ length: requestsEach }, () => connection(server.url)),
  )
  await Promise.all(connections.map(each => each.ask('GET', '/health', key)))
  // Every other stop finds all of them unread, because the server is paused while they are sent.
  const isUnread = stop % 2 === 0
  if (isUnread) server.child.kill('SIGSTOP')
  const answers = connections.map((each, n) =>
    n % 5 === 4
      ? each.ask('POST', '/admin/v1/observations', operator, observations(stop * 20 + n, 20))
      : each.ask('GET', reads[n % reads.length]!, key),
  )
  // The others come amid the answers.
  await Bun.sleep(stop % 10)
  const began = performance.now()
  server.child.kill('SIGTERM')
  if (isUnread) server.child.kill('SIGCONT')
  for (const status of await Promise.all(answers)) {
    asked += 1
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (status < 200 || status > 299) wrong += 1
  }
  for (const each of connections) each.close()
  if ((await server.child.exited) !== 0) wrong += 1
  endings.push(performance.now() - began)
  server = await start()
}
endings.sort((a, b) => a - b)
console.log(
  JSON.stringify({
    id: 'R10',
    n: asked,
    failures: wrong,
    stops,
    statuses: Object.fromEntries(statuses),
    end_ms_p50: Math.round(endings[Math.floor(endings.length / 2)]!),
    end_ms_max: Math.round(endings.at(-1)!),
  }),
)
process.exit(wrong === 0 ? 0 : 1)
