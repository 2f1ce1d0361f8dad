import type { WriteCounts } from '../../../database/write-counts.ts'
import { checked, neededDay, neededInstant, refuse, textIn } from '../../../datasets/fields.ts'
import type { Dataset } from '../../../feeds/files/dataset.ts'
import type { CodeLookup } from '../../catalogue/math/lookup.ts'
import type { DayRecord, TickRecord } from '../math/contract-days.ts'
import { contractCode } from '../math/families.ts'
import {
  checkTraded,
  contractColumn,
  contractIn,
  countIn,
  priceIn,
  sourceColumn,
  sourceIn,
} from './fields.ts'
import { futuresPrice } from './guarded.ts'

/** Where the days and ticks of contracts go. */
export interface FuturesWriter {
  recordDays(days: readonly DayRecord[], recordedAt: number): WriteCounts
  recordTicks(ticks: readonly TickRecord[], recordedAt: number): WriteCounts
}

export interface FuturesDatasetDeps {
  futures: FuturesWriter
  catalogue: CodeLookup
  exchangeWords: readonly string[]
}

/** A session that has opened in the evening counts to the next date. */
const aheadDays = 1

export function createFuturesSettlementsDataset({
  futures,
  catalogue,
  exchangeWords,
}: FuturesDatasetDeps): Dataset<DayRecord> {
  return {
    name: 'futures-settlements',
    description:
      'Daily bars, settlements, volume and open interest of futures contracts by trading date.',
    columns: [
      contractColumn,
      { name: 'traded_on', required: true, description: 'Trading date' },
      { name: 'open', required: false, description: 'First trade' },
      { name: 'high', required: false, description: 'Highest trade' },
      { name: 'low', required: false, description: 'Lowest trade' },
      {
        name: 'close',
        required: false,
        description: 'Last trade; this or the settlement must be there',
      },
      {
        name: 'settlement',
        required: false,
        description: 'Settlement as the exchange published it; leave empty what is only a close',
      },
      { name: 'volume', required: false, description: 'Lots traded' },
      { name: 'open_interest', required: false, description: 'Lots open at the end of the date' },
      {
        name: 'quoted_at',
        required: false,
        description: 'When the close was quoted; default: the end of the session',
      },
      sourceColumn,
    ],
    example:
      'contract,traded_on,open,high,low,close,settlement,volume,open_interest\n' +
      'WTI_FUTURES_2027_01,2026-11-19,71.02,72.10,70.44,71.95,71.87,301442,284113\n' +
      'WTI_FUTURES_2027_02,2026-11-19,70.81,71.83,70.25,71.66,71.60,140218,201977\n',
    key: ['contract', 'traded_on'],
    wide: { name: 'contract', value: 'close' },
    check: (row, now) =>
      checked(() => {
        const tradedOn = neededDay(row, 'traded_on', now, aheadDays)
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
          volume: countIn(row, 'volume') ?? null,
          openInterest: countIn(row, 'open_interest') ?? null,
          source: sourceIn(row),
          ...(textIn(row, 'quoted_at') !== undefined && {
            quotedAt: neededInstant(row, 'quoted_at', now),
          }),
        }
      }),
    guarded: {
      cadence: 'daily',
      time: 'traded_on',
      columns: { settlement: futuresPrice, close: futuresPrice },
      numbersOf: ({ family, month, tradedOn, close, settlement }) => [
        {
          line: { contract: contractCode(family, month) },
          time: tradedOn,
          values: { settlement, close },
        },
      ],
    },
    write: (records, recordedAt) => futures.recordDays(records, recordedAt),
  }
}

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
