import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Cadence } from '../../src/topics/catalogue/math/catalogue.ts'
import type { GuardedSeries, Previous } from '../../src/topics/prices/math/guards.ts'
import { realCloses, realRows } from './real-data.ts'

/** A public series, oldest first, with the attributes that the catalogue would have. */
export interface RealSeries {
  /** The file, and the column where it has several. */
  name: string
  /** The catalogue's category, which related series share. */
  category: string
  cadence: Cadence
  series: GuardedSeries
  values: Previous[]
}

const utc = (day: string) => Date.parse(`${day} UTC`)

/** Every series of numbers in ../shared/data; none where the folder is not there. */
export function realSeries(): RealSeries[] {
  const all: RealSeries[] = []
  const add = (
    name: string,
    [category, cadence, volatility]: [category: string, cadence: Cadence, volatility: number],
    values: readonly (readonly [observedAt: number, text: string | undefined])[],
  ) => {
    const numbers = values.flatMap(([observedAt, text]) => {
      const value = Number(text || Number.NaN)
      return Number.isFinite(value) && Number.isFinite(observedAt) ? [{ observedAt, value }] : []
    })
    if (numbers.length > 100)
      all.push({ name, category, cadence, series: { volatility }, values: numbers })
  }
  const addCloses = (path: string, terms: [string, Cadence, number]) =>
    add(
      path,
      terms,
      realCloses(path).map(({ day, value }) => [Date.parse(day), String(value)]),
    )
  const addColumns = (
    path: string,
    terms: (column: number) => [string, Cadence, number],
    rows: readonly string[][],
    [first, last]: [first: number, last: number],
    dayOf = (text: string) => Date.parse(text),
  ) => {
    for (let column = first; column <= last; column += 1)
      add(
        `${path} ${column}`,
        terms(column),
        rows.map(row => [dayOf(row[0]!), row[column]]),
      )
  }

  for (const name of ['wti', 'brent'])
    for (const cadence of ['daily', 'weekly', 'monthly'] as const)
      addCloses(`oil-prices/${name}-${cadence}.csv`, ['crude_oil', cadence, 0.35])
  for (const name of ['DCOILBRENTEU', 'DCOILWTICO'])
    addCloses(`eia-spot-products/${name}.csv`, ['crude_oil', 'daily', 0.35])
  for (const name of ['wti_c1', 'wti_c2'])
    addCloses(`eia-nymex-futures/${name}_weekly_to_2024-04-05.csv`, ['crude_oil', 'weekly', 0.35])
  const products =
    'DDFUELLA DDFUELNYH DDFUELUSGULF DGASNYH DGASUSGULF DHOILNYH_1986-2018 DJFUELUSGULF DPROPANEMBTX'
  for (const name of products.split(' '))
    addCloses(`eia-spot-products/${name}.csv`, ['refined_products', 'daily', 0.4])
  addCloses('natural-gas/daily.csv', ['natural_gas', 'daily', 0.6])
  addCloses('natural-gas/monthly.csv', ['natural_gas', 'monthly', 0.6])
  addCloses('natural-gas/monthly-processed.csv', ['natural_gas', 'monthly', 0.6])
  addCloses('eia-spot-products/DHHNGSP_1997-2018.csv', ['natural_gas', 'daily', 0.6])

  const fixings = realRows('ecb-fx/eurofxref-hist.csv').reverse()
  addColumns('ecb-fx', () => ['fx', 'daily', 0.1], fixings, [1, 41])

  const retail = realRows('eia-retail-fuel/weekly_gas_prices.csv')
  for (const [kind, rows] of Map.groupBy(retail, row => row.slice(1, 4).join(' ')))
    add(
      `eia-retail-fuel ${kind}`,
      ['retail_fuels', 'weekly', 0.2],
      rows.map(row => [Date.parse(row[0]!), row[4]]),
    )

  addColumns(
    'worldbank-pinksheet',
    column => [pinkSheetCategory(column), 'monthly', 0.35],
    realRows('worldbank-pinksheet/monthly_prices.csv', 2),
    [1, 71],
    month => Date.parse(`${month.replace('M', '-')}-01`),
  )

  for (const name of [
    'commercial_imports_excluding_spr',
    'field_production',
    'percent_utilization_of_refinery',
    'refiner_net_input',
  ])
    add(
      `eia-weekly-stocks/weekly_us_${name}.csv`,
      ['supply_demand', 'weekly', 0.2],
      // "Jan 07, 1983",8634
      realRows(`eia-weekly-stocks/weekly_us_${name}.csv`).map(([day, year, text]) => [
        utc(`${day},${year}`.replaceAll('"', '')),
        text,
      ]),
    )
  const runs = realRows('eia-weekly-stocks/refinery_runs.csv')
  addColumns('refinery_runs', () => ['supply_demand', 'monthly', 0.2], runs, [1, 1])
  const gas = realRows('eia-weekly-stocks/natgas_inventories.csv')
  addColumns('natgas_inventories', () => ['storage', 'weekly', 0.5], gas, [1, 1])
  const reserve = realRows('eia-weekly-stocks/us_total_and_spr_weekly_2010_2020_mmbbl.csv')
  addColumns('us_total_and_spr', () => ['storage', 'weekly', 0.5], reserve, [1, 2])
  const stocks = realRows('eia-weekly-stocks/rtl_eiaStocks_kbbl.csv')
  for (const [name, rows] of Map.groupBy(stocks, row => row[1]!))
    add(
      `rtl_eiaStocks ${name}`,
      ['storage', 'weekly', 0.5],
      rows.map(row => [Date.parse(row[0]!), row[2]]),
    )
  return all
}

/** Columns of the Pink Sheet; what a copy about energy has no category for goes as `other`. */
function pinkSheetCategory(column: number): string {
  if (column <= 4) return 'crude_oil'
  if (column <= 6) return 'coal'
  if (column <= 8) return 'natural_gas'
  if (column === 9) return 'lng'
  if (column === 10) return 'indices'
  return column >= 62 ? 'metals' : 'other'
}

const excerpts = resolve(import.meta.dir, '../topics/prices/math/honest-values.tsv')

/**
 * Excerpts of public series (EIA, ECB and World Bank) that every clone has: quiet months, storms, and
 * a price below zero.
 */
export function excerptSeries(): RealSeries[] {
  const all: RealSeries[] = []
  for (const line of readFileSync(excerpts, 'utf8').trim().split('\n')) {
    const cells = line.split('\t')
    if (cells[0] === '#') {
      const [, name = '', category = '', cadence, volatility] = cells
      all.push({
        name,
        category,
        cadence: cadence as Cadence,
        series: { volatility: Number(volatility) },
        values: [],
      })
    } else all.at(-1)!.values.push({ observedAt: Date.parse(cells[0]!), value: Number(cells[1]) })
  }
  return all
}
