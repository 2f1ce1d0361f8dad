import { describe, expect, test } from 'bun:test'
import { shippedCatalogue } from '../../../../src/topics/catalogue/files/shipped.ts'
import {
  inventoryPlaces,
  inventoryProducts,
  locationOf,
  nationalPlace,
  placeOfAgencySeries,
  productOf,
} from '../../../../src/topics/fundamentals/math/inventories.ts'
import { needs } from '../../../support/needs.ts'
import { realRows } from '../../../support/real-data.ts'

const byCode = new Map(shippedCatalogue().series.map(series => [series.code, series]))

describe('the weekly inventories', () => {
  test('are storage series of the catalogue in million barrels, published weekly', () => {
    for (const { code } of inventoryPlaces) {
      expect(byCode.get(code), code).toMatchObject({
        category: 'storage',
        unit: 'million_barrels',
        cadence: 'weekly',
      })
    }
    expect(new Set(inventoryPlaces.map(place => place.code)).size).toBe(inventoryPlaces.length)
  })

  test('have every product for the whole country, once for each place', () => {
    for (const product of inventoryProducts)
      expect(nationalPlace(product), product).toMatchObject({ product, location: 'US' })
    const names = inventoryPlaces.map(place => `${place.product} ${place.location}`)
    expect(new Set(names).size).toBe(names.length)
  })

  needs('../shared/data').test('bear the names that the agency gives them', () => {
    const published = realRows('eia-weekly-stocks/petroleum_inventories_metadata.csv').filter(
      row => row[2] !== '',
    )
    expect(published.length).toBe(6)
    for (const [column, , series] of published) {
      const place = placeOfAgencySeries(series!)
      expect(`crude_${place?.location}`, series).toBe(column!)
      expect(place?.product).toBe('crude_oil')
    }
  })

  for (const [text, product] of [
    ['Crude oil', 'crude_oil'],
    ['crude', 'crude_oil'],
    ['jet-fuel', 'jet_fuel'],
    ['DISTILLATES', 'distillate'],
    ['total', 'total_petroleum'],
    ['coal', undefined],
    ['', undefined],
  ] as const) {
    test(`product ${JSON.stringify(text)} is ${product}`, () =>
      expect(productOf(text)).toBe(product))
  }
  for (const [text, location] of [
    ['padd 3', 'PADD3'],
    ['CUSHING', 'Cushing'],
    ['us', 'US'],
    ['PADD6', undefined],
  ] as const) {
    test(`place ${JSON.stringify(text)} is ${location}`, () =>
      expect(locationOf(text)).toBe(location))
  }
})
