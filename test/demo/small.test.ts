import { afterAll, beforeAll, expect, test } from 'bun:test'
import { conflictOf } from '../../src/instance/services/refusals.ts'
import { dayMs } from '../../src/lib/time/instant.ts'
import { type DemoInstance, demoInstance } from '../support/instance/demo-instance.ts'
import { interfaceRows, type Row } from '../support/interface/interface.ts'

const flags = {
  'limits.unauthenticated_per_minute': '100000',
  'demo.limit_per_hour': '100000',
}

const gets = interfaceRows.filter(
  ({ method, sample, path }) => method === 'GET' && sample !== null && !/stream|\/cable/.test(path),
)

let instance: DemoInstance
beforeAll(() => {
  instance = demoInstance(undefined, flags)
})
afterAll(() => instance.remove())

async function statusOf({ access, sample }: Row): Promise<number> {
  const response = await instance.ask('GET', sample!, {
    key: access.startsWith('key') && access !== 'keyless' ? instance.apiKey : null,
    headers: access === 'operator' ? { authorization: `Bearer ${instance.adminToken}` } : {},
  })
  await response.arrayBuffer()
  return response.status
}

test('the small demo world answers every GET of the API', async () => {
  const refused: string[] = []
  for (const row of gets) {
    const status = await statusOf(row)
    if (status >= 300) refused.push(`${status} ${row.sample}`)
  }
  expect(gets.length).toBeGreaterThan(200)
  expect(refused).toEqual([])
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
