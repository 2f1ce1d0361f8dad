import { expect, test } from 'bun:test'
import { bundle } from '../../src/console/files.ts'

/** A class that the library of the small charts writes into its pages. */
const ofSmallCharts = 'u-legend'

test.each([
  'pages/home/demo.tsx',
  'pages/market.tsx',
  'pages/series.tsx',
  'parts/charts/market-chart.tsx',
])(
  'the scripts that the first view of %s waits for leave out the charts that it does not have',
  source => {
    const names = bundle.modules[source]!
    const files = bundle.files.filter(({ name }) => names.includes(name))
    expect(files.length).toBe(names.length)
    const texts = files.map(({ plain }) => Buffer.from(plain, 'base64').toString())
    expect(texts.filter(text => text.includes(ofSmallCharts))).toEqual([])
  },
)

test('the small charts are found by that class in the pages that have them', () => {
  const names = bundle.modules['pages/markets.tsx']!
  const files = bundle.files.filter(({ name }) => names.includes(name))
  const text = files.map(({ plain }) => Buffer.from(plain, 'base64').toString()).join('')
  expect(text).toContain(ofSmallCharts)
})
