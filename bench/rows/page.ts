import { type Run, runDistinct } from '../distinct.ts'
import { median } from '../duel.ts'
import { type BenchOptions, type Line, perSecond } from '../row.ts'
import { type Server, serveWellhead, serveYardstick, withServers } from '../server.ts'
import { distinctData, type Kind, pathsOf, windowKinds, yardstickSettings } from '../windows.ts'

/** More answers than a server of any kind gives in a second. */
const answersPerSecondMax = 100_000

/** Windows and newest prices, each request different, against a bare server over the same file. */
export async function page(options: BenchOptions): Promise<Line[]> {
  const data = await distinctData(options)
  const kinds = windowKinds(data)
  const asked: readonly (readonly [Kind, leastRatio: number])[] = [
    [kinds.raw, 1],
    [kinds.rawLong, 1],
    [kinds.hours, 1],
    [kinds.days, 1],
    [kinds.latest, 0.7],
  ]
  return withServers([serveWellhead(data.dir, 'serve', 'built')], async ours => {
    const settings = await yardstickSettings(data, ours)
    return withServers([serveYardstick('windows', settings)], async theirs => {
      const lines: Line[] = []
      for (const [kind, least] of asked) {
        await checkSame(kind, [ours, theirs], data.tokens[0]!)
        for (const connections of [1, 16]) {
          options.say(`${kind.name}, ${connections} connections`)
          const run = (server: Server) => () =>
            runDistinct(server, {
              paths: pathsOf(kind, answersPerSecondMax * options.seconds),
              connections,
              seconds: Math.ceil(options.seconds),
              headers: { Authorization: `Token ${data.tokens[0]}` },
              dir: options.dir,
            })
          lines.push(await duelLine(kind, connections, least, options, run(ours), run(theirs)))
        }
      }
      return lines
    })
  })
}

async function duelLine(
  { name }: Kind,
  connections: number,
  least: number,
  { rounds }: BenchOptions,
  ours: () => Promise<Run>,
  theirs: () => Promise<Run>,
): Promise<Line> {
  const pairs: [Run, Run][] = []
  await ours()
  await theirs()
  for (let round = 0; round < rounds; round += 1) pairs.push([await ours(), await theirs()])
  const of = (side: 0 | 1, figure: keyof Run) => median(pairs.map(pair => pair[side][figure]))
  const ratio = median(pairs.map(([a, b]) => a.perSecond / b.perSecond))
  const shown = (side: 0 | 1) =>
    `${perSecond(of(side, 'perSecond'))}, ${Math.round(of(side, 'processorUs'))} µs`
  return {
    row: `${name}, ${connections === 1 ? 'one connection' : `${connections} connections`}`,
    ours: shown(0),
    yardstick: shown(1),
    ratio,
    atLeast: least.toFixed(2),
    met: ratio >= least,
  }
}

const comparedPaths = 20

interface Answer {
  /** A newest price is the row itself. */
  data: { prices?: Fields[] } & Fields
}

type Fields = Record<string, unknown>

/** Both must return the same rows, or the ratio means nothing. */
async function checkSame(kind: Kind, servers: readonly Server[], token: string): Promise<void> {
  for (const path of pathsOf(kind, comparedPaths)) {
    const [ours, theirs] = await Promise.all(
      servers.map(async ({ port }) => {
        const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
          headers: { authorization: `Token ${token}`, 'accept-encoding': 'identity' },
        })
        const { data } = (await answer.json()) as Answer
        return data.prices ?? [data]
      }),
    )
    const at = ours!.findIndex((row, i) => !isSame(row, theirs![i]))
    if (ours!.length !== theirs!.length || ours!.length === 0 || at >= 0)
      throw new Error(
        `${path}: ${JSON.stringify(ours![at] ?? ours!.length)} is not ${JSON.stringify(theirs![at] ?? theirs!.length)}`,
      )
  }
}

/** Numbers may differ where a half is rounded. */
function isSame(ours: Fields, theirs: Fields | undefined): boolean {
  const isField = (name: string) => {
    const [own, other] = [ours[name], theirs?.[name]]
    return typeof own === 'number'
      ? Math.abs(own - Number(other)) < 0.011
      : name === 'formatted' || Bun.deepEquals(own, other)
  }
  return (
    Object.keys(ours).join() === Object.keys(theirs ?? {}).join() &&
    Object.keys(ours).every(isField)
  )
}
