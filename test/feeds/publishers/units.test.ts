import { expect, test } from 'bun:test'
import { oilPrices } from '../../../src/feeds/publishers/alberta.ts'
import { pricesWithTaxes } from '../../../src/feeds/publishers/ec-oil-bulletin.ts'
import { ratesOfSdmx } from '../../../src/feeds/publishers/ecb.ts'
import { auctionPrices } from '../../../src/feeds/publishers/eex-auctions.ts'
import { seriesOf } from '../../../src/feeds/publishers/eia-bulk.ts'
import { unitOf } from '../../../src/feeds/publishers/fred.ts'
import type { MapEntry } from '../../../src/feeds/publishers/map.ts'
import { collected } from '../../../src/feeds/publishers/series.ts'
import { pumpPrices } from '../../../src/feeds/publishers/uk-road-fuel.ts'
import { FeedFault } from '../../../src/feeds/reading/fault.ts'
import { workbookOf } from '../../support/publishers/workbook.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)
const line = (sourceId: string): MapEntry => ({
  sourceId,
  target: { code: 'WTI_USD' },
  unit: '',
  factor: '1',
  kind: 'week',
  at: '',
  note: '',
})

test('a series whose unit changes from one row to another has neither of the two', () => {
  const series = collected()
  series.state('$/BBL')
  series.state('Dollars per Barrel')
  expect(series.unit).toBe('$/BBL')
  series.state('$/GAL')
  expect(series.unit).toBe('$/BBL and $/GAL')
  const rows = [
    { Date: '2026-01-01', Type: 'WCS', Value: '60', Unit: '$US/bbl' },
    { Date: '2026-02-01', Type: 'WCS', Value: '377', Unit: '$US/m3' },
  ]
  const prices = oilPrices(utf8(JSON.stringify(rows)), [line('WCS')])
  expect(prices.get('WCS')!.unit).toBe('$US/bbl and $US/m3')
})

test('the unit of FRED is that of its metadata', () => {
  const facts = { seriess: [{ id: 'DCOILWTICO', units: 'Dollars per Barrel' }] }
  expect(unitOf(utf8(JSON.stringify(facts)), 'DCOILWTICO')).toBe('Dollars per Barrel')
  expect(() => unitOf(utf8('{"seriess":[]}'), 'DCOILWTICO')).toThrow(FeedFault)
})

test('an archive of the EIA that names no unit any more has an empty one', () => {
  const text = JSON.stringify({ series_id: 'PET.RWTC.D', data: [['20260105', 60]] })
  expect(seriesOf(utf8(text), { ...line('PET.RWTC.D'), kind: 'day' }).unit).toBe('')
})

test('the unit of the oil bulletin is that of the row above the weeks', async () => {
  const title = 'DE_price_with_tax_diesel'
  const sheet = (...rows: (string | number | undefined)[][]) =>
    workbookOf({ 'Prices with taxes': [['Date', title], ...rows, [46_027, 1612.5]] })
  const unitIn = async (workbook: Uint8Array) =>
    (await pricesWithTaxes(workbook, [line(title)])).get(title)!.unit
  const label = [undefined, 'Automotive gas oil Dieselkraftstoff (I)']
  expect(await unitIn(sheet(label, [undefined, '1000 l']))).toBe('1000 l')
  expect(await unitIn(sheet(label, [undefined, '1000L']))).toBe('1000L')
  expect(await unitIn(sheet(label, [undefined, 't']))).toBe('t')
  expect(await unitIn(sheet(label))).toBeUndefined()
})

test('the unit of British road fuel is that of the titles', () => {
  const unitIn = (title: string) =>
    pumpPrices(utf8(`Date,${title}\n05/01/2026,130.1\n`), [line('ULSP')]).get('ULSP')!.unit
  expect(unitIn('ULSP (Unleaded petrol) Pump price in pence/litre')).toBe('pence/litre')
  expect(unitIn('ULSP: Pump price (p/litre)')).toBe('p/litre')
  expect(unitIn('ULSP: Pump price (£/litre)')).toBe('£/litre')
  expect(unitIn('ULSP pump price')).toBeUndefined()
})

test('the unit of an auction is that of the title of its price', async () => {
  const unitIn = async (title: string) => {
    const header = ['Date', 'Auction Name', 'Contract', 'Status', title]
    const workbook = workbookOf({ 'Primary Market Auction': [header] })
    return (await auctionPrices(workbook, 'T3PA', 2026)).unit
  }
  expect(await unitIn('Auction Price €/tCO2')).toBe('€/tCO2')
  expect(await unitIn('Auction Price \ufffd/tCO2')).toBe('€/tCO2')
  expect(await unitIn('Auction Price EUR/tCO2')).toBe('EUR/tCO2')
  expect(await unitIn('Auction Price £/tCO2')).toBe('£/tCO2')
})

test('rates of the ECB that are not of one euro are held', () => {
  const table = (base: string, power: string) =>
    utf8(
      `CURRENCY,CURRENCY_DENOM,TIME_PERIOD,OBS_VALUE,UNIT_MULT\nUSD,${base},2026-01-05,1.17,${power}\n`,
    )
  expect(ratesOfSdmx(table('EUR', '0')).get('2026-01-05')!.get('USD')).toBe('1.17')
  for (const [base, power] of [
    ['USD', '0'],
    ['EUR', '2'],
  ])
    expect(() => ratesOfSdmx(table(base!, power!))).toThrow(/unexpected|instead of one euro/)
})
