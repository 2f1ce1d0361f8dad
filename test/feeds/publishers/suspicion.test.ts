import { describe, expect, test } from 'bun:test'
import type { MapEntry } from '../../../src/feeds/publishers/map.ts'
import type { SentSeries } from '../../../src/feeds/publishers/publisher.ts'
import { judge, type SentBefore } from '../../../src/feeds/publishers/suspicion.ts'
import { FeedFault } from '../../../src/feeds/reading/fault.ts'
import { sameUnit } from '../../../src/feeds/reading/units.ts'
import { parseInstant } from '../../../src/lib/time/instant.ts'

const now = parseInstant('2026-08-20T12:00:00Z')!
const entry: MapEntry = {
  sourceId: 'RWTC',
  target: { code: 'WTI_USD' },
  unit: '$/BBL',
  factor: '1',
  kind: 'day',
  at: '',
  note: '',
}
const days = ['2026-08-13', '2026-08-14', '2026-08-17', '2026-08-18', '2026-08-19']
const sent = (more: Partial<SentSeries> = {}): SentSeries => ({
  entry,
  unit: '$/BBL',
  rows: days.map(period => ({ period, text: '85.10' })),
  blanks: 0,
  faults: [],
  covers: '2026-08-13',
  ...more,
})
const before: SentBefore = { rows: 5, covers: '2026-08-12', newest: '2026-08-18' }

const codeOf = (series: SentSeries, last: SentBefore | null = before) => {
  try {
    judge(series, last ?? undefined, now)
    return 'taken'
  } catch (error) {
    return error instanceof FeedFault ? error.code : String(error)
  }
}
const ending = (day: string) => sent().rows.filter(row => row.period <= day)

describe('suspicious answers', () => {
  const rows: [name: string, series: SentSeries, code: string][] = [
    ['an answer like the last one is taken', sent(), 'taken'],
    ['another unit', sent({ unit: '$/GAL' }), 'unexpected_unit'],
    ['the unit in other words', sent({ unit: 'dollars per barrel' }), 'taken'],
    ['no unit sent', sent({ unit: undefined }), 'taken'],
    ['nothing where there was something', sent({ rows: [] }), 'series_empty'],
    ['a newest period before the last one', sent({ rows: ending('2026-08-17') }), 'went_backwards'],
    [
      'nothing but zeros',
      sent({ rows: days.map(period => ({ period, text: '0.00' })) }),
      'all_zero',
    ],
    ['less than half', sent({ rows: sent().rows.slice(-2) }), 'rows_fell'],
    [
      'a day that has not begun',
      sent({ rows: [...sent().rows, { period: '2026-08-22', text: '1' }] }),
      'future_period',
    ],
    ['a day as a month', sent({ rows: [{ period: '2026-08', text: '1' }] }), 'unreadable'],
  ]
  for (const [name, series, code] of rows) {
    test(`${name}: ${code}`, () => expect(codeOf(series)).toBe(code))
  }

  test('nothing is compared on the first run', () => {
    expect(codeOf(sent({ rows: [] }), null)).toBe('taken')
  })

  test('a range that begins after the last value may be empty', () => {
    expect(codeOf(sent({ rows: [], covers: '2026-08-19' }))).toBe('taken')
  })

  test('a complete file with fewer than half the rows is flagged, and a shorter range is accepted', () => {
    const whole: SentBefore = { rows: 10_000, covers: undefined, newest: '2026-08-18' }
    expect(codeOf(sent({ covers: undefined }), whole)).toBe('rows_fell')
    expect(codeOf(sent(), whole)).toBe('taken')
  })
})

test('units are compared by what they mean', () => {
  const same = [
    ['$/BBL', 'Dollars per Barrel'],
    ['($/mmbtu)', '$/MMBTU'],
    ['dollars per million Btu', '$/MMBTU'],
    ['TBPD', 'thousand barrels per day'],
    ['MBBL', 'Thousand Barrels'],
    ['$US/bbl', '$/bbl'],
    ['billion cubic feet', 'BCF'],
    ['million barrels per day', 'MMBBL/D'],
    ['pence per litre', 'p/l'],
    ['1,000 litres', '1000 l'],
    ['EUR/tCO2', '€/tCO2'],
  ]
  for (const [a, b] of same) expect(sameUnit(a!, b!), `${a} ${b}`).toBe(true)
  const others = [
    ['MBBL', 'MMBBL'],
    ['$/BBL', '$/GAL'],
    ['EUR/BBL', '$/BBL'],
    ['MBBL', 'MBBL/D'],
    ['pounds/litre', 'pence/litre'],
    ['100 l', '1000 l'],
    ['£/tCO2', '€/tCO2'],
  ]
  for (const [a, b] of others) expect(sameUnit(a!, b!), `${a} ${b}`).toBe(false)
})
