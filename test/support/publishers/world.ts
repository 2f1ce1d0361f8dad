import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { shippedFeeds } from '../../../src/feeds/publishers/publishers.ts'
import { isHere, realDataFolder } from '../requirements.ts'

/** A value as a publisher writes it, of a period as it writes that. */
export interface Entry {
  period: string
  value: string
}

/** A series of the energy agency: its route and its values. */
export interface AgencySeries {
  route: string
  frequency: 'daily' | 'weekly' | 'monthly'
  units: string
  rows: Entry[]
}

/**
 * The data of all publishers: real figures where the shared folder exists, made-up ones for the
 * rest.
 */
export interface PublishedWorld {
  agency: Map<string, AgencySeries>
  /** Units of each currency in one euro, by day, the oldest first. */
  rates: Map<string, Record<string, string>>
  /** Rows of the monthly prices: names, units, then months. */
  pinkSheet: string[][]
  /** Managed money long, short and open interest by contract and Tuesday. */
  positions: Map<string, { day: string; long: string; short: string; open: string }[]>
  gas: Entry[]
}

const linesOf = (path: string): string[] =>
  isHere('../shared/data')
    ? readFileSync(resolve(realDataFolder, path), 'utf8').trim().split(/\r?\n/)
    : []

/** The first two columns, or the ones that are named. */
function pairs(
  path: string,
  column = 1,
  scale: (value: string) => string = value => value,
): Entry[] {
  return linesOf(path)
    .slice(1)
    .map(line => line.split(','))
    .map(cells => ({ period: cells[0]!, value: scale(cells[column] ?? '') }))
}

/** Converts millions to thousands without binary fractions. */
export const thousandfold = (text: string): string => {
  if (text === '') return ''
  const [whole, fraction = ''] = text.split('.')
  return String(BigInt(`${whole}${fraction.padEnd(3, '0').slice(0, 3)}`))
}

const spotFiles: readonly (readonly [id: string, path: string, units: string])[] = [
  ['RWTC', 'oil-prices/wti-daily.csv', '$/BBL'],
  ['RBRTE', 'oil-prices/brent-daily.csv', '$/BBL'],
  ['EER_EPD2F_PF4_Y35NY_DPG', 'eia-spot-products/DHOILNYH_1986-2018.csv', '$/GAL'],
  ['EER_EPMRU_PF4_Y35NY_DPG', 'eia-spot-products/DGASNYH.csv', '$/GAL'],
  ['EER_EPD2DXL0_PF4_Y35NY_DPG', 'eia-spot-products/DDFUELNYH.csv', '$/GAL'],
  ['EER_EPD2DXL0_PF4_RGC_DPG', 'eia-spot-products/DDFUELUSGULF.csv', '$/GAL'],
  ['EER_EPD2DC_PF4_Y05LA_DPG', 'eia-spot-products/DDFUELLA.csv', '$/GAL'],
  ['EER_EPJK_PF4_RGC_DPG', 'eia-spot-products/DJFUELUSGULF.csv', '$/GAL'],
  ['EER_EPLLPA_PF4_Y44MB_DPG', 'eia-spot-products/DPROPANEMBTX.csv', '$/GAL'],
]

/** The names that another republisher has for the agency's series. */
export const fredIds: Readonly<Record<string, string>> = {
  DCOILWTICO: 'RWTC',
  DCOILBRENTEU: 'RBRTE',
  DHOILNYH: 'EER_EPD2F_PF4_Y35NY_DPG',
  DGASNYH: 'EER_EPMRU_PF4_Y35NY_DPG',
  DDFUELNYH: 'EER_EPD2DXL0_PF4_Y35NY_DPG',
  DDFUELUSGULF: 'EER_EPD2DXL0_PF4_RGC_DPG',
  DDFUELLA: 'EER_EPD2DC_PF4_Y05LA_DPG',
  DJFUELUSGULF: 'EER_EPJK_PF4_RGC_DPG',
  DPROPANEMBTX: 'EER_EPLLPA_PF4_Y44MB_DPG',
  DHHNGSP: 'RNGWHHD',
  GASDESW: 'EMD_EPD2D_PTE_NUS_DPG',
}

/** Columns of the weekly stocks, in millions of barrels, and the series that they are. */
const stockColumns: Readonly<Record<string, string>> = {
  crude_US: 'WCESTUS1',
  crude_PADD1: 'WCESTP11',
  crude_PADD2: 'WCESTP21',
  crude_PADD3: 'WCESTP31',
  crude_PADD4: 'WCESTP41',
  crude_PADD5: 'WCESTP51',
  total_gasoline_US: 'WGTSTUS1',
  distillate_US: 'WDISTUS1',
  jet_fuel_US: 'WKJSTUS1',
  propane_US: 'WPRSTUS1',
  residual_US: 'WRESTUS1',
}

const monthNames = [
  'jan',
  'feb',
  'mar',
  'apr',
  'may',
  'jun',
  'jul',
  'aug',
  'sep',
  'oct',
  'nov',
  'dec',
]

/** `Jul-2020` and `Jul 2020` as `2020-07`. */
function monthOf(text: string): string | undefined {
  const [, name = '', year] = /^"?([A-Za-z]{3})[a-z]*[- ](\d{4})/.exec(text) ?? []
  const month = monthNames.indexOf(name.toLowerCase()) + 1
  return month > 0 ? `${year}-${String(month).padStart(2, '0')}` : undefined
}

function agencySeries(): Map<string, AgencySeries> {
  const series = new Map<string, AgencySeries>()
  const daily = (id: string, route: string, units: string, rows: Entry[]) =>
    series.set(id, { route, frequency: 'daily', units, rows })
  for (const [id, path, units] of spotFiles) {
    // The republisher's exports mark a holiday by a point or by nothing; the agency sends no row for it.
    const rows = pairs(path).filter(({ value }) => value !== '' && value !== '.')
    daily(id, 'petroleum/pri/spt', units, rows)
  }
  daily('RNGWHHD', 'natural-gas/pri/fut', '$/MMBTU', pairs('natural-gas/daily.csv'))
  const weekly = (id: string, route: string, units: string, rows: Entry[]) =>
    series.set(id, {
      route,
      frequency: 'weekly',
      units,
      rows: rows.filter(row => row.value !== ''),
    })
  const stocks = 'eia-weekly-stocks/petroleum_inventories.csv'
  const header = linesOf(stocks)[0]?.split(',') ?? []
  for (const [column, id] of Object.entries(stockColumns)) {
    const rows = pairs(stocks, header.indexOf(column), thousandfold)
    weekly(id, 'petroleum/stoc/wstk', 'MBBL', rows)
  }
  const cushing = linesOf('eia-weekly-stocks/rtl_eiaStocks_kbbl.csv')
    .map(line => line.split(','))
    .filter(cells => cells[1] === 'CrudeCushing')
    .map(cells => ({ period: cells[0]!, value: cells[2]!.replace(/\.0$/, '') }))
  weekly('W_EPC0_SAX_YCUOK_MBBL', 'petroleum/stoc/wstk', 'MBBL', cushing)
  const reserve = 'eia-weekly-stocks/us_total_and_spr_weekly_2010_2020_mmbbl.csv'
  weekly('WCSSTUS1', 'petroleum/stoc/wstk', 'MBBL', pairs(reserve, 2, thousandfold))
  const gas = pairs('eia-weekly-stocks/natgas_inventories.csv', 1, value =>
    value.replace(/\.0$/, ''),
  )
  weekly('NW2_EPG0_SWO_R48_BCF', 'natural-gas/stor/wkly', 'BCF', gas)
  const retail = linesOf('eia-retail-fuel/weekly_gas_prices.csv').map(line => line.split(','))
  const pump = (fuel: string, grade: string) =>
    retail
      .filter(
        cells =>
          cells[1] === fuel && cells[2] === grade && (fuel === 'diesel' || cells[3] === 'all'),
      )
      .map(cells => ({ period: cells[0]!, value: cells[4] ?? '' }))
      .filter(({ value }) => /^\d/.test(value))
  weekly('EMM_EPMR_PTE_NUS_DPG', 'petroleum/pri/gnd', '$/GAL', pump('gasoline', 'regular'))
  weekly('EMD_EPD2D_PTE_NUS_DPG', 'petroleum/pri/gnd', '$/GAL', pump('diesel', 'all'))
  const rigs = linesOf('eia-rig-counts-monthly/E_ERTRR0_XR0_NUS_C.csv').flatMap(line => {
    const [month = '', value = ''] = line.split(',')
    const period = monthOf(month)
    return period && /^\d+$/.test(value) ? [{ period, value }] : []
  })
  series.set('E_ERTRR0_XR0_NUS_C', {
    route: 'petroleum/crd/drill',
    frequency: 'monthly',
    units: 'COUNT',
    rows: rigs.toSorted((a, b) => a.period.localeCompare(b.period)),
  })
  addMadeUp(series)
  return series
}

/** Thirty months up to `2027-12`: enough for an outlook to look back and ahead. */
const outlookMonths = Array.from({ length: 36 }, (_, i) => {
  const index = 2025 * 12 + i
  return `${Math.floor(index / 12)}-${String((index % 12) + 1).padStart(2, '0')}`
})

/** Values that no shared file has: a few plain ones for every other line of the agency's map. */
function addMadeUp(series: Map<string, AgencySeries>): void {
  const { map } = shippedFeeds.find(feed => feed.publisher.name === 'eia')!
  for (const { sourceId, at, kind, unit, target } of map) {
    if (series.get(sourceId)?.rows.length) continue
    const monthly = kind === 'month'
    const periods = monthly ? outlookMonths : fridays(2026, 30)
    const isDrilling = 'dataset' in target && /^(drilling|duc)/.test(target.dataset)
    const rows = periods.map((period, i) => ({
      period,
      value: isDrilling ? String(100 + i) : (2 + (i % 7) / 4 + sourceId.length / 100).toFixed(3),
    }))
    const frequency = monthly ? 'monthly' : kind === 'week' ? 'weekly' : 'daily'
    series.set(sourceId, { route: at, frequency, units: unit || 'number', rows })
  }
}

function fridays(year: number, count: number): string[] {
  const first = Temporal.PlainDate.from(`${year}-01-02`)
  return Array.from({ length: count }, (_, i) => first.add({ weeks: i }).toString())
}

function euroRates(): Map<string, Record<string, string>> {
  const [header = '', ...rows] = linesOf('ecb-fx/eurofxref-hist.csv')
  const names = header.split(',')
  const rates = new Map<string, Record<string, string>>()
  for (const row of rows.toReversed()) {
    const cells = row.split(',')
    const ofDay = names.flatMap((name, i) => (i > 0 && name !== '' ? [[name, cells[i]!]] : []))
    rates.set(cells[0]!, Object.fromEntries(ofDay))
  }
  if (rates.size === 0) rates.set('2026-04-13', { USD: '1.1684', NOK: '11.098', GBP: '0.87058' })
  return rates
}

/** The fields of a line of CSV with quotes. */
const quotedFields = (line: string): string[] =>
  [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    match => match[1] ?? match[2] ?? '',
  )

const weeklyPositions = () => {
  const contracts = { wti_oil: '067651', nat_gas: '023651', rbob_gas: '111659' }
  const [header = '', ...rows] = linesOf('cftc-cot/managed_money_weekly.csv')
  const names = header.split(',')
  const positions: PublishedWorld['positions'] = new Map()
  for (const [prefix, contract] of Object.entries(contracts)) {
    const at = (name: string) => names.indexOf(`${prefix}_${name}`)
    const reports = rows
      .map(row => row.split(','))
      .filter(cells => cells[at('oi')])
      .map(cells => ({
        day: cells[0]!,
        long: cells[at('mm_long')]!.replace(/\.0$/, ''),
        short: cells[at('mm_short')]!.replace(/\.0$/, ''),
        open: cells[at('oi')]!.replace(/\.0$/, ''),
      }))
    positions.set(contract, reports)
  }
  return positions
}

/** Reads the shared data; every stand-in has a separate copy, which a test may change. */
export const publishedWorld = (): PublishedWorld => ({
  agency: agencySeries(),
  rates: euroRates(),
  pinkSheet: linesOf('worldbank-pinksheet/monthly_prices.csv').map(quotedFields),
  positions: weeklyPositions(),
  gas: pairs('eia-weekly-stocks/natgas_inventories.csv', 1, value => value.replace(/\.0$/, '')),
})
