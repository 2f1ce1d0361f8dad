/**
 * One client that requests a price fifty times a second, in a separate process, so that it measures
 * the server's delay and not the time to read other responses. It runs for so many seconds or, for
 * 0, until standard input ends, and prints one JSON line of milliseconds. `bun
 * bench/price-client.ts PORT KEY kept|new SECONDS CODE,…`
 */
import http from 'node:http'

const [port = '', key = '', connections = 'kept', seconds = '4', codes = 'WTI_USD'] =
  process.argv.slice(2)

const pricesEverySecond = 50
/** Asked first and not counted: the client's own code is cold. */
const uncountedPrices = 25

const agent = new http.Agent({ keepAlive: connections === 'kept' })
const headers = { authorization: `Token ${key}`, 'accept-encoding': 'gzip' }

const paths = codes.split(',').map(code => `/v1/prices/latest?by_code=${code}`)
let asked = 0

/** Milliseconds from the request to the last byte of its answer. */
function ask(isSecond = false): Promise<number> {
  asked += 1
  const path = paths[asked % paths.length]!
  const startedAt = performance.now()
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, path, agent, headers }, response => {
      response.resume()
      response.on('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - startedAt)
        else reject(new Error(`${path} was answered ${response.statusCode}`))
      })
    })
    request.on('error', (error: NodeJS.ErrnoException) => {
      // The server closes idle connections; like other clients, this one sends the request again.
      if (error.code === 'ECONNRESET' && request.reusedSocket && !isSecond)
        ask(true).then(() => resolve(performance.now() - startedAt), reject)
      else reject(error)
    })
    request.end()
  })
}

let isCalledOff = false
if (seconds === '0')
  void Bun.stdin.text().then(() => {
    isCalledOff = true
  })

/**
 * Requests a number of prices, each at its scheduled time, whether or not earlier ones are
 * answered.
 */
async function waitsOf(countMax: number): Promise<number[]> {
  const waits: Promise<number>[] = []
  while (waits.length < countMax && !isCalledOff) {
    waits.push(ask())
    await Bun.sleep(1000 / pricesEverySecond)
  }
  return Promise.all(waits)
}

await waitsOf(uncountedPrices)
const countMax = seconds === '0' ? Number.POSITIVE_INFINITY : pricesEverySecond * Number(seconds)
const waits = (await waitsOf(countMax)).sort((a, b) => a - b)

const percentile = (share: number): number =>
  waits[Math.min(waits.length - 1, Math.floor(waits.length * share))]!
console.log(
  JSON.stringify({ p50Ms: percentile(0.5), p99Ms: percentile(0.99), maxMs: waits.at(-1) }),
)
process.exit(0)
