import { afterAll, beforeAll, expect, test } from 'bun:test'
import { dayMs } from '../../src/lib/time/instant.ts'
import { type DemoInstance, demoInstance } from '../support/instance/demo-instance.ts'
import { expectAnsweredGets } from '../support/interface/answered-gets.ts'

const flags = {
  'dev.world': 'whole',
  'limits.unauthenticated_per_minute': '100000',
  'demo.limit_per_hour': '100000',
}

let instance: DemoInstance
beforeAll(() => {
  instance = demoInstance(undefined, flags)
}, 120_000)
afterAll(() => instance.remove())

test('the whole demo world answers every GET of the API', async () => {
  await expectAnsweredGets(instance)
}, 120_000)

test('it has every code of the catalogue that has a source, with years of history or days of delivery periods', () => {
  const { catalogue } = instance.running.services
  const listed = catalogue.list().filter(series => series.unavailableReason === null)
  const codes = listed.filter(series => series.contractOf === null)
  expect(instance.running.feed!.codes).toBe(codes.length)
  const short = codes.filter(series => {
    const extent = catalogue.extent(series)
    // Delivery periods are many a day: the world has days of them.
    const days = series.delivery ? 8 : 4 * 365
    return !extent || extent.lastAt - extent.firstAt < days * dayMs
  })
  expect(short.map(({ code }) => code)).toEqual([])
})

test('it answers every GET still after its clock was moved by a month', async () => {
  instance.clock.advance(30 * dayMs)
  instance.running.feed!.advance(instance.clock.now() + 1)
  await expectAnsweredGets(instance)
}, 120_000)
