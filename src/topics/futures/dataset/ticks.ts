import { instant } from '../../../datasets/columns.ts'
import { type Column, dataset, type RecordOf } from '../../../datasets/dataset.ts'
import { refuse } from '../../../datasets/fields.ts'
import type { TickRecord } from '../math/contract-days.ts'
import { tradingDate } from '../math/contracts.ts'
import {
  checkTraded,
  contract,
  contractIn,
  countIn,
  futuresPrice,
  priceIn,
  source,
} from './fields.ts'

const columns = {
  seriesId: contract,
  tradedAt: instant(
    'Time of the trade with its zone; responses combine trades into bars of five minutes',
  ),
  price: { required: true, description: 'Price' } as Column<number>,
  volume: {
    description: 'Lots traded; default: 0',
    read: (row, name) => countIn(row, name) ?? 0,
  } as Column<number>,
  source,
}

/** A trade of a contract as it is stored. */
export type FuturesTick = RecordOf<typeof columns> & { recordedAt: number }

export const futuresTicks = dataset({
  name: 'futures-ticks',
  feature: 'futures',
  description:
    'Intraday prices of futures contracts; a date without a bar gets one from its ticks.',
  table: 'futures_ticks',
  columns,
  key: ['seriesId', 'tradedAt'],
  time: 'tradedAt',
  revisions: true,
  checks: { cadence: 'intraday_5m', columns: { price: futuresPrice } },
  example:
    'contract,traded_at,price,volume\nGASOIL_FUTURES.1,2026-11-20T14:50:00Z,702.25,388\nGASOIL_FUTURES.1,2026-11-20T14:55:00Z,702.5,291\n',
  read(row, read, { catalogue, exchangeWords }): TickRecord {
    const tradedAt = read.tradedAt()
    const contract = contractIn(row, exchangeWords, family => tradingDate(family, tradedAt))
    checkTraded(tradingDate(contract.family, tradedAt), contract, 'traded_at')
    const { level } = catalogue.find(contract.family.code)!
    return {
      family: contract.family.code,
      month: contract.month,
      tradedAt,
      price:
        priceIn(row, 'price', level) ??
        refuse('price', undefined, '', 'write a decimal number with a point'),
      volume: read.volume(),
      source: read.source(),
    }
  },
})
