import { writeFileSync } from 'node:fs'
import { shippedCatalogue } from '../src/feed/catalogue/shipped.ts'
import { shippedSeed, statesText } from '../src/world/prices/path-states.ts'
import { everyPath } from '../src/world/prices/world.ts'

/** Writes the states of the world's paths, after the catalogue or the world has changed. */
const series = shippedCatalogue().series.map(row => ({
  ...row,
  available: row.unavailableReason === null,
}))
writeFileSync('fixtures/path-states.txt', statesText(everyPath(shippedSeed, series)))
