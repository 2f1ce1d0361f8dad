import { day, part, textOr } from '../../../datasets/columns.ts'
import { type Column, dataset, type RecordOf } from '../../../datasets/dataset.ts'
import { type DatasetRow, neededText, numberIn, refuse, textIn } from '../../../datasets/fields.ts'
import { marketOfCot } from '../math/positions.ts'

/** Columns of files that have one row for each week, by market. */
const weekly = [
  { prefix: 'wti_oil', market: 'WTI' },
  { prefix: 'nat_gas', market: 'NATURAL_GAS' },
  { prefix: 'rbob_gas', market: 'RBOB' },
] as const

const contractsMax = 1e8
const manyContracts = { leastMove: 10_000 }

const contracts = (description: string): Column<number> => ({
  description: `${description}; required with a market`,
})
const weeklyColumns = Object.fromEntries(
  weekly.flatMap(({ prefix, market }) =>
    (
      [
        ['mm_long', 'Long'],
        ['mm_short', 'Short'],
        ['oi', 'Open'],
      ] as const
    ).map(([name, kind]) => [
      `${prefix}_${name}`,
      part(`${kind} contracts in ${market}, for files with one row for each week`, null),
    ]),
  ),
)

const reportColumns = {
  reportedOn: day('Day that the report describes, usually a Tuesday', { name: 'report_date' }),
  market: {
    description:
      'WTI, BRENT, NATURAL_GAS, RBOB, HEATING_OIL, their contract market codes (067651 ...), or another name',
  } as Column<string>,
  managedMoneyLong: contracts('Long contracts of managed money'),
  managedMoneyShort: contracts('Short contracts of managed money'),
  openInterest: contracts('All open contracts'),
}
const source = textOr('CFTC', 'Source of the numbers, as shown in responses; default: CFTC')

/** The positions of managed-money traders in a market on a report date, in contracts. */
export type CotReport = RecordOf<typeof reportColumns & { source: typeof source }>

/** One row of a file: one report, or in a file of weeks one for each market that it has. */
export type CotRecord = readonly CotReport[]

export const cftcPositions = dataset({
  name: 'cftc-positions',
  feature: 'calculated_metrics',
  description:
    'Positions of managed money by market and report date, from the disaggregated Commitments of Traders of the Commodity Futures Trading Commission (CFTC): one row for each market and date, or one for each week with columns for its markets.',
  table: 'cot_reports',
  columns: { ...reportColumns, ...weeklyColumns, source },
  key: ['market', 'reportedOn'],
  time: 'reportedOn',
  revisions: true,
  checks: {
    cadence: 'weekly',
    columns: {
      managedMoneyLong: manyContracts,
      managedMoneyShort: manyContracts,
      openInterest: manyContracts,
    },
  },
  example:
    'market,report_date,managed_money_long,managed_money_short,open_interest\n' +
    'WTI,2026-11-17,176380,117333,2035649\n' +
    'NATURAL_GAS,2026-11-17,174417,196351,1625943\n',
  read(row, read): CotRecord {
    const common = { reportedOn: read.reportedOn(), source: read.source() }
    if (textIn(row, 'market') !== undefined) {
      return [
        {
          ...common,
          market: marketIn(row),
          ...positionsIn(row, 'managed_money_long', 'managed_money_short', 'open_interest'),
        },
      ]
    }
    const marketsOfRow = weekly.filter(({ prefix }) =>
      ['mm_long', 'mm_short', 'oi'].some(column => textOf(row[`${prefix}_${column}`]) !== ''),
    )
    if (marketsOfRow.length === 0)
      refuse(
        'market',
        undefined,
        '',
        'write WTI, BRENT, NATURAL_GAS, RBOB, HEATING_OIL or another name',
      )
    return marketsOfRow.map(({ prefix, market }) => ({
      ...common,
      market,
      ...positionsIn(row, `${prefix}_mm_long`, `${prefix}_mm_short`, `${prefix}_oi`),
    }))
  },
})

/** The text of a field of any type, as in a file. */
const textOf = (value: unknown): string => String(value ?? '').trim()

const marketPattern = /^[A-Z0-9][A-Z0-9_.,()/&]{0,59}$/

function marketIn(row: DatasetRow): string {
  const text = neededText(row, 'market', 'write the name of the market')
  const market = marketOfCot(text)
  if (!marketPattern.test(market))
    refuse('market', text, 'is not a name', 'write letters and digits, at most 60 characters')
  return market
}

function positionsIn(row: DatasetRow, long: string, short: string, all: string) {
  const openInterest = contractsIn(row, all)
  const side = (field: string) => {
    const contracts = contractsIn(row, field)
    if (contracts > openInterest) {
      refuse(
        field,
        contracts,
        `is more than the open interest ${openInterest}`,
        'check which column is which',
      )
    }
    return contracts
  }
  return { managedMoneyLong: side(long), managedMoneyShort: side(short), openInterest }
}

/** Contracts are whole, also where a program has written them as 207741.0. */
function contractsIn(row: DatasetRow, field: string): number {
  const right = 'write a whole number of contracts, such as 176380'
  const value = numberIn(row, field, 0, contractsMax) ?? refuse(field, undefined, '', right)
  return Number.isInteger(value) ? value : refuse(field, value, 'is not whole', right)
}
