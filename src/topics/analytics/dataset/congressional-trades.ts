import { day, text, textOr } from '../../../datasets/columns.ts'
import { type Column, dataset, type RecordOf } from '../../../datasets/dataset.ts'
import { neededText, refuse } from '../../../datasets/fields.ts'

const tickerPattern = /^[A-Z0-9][A-Z0-9.-]{0,19}$/
export const transactionTypes = [
  'purchase',
  'sale',
  'sale_full',
  'sale_partial',
  'exchange',
] as const
export type TransactionType = (typeof transactionTypes)[number]

const columns = {
  member: text('Name of the member', 'write the name of the member', 120),
  ticker: {
    required: true,
    description: 'Symbol of the traded security',
    read(row, name) {
      const ticker = neededText(row, name, 'write the symbol, such as XYZ').toUpperCase()
      return tickerPattern.test(ticker)
        ? ticker
        : refuse(
            name,
            ticker,
            'is not a symbol',
            'write letters, digits, . and -, at most 20 characters',
          )
    },
  } as Column<string>,
  transactionType: {
    required: true,
    description: `One of ${transactionTypes.join(', ')}; Sale (Partial) is sale_partial`,
    read(row, name) {
      const right = `write one of ${transactionTypes.join(', ')}`
      const written = neededText(row, name, right)
      const word = written
        .toLowerCase()
        .replaceAll(/[^a-z]+/g, '_')
        .replace(/_$/, '')
      return (
        transactionTypes.find(type => type === word) ?? refuse(name, written, 'is not known', right)
      )
    },
  } as Column<TransactionType>,
  amountRange: text(
    'Range of the amount as disclosed, such as $1,001 - $15,000',
    'write it as disclosed, such as $1,001 - $15,000',
    60,
  ),
  transactedOn: day('Day of the trade', { name: 'transaction_date' }),
  disclosedOn: day('Day of the disclosure', { name: 'disclosure_date' }),
  source: textOr('import', 'Source of the record, as shown in responses; default: import'),
}

/** A trade of a member of Congress as it was disclosed. */
export type CongressionalTrade = RecordOf<typeof columns>

export const congressionalTrades = dataset({
  name: 'congressional-trades',
  feature: 'calculated_metrics',
  description:
    'Trades of members of the United States Congress as their periodic transaction reports disclose them.',
  table: 'congressional_trades',
  // In the order of its primary key, which journals of batches are written in.
  tables: [
    {
      name: 'congressional_trades',
      key: ['member', 'ticker', 'transaction_type', 'transacted_on', 'amount_range'],
    },
  ],
  columns,
  key: ['member', 'ticker', 'transactionType', 'amountRange', 'transactedOn'],
  order: 't.transacted_on, t.member, t.ticker, t.transaction_type, t.amount_range',
  example:
    'member,ticker,transaction_type,amount_range,transaction_date,disclosure_date\n' +
    'Jordan Example,XYZ,purchase,"$1,001 - $15,000",2026-10-02,2026-10-30\n' +
    'Robin Example,ABC,sale_partial,"$15,001 - $50,000",2026-10-05,2026-11-03\n',
  read(_row, read): CongressionalTrade {
    const transactedOn = read.transactedOn()
    const disclosedOn = read.disclosedOn()
    if (disclosedOn < transactedOn) {
      refuse(
        'disclosure_date',
        disclosedOn,
        `is before the trade on ${transactedOn}`,
        'check which column is which',
      )
    }
    return read.rest({ transactedOn, disclosedOn })
  },
})
