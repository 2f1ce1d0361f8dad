import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { dayMs, hourMs } from '../../../../src/lib/time/instant.ts'
import { shippedCatalogue } from '../../../../src/topics/catalogue/files/shipped.ts'
import { createPath } from '../../../../src/topics/prices/demo/path.ts'
import {
  shippedCheckpoints,
  shippedSeed,
  shippedStates,
  statesText,
} from '../../../../src/topics/prices/demo/path-states.ts'
import { createWorld, everyPath } from '../../../../src/topics/prices/demo/world.ts'

const series = shippedCatalogue().series.map(row => ({
  ...row,
  available: row.unavailableReason === null,
}))

test('the states that are shipped are those of every path, computed from the epoch on', () => {
  const shipped = readFileSync(
    join(import.meta.dir, '../../../../fixtures/path-states.txt'),
    'utf8',
  )
  const isCurrent = shipped === statesText(everyPath(shippedSeed, series))
  expect(isCurrent, 'bun run path-states writes them anew').toBe(true)
})

test('a world with known states has the values of one without', () => {
  const [known, plain] = [
    createWorld({ seed: shippedSeed, series, known: shippedStates() }),
    createWorld({ seed: shippedSeed, series }),
  ]
  const [old, recent] = [Date.UTC(2020, 0, 1), Date.UTC(2027, 2, 3)]
  for (const { code, available } of series) {
    if (!available) continue
    for (const from of [old, recent])
      expect(known.observations(code, from, from + 12 * hourMs)).toEqual(
        plain.observations(code, from, from + 12 * hourMs),
      )
  }
})

test('a path goes on from the last state before a day, and ignores states of another decay', () => {
  const plain = createPath(3, 'some', 30, false)
  const keysAsked: number[] = []
  const state = { value: 5, smoothed: 5 }
  const path = createPath(3, 'some', 30, false, (key, decay) => {
    keysAsked.push(key, decay)
    return index => (index === 2 ? state : undefined)
  })
  expect(keysAsked).toEqual([plain.key, plain.decay])
  expect(path.stateAt(1)).toEqual(plain.stateAt(1))
  expect(path.stateAt(2)).toEqual(state)
  expect(path.stateAt(3)).not.toEqual(plain.stateAt(3))
  const states = shippedStates()
  const [first] = everyPath(shippedSeed, series)
  const shipped = states(first!.key, first!.decay)!
  for (const index of shippedCheckpoints) expect(shipped(index)).toBeDefined()
  expect(shipped(Math.max(...shippedCheckpoints) + 1)).toBeUndefined()
  expect(states(first!.key, first!.decay + dayMs)).toBeUndefined()
  expect(states(0, first!.decay)).toBeUndefined()
})
