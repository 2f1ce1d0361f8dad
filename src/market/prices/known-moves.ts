/** A time in which a market honestly did what no ordinary one does. */
export interface KnownMove {
  /** Of prices, or the name of a dataset. */
  category: string
  /** First and last month. */
  from: string
  to: string
  reason: string
}

const gulfWar = 'the war in the Gulf began and prices fell'
const pandemic = 'demand fell away; the May contract of WTI ended below zero'
const cold = 'arctic cold'

/** In these months the guards list what they would hold. */
export const knownMoves: readonly KnownMove[] = [
  {
    category: 'crude_oil',
    from: '1974-01',
    to: '1974-01',
    reason: 'OPEC more than doubled its posted price in the embargo',
  },
  { category: 'crude_oil', from: '1979-05', to: '1979-05', reason: 'the revolution in Iran' },
  {
    category: 'crude_oil',
    from: '1986-02',
    to: '1986-02',
    reason: 'Saudi Arabia gave up holding the price',
  },
  { category: 'crude_oil', from: '1990-08', to: '1990-08', reason: 'Iraq invaded Kuwait' },
  { category: 'crude_oil', from: '1991-01', to: '1991-01', reason: gulfWar },
  { category: 'crude_oil', from: '2020-03', to: '2020-05', reason: pandemic },
  { category: 'refined_products', from: '1991-01', to: '1991-01', reason: gulfWar },
  {
    category: 'refined_products',
    from: '2000-01',
    to: '2000-02',
    reason: 'cold and empty tanks in the Northeast',
  },
  { category: 'refined_products', from: '2020-03', to: '2020-05', reason: pandemic },
  {
    category: 'natural_gas',
    from: '1974-01',
    to: '1974-01',
    reason: 'contracts in Europe followed the price of oil',
  },
  {
    category: 'natural_gas',
    from: '2003-02',
    to: '2003-02',
    reason: 'a cold end of winter with low stocks',
  },
  { category: 'natural_gas', from: '2021-02', to: '2021-02', reason: 'winter storm in Texas' },
  { category: 'natural_gas', from: '2024-01', to: '2024-01', reason: cold },
  { category: 'natural_gas', from: '2025-01', to: '2025-01', reason: cold },
  { category: 'natural_gas', from: '2026-01', to: '2026-01', reason: cold },
  { category: 'fx', from: '2001-02', to: '2001-04', reason: 'the Turkish lira was let float' },
  { category: 'fx', from: '2008-10', to: '2008-11', reason: 'the banks of Iceland failed' },
  { category: 'fx', from: '2014-12', to: '2014-12', reason: 'the rouble fell with the oil price' },
  {
    category: 'fx',
    from: '2015-01',
    to: '2015-01',
    reason: 'the Swiss National Bank gave up its floor',
  },
  {
    category: 'fx',
    from: '2018-02',
    to: '2018-02',
    reason: 'the ECB fixed the krona again, after nine years',
  },
  {
    category: 'fx',
    from: '2021-12',
    to: '2021-12',
    reason: 'deposits in lira were protected overnight',
  },
  { category: 'fx', from: '2022-02', to: '2022-03', reason: 'sanctions on Russia' },
  {
    category: 'metals',
    from: '1980-01',
    to: '1980-04',
    reason: 'silver was cornered, and fell back',
  },
  { category: 'metals', from: '1988-03', to: '1988-03', reason: 'nickel was scarce' },
  {
    category: 'metals',
    from: '2005-01',
    to: '2005-01',
    reason: 'the contract of a new year for iron ore',
  },
  { category: 'metals', from: '2008-10', to: '2008-10', reason: 'the crisis of the banks' },
  {
    category: 'storage',
    from: '2004-05',
    to: '2004-06',
    reason: 'diesel of ultra-low sulphur, of which there was hardly any yet',
  },
  {
    category: 'rig-counts',
    from: '1982-09',
    to: '1982-10',
    reason: 'the agency has two thirds more rigs for September 1982 than for the months around it',
  },
  {
    category: 'cftc-positions',
    from: '2023-04',
    to: '2023-04',
    reason: 'OPEC cut its output over a weekend and short positions were closed',
  },
]

/** Why a doubtful value of a category may be honest; `month` is `YYYY-MM`. */
export const knownMoveOf = (category: string, month: string): KnownMove | undefined =>
  knownMoves.find(move => move.category === category && move.from <= month && month <= move.to)
