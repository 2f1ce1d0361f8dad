import { noData } from '../../parts/bits.tsx'
import { MiniLines } from '../../parts/charts/mini-lines.tsx'
import { dataOf, useLoaded, whereThere } from '../../parts/requests/ask.ts'
import { now } from '../../parts/requests/boot.ts'
import { Table } from '../../parts/tables/table.tsx'
import { dataDay, number, orDash, signed, unitOf } from '../../parts/text/format.ts'
import type { ChartAnswer } from '../series/answer.ts'
import { rangeStart, weekOf, weeksOf } from './weeks.ts'

interface NamedStock {
  code: string
  text: string
}

const usStocks: readonly NamedStock[] = [
  { code: 'US_CRUDE_STORAGE', text: 'US crude' },
  { code: 'CUSHING_STORAGE', text: 'Cushing' },
  { code: 'US_GASOLINE_STORAGE', text: 'US gasoline' },
  { code: 'US_DISTILLATE_STORAGE', text: 'US distillate' },
  { code: 'US_NATGAS_STORAGE', text: 'US natural gas' },
]

export const gasStocks: readonly NamedStock[] = [
  ['EU_GAS_STORAGE', 'European Union'],
  ['DE_GAS_STORAGE', 'Germany'],
  ['IT_GAS_STORAGE', 'Italy'],
  ['FR_GAS_STORAGE', 'France'],
  ['NL_GAS_STORAGE', 'Netherlands'],
  ['AT_GAS_STORAGE', 'Austria'],
  ['PL_GAS_STORAGE', 'Poland'],
  ['ES_GAS_STORAGE', 'Spain'],
].map(([code = '', text = '']) => ({ code, text }))

interface Stock {
  code: string
  text: string
  decimals: number
  unit: string
  level: number
  week: number | null
  /** Against the mean of the same week in the five years before, in percent. */
  deviation: number | null
  /** How many of those years had less, in percent. */
  percentile: number | null
  observed: string
  current: (number | null)[]
  low: (number | null)[]
  high: (number | null)[]
}

function stockOf({ code, text }: NamedStock, data: ChartAnswer): Stock | undefined {
  const level = data.close.at(-1)
  if (level === undefined) return undefined
  const { newest, current, before, low, high, mean: means } = weeksOf(data)
  const same = before[weekOf(newest)]!
  const mean = means[weekOf(newest)]
  const previous = data.close.at(-2)
  return {
    code,
    text,
    decimals: data.decimals,
    unit: unitOf(data.currency, data.unit),
    level,
    week: previous === undefined ? null : level - previous,
    deviation: mean ? (100 * (level - mean)) / mean : null,
    percentile:
      same.length > 0 ? (100 * same.filter(value => value < level).length) / same.length : null,
    observed: newest.toISOString(),
    current,
    low,
    high,
  }
}

/** The unit of most stocks, and those that have another. */
function unitsOf(stocks: readonly Stock[]): string {
  const [first] = stocks
  const others = stocks.filter(({ unit }) => unit !== first?.unit)
  return [first?.unit, ...others.map(({ text, unit }) => `${text} in ${unit}`)].join('; ')
}

/** Those of the stocks that have values. */
async function loadStocks(stocks: readonly NamedStock[], signal: AbortSignal): Promise<Stock[]> {
  const charts = await Promise.all(
    stocks.map(({ code }) =>
      // A series that is not in the catalogue of this instance is left out.
      whereThere(
        dataOf<ChartAnswer>(
          `/v1/prices/chart?code=${code}&start_date=${rangeStart(now())}&interval=week`,
          { signal, isLater: true },
        ),
      ),
    ),
  )
  return stocks.flatMap((stock, i) => (charts[i] && stockOf(stock, charts[i])) || [])
}

/** Stocks against the range of five years, each in a line. */
export function StocksNow({
  caption = 'Stocks vs 5 years',
  file = 'stocks',
  stocks = usStocks,
  instead,
}: {
  caption?: string
  file?: string
  stocks?: readonly NamedStock[]
  /** Shown where the first have no values; without values of these either, nothing is shown. */
  instead?: readonly NamedStock[]
}) {
  const answer = useLoaded(file, async signal => {
    const found = await loadStocks(stocks, signal)
    return found.length === 0 && instead ? loadStocks(instead, signal) : found
  })
  if (instead && answer.data?.length === 0) return null
  return (
    <Table
      caption={caption}
      file={file}
      of={answer}
      rows={answer.data}
      note={unitsOf(answer.data ?? [])}
      empty={noData('No stocks yet.')}
      columns={({ column, numeric }) => [
        column('Stock', 'text', ({ code, text, observed }) => (
          <a href={`/series/${code}`} title={`Observed ${dataDay(observed)}`}>
            {text}
          </a>
        )),
        numeric('Level', 'level', ({ level, decimals }) => number(level, decimals)),
        numeric('Week', 'week', ({ week, decimals }) =>
          week === null ? '–' : signed(week, decimals),
        ),
        numeric('vs mean', 'deviation', { write: orDash(percent => `${signed(percent, 1)}%`) }),
        numeric('Rank', 'percentile', {
          isWide: true,
          write: orDash(percentile => `${number(percentile, 0)}%`),
        }),
        {
          name: 'Range',
          isWide: true,
          show: ({ current, low, high }) => (
            <MiniLines
              lines={[{ values: current, ink: '--ink-1', isStrong: true }]}
              band={{ low, high }}
            />
          ),
        },
      ]}
    />
  )
}
