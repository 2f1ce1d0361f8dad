import { describe, expect, test } from 'bun:test'
import { transact } from '../../../../../src/database/database.ts'
import { createOutboxJob } from '../../../../../src/instance/jobs/outbox.ts'
import { dayMs } from '../../../../../src/lib/time/instant.ts'
import { heldReason, holdBack } from '../../../../../src/outbox/held-back.ts'
import type { Kind } from '../../../../../src/outbox/outbox.ts'
import { deliveryWorld } from '../../../../support/topics/deliveries.ts'

interface Held {
  data: {
    held: { id: string; kind: Kind; event_id: string; held_at: string }[]
    counts: Record<Kind, number>
    meta: { total: number }
  }
}

/** An instance whose outbox was held with messages of each kind in it, with its operator. */
function openHeldInstance() {
  const world = deliveryWorld()
  const { services, db, clock } = world
  const { ids, outbox } = services
  const account = world.account()
  const admin = `Bearer ${services.adminTokens.rotate()}`
  const put = (kind: Kind, eventId: string) =>
    transact(db, () => {
      const body = JSON.stringify({
        from: 'a@example.com',
        to: 'b@example.com',
        subject: eventId,
        text: 'text',
        postedAt: clock.now(),
      })
      const text = JSON.stringify({ to: '+15550100001', text: 'text' })
      const { id: accountId } = account.account
      const id = outbox.put({
        kind,
        lane: kind,
        accountId,
        eventId,
        eventType: kind,
        body: kind === 'sms' ? text : body,
      })!
      if (kind === 'sms')
        services.sms.record({
          id,
          accountId,
          purpose: 'alert',
          number: '+15550100001',
          postedAt: clock.now(),
        })
      return id
    })
  return {
    ...world,
    account,
    put,
    sent: () => services.sms.countSince(account.account.id, 0),
    /** Event ids of what went out, in their order. */
    gone: () =>
      (['email', 'sms'] as const)
        .flatMap(channel => services.inbox.list(channel).map(message => message.eventId))
        .toSorted(),
    hold: () => holdBack(db, clock.now(), ids),
    async ask<T>(method: string, path: string, body?: unknown, authorization = admin) {
      const headers = { authorization, 'content-type': 'application/json' }
      const response = await world.app.handle(
        new Request(`http://localhost${path}`, {
          method,
          headers,
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }),
      )
      return { status: response.status, body: (await response.json()) as T }
    },
  }
}

const release = '/admin/v1/outbox/release'
const list = '/admin/v1/outbox/held'

describe('GET /admin/v1/outbox/held and POST /admin/v1/outbox/release: what a restore kept back', () => {
  test('is listed in its order, by kind and by page', async () => {
    const { put, hold, ask } = openHeldInstance()
    const ids = (['email', 'sms', 'email', 'webhook'] as const).map((kind, n) =>
      put(kind, `event-${n}`),
    )
    expect(hold()).toEqual({ messages: { webhook: 1, email: 2, sms: 1 }, deliveries: 0, prices: 0 })
    const { body: all } = await ask<Held>('GET', list)
    expect(all.data.held.map(message => message.id)).toEqual(ids)
    expect(all.data).toMatchObject({ counts: { webhook: 1, email: 2, sms: 1 }, meta: { total: 4 } })
    const { body: mails } = await ask<Held>('GET', `${list}?kind=email&per_page=1&page=2`)
    expect([mails.data.held.map(message => message.event_id), mails.data.meta.total]).toEqual([
      ['event-2'],
      2,
    ])
  })

  test.each([
    [{ kind: 'sms' }, ['event-1']],
    [{ kind: 'email' }, ['event-0', 'event-2']],
    [{}, ['event-0', 'event-1', 'event-2']],
    [{ ids: [] }, []],
    [{ ids: ['00000000-0000-4000-8000-000000000000'] }, []],
  ] as const)(
    'messages held after a restore are sent under their own ids when %j is requested',
    async (body, expected) => {
      const { put, hold, ask, gone, sending, sent } = openHeldInstance()
      for (const [n, kind] of (['email', 'sms', 'email'] as const).entries())
        put(kind, `event-${n}`)
      hold()
      expect(sent()).toBe(0)
      await sending.pass()
      await sending.settled()
      expect(gone()).toEqual([])
      const answer = await ask<unknown>('POST', release, body)
      expect(answer).toMatchObject({
        status: 200,
        body: { data: { released: expected.length, more: false } },
      })
      await sending.settled()
      expect(gone()).toEqual([...expected])
      expect(sent()).toBe((expected as readonly string[]).includes('event-1') ? 1 : 0)
      const { body: rest } = await ask<Held>('GET', list)
      expect(rest.data.meta.total).toBe(3 - expected.length)
    },
  )

  test('a single held message can be released by its id, and messages that had already failed are not held', async () => {
    const { put, hold, ask, gone, sending, db } = openHeldInstance()
    put('email', 'failed before')
    db.run("UPDATE outbox SET state = 'failed', last_error = 'no such user', settled_at = 1")
    const [, second] = [put('email', 'event-0'), put('email', 'event-1')]
    hold()
    expect((await ask<Held>('GET', list)).body.data.meta.total).toBe(2)
    await ask('POST', release, { ids: [second] })
    await sending.settled()
    expect(gone()).toEqual(['event-1'])
  })

  test('is known after another restore too, until the log forgets it', async () => {
    const { put, hold, ask, clock, services } = openHeldInstance()
    put('email', 'event-0')
    hold()
    clock.advance(dayMs)
    put('sms', 'event-1')
    hold()
    expect((await ask<Held>('GET', list)).body.data.held.map(message => message.event_id)).toEqual([
      'event-0',
      'event-1',
    ])
    clock.advance(29 * dayMs + 1)
    await createOutboxJob({ ...services, concurrency: 1, perLane: 1 }).pass()
    hold()
    expect((await ask<Held>('GET', list)).body.data.held.map(message => message.event_id)).toEqual([
      'event-1',
    ])
  })

  test('more than a request sends is sent by the next', async () => {
    const { put, hold, ask } = openHeldInstance()
    for (let n = 0; n < 2001; n += 1) put('webhook', `event-${n}`)
    hold()
    const releaseAll = async () => (await ask<{ data: unknown }>('POST', release, {})).body.data
    expect([await releaseAll(), await releaseAll()]).toEqual([
      { released: 2000, more: true },
      { released: 1, more: false },
    ])
  })

  test('is found without reading the whole log', () => {
    const { db } = openHeldInstance()
    const plan = db
      .query(
        `EXPLAIN QUERY PLAN SELECT outbox.id FROM outbox JOIN outbox_lanes ON outbox_lanes.id = lane_id
         WHERE settled_at IN (SELECT value FROM json_each('[1]')) AND state = 'failed' AND last_error = '${heldReason}' ORDER BY number LIMIT 1`,
      )
      .all() as { detail: string }[]
    expect(plan.map(step => step.detail).join('\n')).toContain('outbox_settled (settled_at=?)')
  })

  test('held messages are visible only to the operator, and invalid parameters are refused', async () => {
    const { ask, token, account } = openHeldInstance()
    for (const authorization of ['', `Token ${token(account)}`]) {
      expect((await ask('GET', list, undefined, authorization)).status).toBe(401)
      expect((await ask('POST', release, {}, authorization)).status).toBe(401)
    }
    expect((await ask('GET', `${list}?kind=fax`)).status).toBe(400)
    expect((await ask('POST', release, { kind: 'fax' })).status).toBe(422)
    expect((await ask('POST', release, { ids: 'all' })).status).toBe(422)
  })
})
