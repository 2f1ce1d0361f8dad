import { afterAll, beforeAll, expect, test } from 'bun:test'
import { claimDirectory } from '../../src/instance/services/directory.ts'
import { dayMs } from '../../src/lib/time/instant.ts'
import { type DemoInstance, demoInstance } from '../support/instance/demo-instance.ts'
import { interfaceRows, type Row } from '../support/interface/interface.ts'

const flags = {
  'dev.world': 'small',
  'limits.unauthenticated_per_minute': '100000',
  'demo.limit_per_hour': '100000',
}

const gets = interfaceRows.filter(
  ({ method, sample, path }) => method === 'GET' && sample !== null && !/stream|\/cable/.test(path),
)

let untouched: DemoInstance
let filled: DemoInstance
beforeAll(() => {
  untouched = demoInstance(undefined, flags, { unfilled: true })
  filled = demoInstance(undefined, flags)
}, 60_000)
afterAll(() => {
  untouched.remove()
  filled.remove()
})

async function statusOf(copy: DemoInstance, { access, sample }: Row): Promise<number> {
  const response = await copy.ask('GET', sample!, {
    key: access.startsWith('key') && access !== 'keyless' ? copy.apiKey : null,
    headers: access === 'operator' ? { authorization: `Bearer ${copy.adminToken}` } : {},
  })
  await response.arrayBuffer()
  return response.status
}

test('the small world answers every GET of the interface, untouched and filled', async () => {
  const refused: string[] = []
  for (const row of gets)
    for (const [name, copy] of [
      ['untouched', untouched],
      ['filled', filled],
    ] as const) {
      const status = await statusOf(copy, row)
      if (status >= 300) refused.push(`${name}: ${status} ${row.sample}`)
    }
  expect(gets.length).toBeGreaterThan(200)
  expect(refused).toEqual([])
}, 60_000)

test('it has some codes of every category, and a year of them', () => {
  const { catalogue } = filled.running.services
  const listed = catalogue.list().filter(series => series.unavailableReason === null)
  const present = listed.filter(series => catalogue.extent(series) && !series.contractOf)
  expect(new Set(present.map(series => series.category))).toEqual(
    new Set(listed.map(series => series.category)),
  )
  expect(present.length).toBeLessThan(250)
  const longest = Math.min(...present.map(series => catalogue.extent(series)!.firstAt))
  expect(filled.clock.now() - longest).toBeGreaterThan(365 * dayMs)
})

test('a copy that was begun with it is not gone on with as the whole world', () => {
  const { services } = filled.running
  const { config } = services
  const asWhole = { ...config, dev: { ...config.dev, world: 'whole' as const } }
  // As the first start of a directory does.
  const empty = { ...services.catalogue, list: () => [] }
  expect(claimDirectory({ ...services, catalogue: empty })).toBeUndefined()
  expect(claimDirectory(services)).toBeUndefined()
  expect(claimDirectory({ ...services, config: asWhole })).toContain('--world small')
})

test('controls that move nothing lay nothing down, and what moves the clock stands on every code', async () => {
  const copy = demoInstance(undefined, flags, { unfilled: true, controls: true })
  try {
    const { catalogue } = copy.running.services
    const asked = (method: string, path: string, body?: object) =>
      copy.ask(method, path, {
        key: null,
        headers: { authorization: `Bearer ${copy.adminToken}` },
        ...(body && { body }),
      })
    const present = () => catalogue.list().filter(series => catalogue.extent(series)).length
    const before = present()
    expect((await asked('GET', '/_dev/clock')).status).toBe(200)
    expect((await asked('POST', '/_dev/accounts', { plan: 'free' })).status).toBe(201)
    expect(present()).toBe(before)
    expect((await asked('POST', '/_dev/clock', { advance: 'PT1S' })).status).toBe(200)
    expect(present()).toBe(copy.running.feed!.total)
  } finally {
    copy.remove()
  }
})
