import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { generatedParts } from '../../../scripts/docs/generated.ts'
import { feedNames } from '../../../src/config/keys.ts'
import { ratesOf, ratesOfCsv, ratesOfSdmx, ratesOfXml } from '../../../src/feeds/publishers/ecb.ts'
import { eiaPage, outlookOf } from '../../../src/feeds/publishers/eia.ts'
import { gasReport } from '../../../src/feeds/publishers/eia-wngsr.ts'
import { weeklyTable } from '../../../src/feeds/publishers/eia-wpsr.ts'
import { type MapEntry, targetName } from '../../../src/feeds/publishers/map.ts'
import { shippedFeeds } from '../../../src/feeds/publishers/publishers.ts'
import { FeedFault } from '../../../src/feeds/reading/fault.ts'
import type { PeriodKind } from '../../../src/feeds/reading/periods.ts'
import { parseInstant } from '../../../src/lib/time/instant.ts'
import { needs } from '../../support/needs.ts'
import { realDataFolder } from '../../support/requirements.ts'

const bytesOf = (path: string) => new Uint8Array(readFileSync(resolve(realDataFolder, path)))
const recording = (name: string) => bytesOf(`recordings/${name}`)
const line = (sourceId: string, code = sourceId): MapEntry => ({
  sourceId,
  target: { code },
  unit: '',
  factor: '1',
  kind: 'day',
  at: '',
  note: '',
})
const utf8 = (text: string) => new TextEncoder().encode(text)

needs('../shared/data').describe('answers as they were recorded', () => {
  const pages: [name: string, route: string, kind: PeriodKind, row: object, total: number][] = [
    [
      'eia_v2_spot_weekly',
      'petroleum/pri/spt',
      'week',
      { id: 'RWTC', period: '1986-01-03', value: '25.78', unit: '$/BBL' },
      1,
    ],
    [
      'eia_v2_weekly_stocks',
      'petroleum/stoc/wstk',
      'week',
      { id: 'WCRSTUS1', period: '1982-08-20', value: '609219', unit: 'MBBL' },
      1,
    ],
    [
      'eia_v2_retail_weekly',
      'petroleum/pri/gnd',
      'week',
      { id: 'EMM_EPMRU_PTE_NUS_DPG', period: '1990-08-20', value: '1.191', unit: '$/GAL' },
      1,
    ],
    [
      'eia_v2_nymex_heating_oil_leading_dot',
      'petroleum/pri/fut',
      'week',
      { id: 'EER_EPD2F_PE1_Y35NY_DPG', period: '1980-01-04', value: '.833', unit: '$/GAL' },
      1,
    ],
    [
      'eia_v2_drilling_monthly',
      'petroleum/crd/drill',
      'month',
      { id: 'E_ERTS0_XRS_NUS_C', period: '1973-01', value: '1549', unit: 'COUNT' },
      1,
    ],
    [
      'eia_v2_international_monthly',
      'international',
      'month',
      { id: 'INTL.57-1-AGO-TBPD.M', period: '1973-01', value: '162', unit: 'TBPD' },
      1,
    ],
    [
      'eia_v2_steo_quarterly',
      'steo',
      'quarter',
      {
        id: 'SNGPRR48',
        period: '2024-Q1',
        value: '2.2057396058',
        unit: 'billion cubic feet per day',
      },
      4,
    ],
  ]
  for (const [name, route, kind, row, total] of pages) {
    test(`${name} gives its rows to the digit`, () => {
      const page = eiaPage(recording(`${name}.json`), route, kind)
      expect(page.rows[0]).toEqual(row as never)
      expect({ total: page.total, rows: page.rows.length, truncated: page.truncated }).toEqual({
        total,
        rows: total,
        truncated: false,
      })
    })
  }

  test('rows without the column of values are a changed form', () => {
    expect(() =>
      eiaPage(recording('eia_v2_coal_withheld.json'), 'coal/price-by-rank', 'year'),
    ).toThrow(FeedFault)
  })

  test('the weekly petroleum table gives the weeks of its header, and its first stub of a name', () => {
    const { series, covers } = weeklyTable(recording('eia_wpsr_table4_2024-05-17.csv'), 'table4')
    expect(covers).toBe('2024-05-10')
    expect(series.get('Cushing')!.rows).toEqual([
      { period: '2024-05-17', text: '36.32' },
      { period: '2024-05-10', text: '34.995' },
      { period: '2023-05-19', text: '37.23' },
      { period: '2022-05-20', text: '24.778' },
    ])
    expect(series.get('SPR')!.rows[0]).toEqual({ period: '2024-05-17', text: '368.804' })
    const total = shippedFeeds
      .find(({ publisher }) => publisher.name === 'eia_wpsr')!
      .map.find(entry => targetName(entry) === 'US_TOTAL_PETROLEUM_STORAGE')!
    expect(total).toMatchObject({ at: 'table4', factor: '1' })
    expect(series.get(total.sourceId.slice('table4/'.length))!.rows[0]!.text).toBe('1250.495')
    const balance = weeklyTable(recording('eia_wpsr_table1_excerpt.csv'), 'table1')
    expect(balance.series.get('Distillate Fuel Oil')!.rows.slice(0, 2)).toEqual([
      { period: '2026-07-10', text: '108.175' },
      { period: '2026-07-03', text: '103.619' },
    ])
  })

  test('the weekly gas report is recorded at the time of its release', () => {
    const { series, covers, revised } = gasReport(recording('eia_wngsr.json'))
    expect(covers).toBe('2026-06-26')
    const publishedAt = parseInstant('2026-07-09T14:30:00Z')!
    expect(series.get('NW2_EPG0_SWO_R48_BCF')!).toMatchObject({
      unit: 'bcf',
      rows: [
        { period: '2026-07-03', text: '2983', publishedAt },
        { period: '2026-06-26', text: '2922', publishedAt },
        { period: '2025-07-03', text: '2998', publishedAt },
      ],
    })
    expect(revised.size).toBe(0)
  })

  test('the daily XML, the history and the one-day CSV give the same exchange rates', () => {
    const xml = ratesOfXml(recording('ecb_eurofxref_daily_2024-06-26.xml'))
    const history = ratesOfCsv(bytesOf('ecb-fx/eurofxref-hist.csv'))
    const entries = [line('USD'), line('NOK/USD'), line('EUR/GBP'), line('ISK')]
    const ofXml = ratesOf(entries, xml)
    const ofHistory = ratesOf(entries, history)
    for (const { sourceId } of entries) {
      const [row] = ofXml.get(sourceId)!.rows
      expect(ofHistory.get(sourceId)!.rows.find(row => row.period === '2024-06-26')).toEqual(row!)
    }
    // 11.3945 / 1.0689 and 1 / 0.84453 in decimal arithmetic.
    expect(ofXml.get('NOK/USD')!.rows[0]!.text).toBe('10.6600243241')
    expect(ofXml.get('EUR/GBP')!.rows[0]!.text).toBe('1.1840905592')
    const day = ratesOfCsv(bytesOf('ecb-fx/eurofxref.csv'))
    expect([...day.keys()]).toEqual(['2026-04-13'])
    expect(ratesOf([line('USD')], day).get('USD')!.rows[0]!.text).toBe('1.1684')
  })

  test('a rate that was not quoted is counted as blank', () => {
    const series = ratesOf(
      [line('ISK'), line('NOK/ISK')],
      ratesOfCsv(bytesOf('ecb-fx/eurofxref-hist.csv')),
    )
    expect(series.get('ISK')!.blanks).toBeGreaterThan(2000)
    expect(series.get('NOK/ISK')!.blanks).toBe(series.get('ISK')!.blanks)
  })
})

test('a rate of the data service is found by the names of its columns', () => {
  const csv =
    'KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE,OBS_STATUS\n' +
    'EXR.D.USD.EUR.SP00.A,D,USD,EUR,SP00,A,2026-08-18,1.1684,A\n' +
    'EXR.D.USD.EUR.SP00.A,D,USD,EUR,SP00,A,2026-08-19,,M\n'
  const series = ratesOf([line('USD')], ratesOfSdmx(utf8(csv))).get('USD')!
  expect(series).toMatchObject({ rows: [{ period: '2026-08-18', text: '1.1684' }], blanks: 1 })
  expect(() => ratesOfSdmx(utf8(csv.replace('OBS_VALUE', 'VALUE')))).toThrow(FeedFault)
})

test('an outlook is a forecast from the year before on, and an estimate of the months that are over', () => {
  const rows = ['2024-12', '2025-01', '2026-07', '2026-08', '2027-12'].map(period => ({
    period,
    text: '70',
  }))
  const sent = { unit: undefined, rows, blanks: 0, faults: [], covers: undefined }
  const now = parseInstant('2026-08-20T12:00:00Z')!
  const month = { ...line('WTIPUUS'), kind: 'month' as const }
  const forecast = { ...month, target: { dataset: 'outlooks', column: 'value', fixed: {} } }
  const periods = (one: MapEntry) =>
    outlookOf({ ...sent, entry: one }, 'month', now).rows.map(row => row.period)
  expect(periods(forecast)).toEqual(['2025-01', '2026-07', '2026-08', '2027-12'])
  expect(periods(month)).toEqual(['2024-12', '2025-01', '2026-07'])
})

test('a body that is something else is refused', () => {
  const page = utf8('<!doctype html><html><body>We are down for maintenance.</body></html>')
  for (const read of [
    () => ratesOfXml(page),
    () => ratesOfCsv(page),
    () => weeklyTable(page, 'table4'),
    () => gasReport(page),
    () => eiaPage(page, 'steo', 'month'),
    () => eiaPage(utf8('{"error":{"code":"API_KEY_MISSING"}}'), 'steo', 'month'),
  ]) {
    expect(read).toThrow(FeedFault)
  }
})

test('every feed has a name, a sentence of attribution and a map', () => {
  expect(shippedFeeds.map(feed => feed.publisher.name)).toEqual([...feedNames])
  for (const { publisher, map } of shippedFeeds) {
    expect(publisher.attribution.length).toBeGreaterThan(5)
    expect(map.length).toBeGreaterThan(0)
  }
})

test('the page Publishers describes every feed and the format that its parser needs', () => {
  const parts = generatedParts()
  for (const { publisher } of shippedFeeds) {
    const { name, guide } = publisher
    expect(parts.publishers).toContain(`| \`${name}\` | ${guide.content} |`)
    expect(parts['publisher-formats']).toContain(`| \`${name}\` | ${guide.format} |`)
  }
})
