import { describe, expect, test } from 'bun:test'
import { mapOf } from '../../../src/feeds/publishers/map.ts'
import { shippedFeeds } from '../../../src/feeds/publishers/publishers.ts'
import { shippedCatalogue } from '../../../src/topics/catalogue/files/shipped.ts'

const codes = new Set(shippedCatalogue().series.map(series => series.code))

describe('maps', () => {
  for (const { publisher, map } of shippedFeeds) {
    test(`${publisher.name} leads to codes of the catalogue and to datasets that there are`, () => {
      for (const entry of map) {
        if ('code' in entry.target)
          expect(codes.has(entry.target.code), entry.target.code).toBe(true)
        else expect(knownDatasets.has(entry.target.dataset), entry.target.dataset).toBe(true)
      }
    })
  }

  const header = 'source_id\tinto\tunit\tfactor\tperiod\tat\tnote\n'
  test('a line adds a series', () => {
    const [entry] = mapOf(
      'x',
      `${header}WCRSTUS1\tUS_CRUDE_STORAGE\tMBBL\t0.001\tweek\tpetroleum/stoc/wstk\t\n`,
    )
    expect(entry).toMatchObject({
      sourceId: 'WCRSTUS1',
      target: { code: 'US_CRUDE_STORAGE' },
      factor: '0.001',
    })
  })

  for (const fault of [
    'A\tWTI_USD\t\t1\tfortnight\t\t',
    'A\tWTI_USD\t\t1/3\tday\t\t',
    'A\trig-counts\t\t1\tday\t\t',
    'A\trig-counts total region\t\t1\tday\t\t',
    '\tWTI_USD\t\t1\tday\t\t',
    'A\tWTI_USD\t\t1\tday',
  ]) {
    test(`${JSON.stringify(fault)} is not accepted as a line`, () => {
      expect(() => mapOf('x', `${header}${fault}\n`)).toThrow(/map x/)
    })
  }
})

const knownDatasets = new Set([
  'rig-counts',
  'outlooks',
  'opec-productions',
  'drilling-productivity',
  'duc-wells',
  'cftc-positions',
])
