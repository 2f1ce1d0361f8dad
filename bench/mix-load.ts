/**
 * The clients of the rows `mix` and `work`, in a process of their own: four ask for something heavy
 * as fast as it is answered, one asks for a price fifty times a second, for so many seconds or, for 0,
 * until standard input ends. Prints one JSON line.
 * `bun bench/mix-load.ts PORT KEY HEAVY_PATH kept|new SECONDS [BODY]`
 */
import http from 'node:http'

const [port = '', key = '', heavyPath = '', connections = 'kept', seconds = '4', heavyBody = ''] =
  process.argv.slice(2)

const heavyClients = 4
const pricesEverySecond = 50
const pricePath = '/v1/prices/latest?by_code=WTI_USD'

const heavyAgent = new http.Agent({ keepAlive: connections === 'kept', maxSockets: heavyClients })
const priceAgent = new http.Agent({ keepAlive: connections === 'kept' })

/** Milliseconds from the request to the last byte of its answer. */
function ask(path: string, agent: http.Agent, body = '', isSecond = false): Promise<number> {
  const startedAt = performance.now()
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Token ${key}`,
      'accept-encoding': 'gzip',
      ...(body !== '' && { 'content-type': 'application/json' }),
    }
    const method = body === '' ? 'GET' : 'POST'
    const request = http.request(
      { host: '127.0.0.1', port, path, agent, headers, method },
      response => {
        response.resume()
        response.on('end', () => {
          if (response.statusCode === 200) resolve(performance.now() - startedAt)
          else reject(new Error(`${path} was answered ${response.statusCode}`))
        })
      },
    )
    request.on('error', (error: NodeJS.ErrnoException) => {
      // The server closed a connection that nothing was sent over for long: every client asks again.
      if (error.code === 'ECONNRESET' && request.reusedSocket && !isSecond)
        ask(path, agent, body, true).then(() => resolve(performance.now() - startedAt), reject)
      else reject(error)
    })
    request.end(body)
  })
}

let isOver = false
let heavyAnswers = 0

async function askHeavy() {
  while (!isOver) {
    await ask(heavyPath, heavyAgent, heavyBody)
    heavyAnswers += 1
  }
}

const heavy = heavyPath === '' ? [] : Array.from({ length: heavyClients }, askHeavy)
await Bun.sleep(500)
const answersBefore = heavyAnswers
const startedAt = performance.now()
const prices: Promise<number>[] = []
let isCalledOff = false
if (seconds === '0')
  void Bun.stdin.text().then(() => {
    isCalledOff = true
  })
const pricesMax = seconds === '0' ? Number.POSITIVE_INFINITY : pricesEverySecond * Number(seconds)
while (prices.length < pricesMax && !isCalledOff) {
  prices.push(ask(pricePath, priceAgent))
  await Bun.sleep(1000 / pricesEverySecond)
}
const waits = (await Promise.all(prices)).sort((a, b) => a - b)
const elapsedSeconds = (performance.now() - startedAt) / 1000
isOver = true
const answers = heavyAnswers - answersBefore
await Promise.allSettled(heavy)

const percentile = (share: number): number =>
  waits[Math.min(waits.length - 1, Math.floor(waits.length * share))]!
console.log(
  JSON.stringify({
    p50Ms: percentile(0.5),
    p99Ms: percentile(0.99),
    maxMs: waits.at(-1),
    heavyPerSecond: answers / elapsedSeconds,
  }),
)
process.exit(0)
