import { join } from 'node:path'
import { filled } from '../database.ts'
import { duel } from '../duel.ts'
import { type BenchOptions, type Line, ratioLine } from '../row.ts'
import { serveWellhead, serveYardstick, withServers } from '../server.ts'
import { askByWrk } from '../wrk.ts'

const points = 400_000
const manyKeys = 10_000
const leastRatios = new Map([
  [1, 0.75],
  [manyKeys, 0.7],
])
/** Headers that the server sets itself, whatever the handler returns. */
const ownHeaders = ['content-length', 'date', 'connection', 'keep-alive', 'transfer-encoding']

/** The newest price of one code from the compiled binary, with wrk, a load generator of others. */
export async function wrk(options: BenchOptions): Promise<Line[]> {
  const copy = await filled('latest', { points, keys: manyKeys }, options)
  const path = `/v1/prices/latest?by_code=${copy.code}`
  return withServers([serveWellhead(copy.dir, 'serve', 'built')], async ours => {
    const answer = await fetch(`http://127.0.0.1:${ours.port}${path}`, {
      headers: { authorization: `Token ${copy.tokens[0]}` },
    })
    const body = await answer.text()
    const headers = Object.fromEntries(
      [...answer.headers].filter(([name]) => !ownHeaders.includes(name)),
    )
    const settings = { tokensPath: join(copy.dir, 'filled.json'), body, headers }
    return withServers([serveYardstick('latest', settings)], async theirs => {
      const lines: Line[] = []
      for (const [count, least] of leastRatios) {
        options.say(`wrk with ${count} keys`)
        const script = join(options.dir, 'wrk.lua')
        await Bun.write(script, scriptOf([path], copy.tokens.slice(0, count)))
        const run = (port: number) => () => perSecond(port, script, options.seconds)
        const rates = await duel(options.rounds, run(ours.port), run(theirs.port))
        lines.push(ratioLine(`latest by wrk, ${count} keys in turn (binary)`, rates, least))
      }
      return lines
    })
  })
}

const luaList = (texts: readonly string[]) => `{ ${texts.map(text => `"${text}"`).join(',')} }`

/** Requests built in advance and sent by turns: each path with each key. */
export const scriptOf = (paths: readonly string[], tokens: readonly string[]): string => `
local paths = ${luaList(paths)}
local tokens = ${luaList(tokens)}
local requests = {}
function init()
  for _, token in ipairs(tokens) do
    for _, path in ipairs(paths) do
      requests[#requests + 1] = wrk.format('GET', path, { Authorization = 'Token ' .. token })
    end
  end
end
local i = 0
function request()
  i = i % #requests + 1
  return requests[i]
end
`

export const perSecond = (port: number, script: string, seconds: number): Promise<number> =>
  askByWrk(
    ['-c64', `-d${Math.ceil(seconds)}s`, '-s', script, `http://127.0.0.1:${port}`],
    /Non-2xx|Socket errors/,
  )
