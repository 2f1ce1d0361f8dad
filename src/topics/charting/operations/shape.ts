import { t } from '../../../http/answer/schema.ts'
import { codeParameter, integerParameter, wordParameter } from '../../../http/input/typed.ts'
import { resolutions } from '../math/resolution.ts'

const symbolOf = (example: string) => codeParameter('A code or alias.', example, { required: true })
export const symbolParameter = symbolOf('WTI_USD')
/** A series with publications, for the example. */
export const publishedSymbol = symbolOf('US_RIG_COUNT')
const secondsParameter = (description: string, example: number) =>
  integerParameter(`${description} Unix seconds.`, example, { required: true })
const resolutionParameter = wordParameter(
  [...resolutions, '1D', '1W', '1M'],
  'Width of a bar: 1, 5, 15 or 60 minutes, D, W or M (default: D).',
  'D',
)
export const rangeParameters = {
  symbol: symbolParameter,
  from: secondsParameter('Start of the range, inclusive.', 1_762_000_000),
  to: secondsParameter('End of the range, exclusive.', 1_763_600_000),
  resolution: resolutionParameter,
}

const numbers = (description: string) => t.Optional(t.Array(t.Number(), { description }))
const texts = t.Array(t.String())

export const HistoryAnswer = t.object('ChartHistory', {
  s: t.string('`ok`, `no_data` or `error`.', 'ok'),
  t: t.Optional(t.Array(t.integer(), { description: 'Start of each bar, Unix seconds.' })),
  o: numbers('First price of each bar, in the unit of the series.'),
  h: numbers('Highest price of each bar.'),
  l: numbers('Lowest price of each bar.'),
  c: numbers('Last price of each bar.'),
  v: numbers('Contracts traded in each bar, with contracts of futures in bars of a day.'),
  nextTime: t.Optional(t.integer('With `no_data`: start of the newest earlier bar, Unix seconds.')),
  errmsg: t.Optional(t.String()),
})

export const SymbolAnswer = t.object('ChartSymbol', {
  name: t.String({ examples: ['WTI_USD'] }),
  ticker: t.String({ examples: ['WTI_USD'] }),
  description: t.String(),
  type: t.string('Category of the code.', 'crude_oil'),
  session: t.string('Hours in `timezone`.', '0100-2300:23456'),
  timezone: t.String({ examples: ['Etc/UTC'] }),
  exchange: t.String(),
  listed_exchange: t.String(),
  currency_code: t.Optional(t.String({ description: 'Absent for counts and volumes.' })),
  unit_id: t.String(),
  minmov: t.integer('Smallest move, in units of 1 / `pricescale`.'),
  pricescale: t.integer('10 to the power of the decimals.', 100),
  has_intraday: t.Boolean(),
  has_daily: t.Boolean(),
  has_weekly_and_monthly: t.Boolean(),
  intraday_multipliers: texts,
  supported_resolutions: texts,
  visible_plots_set: t.String({ examples: ['ohlc'] }),
  volume_precision: t.integer('Decimals of volumes.'),
  data_status: t.String({ examples: ['delayed_streaming'] }),
})

const markFields = {
  id: t.String(),
  time: t.integer('Unix seconds.'),
  color: t.String(),
  label: t.string('One letter.'),
}
export const Mark = t.object('ChartMark', {
  ...markFields,
  text: t.String(),
  labelFontColor: t.String(),
  minSize: t.integer('Smallest size of the mark, pixels.'),
})

export const TimescaleMark = t.object('ChartTimescaleMark', { ...markFields, tooltip: texts })

export const Quotes = t.object('ChartQuotes', {
  s: t.String({ examples: ['ok'] }),
  d: t.Array(
    t.Object({
      s: t.string('`ok`, or `error` for a code without a price.'),
      n: t.string('The code as it was requested.'),
      v: t.Record(t.String(), t.Unknown(), {
        description:
          '`lp` last price, `ch` and `chp` change and percent since the previous close, `prev_close_price`, `short_name`, `description`, `exchange`.',
      }),
    }),
  ),
})

export const FoundSymbol = t.object('ChartFoundSymbol', {
  symbol: t.String(),
  full_name: t.String(),
  ticker: t.String(),
  description: t.String(),
  exchange: t.String(),
  type: t.String(),
})

/** A refusal, as clients of the protocol show it. */
export const ChartRefusal = t.object('ChartRefusal', {
  s: t.Literal('error'),
  errmsg: t.String({ examples: ['symbol is required: a code or alias.'] }),
})
