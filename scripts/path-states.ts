import { writeFileSync } from 'node:fs'
import { shippedCatalogue } from '../src/topics/catalogue/files/shipped.ts'
import { shippedSeed, statesText } from '../src/topics/prices/demo/path-states.ts'
import { everyPath } from '../src/topics/prices/demo/world.ts'

/** Writes the states of the world's paths, after the catalogue or the world has changed. */
const series = shippedCatalogue().series.map(row => ({
  ...row,
  available: row.unavailableReason === null,
}))
writeFileSync('fixtures/path-states.txt', statesText(everyPath(shippedSeed, series)))
