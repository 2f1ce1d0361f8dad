import { join } from 'node:path'
import { type Filled, filled } from '../database.ts'
import { duel } from '../duel.ts'
import { load, requestBytes } from '../load.ts'
import { type BenchOptions, type Line, plainLine, ratioLine } from '../row.ts'
import { type Server, serveWellhead, serveYardstick, withServers } from '../server.ts'

const leastRatio = 0.7
const manyKeys = 10_000
const points = 400_000
/** Headers that the server sets itself, whatever the handler returns. */
const ownHeaders = ['content-length', 'date', 'connection', 'keep-alive', 'transfer-encoding']

/** The newest price of one code, requested with one key and with ten thousand. */
export async function latest(options: BenchOptions): Promise<Line[]> {
  const copy = await filled('latest', { points, keys: manyKeys }, options)
  const path = `/v1/prices/latest?by_code=${copy.code}`
  return withServers([serveWellhead(copy.dir)], async ours => {
    const answer = await fetch(`http://127.0.0.1:${ours.port}${path}`, {
      headers: { authorization: `Token ${copy.tokens[0]}` },
    })
    const body = await answer.text()
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${body}`)
    const headers = Object.fromEntries(
      [...answer.headers].filter(([name]) => !ownHeaders.includes(name)),
    )
    const settings = { tokensPath: join(copy.dir, 'filled.json'), body, headers }
    return withServers([serveYardstick('latest', settings)], async theirs => {
      const lines: Line[] = []
      for (const count of [1, manyKeys]) {
        options.say(`latest with ${count} keys`)
        const run = contestant(copy, path, Buffer.byteLength(body), count, options)
        const name =
          count === 1 ? 'latest, one key' : `latest, ${count.toLocaleString('en-US')} keys in turn`
        const rates = await duel(options.rounds, run(ours), run(theirs))
        // The demand is on the request; the second line is there to see what many keys cost it.
        lines.push(count === 1 ? ratioLine(name, rates, leastRatio) : plainLine(name, rates))
      }
      return lines
    })
  })
}

/**
 * One run with `count` keys. A single key is another one each time, so that no run finds the
 * windows of the one before it.
 */
const contestant =
  (copy: Filled, path: string, bodyBytes: number, count: number, { seconds }: BenchOptions) =>
  (server: Server) => {
    let run = 0
    return () => {
      const tokens =
        count === 1 ? [copy.tokens[run++ % copy.tokens.length]!] : copy.tokens.slice(0, count)
      const requests = tokens.map(token =>
        requestBytes(server.port, path, { Authorization: `Token ${token}` }),
      )
      return load({ port: server.port, requests, bodyBytes, seconds })
    }
  }
