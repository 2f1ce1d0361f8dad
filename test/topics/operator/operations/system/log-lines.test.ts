import { describe, expect, test } from 'bun:test'
import { minuteMs } from '../../../../../src/lib/time/instant.ts'
import { openTestInstance, startAt } from '../../../../support/instance/instance.ts'
import { outboxWorld, refused } from '../../../../support/topics/outbox.ts'

type Line = Record<string, unknown> & { msg: string }
const linesOf = (log: readonly string[], event: string): Line[] =>
  log.map(line => JSON.parse(line) as Line).filter(line => line.msg === event)

describe('what happened is one line at info', () => {
  test('an import is logged with actor, subject and row counts, and a refused import is logged as an admin action', async () => {
    const { services, send, log } = openTestInstance()
    const admin = services.adminTokens.rotate()
    const push = (price: unknown) =>
      send(
        'POST',
        '/admin/v1/observations',
        { observations: [{ code: 'WTI_USD', observed_at: '2026-11-20T14:00:00Z', price }] },
        undefined,
        { authorization: `Bearer ${admin}` },
      )
    expect((await push(71.2)).status).toBe(200)
    expect(linesOf(log, 'batch_written')).toEqual([
      expect.objectContaining({
        level: 'info',
        kind: 'push',
        actor: 'operator',
        inserted: 1,
        revised: 0,
        rejected: 0,
        held: 0,
      }),
    ])
    expect(linesOf(log, 'admin_action')).toEqual([])
    expect((await push('x')).status).toBe(422)
    expect(linesOf(log, 'batch_written')).toHaveLength(1)
    expect(linesOf(log, 'admin_action')).toEqual([
      expect.objectContaining({ method: 'POST', path: '/admin/v1/observations', status: 422 }),
    ])
    expect(log.join('')).not.toContain(admin)
  })

  test('an operator action is logged with its actor, method and path, and reads are not logged', async () => {
    const { services, send, get, log } = openTestInstance()
    const authorization = `Bearer ${services.adminTokens.rotate()}`
    const answer = await send(
      'POST',
      '/admin/v1/accounts',
      { email: 'ann@example.com', plan: 'starter' },
      undefined,
      { authorization, 'x-request-id': 'mine' },
    )
    expect(answer.status).toBe(201)
    await get('/admin/v1/accounts', undefined, { authorization })
    expect(linesOf(log, 'admin_action')).toEqual([
      expect.objectContaining({
        level: 'info',
        actor: 'operator',
        method: 'POST',
        path: '/admin/v1/accounts',
        status: 201,
        request_id: 'mine',
      }),
    ])
  })

  test('a sign-in is logged with its method and origin but no secrets, and a wrong password logs no sign-in', async () => {
    const { services, key, log } = openTestInstance()
    key('starter', { email: 'ann@example.com' })
    const account = services.keys.accountByEmail('ann@example.com')!
    const password = 'correct horse battery staple'
    await services.signIn.setPassword(account, password)
    await services.signIn.withPassword('ann@example.com', 'wrong', '203.0.113.7')
    expect(linesOf(log, 'signed_in')).toEqual([])
    await services.signIn.withPassword('ann@example.com', password, '203.0.113.7')
    const link = services.signIn.makeLink(account)
    await services.signIn.withLink(link, '203.0.113.7')
    expect(linesOf(log, 'signed_in')).toEqual([
      expect.objectContaining({
        level: 'info',
        account: account.account.id,
        method: 'password',
        from: '203.0.113.7',
      }),
      expect.objectContaining({ account: account.account.id, method: 'link' }),
    ])
    expect(log.join('')).not.toContain(password)
    expect(log.join('')).not.toContain(link)
  })

  test('a triggered price alert is logged once when it is recorded', async () => {
    const { key, send, record, services, log } = openTestInstance()
    const token = key()
    record('BRENT_CRUDE_USD', [80], startAt - minuteMs, minuteMs)
    await send(
      'POST',
      '/v1/alerts',
      {
        name: 'Brent above 90',
        commodity_code: 'BRENT_CRUDE_USD',
        condition_operator: 'greater_than',
        condition_value: 90,
      },
      token,
    )
    record('BRENT_CRUDE_USD', [91], startAt, minuteMs)
    await services.alerts.evaluation.pass()
    expect(linesOf(log, 'alert_fired')).toEqual([
      expect.objectContaining({ level: 'info', code: 'BRENT_CRUDE_USD', price: 91 }),
    ])
  })

  test('an abandoned webhook delivery is logged with its endpoint and the reason', async () => {
    const world = outboxWorld({ answer: () => refused })
    world.put({ lane: 'endpoint-1' })
    await world.run()
    expect(linesOf(world.log, 'message_abandoned')).toEqual([
      expect.objectContaining({
        level: 'info',
        kind: 'webhook',
        endpoint: 'endpoint-1',
        attempts: 1,
        error: 'the receiver returned status 410',
      }),
    ])
  })
})
