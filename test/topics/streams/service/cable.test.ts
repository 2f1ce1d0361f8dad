import { describe, expect, test } from 'bun:test'
import { loadConfig } from '../../../../src/config/config.ts'
import { createManualClock } from '../../../../src/lib/time/clock.ts'
import { dayMs, hourMs, isoInstant, secondMs } from '../../../../src/lib/time/instant.ts'
import { createFx } from '../../../../src/topics/prices/service/fx.ts'
import { createCable as cableOf } from '../../../../src/topics/streams/service/cable.ts'
import { createCablePrices } from '../../../../src/topics/streams/service/cable-prices.ts'
import { createStreams as streamsOf } from '../../../../src/topics/streams/service/streams.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'

type Frame = Record<string, unknown> & {
  type?: string
  identifier?: string
  message?: Record<string, unknown> & { type: string }
}

/**
 * An instance with a cable whose clock only a test moves, and clients that record the messages they
 * receive.
 */
function openInstance({ plan = 'enterprise', perKey = 5 } = {}) {
  const whole = openTestInstance()
  const { catalogue, latestPrices, keys, ingest, log } = whole.services
  const stopwatch = createManualClock(0)
  const streams = streamsOf({ log, perKey, stopwatch })
  const prices = createCablePrices(
    catalogue,
    latestPrices,
    createFx(catalogue, latestPrices),
    whole.clock.now,
  )
  const { streamChannels: channels } = loadConfig({
    flags: {},
    env: {},
    files: { directory: '/' },
    readFile: () => undefined,
  }).brand
  const cable = cableOf({
    prices,
    streams,
    catalogue,
    keys,
    ingest,
    channels,
    clock: whole.clock,
    stopwatch,
  })
  const token = whole.key(plan)
  const key = keys.find(token)!

  const join = () => {
    const frames: Frame[] = []
    const closed: { code: number; reason: string }[] = []
    const line = { reads: true, waiting: 0, refusal: undefined as string | undefined }
    const connection = cable.connect({
      accountId: key.account.account.id,
      keyId: key.key.id,
      refusal: () => line.refusal,
    })
    if (typeof connection === 'string') throw new Error(connection)
    connection.opened({
      send(text) {
        frames.push(JSON.parse(text))
        if (!line.reads) line.waiting += text.length
        return line.reads
      },
      waitingBytes: () => line.waiting,
      close(code, reason) {
        closed.push({ code, reason })
        // As the server does, at once.
        connection.closed()
      },
    })
    const command = (name: string, identifier: unknown) =>
      connection.receive(JSON.stringify({ command: name, identifier }))
    return {
      frames,
      closed,
      line,
      connection,
      subscribe: (fields: object = {}) => {
        const identifier = JSON.stringify({ channel: channels[0], ...fields })
        command('subscribe', identifier)
        return identifier
      },
      unsubscribe: (identifier: string) => command('unsubscribe', identifier),
      updates: () => frames.filter(frame => frame.message?.type === 'price_update'),
      drain() {
        line.reads = true
        line.waiting = 0
        connection.drained()
      },
    }
  }
  return {
    ...whole,
    token,
    key,
    streams,
    cable,
    join,
    price(code: string, value: number, observedAt = whole.clock.now()) {
      const { id } = catalogue.named(code)!
      ingest.write([{ seriesId: id, observedAt, value }])
    },
    /** Real time passes, beat by beat. */
    pass(ms: number) {
      for (let msLeft = ms; msLeft > 0; msLeft -= 250) {
        stopwatch.advance(250)
        streams.beat()
      }
    },
  }
}

test('a cable connection begins with a welcome and receives a ping every three seconds', () => {
  const { join, pass } = openInstance()
  const { frames } = join()
  pass(9500)
  const ping = { type: 'ping', message: startAt / secondMs }
  expect(frames).toEqual([{ type: 'welcome' }, ping, ping, ping] as never)
})

describe('prices', () => {
  const filled = () => {
    const world = openInstance()
    const yesterday = startAt - dayMs
    for (const [code, before, now] of [
      ['BRENT_CRUDE_USD', 74, 75.4],
      ['WTI_USD', 70, 71.05],
      ['NATURAL_GAS_GBP', 80, 85],
      ['NATURAL_GAS_USD', 3.4, 3.35],
      ['DUTCH_TTF_EUR', 30, 31.15],
      ['GBP_USD', 1.25, 1.25],
      ['EUR_USD', 1.08, 1.08],
    ] as const) {
      world.price(code, before, yesterday)
      world.price(code, now, startAt)
    }
    return world
  }

  test('are compared by their heat: checked by hand for a barrel, a therm and a megawatt hour', () => {
    const { join } = filled()
    const client = join()
    client.subscribe()
    const timestamp = isoInstant(startAt)
    const leaf = (
      normalized: number,
      price: number,
      unit: string,
      currency: string,
      change: number,
      percent: number,
    ) => ({
      normalized_price: normalized,
      original_price: price,
      original_unit: unit,
      original_currency: currency,
      timestamp,
      change_24h: change,
      change_24h_percent: percent,
    })
    const priced = {
      timestamp,
      base_currency: 'USD',
      base_unit: 'MMBtu',
      prices: {
        oil: {
          brent: leaf(13, 75.4, 'barrel_oil', 'USD', 1.4, 1.89),
          wti: leaf(12.25, 71.05, 'barrel_oil', 'USD', 1.05, 1.5),
        },
        natural_gas: {
          // 85 p a therm are 8.50 GBP per MMBtu, 10.625 USD.
          uk: leaf(10.625, 8.5, 'mmbtu', 'GBP', 0.5, 6.25),
          us: leaf(3.35, 3.35, 'mmbtu', 'USD', -0.05, -1.47),
          // 31.15 EUR / 3.412142 = 9.1292, times 1.08.
          eu: leaf(9.8595, 9.1292, 'mmbtu', 'EUR', 0.337, 3.83),
        },
      },
    }
    expect(client.frames[2]!.message).toEqual({ type: 'welcome', data: priced, ...priced } as never)
  })

  test('missing cable prices are null, and the welcome reports when no price is available', () => {
    const { join, price } = openInstance()
    const empty = join()
    empty.subscribe()
    expect(empty.frames[2]!.message).toMatchObject({
      data: { error: expect.any(String), prices: { oil: { brent: null, wti: null } } },
    })
    price('NATURAL_GAS_GBP', 85)
    const client = join()
    client.subscribe()
    const { data } = client.frames[2]!.message as unknown as {
      data: { prices: Record<string, Record<string, object | null>>; error?: string }
    }
    // Without an exchange rate there is a price and none to compare with.
    expect(data.prices.natural_gas!.uk).toMatchObject({
      normalized_price: null,
      original_price: 8.5,
    })
    expect(data.error).toBeUndefined()
  })

  test('a cable update names the changed prices, and a write without effect sends no update', () => {
    const { join, price, pass } = filled()
    const client = join()
    const identifier = client.subscribe({ commodities: ['wti', 'GOLD_USD', 'NO_SUCH_USD'] })
    price('WTI_USD', 71.05, startAt)
    price('WTI_USD', 60, startAt - 2 * dayMs)
    price('BRENT_CRUDE_USD', 90)
    pass(2000)
    expect(client.updates()).toEqual([])
    price('WTI_USD', 72.5)
    price('GOLD_USD', 4100.5)
    pass(250)
    const [update, ...laterUpdates] = client.updates()
    expect(laterUpdates).toEqual([])
    expect({
      identifier: update!.identifier,
      updated: update!.message!.updated,
      price_rows: update!.message!.price_rows,
    }).toEqual({
      identifier,
      updated: ['WTI_USD', 'GOLD_USD'],
      price_rows: [
        {
          code: 'WTI_USD',
          price: 72.5,
          currency: 'USD',
          unit: 'barrel',
          created_at: isoInstant(startAt),
        },
        {
          code: 'GOLD_USD',
          price: 4100.5,
          currency: 'USD',
          unit: 'troy_ounce',
          created_at: isoInstant(startAt),
        },
      ],
    })
    expect(update!.message!.prices).toMatchObject({
      oil: { wti: { original_price: 72.5 }, brent: { original_price: 90 } },
    })
  })

  test('come at most once a second for a connection, whatever it subscribed to, and the last of them comes', () => {
    const { join, price, pass, clock } = filled()
    const client = join()
    const [crude, gas] = [
      client.subscribe({ commodities: ['WTI_USD'] }),
      client.subscribe({ commodities: ['NATURAL_GAS_USD'] }),
    ]
    for (let i = 0; i < 40; i += 1) {
      clock.advance(1)
      price('WTI_USD', 72 + i)
      price('NATURAL_GAS_USD', 4 + i)
      pass(250)
    }
    expect(client.updates().length).toBeLessThanOrEqual(11)
    pass(3000)
    const last = (identifier: string) =>
      client.updates().findLast(frame => frame.identifier === identifier)!.message!.price_rows
    expect(last(crude)).toMatchObject([{ code: 'WTI_USD', price: 111 }])
    expect(last(gas)).toMatchObject([{ code: 'NATURAL_GAS_USD', price: 43 }])
    const updatesBefore = client.updates().length
    pass(5000)
    expect(client.updates()).toHaveLength(updatesBefore)
  })

  test('of a futures family come under its own code', () => {
    const { join, price, pass } = filled()
    const client = join()
    client.subscribe({ commodities: ['BZ'] })
    price('BRENT_FUTURES', 76)
    pass(250)
    expect(client.updates()[0]!.message!.updated).toEqual(['BRENT_FUTURES'])
  })

  test('a price that is recorded ahead of its time is sent when its time comes, whenever the client came', () => {
    const { join, price, pass, clock } = filled()
    const early = join()
    early.subscribe()
    price('WTI_USD', 72, startAt + 2000)
    price('WTI_USD', 73, startAt + 4000)
    const late = join()
    late.subscribe()
    pass(1000)
    const rows = () =>
      [early, late].map(client =>
        client
          .updates()
          .flatMap(update =>
            (update.message!.price_rows as { price: number }[]).map(row => row.price),
          ),
      )
    expect(rows()).toEqual([[], []])
    clock.advance(2000)
    pass(1000)
    expect(rows()).toEqual([[72], [72]])
    clock.advance(2000)
    pass(1000)
    expect(rows()).toEqual([
      [72, 73],
      [72, 73],
    ])
  })
})

describe('subscribing', () => {
  test.each([
    ['another channel', '{"channel":"OtherChannel"}'],
    ['no channel', '{}'],
    ['text that is not JSON', 'EnergyPricesChannel'],
    ['a list', '["EnergyPricesChannel"]'],
    ['a key that is none', '{"channel":"EnergyPricesChannel","api_key":"0000"}'],
    ['codes that are unknown', '{"channel":"EnergyPricesChannel","commodities":["NO_SUCH_USD",7]}'],
    ['codes that are not a list', '{"channel":"EnergyPricesChannel","commodities":"WTI_USD"}'],
    [
      'more codes than there may be',
      JSON.stringify({ channel: 'EnergyPricesChannel', commodities: Array(101).fill('WTI_USD') }),
    ],
  ])('with %s is rejected, and the identifier comes back as it was sent', (_, identifier) => {
    const { join } = openInstance()
    const { connection, frames } = join()
    connection.receive(JSON.stringify({ command: 'subscribe', identifier }))
    expect(frames.slice(1)).toEqual([{ identifier, type: 'reject_subscription' }])
  })

  test('takes a key of the same account and no other', () => {
    const { join, token, key, services, key: ownKey } = openInstance()
    const client = join()
    const second = services.keys.addKey(ownKey.account).token
    const stranger = 'f'.repeat(64)
    const foreign = services.keys.addKey(
      services.keys.putAccount({
        ...key.account.account,
        id: services.ids.uuid(),
        email: 'x@example.com',
      }),
    ).token
    for (const api_key of [token, second]) client.subscribe({ api_key })
    for (const api_key of [stranger, foreign, 7]) client.subscribe({ api_key })
    const types = client.frames.flatMap(frame =>
      frame.type?.endsWith('_subscription') ? frame.type : [],
    )
    expect(types).toEqual([
      ...Array(2).fill('confirm_subscription'),
      ...Array(3).fill('reject_subscription'),
    ])
  })

  test('a repeated cable subscription is confirmed twice but notified once, and unsubscribing ends updates', () => {
    const { join, price, pass, clock } = openInstance()
    const client = join()
    const identifier = client.subscribe()
    client.subscribe()
    price('WTI_USD', 70)
    pass(1000)
    expect(client.updates()).toHaveLength(1)
    client.unsubscribe(identifier)
    clock.advance(hourMs)
    price('WTI_USD', 71)
    pass(2000)
    expect(client.updates()).toHaveLength(1)
  })

  test('is refused for the 21st time', () => {
    const { join } = openInstance()
    const client = join()
    for (let n = 0; n < 21; n += 1) client.subscribe({ n })
    expect(client.frames.at(-1)!.type).toBe('reject_subscription')
    expect(client.frames.filter(frame => frame.type === 'confirm_subscription')).toHaveLength(20)
  })

  test('frames other than commands are ignored', () => {
    const { join } = openInstance()
    const { connection, frames, closed } = join()
    for (const text of [
      '',
      'hello',
      'null',
      '7',
      '[]',
      '{}',
      '{"command":"subscribe"}',
      '{"command":"subscribe","identifier":{}}',
      '{"command":7}',
      '{"command":"message","identifier":"{}","data":"{}"}',
    ]) {
      connection.receive(text)
    }
    expect({ frames, closed }).toEqual({ frames: [{ type: 'welcome' }], closed: [] })
  })
})

describe('rig counts', () => {
  const weekly = (plan: string) => {
    const world = openInstance({ plan })
    world.price('US_RIG_COUNT', 540, startAt - 7 * dayMs)
    world.price('PERMIAN_RIG_COUNT', 250, startAt - 7 * dayMs)
    return world
  }

  test('a recorded weekly rig count is sent next to the cable identifier and in the message', () => {
    const { join, price, pass } = weekly('enterprise')
    const client = join()
    const identifier = client.subscribe()
    expect(client.frames[2]!.message).toMatchObject({
      data: {
        drilling_intelligence: {
          rig_counts: [
            { code: 'PERMIAN_RIG_COUNT', count: 250 },
            { code: 'US_RIG_COUNT', count: 540 },
          ],
        },
      },
    })
    price('US_RIG_COUNT', 546)
    price('PERMIAN_RIG_COUNT', 240, startAt - 14 * dayMs)
    pass(250)
    const rig_count = {
      code: 'US_RIG_COUNT',
      region: 'US',
      count: 546,
      source: 'market_reporting',
      updated_at: isoInstant(startAt),
    }
    const message = { type: 'rig_count_update', timestamp: isoInstant(startAt), rig_count }
    expect(client.frames.slice(3)).toEqual([{ identifier, ...message, message }])
    pass(2000)
    expect(client.frames).toHaveLength(4)
  })

  test('are for plans with energy intelligence', () => {
    const { join, price, pass, services, key } = weekly('enterprise')
    const client = join()
    client.subscribe()
    // No plan of the specification has streaming without it; one that an operator made may.
    services.keys.putAccount({ ...key.account.account, plan: 'starter' })
    price('US_RIG_COUNT', 546)
    pass(250)
    expect(client.frames).toHaveLength(3)
    const poor = join()
    poor.subscribe()
    expect(JSON.stringify(poor.frames)).not.toContain('drilling_intelligence')
  })
})

describe('a connection is ended', () => {
  const goodbye = (reason: string, reconnect: boolean) => ({
    type: 'disconnect',
    reason,
    reconnect,
  })

  test('with 1008 when its key is worth nothing any more', () => {
    const { join, pass, streams } = openInstance()
    const client = join()
    pass(1000)
    client.line.refusal = 'unauthorized'
    pass(1250)
    expect([client.frames.at(-1), client.closed]).toEqual([
      goodbye('unauthorized', false),
      [{ code: 1008, reason: 'unauthorized' }],
    ] as never)
    expect(streams.count).toBe(0)
  })

  test('with 1012 when the service stops', () => {
    const { join, streams, cable, key } = openInstance()
    const clients = [join(), join()]
    streams.stop()
    for (const client of clients) {
      expect([client.frames.at(-1), client.closed]).toEqual([
        goodbye('server_restart', true),
        [{ code: 1012, reason: 'server_restart' }],
      ] as never)
    }
    expect(
      cable.connect({
        accountId: key.account.account.id,
        keyId: key.key.id,
        refusal: () => undefined,
      }),
    ).toBe('stopped')
  })

  test('a cable client that reads nothing for ten seconds receives no more data and is closed with 1013', () => {
    const { join, price, pass } = openInstance()
    const client = join()
    client.subscribe()
    client.line.reads = false
    price('WTI_USD', 70, startAt - 1)
    pass(250)
    const framesBefore = client.frames.length
    price('WTI_USD', 71)
    pass(9500)
    expect({ length: client.frames.length, closed: client.closed }).toEqual({
      length: framesBefore,
      closed: [],
    })
    pass(500)
    expect([client.frames.at(-1), client.closed]).toEqual([
      goodbye('overload', true),
      [{ code: 1013, reason: 'overload' }],
    ] as never)
  })

  test('a cable client that resumes reading in time stays connected and receives the current prices', () => {
    const { join, price, pass } = openInstance()
    const client = join()
    client.subscribe()
    client.line.reads = false
    price('WTI_USD', 70, startAt - 1)
    pass(250)
    price('WTI_USD', 75)
    pass(9000)
    client.drain()
    expect(client.updates().at(-1)!.message!.price_rows).toMatchObject([{ price: 75 }])
    pass(20_000)
    expect(client.closed).toEqual([])
  })

  test('with 1013 when too much waits for it, and when it sends frames without end', () => {
    const { join } = openInstance()
    const slow = join()
    slow.line.reads = false
    for (let n = 0; n < 100 && slow.closed.length === 0; n += 1)
      slow.subscribe({ n: 1, padding: 'x'.repeat(10_000) })
    expect(slow.closed).toEqual([{ code: 1013, reason: 'overload' }])
    expect(slow.line.waiting).toBeLessThan(300_000)
    const loud = join()
    for (let n = 0; n < 1000; n += 1) loud.connection.receive('{}')
    expect(loud.closed).toEqual([{ code: 1013, reason: 'overload' }])
  })

  test('and its place is free again', () => {
    const { join, streams } = openInstance({ perKey: 2 })
    const [first] = [join(), join()]
    expect(join).toThrow('full')
    first!.connection.closed()
    join()
    expect(streams.count).toBe(2)
    expect(join).toThrow('full')
  })
})
