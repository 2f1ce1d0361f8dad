import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs, minuteMs, secondMs } from '../../../../src/lib/time/instant.ts'
import { expectShape } from '../../../support/interface/shape.ts'
import { type DeliveryWorld, deliveryWorld } from '../../../support/topics/deliveries.ts'

interface Run {
  id: string
  trigger: string
  status: string
  sent_at: string | null
  error: string | null
  created_at: string
}
interface Row {
  id: string
  commodity_codes: string[]
  recipient_email: string
  next_delivery_at: string | null
  last_run: Run | null
  source: string
}
interface Body {
  data: Row & {
    delivery: Row
    run_id: string
    status: string
    recipient: string
    error: string | null
  }
  message: string
  code: string
  field: string | null
  value: unknown
  errors: { field: string; message: string; value: unknown }[]
}

const path = '/v1/scheduled-deliveries'
const unknownId = '00000000-0000-4000-8000-00000000dead'

/** For tests that do not move its clock: each has its own account there. */
const sharedWorld = deliveryWorld()

/** A world with one account and its key. */
function openInstance({
  world = deliveryWorld(),
  plan,
}: {
  world?: DeliveryWorld
  plan?: string
} = {}) {
  const account = world.account(plan)
  const token = world.token(account)
  const ask = async <T = Body>(
    method: string,
    where = '',
    body?: unknown,
    headers: Record<string, string> = {},
    key = token,
  ) => {
    const response = await world.app.handle(
      new Request(`http://localhost${path}${where}`, {
        method,
        headers: { authorization: `Token ${key}`, 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    )
    const answer = {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as T,
    }
    const route = path + where.replace(/^\/[^/]+/, '/:id')
    if (answer.status < 300) expectShapeOf(world, method, route, answer.body, answer.status)
    return answer
  }
  const create = async (fields: Record<string, unknown> = {}) =>
    (await ask('POST', '', { commodity_codes: ['WTI_USD'], ...fields })).body.data
  return { world, account, token, ask, create }
}

/** The schema of a route of several methods. */
function expectShapeOf(
  { app }: DeliveryWorld,
  method: string,
  route: string,
  body: unknown,
  status: number,
) {
  const routes = app.routes.filter(each => each.method === method)
  expectShape({ routes }, route, body, status)
}

describe('POST /v1/scheduled-deliveries: creating a delivery', () => {
  test('fills in what the body leaves out', async () => {
    const { ask, account } = openInstance({ world: sharedWorld })
    const { status, body } = await ask('POST', '', {
      scheduled_delivery: { commodity_codes: ['wti_usd', 'brent', 'WTI_USD', 'BRENT_CRUDE_USD'] },
    })
    expect(status).toBe(201)
    const { delivery, ...bare } = body.data
    expect(delivery).toEqual(bare as unknown as Row)
    expect(delivery as unknown).toEqual({
      id: delivery.id,
      name: null,
      commodity_codes: ['WTI_USD', 'BRENT_CRUDE_USD'],
      cadence: 'weekdays',
      weekday: null,
      delivery_time: '07:00',
      time_zone: 'UTC',
      destination: 'email',
      recipient_email: account.account.email,
      recipient_status: 'own',
      enabled: true,
      source: 'api',
      deliveries_count: 0,
      last_delivered_on: null,
      next_delivery_at: '2026-11-23T07:00:00Z',
      last_run: null,
      created_at: '2026-11-20T15:00:00Z',
      updated_at: '2026-11-20T15:00:00Z',
    })
    expect(body).not.toHaveProperty('status')
    expect(body.message).toBeString()
  })

  test('takes every field, bare or wrapped, and ignores those that are not the caller’s to set', async () => {
    const { ask } = openInstance({ world: sharedWorld })
    const fields = {
      name: ' Morning ',
      commodity_codes: ['WTI_USD'],
      cadence: 'weekly',
      weekday: 7,
      delivery_time: '23:59',
      time_zone: 'asia/tokyo',
      recipient_email: 'Desk@Example.com',
      enabled: false,
      id: unknownId,
      source: 'dashboard',
      deliveries_count: 7,
      account_id: 'x',
      last_delivered_on: '2020-01-01',
      next_delivery_at: '2020-01-01T00:00:00Z',
      created_at: '2020-01-01T00:00:00Z',
      destination: 'ftp',
    }
    for (const body of [fields, { scheduled_delivery: fields }]) {
      const { data } = (await ask('POST', '', body)).body
      expect(data).toMatchObject({
        name: 'Morning',
        cadence: 'weekly',
        weekday: 7,
        delivery_time: '23:59',
        time_zone: 'Asia/Tokyo',
        enabled: false,
        recipient_email: 'Desk@Example.com',
        source: 'api',
        deliveries_count: 0,
        last_delivered_on: null,
        next_delivery_at: null,
        created_at: '2026-11-20T15:00:00Z',
        destination: 'email',
      })
      expect(data.id).not.toBe(unknownId)
    }
  })

  test.each([
    [{ cadence: 'weekly' }, { weekday: 1, next_delivery_at: '2026-11-23T07:00:00Z' }],
    [
      { cadence: 'weekly', weekday: 6 },
      { weekday: 6, next_delivery_at: '2026-11-21T07:00:00Z' },
    ],
    [
      { cadence: 'daily', weekday: 6 },
      { weekday: null, next_delivery_at: '2026-11-21T07:00:00Z' },
    ],
    [{ cadence: 'daily', delivery_time: '15:00' }, { next_delivery_at: '2026-11-21T15:00:00Z' }],
    [{ cadence: 'daily', delivery_time: '15:01' }, { next_delivery_at: '2026-11-20T15:01:00Z' }],
    [
      { cadence: 'daily', time_zone: 'America/New_York', delivery_time: '10:30' },
      { next_delivery_at: '2026-11-20T15:30:00Z' },
    ],
    [
      {
        name: null,
        cadence: null,
        weekday: null,
        delivery_time: null,
        time_zone: null,
        recipient_email: null,
        enabled: null,
      },
      { cadence: 'weekdays' },
    ],
    [{ name: '' }, { name: null }],
    [{ commodity_codes: ['brent_futures'] }, { commodity_codes: ['BRENT_FUTURES'] }],
    [{ time_zone: 'Asia/Calcutta' }, { time_zone: 'Asia/Calcutta' }],
  ])('%j is answered %j', async (fields, row) => {
    expect(
      (
        await openInstance({ world: sharedWorld }).ask('POST', '', {
          commodity_codes: ['WTI_USD'],
          ...fields,
        })
      ).body.data,
    ).toMatchObject(row)
  })

  test('the channel comes from the header, a word or nothing', async () => {
    const { ask } = openInstance({ world: sharedWorld })
    for (const [header, source] of [
      ['Dashboard', 'dashboard'],
      ['sdk-python', 'sdk-python'],
      ['<b>', 'api'],
      ['', 'api'],
      ['x'.repeat(41), 'api'],
    ] as const) {
      expect(
        (await ask('POST', '', { commodity_codes: ['WTI_USD'] }, { 'X-Service-Source': header }))
          .body.data.source,
      ).toBe(source)
    }
    const branded = openInstance({
      world: deliveryWorld({ flags: { 'brand.header_prefix': 'X-Acme-' } }),
    })
    expect(
      (await branded.ask('POST', '', { commodity_codes: ['WTI_USD'] }, { 'x-acme-source': 'app' }))
        .body.data.source,
    ).toBe('app')
  })

  test('again with the same Idempotency-Key makes nothing', async () => {
    const { ask } = openInstance({ world: sharedWorld })
    const [first, second] = [
      await ask('POST', '', { commodity_codes: ['WTI_USD'] }, { 'idempotency-key': 'a' }),
      await ask('POST', '', { commodity_codes: ['WTI_USD'] }, { 'idempotency-key': 'a' }),
    ]
    expect(second.body).toEqual(first.body)
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect((await ask<{ data: Row[] }>('GET')).body.data).toHaveLength(1)
  })

  test.each([
    [{}, ['commodity_codes', null]],
    [{ commodity_codes: [] }, ['commodity_codes', null]],
    [{ commodity_codes: 'WTI_USD' }, ['commodity_codes', 'WTI_USD']],
    [{ commodity_codes: null }, ['commodity_codes', null]],
    [
      { commodity_codes: Array.from({ length: 26 }, (_, n) => `CODE_${n}`) },
      ['commodity_codes', null],
    ],
    [
      { commodity_codes: ['WTI_USD', 'Nope_USD', 7, 'nope_usd'] },
      ['commodity_codes', 'Nope_USD'],
      ['commodity_codes', 7],
    ],
    [{ commodity_codes: ['x'.repeat(500)] }, ['commodity_codes', 'x'.repeat(200)]],
    [{ commodity_codes: ['WTI_USD'], name: 'n'.repeat(121) }, ['name', 'n'.repeat(121)]],
    [
      { commodity_codes: ['WTI_USD'], name: 'a\r\nBcc: x@example.com' },
      ['name', 'a\r\nBcc: x@example.com'],
    ],
    [{ commodity_codes: ['WTI_USD'], cadence: 'hourly' }, ['cadence', 'hourly']],
    [{ commodity_codes: ['WTI_USD'], weekday: 0 }, ['weekday', 0]],
    [{ commodity_codes: ['WTI_USD'], cadence: 'weekly', weekday: 8 }, ['weekday', 8]],
    [{ commodity_codes: ['WTI_USD'], delivery_time: '24:00' }, ['delivery_time', '24:00']],
    [{ commodity_codes: ['WTI_USD'], delivery_time: '7:00' }, ['delivery_time', '7:00']],
    [{ commodity_codes: ['WTI_USD'], delivery_time: 700 }, ['delivery_time', 700]],
    [{ commodity_codes: ['WTI_USD'], time_zone: '+05:30' }, ['time_zone', '+05:30']],
    [{ commodity_codes: ['WTI_USD'], time_zone: 'EST' }, ['time_zone', 'EST']],
    [{ commodity_codes: ['WTI_USD'], recipient_email: 'nobody' }, ['recipient_email', 'nobody']],
    [
      { commodity_codes: ['WTI_USD'], recipient_email: 'a@example.com, b@example.com' },
      ['recipient_email', 'a@example.com, b@example.com'],
    ],
    [
      { commodity_codes: ['WTI_USD'], recipient_email: 'a@example.com\r\nBcc: b@example.com' },
      ['recipient_email', 'a@example.com\r\nBcc: b@example.com'],
    ],
    [{ commodity_codes: ['WTI_USD'], enabled: 'yes' }, ['enabled', 'yes']],
    [
      {
        commodity_codes: ['NOPE_USD'],
        name: 1,
        cadence: 'x',
        weekday: 'x',
        delivery_time: 'x',
        time_zone: 'x',
        recipient_email: 'x',
        enabled: 1,
      },
      ['name', 1],
      ['commodity_codes', 'NOPE_USD'],
      ['cadence', 'x'],
      ['weekday', 'x'],
      ['delivery_time', 'x'],
      ['time_zone', 'x'],
      ['recipient_email', 'x'],
      ['enabled', 1],
    ],
  ] as [unknown, ...[string, unknown][]][])(
    '%j is refused with one entry for each fault',
    async (fields, ...faults) => {
      const { ask } = openInstance({ world: sharedWorld })
      for (const body of [fields, { scheduled_delivery: fields }]) {
        const { status, headers, body: answer } = await ask('POST', '', body)
        expect({ status, code: answer.code, errorCode: headers.get('x-error-code') }).toEqual({
          status: 422,
          code: 'validation_failed',
          errorCode: 'validation_failed',
        })
        expect(answer.errors.map(fault => [fault.field, fault.value])).toEqual(faults)
        expect([answer.field, answer.value]).toEqual(faults[0]!)
        expect(answer.errors.every(fault => fault.message.startsWith(`${fault.field} `))).toBe(true)
      }
      expect((await ask<{ data: Row[] }>('GET')).body.data).toEqual([])
    },
  )

  test('names what an unknown code may have meant', async () => {
    const { body } = await openInstance({ world: sharedWorld }).ask('POST', '', {
      commodity_codes: ['BRENT_CRUD_USD'],
    })
    expect(body.errors[0]!.message).toMatch(
      /^commodity_codes must be commodity codes; got "BRENT_CRUD_USD"\. Did you mean BRENT_CRUDE_USD/,
    )
  })

  test.each([['[]'], ['"text"'], ['{"scheduled_delivery":[]}'], ['{"scheduled_delivery":null}']])(
    'the body %s is not a form',
    async text => {
      expect(await openInstance({ world: sharedWorld }).ask('POST', '', text)).toMatchObject({
        status: 422,
        body: { code: 'validation_failed' },
      })
    },
  )

  test.each([
    ['free', 1],
    ['developer', 10],
    ['starter', 10],
    ['professional', 10],
  ])('is refused on the plan %s from the %i-th on', async (plan, limit) => {
    const { ask, create, world, account } = openInstance({ world: sharedWorld, plan })
    for (let n = 0; n < limit; n += 1) await create({ enabled: n % 2 === 0 })
    const refused = await ask('POST', '', { commodity_codes: ['WTI_USD'] })
    expect(refused).toMatchObject({
      status: 422,
      body: {
        code: 'scheduled_delivery_limit_reached',
        error: 'scheduled_delivery_limit_reached',
        limit,
        current_count: limit,
        errors: [],
      },
    })
    expect((refused.body as unknown as { upgrade_url: string }).upgrade_url).toEndWith(
      '/account/plan',
    )
    const meta = { limit, current_count: limit, remaining: 0, plan }
    expect((await ask<{ meta: unknown; limit: number }>('GET')).body).toMatchObject({ meta, limit })
    world.services.deliveries.remove(world.services.deliveries.list(account.account.id)[0]!)
    expect((await ask('POST', '', { commodity_codes: ['WTI_USD'] })).status).toBe(201)
  })

  test('has no limit on the largest plans', async () => {
    const { ask, create } = openInstance({ world: sharedWorld, plan: 'scale' })
    for (let n = 0; n < 12; n += 1) await create()
    expect((await ask<{ meta: unknown }>('GET')).body).toMatchObject({
      meta: { limit: null, current_count: 12, remaining: null, plan: 'scale' },
      limit: null,
    })
  })
})

describe('GET /v1/scheduled-deliveries: reading', () => {
  test('lists the deliveries of the account, oldest first, and no other', async () => {
    const { ask, create, world } = openInstance()
    const ids = [(await create()).id, (await create()).id, (await create()).id]
    world.create(world.account())
    expect((await ask<{ data: Row[] }>('GET')).body.data.map(row => row.id)).toEqual(ids)
  })

  test('a scheduled delivery shows the progress of its last run', async () => {
    const { ask, create, world } = openInstance()
    const { id } = await create({ cadence: 'daily' })
    const current = async () => (await ask('GET', `/${id}`)).body.data
    await world.advance(dayMs)
    const { last_run: run, ...row } = await current()
    expect(row).toMatchObject({
      deliveries_count: 1,
      last_delivered_on: '2026-11-21',
      next_delivery_at: '2026-11-22T07:00:00Z',
    })
    expect(run).toEqual({
      id: run!.id,
      trigger: 'scheduled',
      status: 'sent',
      sent_at: '2026-11-21T07:00:00Z',
      error: null,
      created_at: '2026-11-21T07:00:00Z',
    })
    expect((await ask<{ data: Row[] }>('GET')).body.data[0]!.last_run).toEqual(run)
  })
})

describe('PATCH /v1/scheduled-deliveries/{id}: changing a delivery', () => {
  test('leaves what the body does not name', async () => {
    const { ask, create, world } = openInstance()
    const created = await create({
      name: 'Morning',
      cadence: 'daily',
      recipient_email: 'desk@example.com',
    })
    world.clock.advance(minuteMs)
    const { delivery: _, ...before } = created
    const { body } = await ask('PATCH', `/${created.id}`, {
      scheduled_delivery: { commodity_codes: ['brent', 'GOLD_USD'] },
    })
    const { delivery, ...after } = body.data
    expect(after as unknown).toEqual({
      ...before,
      commodity_codes: ['BRENT_CRUDE_USD', 'GOLD_USD'],
      updated_at: '2026-11-20T15:01:00Z',
    })
    expect(delivery).toEqual(after as unknown as Row)
    for (const nothing of [undefined, {}, { scheduled_delivery: {} }]) {
      expect((await ask('PATCH', `/${created.id}`, nothing)).body.data).toMatchObject({
        name: 'Morning',
        commodity_codes: ['BRENT_CRUDE_USD', 'GOLD_USD'],
      })
    }
    const cleared = await ask('PATCH', `/${created.id}`, { name: null, recipient_email: null })
    expect(cleared.body.data).toMatchObject({
      name: null,
      recipient_email: expect.stringMatching(/^[0-9a-f]{8}@example\.com$/),
    })
  })

  test.each([
    [{ delivery_time: '16:00' }, '2026-11-20T16:00:00Z'],
    [{ delivery_time: '14:00' }, '2026-11-21T14:00:00Z'],
    [{ time_zone: 'America/New_York' }, '2026-11-21T12:00:00Z'],
    [{ cadence: 'weekdays' }, '2026-11-23T07:00:00Z'],
    [{ cadence: 'weekly', weekday: 2 }, '2026-11-24T07:00:00Z'],
    [{ enabled: false }, null],
    [{ enabled: false, delivery_time: '16:00' }, null],
    [{ enabled: true }, '2026-11-21T07:00:00Z'],
  ])('to %j makes the next one %s', async (change, next) => {
    const { ask, create, world } = openInstance()
    const { id } = await create({ cadence: 'daily' })
    await ask('PATCH', `/${id}`, change)
    expect((await ask('GET', `/${id}`)).body.data.next_delivery_at).toBe(next)
    await world.advance(10 * dayMs)
    expect(world.runs().length > 0).toBe(next !== null)
  })

  test('a local day that has had its run has no second one', async () => {
    const { ask, create, world } = openInstance()
    const { id } = await create({ cadence: 'daily', delivery_time: '15:15' })
    await world.advance(hourMs)
    expect(world.runs()).toHaveLength(1)
    const change = async (fields: unknown) =>
      (await ask('PATCH', `/${id}`, fields)).body.data.next_delivery_at
    expect(await change({ delivery_time: '18:00' })).toBe('2026-11-21T18:00:00Z')
    expect(await change({ time_zone: 'Pacific/Honolulu' })).toBe('2026-11-22T04:00:00Z')
    await change({ enabled: false })
    expect(await change({ enabled: true, time_zone: 'UTC' })).toBe('2026-11-21T18:00:00Z')
  })

  test('a change to anything but the schedule of a delivery leaves a due delivery due', async () => {
    const { ask, create, world } = openInstance()
    const { id } = await create({ cadence: 'daily', delivery_time: '15:05' })
    await world.beat()
    world.clock.advance(7 * minuteMs)
    const same = {
      name: 'Later',
      cadence: 'daily',
      delivery_time: '15:05',
      time_zone: 'UTC',
      enabled: true,
      weekday: 3,
    }
    expect((await ask('PATCH', `/${id}`, same)).body.data.next_delivery_at).toBe(
      '2026-11-20T15:05:00Z',
    )
    await world.advance(10 * minuteMs)
    expect(world.mails().map(mail => mail.subject)).toEqual(['Later, 2026-11-20'])
  })

  test('from weekly to daily and back begins on Mondays again', async () => {
    const { ask, create } = openInstance()
    const { id } = await create({ cadence: 'weekly', weekday: 5 })
    expect((await ask('PATCH', `/${id}`, { name: 'x' })).body.data).toMatchObject({ weekday: 5 })
    expect((await ask('PATCH', `/${id}`, { cadence: 'daily' })).body.data).toMatchObject({
      weekday: null,
    })
    expect((await ask('PATCH', `/${id}`, { cadence: 'weekly' })).body.data).toMatchObject({
      weekday: 1,
    })
  })

  test('is refused as creating is, and changes nothing', async () => {
    const { ask, create } = openInstance()
    const { id, delivery } = await create()
    const { status, body } = await ask('PATCH', `/${id}`, {
      name: 'x',
      cadence: 'x',
      commodity_codes: ['NOPE_USD', 'NADA_USD'],
    })
    expect({ status, errors: body.errors.map(fault => fault.value) }).toEqual({
      status: 422,
      errors: ['NOPE_USD', 'NADA_USD', 'x'],
    })
    expect((await ask('GET', `/${id}`)).body.data.delivery).toEqual(delivery)
  })
})

describe('DELETE /v1/scheduled-deliveries/{id}: deleting a delivery', () => {
  test('takes its runs along', async () => {
    const { ask, create, world } = openInstance()
    const { id } = await create({ cadence: 'daily' })
    await world.advance(2 * dayMs)
    expect(await ask('DELETE', `/${id}`)).toMatchObject({
      status: 200,
      body: { data: { id, deleted: true }, message: expect.any(String) },
    })
    expect({ runs: world.runs(), data: (await ask<{ data: Row[] }>('GET')).body.data }).toEqual({
      runs: [],
      data: [],
    })
    await world.advance(2 * dayMs)
    expect(world.mails()).toHaveLength(2)
    expect((await ask('DELETE', `/${id}`)).status).toBe(404)
  })

  test('deleting a delivery while its e-mail is being sent causes no error', async () => {
    const { ask, create, world } = openInstance()
    const { id } = await create()
    await ask('POST', `/${id}/send_now`)
    await ask('DELETE', `/${id}`)
    await world.beat()
    expect({ length: world.mails().length, runs: world.runs() }).toEqual({ length: 1, runs: [] })
    expect(world.log.filter(line => line.includes('"error"'))).toEqual([])
  })
})

describe('POST /v1/scheduled-deliveries/{id}/send_now: sending now', () => {
  test('sending a delivery now creates a run in addition to the schedule', async () => {
    const { ask, create, world, account } = openInstance()
    const { id } = await create({ cadence: 'daily', time_zone: 'Pacific/Kiritimati' })
    const { status, body } = await ask('POST', `/${id}/send_now`)
    expect(status).toBe(202)
    expect(body).toEqual({
      data: {
        run_id: body.data.run_id,
        status: 'pending',
        recipient: account.account.email,
        error: null,
      },
      message: expect.any(String),
    } as never)
    expect((await ask('GET', `/${id}`)).body.data.last_run).toMatchObject({
      id: body.data.run_id,
      trigger: 'manual',
      status: 'pending',
    })
    await world.beat()
    expect((await ask('GET', `/${id}`)).body.data).toMatchObject({
      deliveries_count: 1,
      last_delivered_on: '2026-11-21',
      next_delivery_at: '2026-11-20T17:00:00Z',
      last_run: { trigger: 'manual', status: 'sent', sent_at: '2026-11-20T15:00:00Z' },
    })
    await world.advance(3 * hourMs)
    expect(world.runs().map(run => [run.trigger, run.local_on])).toEqual([
      ['manual', '2026-11-21'],
      ['scheduled', '2026-11-21'],
    ])
    expect(world.mails().flatMap(mail => mail.attachments.map(file => file.filename))).toEqual([
      'prices-2026-11-21.csv',
      'prices-2026-11-21.csv',
    ])
  })

  test('sending a delivery now is refused within ten minutes of the last manual send of the same delivery', async () => {
    const { ask, create, world } = openInstance()
    const [first, second] = [await create(), await create()]
    await ask('POST', `/${first.id}/send_now`)
    world.clock.advance(30 * secondMs + 1)
    const refused = await ask('POST', `/${first.id}/send_now`)
    expect(refused).toMatchObject({
      status: 429,
      body: {
        code: 'manual_send_cooldown',
        error_code: 'manual_send_cooldown',
        retry_after: 570,
        errors: [],
      },
    })
    expect(refused.headers.get('retry-after')).toBe('570')
    expect((await ask('POST', `/${second.id}/send_now`)).status).toBe(202)
    world.clock.advance(569 * secondMs)
    expect((await ask('POST', `/${first.id}/send_now`)).body).toMatchObject({ retry_after: 1 })
    world.clock.advance(secondMs - 1)
    expect((await ask('POST', `/${first.id}/send_now`)).status).toBe(202)
  })

  test('sending a delivery now again with the same Idempotency-Key returns the same run', async () => {
    const { ask, create, world } = openInstance()
    const { id } = await create()
    const runs = [
      await ask('POST', `/${id}/send_now`, undefined, { 'idempotency-key': 'a' }),
      await ask('POST', `/${id}/send_now`, undefined, { 'idempotency-key': 'a' }),
    ]
    expect(runs.map(answer => [answer.status, answer.body.data.run_id])).toEqual([
      [202, runs[0]!.body.data.run_id],
      [202, runs[0]!.body.data.run_id],
    ])
    expect(world.runs()).toHaveLength(1)
  })

  test('sending a paused delivery now is skipped and does not block a manual send after it is resumed', async () => {
    const { ask, create, world } = openInstance()
    const { id } = await create({ enabled: false })
    const { status, body } = await ask('POST', `/${id}/send_now`)
    expect(status).toBe(202)
    expect(body.data).toMatchObject({ status: 'skipped', error: 'The delivery is paused.' })
    await ask('PATCH', `/${id}`, { enabled: true })
    expect((await ask('POST', `/${id}/send_now`)).body.data.status).toBe('pending')
    await world.beat()
    expect(world.mails()).toHaveLength(1)
  })

  test('to an address that nothing is sent to is suppressed with the reason', async () => {
    const { ask, create, world } = openInstance()
    const { id } = await create({ recipient_email: 'Gone@example.com', cadence: 'daily' })
    world.services.suppressions.add({
      address: 'gone@example.com',
      reason: 'Its server refused it.',
      createdAt: 0,
    })
    const { status, body } = await ask('POST', `/${id}/send_now`)
    expect(status).toBe(202)
    expect(body.data).toMatchObject({
      status: 'suppressed',
      recipient: 'Gone@example.com',
      error: 'Its server refused it.',
    })
    await world.advance(dayMs)
    expect((await ask('GET', `/${id}`)).body.data).toMatchObject({
      deliveries_count: 0,
      last_run: { trigger: 'scheduled', status: 'suppressed', error: 'Its server refused it.' },
    })
    expect(world.mails()).toEqual([])
  })

  test('with no code that has a current price is skipped with their names', async () => {
    const { ask, create, world } = openInstance()
    const { id } = await create({ commodity_codes: ['GOLD_USD', 'EUR_USD'], cadence: 'daily' })
    expect((await ask('POST', `/${id}/send_now`)).body.data).toMatchObject({
      status: 'skipped',
      error: 'No code has a current price: GOLD_USD, EUR_USD.',
    })
    await world.advance(dayMs)
    expect(world.runs().map(run => run.status)).toEqual(['skipped', 'skipped'])
  })

  test('and by schedule of a suspended account is skipped', async () => {
    const { create, world, account } = openInstance()
    await create({ cadence: 'daily' })
    world.services.keys.putAccount({ ...account.account, suspendedAt: world.clock.now() })
    await world.advance(dayMs)
    expect(world.runs()).toMatchObject([{ status: 'skipped', error: 'The account is suspended.' }])
  })
})

describe('every route of /v1/scheduled-deliveries', () => {
  const calls: [string, string, unknown?][] = [
    ['GET', ''],
    ['PATCH', '', { name: 'x' }],
    ['DELETE', ''],
    ['POST', '/send_now'],
  ]

  test.each(calls)(
    '%s /{id}%s answers an unknown, a malformed and another account’s id alike',
    async (method, end, body) => {
      const { ask, world } = openInstance({ world: sharedWorld })
      const stranger = world.account()
      const foreign = world.create(stranger)
      const answers: unknown[] = []
      for (const id of [unknownId, 'nonsense', '%00', foreign]) {
        const { status, headers, body: answer } = await ask(method, `/${id}${end}`, body)
        expect({ status, errorCode: headers.get('x-error-code') }).toEqual({
          status: 404,
          errorCode: 'not_found',
        })
        answers.push({ ...answer, request_id: null })
      }
      expect(new Set(answers.map(answer => JSON.stringify(answer))).size).toBe(1)
      expect(answers[0]).toMatchObject({
        error: 'not_found',
        error_code: 'not_found',
        code: 'not_found',
        field: null,
        value: null,
        errors: [],
      })
      expect(world.services.deliveries.list(stranger.account.id)).toMatchObject([
        { id: foreign, name: null },
      ])
    },
  )

  test('a wrong body is refused before an unknown id', async () => {
    expect(
      (await openInstance({ world: sharedWorld }).ask('PATCH', `/${unknownId}`, { cadence: 'x' }))
        .status,
    ).toBe(422)
  })

  test('makes, changes and sends nothing while all are paused, and can be read and deleted', async () => {
    const { ask, world, account } = openInstance({
      world: deliveryWorld({ flags: { 'deliveries.enabled': 'false' } }),
    })
    const id = world.create(account)
    for (const [method, where] of [
      ['POST', ''],
      ['PATCH', `/${id}`],
      ['POST', `/${id}/send_now`],
    ] as const) {
      const { status, headers, body } = await ask(method, where, { commodity_codes: ['WTI_USD'] })
      expect({
        status,
        code: body.code,
        errors: body.errors,
        errorCode: headers.get('x-error-code'),
      }).toEqual({
        status: 503,
        code: 'scheduled_deliveries_disabled',
        errors: [],
        errorCode: 'scheduled_deliveries_disabled',
      })
    }
    expect((await ask('GET', `/${id}`)).body.data).toMatchObject({
      enabled: true,
      next_delivery_at: null,
    })
    expect((await ask<{ data: Row[] }>('GET')).body.data).toHaveLength(1)
    expect((await ask('DELETE', `/${id}`)).status).toBe(200)
  })

  test('costs no quota, and neither does a delivery', async () => {
    const { ask, create, world, account } = openInstance()
    const { id } = await create({ cadence: 'daily' })
    await ask('GET')
    await ask('PATCH', `/${id}`, { name: 'x' })
    await ask('POST', `/${id}/send_now`)
    await world.advance(3 * dayMs)
    expect(world.mails()).toHaveLength(4)
    expect(world.services.meter.quotaUsage(account.keys[0]!).used).toBe(0)
  })

  test('has its constants in the published limits', async () => {
    const { world } = openInstance({
      world: deliveryWorld({ flags: { 'deliveries.dispatch_interval': '10m' } }),
    })
    const body = (await (
      await world.app.handle(new Request('http://localhost/v1/meta/limits'))
    ).json()) as { data: { constants: unknown } }
    expect(body.data.constants).toMatchObject({
      delivery_codes_max: 25,
      delivery_name_max: 120,
      manual_send_cooldown_seconds: 600,
      dispatch_interval_seconds: 600,
    })
  })
})
