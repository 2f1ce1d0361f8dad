import {
  checked,
  type DatasetRow,
  neededPastDay,
  neededText,
  refuse,
  textIn,
} from '../../../datasets/fields.ts'
import type { Dataset } from '../../../feeds/files/dataset.ts'
import {
  type CongressionalTrade,
  type CongressionalTradeStore,
  type TransactionType,
  transactionTypes,
} from '../store/congressional-trades.ts'

const tickerPattern = /^[A-Z0-9][A-Z0-9.-]{0,19}$/

export function createCongressionalTradesDataset(
  store: CongressionalTradeStore,
): Dataset<CongressionalTrade> {
  return {
    name: 'congressional-trades',
    description:
      'Trades of members of the United States Congress as their periodic transaction reports disclose them.',
    columns: [
      { name: 'member', required: true, description: 'Name of the member' },
      { name: 'ticker', required: true, description: 'Symbol of what was traded' },
      {
        name: 'transaction_type',
        required: true,
        description: `One of ${transactionTypes.join(', ')}; Sale (Partial) is sale_partial`,
      },
      {
        name: 'amount_range',
        required: true,
        description: 'Range of the amount as disclosed, such as $1,001 - $15,000',
      },
      { name: 'transaction_date', required: true, description: 'Day of the trade' },
      { name: 'disclosure_date', required: true, description: 'Day of the disclosure' },
      {
        name: 'source',
        required: false,
        description: 'Whose record it is, as answers name it; default: import',
      },
    ],
    example:
      'member,ticker,transaction_type,amount_range,transaction_date,disclosure_date\n' +
      'Jordan Example,XYZ,purchase,"$1,001 - $15,000",2026-10-02,2026-10-30\n' +
      'Robin Example,ABC,sale_partial,"$15,001 - $50,000",2026-10-05,2026-11-03\n',
    key: ['member', 'ticker', 'transaction_type', 'amount_range', 'transaction_date'],
    check: (row, now) =>
      checked(() => {
        const transactedOn = neededPastDay(row, 'transaction_date', now)
        const disclosedOn = neededPastDay(row, 'disclosure_date', now)
        if (disclosedOn < transactedOn) {
          refuse(
            'disclosure_date',
            disclosedOn,
            `is before the trade on ${transactedOn}`,
            'check which column is which',
          )
        }
        return {
          member: neededText(row, 'member', 'write the name of the member', 120),
          ticker: tickerIn(row),
          transactionType: typeIn(row),
          amountRange: neededText(
            row,
            'amount_range',
            'write it as disclosed, such as $1,001 - $15,000',
            60,
          ),
          transactedOn,
          disclosedOn,
          source: textIn(row, 'source', 40) ?? 'import',
        }
      }),
    write: (records, recordedAt) => store.write(records, recordedAt),
  }
}

function tickerIn(row: DatasetRow): string {
  const text = neededText(row, 'ticker', 'write the symbol, such as XYZ').toUpperCase()
  return tickerPattern.test(text)
    ? text
    : refuse(
        'ticker',
        text,
        'is not a symbol',
        'write letters, digits, . and -, at most 20 characters',
      )
}

function typeIn(row: DatasetRow): TransactionType {
  const right = `write one of ${transactionTypes.join(', ')}`
  const text = neededText(row, 'transaction_type', right)
  const word = text
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, '_')
    .replace(/_$/, '')
  return (
    transactionTypes.find(type => type === word) ??
    refuse('transaction_type', text, 'is not known', right)
  )
}
