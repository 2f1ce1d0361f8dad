import { describe, expect, test } from 'bun:test'
import { viewFeeds } from '../../../../src/feeds/publishers/publishers.ts'
import {
  dayMs,
  hourMs,
  isoInstant,
  isoMillis,
  parseInstant,
} from '../../../../src/lib/time/instant.ts'
import { withDelivery } from '../../../support/topics/delivery.ts'
import { createFollower, type WireChange } from '../../../support/topics/follower.ts'

const [leg, daily] = ['POWER_DA_DE_LU_EUR', 'POWER_DE_EUR']
const midnight = parseInstant('2026-11-18T00:00:00Z')!
/** The market day of Berlin begins an hour before that of UTC. */
const hours = Array.from({ length: 24 }, (_, i) => midnight + (i - 1) * hourMs)

async function opened(code: string = daily) {
  const instance = withDelivery()
  const { clock, admin, ask, services } = instance
  clock.set(midnight + dayMs)
  const done = async (method: string, path: string, body?: unknown) => {
    clock.advance(60_000)
    const answer = await admin(method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer.body.data
  }
  await done('PATCH', `/series/${leg}`, { resolution: 'PT1H' })
  const push = (code: string, times: readonly number[], price: number) =>
    done('POST', '/observations', {
      source: 'desk',
      observations: times.map(at => ({ code, observed_at: isoInstant(at), price })),
    })
  const fed = (code: string, times: readonly number[], value: number) => {
    clock.advance(60_000)
    const seriesId = services.catalogue.named(code)!.id
    services.batches.record(
      { kind: 'feed', actor: 'feed', feed: { name: viewFeeds[0]!, periodKind: 0 } },
      times.map(observedAt => ({ seriesId, observedAt, value })),
    )
  }
  const read = async (query: string, since = 'start') => {
    const { status, body } = await ask(`/v1/changes?since=${since}&limit=10000&${query}`)
    expect(status).toBe(200)
    return body.data.changes as WireChange[]
  }
  /** What a client has that follows the feed from its start, and what exports have, now and then. */
  const compare = async (
    follower: ReturnType<typeof createFollower>,
    moments: readonly number[],
  ) => {
    for (const moment of [undefined, ...moments]) {
      const query = new URLSearchParams({
        codes: code,
        columns: 'code,observed_at,price',
        start_date: '2026-11-01',
        end_date: '2026-11-30',
        ...(moment !== undefined && { as_of: isoMillis(moment) }),
      })
      const answer = await instance.get(`/v1/export/prices?${query}`, instance.key())
      const lines = (await answer.text()).trim().split('\n').slice(1)
      expect([moment, ...follower.stateAt(isoMillis(moment ?? clock.now()))]).toEqual([
        moment,
        ...lines,
      ])
    }
  }
  const late = async () => {
    const follower = createFollower()
    follower.take(await read(`codes=${code}`))
    return follower
  }
  return { ...instance, done, push, fed, read, compare, late }
}

const shapeOf = ({ kind, value, previous, source, derived }: WireChange) => [
  kind,
  value,
  previous,
  source,
  derived,
]

describe('the daily code of a series of delivery periods in the feed of changes', () => {
  test('has each mean and each recorded value once, in the order of their recording', async () => {
    const { push, done, read, services } = await opened()
    await push(leg, hours, 40)
    await push(daily, [midnight], 50)
    await done('DELETE', '/values', {
      code: daily,
      observed_at: isoInstant(midnight),
      reason: 'test',
    })
    const { batch } = await push(leg, [hours[0]!], 64)
    await done('POST', `/batches/${batch}/undo`, {})
    const ofMeans = services.catalogue.named(daily)!.source
    const wanted = [
      ['added', 40, null, ofMeans, true],
      ['revised', 50, 40, 'desk', false],
      ['revised', 40, 50, ofMeans, true],
      ['revised', 41, 40, ofMeans, true],
      ['revised', 40, 41, ofMeans, true],
    ]
    // The first record is of the new resolution: every mean is made again.
    const named = (await read(`codes=${daily}`)).filter(change => change.observed_at !== null)
    expect(named.map(shapeOf)).toEqual(wanted)
    const every = (await read('derived=true')).filter(
      ({ code, observed_at }) => code === daily && observed_at !== null,
    )
    expect(every).toEqual(named)
    // Without computed values, recorded ones stand alone.
    expect((await read('codes=*')).filter(({ code }) => code === daily).map(shapeOf)).toEqual([
      ['added', 50, null, 'desk', false],
      ['deleted', null, 50, 'desk', false],
    ])
    const both = (await read(`codes=${leg},${daily}`)).filter(({ code }) => code === leg)
    expect(both).toEqual(await read(`codes=${leg}`))
  })

  test('has what exports have when periods of the market become longer', async () => {
    const { push, done, read, compare, late, clock } = await opened()
    await push(leg, hours, 40)
    await push(leg, [hours[0]! + dayMs], 70)
    await push(daily, [midnight - dayMs], 30)
    const follower = createFollower()
    follower.take(await read(`codes=${daily}`))
    await compare(follower, [])
    await done('PATCH', `/series/${leg}`, { resolution: 'P1D' })
    follower.take(await read(`codes=${daily}`, follower.cursor()))
    await compare(follower, [clock.now() - 1])
    await compare(await late(), [clock.now() - 1])
  })

  test('leaves out what must not be passed on, of days and of periods', async () => {
    const { push, fed, done, read, compare, late, clock } = await opened()
    const follower = createFollower()
    const moments: number[] = []
    const follow = async () => {
      follower.take(await read(`codes=${daily}`, follower.cursor() || 'start'))
      moments.push(clock.now())
      await compare(follower, moments)
      await compare(await late(), moments)
    }
    await push(leg, hours, 40)
    await follow()
    fed(daily, [midnight], 50)
    await follow()
    await push(daily, [midnight], 51)
    await follow()
    fed(leg, [hours[3]!], 70)
    await follow()
    const ofDay = { code: daily, observed_at: isoInstant(midnight), reason: 'test' }
    await done('DELETE', '/values', ofDay)
    await follow()
    await push(daily, [midnight], 52)
    await follow()
    await push(leg, [hours[3]!], 80)
    await follow()
    const shown = (await read(`codes=${daily}`)).flatMap(({ value, previous }) => [value, previous])
    expect(shown).not.toContain(50)
  })

  test('has the means of peak hours, and none of a hub that is for display alone', async () => {
    const [hub, peak] = ['POWER_PJM_WESTERN_HUB_USD', 'POWER_PJM_WEST_USD']
    for (const licence of ['open', 'view']) {
      const { push, done, read, compare, late, clock } = await opened(peak)
      await done('PATCH', `/series/${hub}`, { license_class: licence })
      const follower = createFollower()
      const moments: number[] = []
      const follow = async () => {
        follower.take(await read(`codes=${peak}`, follower.cursor() || 'start'))
        moments.push(clock.now())
        await compare(follower, moments)
        await compare(await late(), moments)
      }
      const begin = midnight + 5 * hourMs
      const day = Array.from({ length: 24 }, (_, i) => begin + i * hourMs)
      await push(hub, day.slice(0, 20), 40)
      await follow()
      await push(hub, day.slice(20), 45)
      await follow()
      await push(hub, [day[1]!], 100)
      await follow()
      await push(peak, [midnight], 50)
      await follow()
      await push(hub, [day[12]!], 56)
      await follow()
      await done('DELETE', '/values', {
        code: peak,
        observed_at: isoInstant(midnight),
        reason: 'test',
      })
      await follow()
      const values = (await read(`codes=${peak}`)).map(({ value }) => value)
      const own = [50, ...(licence === 'view' ? [] : [40 + 15 / 16, 40 + 31 / 16])]
      for (const value of own) expect([licence, ...values]).toContain(value)
      expect(licence === 'view' ? new Set(values) : new Set()).toEqual(
        licence === 'view' ? new Set([50, null]) : new Set(),
      )
    }
  })
})
