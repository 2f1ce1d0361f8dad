import { checked, neededInstant, refuse } from '../../../datasets/fields.ts'
import type { Dataset } from '../../../feeds/files/dataset.ts'
import type { TickRecord } from '../math/contract-days.ts'
import { tradingDate } from '../math/contracts.ts'
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
import type { FuturesDatasetDeps } from './settlements.ts'

export function createFuturesTicksDataset({
  futures,
  catalogue,
  exchangeWords,
}: FuturesDatasetDeps): Dataset<TickRecord> {
  return {
    name: 'futures-ticks',
    description:
      'Intraday prices of futures contracts; days without a bar of their own get one from them.',
    columns: [
      contractColumn,
      {
        name: 'traded_at',
        required: true,
        description:
          'Time of the trade with its zone; finer than five minutes is added up in answers',
      },
      { name: 'price', required: true, description: 'Price' },
      { name: 'volume', required: false, description: 'Lots traded; default 0' },
      sourceColumn,
    ],
    example:
      'contract,traded_at,price,volume\nGASOIL_FUTURES.1,2026-11-20T14:50:00Z,702.25,388\nGASOIL_FUTURES.1,2026-11-20T14:55:00Z,702.5,291\n',
    key: ['contract', 'traded_at'],
    check: (row, now) =>
      checked(() => {
        const tradedAt = neededInstant(row, 'traded_at', now)
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
          volume: countIn(row, 'volume') ?? 0,
          source: sourceIn(row),
        }
      }),
    guarded: {
      cadence: 'intraday_5m',
      time: 'traded_at',
      columns: { price: futuresPrice },
      numbersOf: ({ family, month, tradedAt, price }) => [
        {
          line: { contract: contractCode(family, month) },
          time: tradedAt,
          values: { price },
        },
      ],
    },
    write: (records, recordedAt) => futures.recordTicks(records, recordedAt),
  }
}
