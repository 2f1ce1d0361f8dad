import { join } from 'node:path'
import { processorMs } from './processor-time.ts'
import type { Server } from './server.ts'

/** The result of one run of a load of distinct requests. */
export interface Run {
  perSecond: number
  /** Processor time of the server for an answer, microseconds; of all its threads. */
  processorUs: number
  answers: number
}

export interface DistinctLoad {
  /** The requests of a run; each path occurs once. */
  paths: readonly string[]
  connections: number
  seconds: number
  headers: Readonly<Record<string, string>>
  /** A directory for the files that `wrk` reads. */
  dir: string
}

/**
 * The requests in the order of a list that `wrk` reads: a run that comes to its end fails, because
 * from there on requests would repeat.
 */
const script = (listPath: string) => `
local requests = {}
local n = 0
function init()
  for path in io.lines('${listPath}') do
    n = n + 1
    requests[n] = wrk.format('GET', path)
  end
end
local i = 0
function request()
  i = i + 1
  return requests[i] or error('the list of requests is exhausted')
end
`

/** Sends requests of which no two are the same, by `wrk` with one thread. */
export async function runDistinct(
  { port, pid }: Pick<Server, 'port' | 'pid'>,
  { paths, connections, seconds, headers, dir }: DistinctLoad,
): Promise<Run> {
  const [listPath, scriptPath] = [join(dir, `${port}.paths`), join(dir, `${port}.lua`)]
  await Bun.write(listPath, `${paths.join('\n')}\n`)
  await Bun.write(scriptPath, script(listPath))
  const before = processorMs(pid)
  const child = Bun.spawn(
    [
      'wrk',
      '-t1',
      // A slow peer may take longer than the two seconds that wrk waits by itself.
      '--timeout',
      '30s',
      `-c${connections}`,
      `-d${seconds}s`,
      ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
      '-s',
      scriptPath,
      `http://127.0.0.1:${port}`,
    ],
    { stdout: 'pipe', stderr: 'pipe' },
  )
  const [text, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  const worked = processorMs(pid) - before
  const [, answers] = /(\d+) requests in/.exec(text) ?? []
  const [, rate] = /Requests\/sec:\s+([\d.]+)/.exec(text) ?? []
  if (rate === undefined || errors !== '' || /Non-2xx|Socket errors/.test(text))
    throw new Error(text + errors)
  return {
    perSecond: Number(rate),
    processorUs: (worked * 1000) / Number(answers),
    answers: Number(answers),
  }
}

/**
 * Numbers of `[0, size)` in an order that looks random and has none twice: `count` of them, from
 * another one in each call.
 */
export function distinctNumbers(size: number, count: number): number[] {
  if (count > size) throw new Error(`there are ${size} different requests, ${count} are needed`)
  let stride = 2 * Math.floor(size * 0.309_017) + 1
  while (greatestCommonDivisor(stride, size) !== 1) stride += 2
  let at = Math.floor(Math.random() * size)
  return Array.from({ length: count }, () => {
    at = (at + stride) % size
    return at
  })
}

const greatestCommonDivisor = (a: number, b: number): number =>
  b === 0 ? a : greatestCommonDivisor(b, a % b)
