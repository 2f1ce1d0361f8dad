import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dayMs, hourMs, isoInstant, minuteMs } from '../../../../src/lib/time/instant.ts'
import { zonedInstant } from '../../../../src/lib/time/zone-clock.ts'
import { codeLookupOf } from '../../../../src/topics/catalogue/math/lookup.ts'
import { dayOfDate, periodsOf } from '../../../../src/topics/delivery/math/days.ts'
import { meanPrice } from '../../../../src/topics/delivery/math/figures.ts'
import { deliveryTerms, sinceEver } from '../../../../src/topics/delivery/math/terms.ts'
import { importPrices } from '../../../../src/topics/prices/files/import.ts'
import { memory, noInput } from '../../../support/instance/memory-writer.ts'
import { series } from '../../../support/topics/shipped-codes.ts'
import { walkedClock } from '../math/oracle.ts'

const folder = mkdtempSync(join(tmpdir(), 'wellhead-delivery-import-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const terms = deliveryTerms({
  time: 'delivery',
  zone: 'Europe/Berlin',
  resolutions: [
    { from: '2018-10-01', resolution: 'PT1H' },
    { from: '2025-10-01', resolution: 'PT15M' },
  ],
})!
/** The catalogue in which German power is a delivery series. */
const catalogue = codeLookupOf(
  series.map(one => (one.code === 'POWER_DE_EUR' ? { ...one, delivery: terms } : one)),
)

async function imported(text: string, name = 'power.csv', codes = catalogue) {
  const path = join(folder, name)
  writeFileSync(path, text)
  const store = memory()
  const report = await importPrices({
    files: [path],
    writer: store,
    catalogue: codes,
    now: Date.UTC(2026, 10, 21, 12),
    stdin: noInput(),
  })
  const rejected = report.rejected > 0 ? readFileSync(`${path}.rejected`, 'utf8') : ''
  return { report, values: store.values, rejected }
}

const days = ['2025-09-30', '2025-10-01', '2026-03-29', '2026-10-25', '2026-11-22']
const starts = days.flatMap(date => periodsOf(terms, dayOfDate(terms, date)))

test('periods of short, long and future days go in with their instants, none is rejected', async () => {
  for (const timeOf of [isoInstant, (at: number) => zonedInstant(at, terms.zone)]) {
    const rows = starts.map(({ start }, i) => `POWER_DE_EUR,${timeOf(start)},${40 + (i % 9)}`)
    const { report, values } = await imported(`code,observed_at,price\n${rows.join('\n')}`)
    expect({ inserted: report.inserted, rejected: report.rejected }).toEqual({
      inserted: 24 + 96 + 92 + 100 + 96,
      rejected: 0,
    })
    expect(values.get('POWER_DE_EUR 2026-11-22T22:45:00.000Z')).toBe(40 + ((starts.length - 1) % 9))
  }
})

test('periods go in by the number that they have in their day', async () => {
  const rows = days.flatMap(date =>
    periodsOf(terms, dayOfDate(terms, date)).map((_, i) => `POWER_DE_EUR,${date},${i + 1},${i}`),
  )
  const { report, values } = await imported(`code,date,period,price\n${rows.join('\n')}`)
  expect({ inserted: report.inserted, rejected: report.rejected }).toEqual({
    inserted: 408,
    rejected: 0,
  })
  expect(values.get('POWER_DE_EUR 2026-10-25T22:45:00.000Z')).toBe(99)
})

test('a row that is of no period is rejected with the nearest ones', async () => {
  const { report, rejected } = await imported(
    [
      'code,observed_at,price',
      'POWER_DE_EUR,2026-03-29T02:30,1',
      'POWER_DE_EUR,2026-11-20T10:05:00Z,1',
      'POWER_DE_EUR,2026-11-20,1',
      'POWER_DE_EUR,2026-11-25T10:00:00Z,1',
      'POWER_DE_EUR,2026-11-20T11:00,1',
    ].join('\n'),
  )
  expect({ inserted: report.inserted, rejected: report.rejected }).toEqual({
    inserted: 1,
    rejected: 4,
  })
  const reasons = rejected.split('\n').slice(1)
  expect(reasons[0]).toContain('the nearest are 2026-03-29T00:45:00Z and 2026-03-29T01:00:00Z')
  expect(reasons[1]).toContain('the nearest are 2026-11-20T10:00:00Z and 2026-11-20T10:15:00Z')
  expect(reasons[2]).toContain('must be the start of a delivery period of POWER_DE_EUR')
  expect(reasons[3]).toContain('beyond the horizon of POWER_DE_EUR, P2D')
})

const changeZones: readonly [zone: string, dayStarts: string][] = [
  ['Europe/Berlin', '00:00'],
  ['Europe/London', '00:00'],
  ['Europe/Athens', '00:00'],
  ['Europe/Lisbon', '00:00'],
  ['Europe/Berlin', '06:00'],
  ['Europe/London', '05:00'],
  ['Europe/Helsinki', '00:00'],
  ['Europe/Dublin', '00:00'],
]

test.each(
  changeZones.flatMap(([zone, dayStarts]) =>
    (['PT5M', 'PT15M', 'PT30M', 'PT1H', 'P1D'] as const).map(
      resolution => [zone, dayStarts, resolution] as const,
    ),
  ),
)(
  'the days of 29 March and 25 October 2026 in %s from %s go in by %s, and their means are those of clocks that are walked',
  async (zone, dayStarts, resolution) => {
    const local = deliveryTerms({
      time: 'delivery',
      zone,
      dayStarts,
      resolutions: sinceEver(resolution),
    })!
    const stepMs = { PT5M: 5, PT15M: 15, PT30M: 30, PT1H: 60, P1D: 0 }[resolution] * minuteMs
    const { shown, firstAt } = walkedClock(zone)
    const localCatalogue = codeLookupOf(
      series.map(one => (one.code === 'POWER_DE_EUR' ? { ...one, delivery: local } : one)),
    )
    for (const date of ['2026-03-28', '2026-03-29', '2026-10-24', '2026-10-25']) {
      const near = Date.parse(`${date}T00:00:00Z`) - 15 * hourMs
      const next = new Date(Date.parse(date) + dayMs).toISOString().slice(0, 10)
      const from = firstAt(`${date} ${dayStarts}`, near, 15 * minuteMs)
      const to = firstAt(`${next} ${dayStarts}`, from, 15 * minuteMs)
      const periods: [start: number, end: number][] = []
      for (let at = from; at < to; at = periods.at(-1)![1])
        periods.push([at, stepMs === 0 ? to : Math.min(at + stepMs, to)])
      const prices = periods.map((_, i) => ((i * 37) % 211) / 4 - 12)
      const rows = periods.map(([start], i) => `POWER_DE_EUR,${isoInstant(start)},${prices[i]}`)
      const { report, values } = await imported(
        `code,observed_at,price\n${rows.join('\n')}`,
        'zones.csv',
        localCatalogue,
      )
      expect({ shown: shown(from), inserted: report.inserted, rejected: report.rejected }).toEqual({
        shown: `${date} ${dayStarts}`,
        inserted: periods.length,
        rejected: 0,
      })
      const day = dayOfDate(local, date)
      expect({ from: day.from, to: day.to }).toEqual({ from, to })
      const found = periodsOf(local, day).map(period => ({
        ...period,
        price: values.get(`POWER_DE_EUR ${new Date(period.start).toISOString()}`) ?? Number.NaN,
      }))
      const mean =
        periods.reduce((sum, [start, end], i) => sum + prices[i]! * (end - start), 0) / (to - from)
      expect(Math.abs(meanPrice(found)! - mean)).toBeLessThan(1e-9)
    }
  },
)
