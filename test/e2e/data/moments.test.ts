import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hourMs, isoDay, isoInstant } from '../../../src/lib/time/instant.ts'
import {
  binary,
  remove,
  run,
  type Server,
  startWith,
  temporaryDir,
} from '../../support/instance/binary.ts'
import { needs } from '../../support/needs.ts'
import { faketimeLibrary } from '../../support/requirements.ts'
import { until } from '../../support/until.ts'

interface Answer {
  data: {
    price: number
    created_at: string
    recorded_at: string
    prices: { price: number }[]
    changes: { code: string; value: number }[]
  }
  uptime_seconds: number
}

const dir = temporaryDir()
let server: Server | undefined
const read = async (path: string) => (await (await server!.get(path)).json()) as Answer
const latest = async (more = '') => (await read(`/v1/prices/latest?by_code=WTI_USD${more}`)).data
const push = async (observations: { observed_at: string; price: number }[]) => {
  const answer = await fetch(`${server!.url}/admin/v1/observations`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${server!.adminToken}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      observations: observations.map(observation => ({ code: 'WTI_USD', ...observation })),
    }),
  })
  expect(answer.status).toBe(200)
  return ((await answer.json()) as Answer).data
}
afterAll(async () => {
  server?.process.kill('SIGKILL')
  await server?.process.exited
  remove(dir)
})

describe('a value that is stamped hours ahead', () => {
  const now = Date.now()
  const [yesterday, ahead] = [isoInstant(now - 24 * hourMs), isoInstant(now + 23 * hourMs)]
  beforeAll(async () => {
    server = await startWith([binary()], 'serve', join(dir, 'ahead'))
    await push([
      { observed_at: yesterday, price: 70 },
      { observed_at: ahead, price: 75 },
    ])
  }, 60_000)
  afterAll(async () => {
    server!.process.kill('SIGKILL')
    await server!.process.exited
  })

  test('is left out of the latest price, history, bars and exports until its time comes', async () => {
    expect(await latest()).toMatchObject({ price: 70 })
    expect((await latest(`&as_of=${isoInstant(Date.now())}`)).price).toBe(70)
    for (const interval of ['raw', 'day'])
      expect(
        (await read(`/v1/prices/past_week?by_code=WTI_USD&interval=${interval}`)).data.prices,
      ).toMatchObject([{ price: 70 }])
    const exported = await (await server!.get('/v1/export/prices?codes=WTI_USD')).text()
    expect(exported.trim().split('\n')).toHaveLength(2)
    const code = await read('/v1/commodities/WTI_USD')
    expect(code.data).toMatchObject({
      last_observation: yesterday.replace('.000', ''),
      freshness: { as_of: yesterday.replace('.000', '') },
    })
  })

  test('is in the feed of changes at once, and in reads that name its day', async () => {
    const { changes } = (await read('/v1/changes?since=start')).data
    expect(changes.map(({ value }) => value)).toEqual([70, 75])
    const named = `start_date=${isoDay(now - 48 * hourMs)}&end_date=${isoDay(now + 48 * hourMs)}`
    const { prices } = (await read(`/v1/prices/historical?by_code=WTI_USD&interval=raw&${named}`))
      .data
    expect(prices.map(({ price }) => price)).toEqual([75, 70])
    const whole = await run('export', '--data', join(dir, 'ahead', 'data'), 'WTI_USD')
    expect(whole.out).toContain(',75,')
  })
})

needs('libfaketime').test(
  'after the clock was set back two hours, as_of of each recorded moment is exact, and the uptime is not negative',
  async () => {
    const offset = join(dir, 'offset')
    const setClock = (text: string) => writeFileSync(offset, text)
    setClock('+2h')
    // The monotonic clock goes back as well, as in a virtual machine that is put back.
    const program = [
      'env',
      `LD_PRELOAD=${faketimeLibrary}`,
      `FAKETIME_TIMESTAMP_FILE=${offset}`,
      'FAKETIME_NO_CACHE=1',
      binary(),
    ]
    server = await startWith(program, 'serve', join(dir, 'back'))
    const observed_at = isoInstant(Date.now() - 24 * hourMs)
    await push([{ observed_at, price: 70 }])
    setClock('+0h')
    await until('the clock of the server is back', async () => {
      const { timestamp } = (await read('/v1/health')) as unknown as { timestamp: string }
      return Date.parse(timestamp) < Date.now() + hourMs
    })
    expect((await read('/v1/health')).uptime_seconds).toBeGreaterThanOrEqual(0)
    const { recorded_at } = await push([{ observed_at, price: 71 }])
    expect(Date.parse(recorded_at)).toBeGreaterThan(Date.now() + hourMs)
    const before = new Date(Date.parse(recorded_at) - 1).toISOString()
    expect((await latest(`&as_of=${recorded_at}`)).price).toBe(71)
    expect((await latest(`&as_of=${before}`)).price).toBe(70)
    expect((await latest()).price).toBe(71)
  },
  60_000,
)
