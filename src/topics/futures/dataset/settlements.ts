import { derived } from '../../../datasets/columns.ts'
import { type Column, dataset, type RecordOf } from '../../../datasets/dataset.ts'
import { neededDay, neededInstant, refuse, textIn } from '../../../datasets/fields.ts'
import type { DayRecord } from '../math/contract-days.ts'
import {
  checkTraded,
  contract,
  contractIn,
  countIn,
  futuresPrice,
  priceIn,
  source,
} from './fields.ts'

/** A session that has opened in the evening counts to the next date. */
const aheadDays = 1

/** A number of a bar; exports include it also for bars made from ticks. */
const ofBar = (
  description: string,
  stored: string,
  options: Column<number | null> = {},
): Column<number | null> => ({
  ...options,
  description,
  exported: `CASE t.from_ticks WHEN 0 THEN t.${stored} END`,
})

const columns = {
  seriesId: contract,
  tradedOn: {
    required: true,
    description: 'Trading date',
    read: (row, name, { now }) => neededDay(row, name, now, aheadDays),
  } as Column<string>,
  open: ofBar('First trade', 'open'),
  high: ofBar('Highest trade', 'high'),
  low: ofBar('Lowest trade', 'low'),
  close: ofBar('Last trade; close or settlement is required', 'close'),
  settlement: {
    description: 'Settlement as the exchange published it; leave it empty if you only have a close',
  } as Column<number | null>,
  volume: ofBar('Lots traded', 'volume', {
    read: (row, name) => countIn(row, name) ?? null,
  }),
  openInterest: {
    description: 'Open interest at the end of the date, in lots',
    read: (row, name) => countIn(row, name) ?? null,
  } as Column<number | null>,
  quotedAt: {
    description: 'When the close was quoted; default: the end of the session',
    exported: 'CASE t.from_ticks WHEN 0 THEN t.quoted_at END',
  } as Column<number>,
  source,
  /** Open to volume follow the ticks of the date. */
  fromTicks: derived<boolean>({ isFlag: true }),
}

/** One trading date of a contract as it is stored; what its source does not have is null. */
export type FuturesDay = RecordOf<typeof columns> & { recordedAt: number }

export const futuresSettlements = dataset({
  name: 'futures-settlements',
  feature: 'futures',
  description:
    'Daily bars, settlements, volume and open interest of futures contracts by trading date.',
  table: 'futures_days',
  columns,
  key: ['seriesId', 'tradedOn'],
  time: 'tradedOn',
  where: 't.from_ticks = 0 OR t.settlement IS NOT NULL',
  revisions: true,
  wide: { name: 'seriesId', value: 'close' },
  checks: { cadence: 'daily', columns: { settlement: futuresPrice, close: futuresPrice } },
  example:
    'contract,traded_on,open,high,low,close,settlement,volume,open_interest\n' +
    'WTI_FUTURES_2027_01,2026-11-19,71.02,72.10,70.44,71.95,71.87,301442,284113\n' +
    'WTI_FUTURES_2027_02,2026-11-19,70.81,71.83,70.25,71.66,71.60,140218,201977\n',
  read(row, read, { now, catalogue, exchangeWords }): DayRecord {
    const tradedOn = read.tradedOn()
    const contract = contractIn(row, exchangeWords, () => tradedOn)
    checkTraded(tradedOn, contract)
    const { level } = catalogue.find(contract.family.code)!
    const price = (field: string) => priceIn(row, field, level) ?? null
    const [open, high, low, close, settlement] = [
      price('open'),
      price('high'),
      price('low'),
      price('close'),
      price('settlement'),
    ]
    if (close === null && settlement === null)
      refuse('close', undefined, '', 'give a close, a settlement or both')
    checkBar(open, high, low, close)
    return {
      family: contract.family.code,
      month: contract.month,
      tradedOn,
      open,
      high,
      low,
      close,
      settlement,
      volume: read.volume(),
      openInterest: read.openInterest(),
      source: read.source(),
      ...(textIn(row, 'quoted_at') !== undefined && {
        quotedAt: neededInstant(row, 'quoted_at', now),
      }),
    }
  },
})

/** Open and close lie between low and high, as far as they are there. */
function checkBar(
  open: number | null,
  high: number | null,
  low: number | null,
  close: number | null,
) {
  const inside = [open, close].filter(value => value !== null)
  if (high !== null && low !== null && low > high)
    refuse('low', low, `is above the high ${high}`, 'check the order of the columns')
  const over = high === null ? undefined : inside.find(value => value > high)
  if (over !== undefined)
    refuse('high', high, `is below ${over}`, 'it is at least the open and the close')
  const under = low === null ? undefined : inside.find(value => value < low)
  if (under !== undefined)
    refuse('low', low, `is above ${under}`, 'it is at most the open and the close')
}
