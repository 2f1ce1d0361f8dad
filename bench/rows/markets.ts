import { join } from 'node:path'
import { filledCopy } from '../database.ts'
import { duel } from '../duel.ts'
import { question } from '../question.ts'
import { type BenchOptions, type Line, plainLine, type Row } from '../row.ts'
import { serveWellhead, serveYardstick, type Wellhead, withServers } from '../server.ts'

const codes = ['WTI_USD', 'BRENT_CRUDE_USD', 'NATURAL_GAS_USD', 'HEATING_OIL_USD', 'GASOLINE_USD']
const period = 365
const ohlcDays = 1825
const slug = 'exch-wti'

interface Read {
  name: string
  yardstick: string
  path: string
  /** The yardstick's settings, taken from our own response. */
  settings(body: string): Record<string, unknown>
  /** Whether the yardstick returned the same; otherwise the ratio means nothing. */
  isSame(ours: string, theirs: string): boolean
}

interface CurveBody {
  total_contracts: number
  contracts: { contract: string; price: number }[]
  curve_metrics: { average_price: number }
}

interface OhlcBody {
  contract: string
  count: number
  date: string
  ohlc: { close: number }[]
}

interface MatrixBody {
  codes: string[]
  matrix: Record<string, Record<string, number>>
}

const near = (a: number | undefined, b: number | undefined, by: number) =>
  a !== undefined && b !== undefined && Math.abs(a - b) <= by

/** The forward curve of the contracts that are listed. */
export const curve = reading({
  name: 'futures curve',
  yardstick: 'curve',
  path: `/v1/futures/${slug}/curve`,
  settings: body => ({
    contracts: (JSON.parse(body) as CurveBody).contracts.map(contract => contract.contract),
  }),
  isSame(ours, theirs) {
    const [a, b] = [ours, theirs].map(text => JSON.parse(text) as CurveBody)
    return (
      a!.total_contracts === b!.total_contracts &&
      near(a!.curve_metrics.average_price, b!.curve_metrics.average_price, 0.01)
    )
  },
})

/** Five codes against each other over a year. */
export const correlation = reading({
  name: `correlation of ${codes.length} codes`,
  yardstick: 'correlation',
  path: `/v1/analytics/correlation?type=matrix&codes=${codes.join(',')}&period=${period}`,
  settings: () => ({ codes, period }),
  isSame(ours, theirs) {
    const [a, b] = [
      (JSON.parse(ours) as { data: MatrixBody }).data,
      JSON.parse(theirs) as MatrixBody,
    ]
    return codes.every(code =>
      codes.every(other => near(a.matrix[code]![other], b.matrix[code]![other], 1e-9)),
    )
  },
})

/** The daily bars of the front month. */
export const ohlc = reading({
  name: `ohlc of ${ohlcDays} days`,
  yardstick: 'ohlc',
  path: `/v1/futures/${slug}/ohlc?days=${ohlcDays}`,
  settings(body) {
    const { contract } = JSON.parse(body) as OhlcBody
    return {
      contract,
      from: new Date(Date.now() - ohlcDays * 86_400_000).toISOString().slice(0, 10),
    }
  },
  isSame(ours, theirs) {
    const [a, b] = [ours, theirs].map(text => JSON.parse(text) as OhlcBody)
    return a!.count === b!.count && near(a!.ohlc.at(-1)?.close, b!.ohlc.at(-1)?.close, 0.01)
  },
})

function reading({ name, yardstick, path, settings, isSame }: Read): Row {
  return async (options: BenchOptions): Promise<Line[]> => {
    const dir = await filledCopy(options)
    return withServers([serveWellhead(dir, 'dev')], async ours => {
      await pauseFeed(ours)
      const timed = await question(ours.port, path, options.seconds, ours.apiKey)
      const yardstickSettings = { database: join(dir, 'wellhead.db'), ...settings(timed.body) }
      return withServers([serveYardstick(yardstick, yardstickSettings)], async theirs => {
        const bare = await question(theirs.port, '/', options.seconds)
        if (!isSame(timed.body, bare.body))
          throw new Error(`${name}: ${timed.body.slice(0, 600)} is not ${bare.body.slice(0, 600)}`)
        options.say(name)
        return [plainLine(name, await duel(options.rounds, timed.run, bare.run))]
      })
    })
  }
}

/** Answers must stay as long as they are while they are counted. */
async function pauseFeed({ port, adminToken }: Wellhead) {
  const answer = await fetch(`http://127.0.0.1:${port}/_dev/feed`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ paused: true }),
  })
  if (!answer.ok)
    throw new Error(`pausing the feed was answered ${answer.status}: ${await answer.text()}`)
}
