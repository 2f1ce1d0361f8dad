import { afterAll, beforeAll, expect, test } from 'bun:test'
import { conflictOf } from '../../src/instance/services/refusals.ts'
import { dayMs } from '../../src/lib/time/instant.ts'
import { type DemoInstance, demoInstance } from '../support/instance/demo-instance.ts'
import { expectAnsweredGets } from '../support/interface/answered-gets.ts'

const flags = {
  'limits.unauthenticated_per_minute': '100000',
  'demo.limit_per_hour': '100000',
}

let instance: DemoInstance
beforeAll(() => {
  instance = demoInstance(undefined, flags)
})
afterAll(() => instance.remove())

test('the small demo world answers every GET of the API', async () => {
  await expectAnsweredGets(instance)
})

test('it has some codes of every category, and a year of them', () => {
  const { catalogue } = instance.running.services
  const listed = catalogue.list().filter(series => series.unavailableReason === null)
  const present = listed.filter(series => catalogue.extent(series) && !series.contractOf)
  expect(new Set(present.map(series => series.category))).toEqual(
    new Set(listed.map(series => series.category)),
  )
  expect(present.length).toBeLessThan(250)
  const longest = Math.min(...present.map(series => catalogue.extent(series)!.firstAt))
  expect(instance.clock.now() - longest).toBeGreaterThan(365 * dayMs)
})

test('a directory with it is served with the same world and seed only', () => {
  const { services } = instance.running
  const { config } = services
  const refusal = (dev: Partial<typeof config.dev>) =>
    conflictOf({
      ...services,
      config: { ...config, dev: { ...config.dev, ...dev } },
      hasObservations: () => true,
    })
  expect(refusal({})).toBeUndefined()
  expect(refusal({ world: 'whole' })).toContain('--world small --seed 1')
  expect(refusal({ seed: 2 })).toContain('--world small --seed 1')
})

test('a directory of a version that generated data on demand is refused', () => {
  const { services } = instance.running
  const settings = {
    ...services.settings,
    get: (name: string) => (name === 'fixture.world' ? 'small' : services.settings.get(name)),
  }
  expect(conflictOf({ ...services, settings, hasObservations: () => true })).toContain(
    'an earlier version',
  )
})
