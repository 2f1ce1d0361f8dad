import { contractOf } from '../../../src/topics/catalogue/service/contract-calendar.ts'
import { createFuturesData } from '../../../src/topics/futures/demo/futures.ts'
import type { Reach } from '../../../src/topics/futures/demo/published.ts'
import type { DayRecord, TickRecord } from '../../../src/topics/futures/math/contract-days.ts'
import { contractCode, familyOf } from '../../../src/topics/futures/math/families.ts'
import { createWorld, type World } from '../../../src/topics/prices/demo/world.ts'
import { openTestInstance, type TestInstance } from '../instance/instance.ts'
import { published } from '../world/published.ts'

/** An instance whose futures are those of the demo world, moved on by `follow`. */
export interface FuturesInstance extends TestInstance {
  world: World
  /** Moves the clock and publishes what is due on the way; without `isPublished` the data ages. */
  follow(to: number, isPublished?: boolean): void
  /** Publishes a span, whether that was done before or not. */
  publish(from: number, to: number): unknown
}

/** Enough for responses about these days, in a fraction of the time that complete data takes. */
const shortReach: Reach = { wholeCurveDays: 40, nearMonthsDays: 40, tickDays: 6 }

export function openFuturesInstance(
  now?: number,
  reach: Partial<Reach> = {},
  flags: Record<string, string> = {},
): FuturesInstance {
  const instance = openTestInstance(flags, now)
  const { catalogue, series, futures } = instance.services
  const world = createWorld({
    seed: 1,
    series: catalogue
      .list()
      .map(series => ({ ...series, available: series.unavailableReason === null })),
  })
  const data = createFuturesData({
    world,
    futures,
    reach: { ...shortReach, ...reach },
    seed: 1,
    decimals: code => catalogue.named(code)!.decimals,
    open(contracts) {
      catalogue.addContracts(
        contracts.map(({ family, month }) => contractOf(familyOf(family), month)),
      )
      series.markFixture(
        contracts.map(({ family, month }) => catalogue.named(contractCode(family, month))!.id),
      )
      catalogue.reload()
    },
  })
  const feed = published(data)
  feed.advance(instance.clock.now())
  return {
    ...instance,
    world,
    follow(to, isPublished = true) {
      instance.clock.set(to)
      if (isPublished) feed.advance(to)
    },
    publish: data.publish,
  }
}

export const at = (text: string): number => {
  const instant = Date.parse(text)
  if (Number.isNaN(instant)) throw new Error(`${text} is not an instant`)
  return instant
}

/** A day of WTI for 2027-01 with a close, and what else is given. */
export const dayOf = (fields: Partial<DayRecord> = {}): DayRecord => ({
  family: 'WTI_FUTURES',
  month: '2027-01',
  tradedOn: '2026-11-19',
  open: null,
  high: null,
  low: null,
  close: null,
  settlement: null,
  volume: null,
  openInterest: null,
  source: 'import',
  ...fields,
})

export const tickOf = (
  tradedAt: string,
  price: number,
  fields: Partial<TickRecord> = {},
): TickRecord => ({
  family: 'WTI_FUTURES',
  month: '2027-01',
  tradedAt: at(tradedAt),
  price,
  volume: 10,
  source: 'import',
  ...fields,
})

export const manyRequests = { 'limits.per_minute': '100000' }

/** The body of any futures response, as far as tests read its parts. */
export interface FuturesBody {
  [name: string]: unknown
  commodity: string
  slug: string
  contract: string | null
  contracts: Record<string, unknown>[]
  front_month: Record<string, unknown> | null
  prices: Record<string, unknown>[]
  count: number
}

export async function answered(from: TestInstance, path: string, key: string) {
  const response = await from.get(path, key)
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: (text === '' ? undefined : JSON.parse(text)) as FuturesBody,
  }
}

export const problemOf = (body: unknown) => (body as { error: Record<string, unknown> }).error
