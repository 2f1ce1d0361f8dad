/**
 * The clients of the row `mix`, in a process of their own: four ask for something heavy as fast as
 * it is answered, one asks for a price fifty times a second. Prints one JSON line.
 * `bun bench/mix-load.ts PORT KEY HEAVY_PATH kept|new SECONDS`
 */
import http from 'node:http'

const [port = '', key = '', heavyPath = '', connections = 'kept', seconds = '4'] =
  process.argv.slice(2)

const heavyClients = 4
const pricesEverySecond = 50
const pricePath = '/v1/prices/latest?by_code=WTI_USD'

const heavyAgent = new http.Agent({ keepAlive: connections === 'kept', maxSockets: heavyClients })
const priceAgent = new http.Agent({ keepAlive: connections === 'kept' })

/** Milliseconds from the request to the last byte of its answer. */
function ask(path: string, agent: http.Agent): Promise<number> {
  const startedAt = performance.now()
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Token ${key}`, 'accept-encoding': 'gzip' }
    const request = http.get({ host: '127.0.0.1', port, path, agent, headers }, response => {
      response.resume()
      response.on('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - startedAt)
        else reject(new Error(`${path} was answered ${response.statusCode}`))
      })
    })
    request.on('error', reject)
  })
}

let isOver = false
let heavyAnswers = 0

async function askHeavy() {
  while (!isOver) {
    await ask(heavyPath, heavyAgent)
    heavyAnswers += 1
  }
}

const heavy = heavyPath === '' ? [] : Array.from({ length: heavyClients }, askHeavy)
await Bun.sleep(500)
const answersBefore = heavyAnswers
const startedAt = performance.now()
const prices: Promise<number>[] = []
for (let i = 0; i < pricesEverySecond * Number(seconds); i += 1) {
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
