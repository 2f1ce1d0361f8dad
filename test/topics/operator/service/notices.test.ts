import { afterAll, describe, expect, test } from 'bun:test'
import { createServer as createTlsServer } from 'node:tls'
import {
  certificateAlerts,
  operatorAlertsOf,
  quietOf,
} from '../../../../src/instance/services/operator-alerts.ts'
import { createLog } from '../../../../src/lib/log/log.ts'
import { createManualClock } from '../../../../src/lib/time/clock.ts'
import { dayMs, hourMs, minuteMs } from '../../../../src/lib/time/instant.ts'
import { certificateEnd } from '../../../../src/send/notices/certificate.ts'
import { type Notice, noticeHook } from '../../../../src/send/notices/hook.ts'
import { createCertificateWatch } from '../../../../src/topics/operator/service/certificate.ts'
import {
  createOperatorNotices,
  isQuiet,
  type OperatorAlert,
} from '../../../../src/topics/operator/service/notices.ts'
import { settingsStore } from '../../../../src/topics/operator/store/settings.ts'
import { defaultSettings } from '../../../../src/topics/webhooks/store/webhooks.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'
import { openTestInstance, startAt, type TestInstance } from '../../../support/instance/instance.ts'
import { expired, good } from '../../../support/servers/certificates.ts'

function noticeWorld(quiet = '') {
  const clock = createManualClock(startAt)
  const kept = new Map<string, string>()
  const sent: Notice[] = []
  const together: string[][] = []
  const state: { operatorAlerts: OperatorAlert[] } = { operatorAlerts: [] }
  const open = () =>
    createOperatorNotices({
      operatorAlerts: () => state.operatorAlerts,
      places: [
        {
          label: 'a place',
          send: async notices => {
            sent.push(...notices)
            together.push(notices.map(({ operatorAlert }) => operatorAlert))
          },
        },
      ],
      settings: { get: name => kept.get(name), set: (name, value) => void kept.set(name, value) },
      clock,
      log: createLog({ level: 'error', format: 'json', clock, write() {} }),
      againMs: dayMs,
      quiet: quietOf(quiet),
    })
  let notices = open()
  return {
    clock,
    sent,
    together,
    state,
    restart() {
      notices = open()
    },
    /** Runs a pass every minute for a time; returns the kinds that were reported. */
    during(ms: number): string[] {
      const before = sent.length
      for (let left = ms; left > 0; left -= minuteMs) {
        notices.pass()
        clock.advance(minuteMs)
      }
      return sent.slice(before).map(({ operatorAlert, kind }) => `${operatorAlert} ${kind}`)
    },
  }
}

describe('a matter', () => {
  test('an operator alert is sent once, repeated after a day and closed when resolved, across restarts', () => {
    const { during, state, restart } = noticeWorld()
    expect(during(hourMs)).toEqual([])
    state.operatorAlerts = [{ id: 'feed ecb late', text: 'late' }]
    expect(during(hourMs)).toEqual(['feed ecb late begun'])
    restart()
    expect(during(22 * hourMs)).toEqual([])
    state.operatorAlerts.push({ id: 'backup', text: 'failed' })
    expect(during(2 * hourMs)).toEqual(['backup begun', 'feed ecb late again'])
    state.operatorAlerts = []
    restart()
    expect(during(hourMs)).toEqual(['feed ecb late over', 'backup over'])
    expect(during(2 * dayMs)).toEqual([])
  })

  test('a condition that only a running process knows neither ends nor begins with a restart', () => {
    const { during, state, restart } = noticeWorld()
    const failing = { id: 'provider e-mail', text: 'the provider of e-mail fails' }
    state.operatorAlerts = [failing]
    during(hourMs)
    restart()
    state.operatorAlerts = []
    expect(during(10 * minuteMs)).toEqual([])
    // The next message fails as well.
    state.operatorAlerts = [failing]
    expect(during(hourMs)).toEqual([])
    state.operatorAlerts = []
    expect(during(minuteMs)).toEqual(['provider e-mail over'])
  })

  test('only urgent operator alerts are sent in quiet hours, and alerts resolved by their end are never sent', () => {
    // It is 15:00.
    const { during, state } = noticeWorld('14:00-16:00')
    state.operatorAlerts = [
      { id: 'short', text: 'x' },
      { id: 'long', text: 'x' },
      { id: 'writes', text: 'x', urgent: true },
    ]
    expect(during(30 * minuteMs)).toEqual(['writes begun'])
    state.operatorAlerts.shift()
    expect(during(hourMs)).toEqual(['long begun'])
  })
})

test('what begins in one pass is sent as one', () => {
  const { during, state, together } = noticeWorld()
  state.operatorAlerts = ['a', 'b', 'c'].map(id => ({ id, text: id }))
  during(hourMs)
  state.operatorAlerts = [{ id: 'd', text: 'd' }]
  during(hourMs)
  expect(together).toEqual([
    ['a', 'b', 'c'],
    ['d', 'a', 'b', 'c'],
  ])
})

test('a transient event is sent to the operator once and is never reported as resolved', () => {
  const { during, state } = noticeWorld()
  state.operatorAlerts = [{ id: 'sign-in', text: 'x', passing: true }]
  expect(during(3 * dayMs)).toEqual(['sign-in begun'])
  state.operatorAlerts = []
  expect(during(hourMs)).toEqual([])
})

test('quiet hours may go over midnight', () => {
  const at = (time: string) => Date.parse(`2026-11-20T${time}:00Z`)
  const quiet = quietOf('22:00-07:00')
  expect(
    ['21:59', '22:00', '03:00', '06:59', '07:00'].map(time => isQuiet(quiet, at(time))),
  ).toEqual([false, true, true, true, false])
})

test('an unwritable disk, a failed backup and a disabled endpoint are operator alerts until they are resolved', () => {
  const { services } = openTestInstance()
  const ids = () => operatorAlertsOf(services).map(operatorAlert => operatorAlert.id)
  expect(ids()).toEqual([])
  services.disk.failed(Object.assign(new Error('no'), { code: 'SQLITE_IOERR_WRITE' }))
  services.backupRecord.set({ fault: 'no room' })
  expect(ids()).toEqual(['writes', 'backup'])
  services.disk.pass()
  services.backupRecord.set({ fault: undefined })
  expect(ids()).toEqual([])
})

test('delayed webhooks raise an operator alert when others block them but not when their own receiver fails', () => {
  const instance = openTestInstance()
  const { services, clock, record } = instance
  instance.key('enterprise', { email: 'ann@example.com' })
  services.webhooks.create(services.keys.accountByEmail('ann@example.com')!, {
    ...defaultSettings,
    url: 'https://example.com/hook',
    events: ['price.updated'],
  })
  record('WTI_USD', [70], startAt, dayMs)
  clock.advance(20 * minuteMs)
  const idsWith = (heldUpAt: number | undefined) =>
    operatorAlertsOf(services, { waitingSince: () => heldUpAt, isFailing: () => false }).map(
      ({ id }) => id,
    )
  expect(services.outbox.vitals().kinds.get('webhook')).toBe(startAt)
  expect(idsWith(undefined)).toEqual([])
  expect(idsWith(startAt)).toEqual(['outbox webhook'])
})

describe('matters of data and people', () => {
  const idsOf = ({ services }: TestInstance) =>
    operatorAlertsOf(services).map(operatorAlert => operatorAlert.id)

  test('held values raise an operator alert until each of them is decided', async () => {
    const instance = openTestInstance()
    const { services, record } = instance
    record('WTI_USD', [70, 71, 70, 71, 70, 71, 70, 71, 70, 71, 70, 71], startAt - hourMs, dayMs)
    const { series } = services.catalogue.resolve('WTI_USD', startAt)!
    const { counts } = services.batches.record({ kind: 'push', actor: 'test' }, [
      { seriesId: series.id, observedAt: startAt, value: 7100 },
    ])
    expect(counts.held).toBe(1)
    const [operatorAlert] = operatorAlertsOf(services)
    expect({ id: operatorAlert?.id, text: operatorAlert?.text }).toEqual({
      id: 'held',
      text: '1 value that looked wrong waits for a decision: wellhead review list',
    })
    const [flag] = services.flaggedValues.list({ status: 'waiting' }, 1, 0)
    services.flaggedValues.decide(flag!.id, 'rejected', 'test', 'cents', startAt)
    expect(idsOf(instance)).toEqual([])
  })

  test('a source whose codes have stopped is one until something new comes', () => {
    const instance = openTestInstance({}, startAt - 30 * dayMs)
    instance.record('WTI_USD', [70, 71], startAt - 30 * dayMs, dayMs)
    expect(idsOf(instance)).toEqual([])
    instance.clock.advance(30 * dayMs)
    expect(idsOf(instance)).toEqual([expect.stringMatching(/^data .+ stopped$/)])
    instance.record('WTI_USD', [71], startAt, dayMs)
    expect(idsOf(instance)).toEqual([])
  })

  test('loading old files does not count as a source that has stopped, nor do their codes', () => {
    const instance = openTestInstance()
    for (const code of ['WTI_USD', 'USD_AED', 'DIESEL_USD', 'COAL_USD'])
      instance.record(code, [70, 71, 72], startAt - 90 * dayMs, dayMs)
    instance.record('USD_KZT', [520, 521], startAt - hourMs, dayMs)
    expect(idsOf(instance)).toEqual([])
    // One that is carried on, and then stops, has.
    instance.record('WTI_USD', [72, 73], startAt, dayMs)
    instance.clock.advance(30 * dayMs)
    expect(idsOf(instance).filter(id => id.startsWith('data'))).toHaveLength(2)
  })

  test('a code that stops while its source continues raises its own operator alert', () => {
    const instance = openTestInstance({}, startAt - 30 * dayMs)
    instance.record('USD_AED', [3.67, 3.68], startAt - 30 * dayMs, dayMs)
    instance.clock.advance(30 * dayMs)
    instance.record('USD_KZT', [520, 521], startAt - hourMs, dayMs)
    expect(idsOf(instance)).toEqual(['series USD_AED stopped'])
    instance.record('USD_AED', [3.67], startAt - hourMs, dayMs)
    expect(idsOf(instance)).toEqual([])
  })

  test('an exhausted quota is an operator alert until it resets, and the customer receives an e-mail', async () => {
    const instance = openTestInstance()
    const { services, key, get, clock } = instance
    const token = key('free', { email: 'ann@example.com' })
    const state = services.keys.find(token)!
    const { window } = services.meter.quotaUsage(state, clock.now())
    instance.record('WTI_USD', [70], startAt, dayMs)
    for (let i = 0; i < window.limit!; i += 1) {
      const reserved = services.meter.reserve(state, clock.now())
      if (reserved) services.meter.record(state, '/v1/prices/latest', 200, true, 1, clock.now())
    }
    expect((await get('/v1/prices/latest?by_code=WTI_USD', token)).status).toBe(402)
    expect(idsOf(instance)).toEqual([`quota ${state.key.id}`])
    const mailMessages = services.db
      .query(`SELECT event_id AS id FROM outbox WHERE event_id LIKE 'usage %'`)
      .all()
    expect(mailMessages).toHaveLength(1)
    clock.set(window.endsAt + 1)
    expect(idsOf(instance).filter(id => id.startsWith('quota'))).toEqual([])
  })

  test('a sign-in from a new place raises a temporary alert, while first sign-ins and known places raise none', async () => {
    const instance = openTestInstance()
    const { services, key, clock } = instance
    key('starter', { email: 'ann@example.com' })
    const account = services.keys.accountByEmail('ann@example.com')!
    const password = 'correct horse battery staple'
    await services.signIn.setPassword(account, password)
    const from = (place: string) => services.signIn.withPassword('ann@example.com', password, place)
    await from('203.0.113.7')
    await from('203.0.113.7')
    expect(idsOf(instance)).toEqual([])
    await services.signIn.withPassword('ann@example.com', 'wrong', '198.51.100.1')
    expect(idsOf(instance)).toEqual([])
    await from('198.51.100.9')
    expect(operatorAlertsOf(services)).toEqual([
      {
        id: `sign-in ${account.account.id} 198.51.100.9`,
        text: 'ann@example.com signed in from a new place, 198.51.100.9, at 2026-11-20T15:00:00Z',
        passing: true,
      },
    ])
    clock.advance(dayMs)
    expect(idsOf(instance)).toEqual([])
    await from('198.51.100.9')
    expect(idsOf(instance)).toEqual([])
  })
})

describe('the certificate of the service', () => {
  const serve = (certificate: { key: string; cert: string }) => {
    const server = createTlsServer(certificate, socket => socket.end())
    return new Promise<{ url: string; stop(): void }>(done =>
      server.listen(0, '127.0.0.1', () => {
        const { port } = server.address() as { port: number }
        done({ url: `https://127.0.0.1:${port}`, stop: () => server.close() })
      }),
    )
  }
  test('the certificate expiry is read from the server even when the certificate is no longer trusted', async () => {
    const current = await serve(good)
    const old = await serve(expired)
    expect(await certificateEnd(current.url)).toBe(Date.parse('2120-01-01T00:00:00Z'))
    expect(await certificateEnd(old.url)).toBe(Date.parse('2020-01-01T00:00:00Z'))
    current.stop()
    old.stop()
    expect(certificateEnd(current.url)).rejects.toThrow()
  })
  test('a certificate raises an operator alert from two weeks before it expires', () => {
    const ids = (days: number) =>
      certificateAlerts(startAt + days * dayMs, startAt).map(({ text, urgent }) => [text, urgent])
    expect(ids(15)).toEqual([])
    expect(ids(13)).toEqual([
      ['the certificate of server.base_url ends at 2026-12-03T15:00:00Z', false],
    ])
    expect(ids(-1)).toEqual([
      ['the certificate of server.base_url ended at 2026-11-19T15:00:00Z', true],
    ])
    expect(certificateAlerts(undefined, startAt)).toEqual([])
  })
  test('the certificate is checked once a day and one hour after a failed check', async () => {
    const clock = createManualClock(startAt)
    let impersonations = 0
    let isThere = false
    const lines: string[] = []
    const settings = settingsStore(databaseInMemory())
    const open = (url: string) =>
      createCertificateWatch({
        url,
        settings,
        async readEnd() {
          impersonations += 1
          const code = 'EAI_AGAIN'
          if (!isThere)
            throw Object.assign(new Error(`getaddrinfo ${code} prices.example.com`), { code })
          return startAt + dayMs
        },
        clock,
        log: createLog({
          level: 'warn',
          format: 'json',
          clock,
          write: line => void lines.push(line),
        }),
      })
    const watch = open('https://prices.example.com')
    const during = async (hours: number) => {
      const before = impersonations
      for (let i = 0; i < 60 * hours; i += 1) {
        watch.pass()
        await watch.settled()
        clock.advance(minuteMs)
      }
      return impersonations - before
    }
    expect(await during(3)).toBe(3)
    expect(watch.endsAt()).toBeUndefined()
    isThere = true
    expect(await during(48)).toBe(2)
    expect(watch.endsAt()).toBe(startAt + dayMs)
    expect(JSON.parse(lines[0]!)).toMatchObject({
      message:
        'The certificate of server.base_url cannot be read: the name of the target could not be looked up now.',
    })
    // A start knows the end before it has looked, but not that of another address.
    expect(open('https://prices.example.com').endsAt()).toBe(startAt + dayMs)
    expect(open('https://other.example.com').endsAt()).toBeUndefined()
    // A wrong clock that is set back puts no check off.
    clock.set(clock.now() + 365 * dayMs)
    await during(1)
    clock.set(clock.now() - 365 * dayMs)
    expect(await during(25)).toBe(1)
  })
})

test('a page damaged on disk raises an operator alert, a degraded health status and a metric', async () => {
  const instance = openTestInstance()
  const { settings, adminTokens } = instance.services
  settings.set('scrub', JSON.stringify({ damaged: [7], rewritten: [9] }))
  const reason = '2 pages of the database were damaged on the disk.'
  const operatorAlerts = operatorAlertsOf(instance.services)
  expect(operatorAlerts.map(({ id, urgent }) => [id, urgent])).toEqual([['pages', true]])
  expect(operatorAlerts[0]!.text).toStartWith(reason)
  expect(await (await instance.get('/health')).json()).toMatchObject({ status: 'degraded', reason })
  const status = (await (await instance.get('/v1/status', instance.key())).json()) as {
    data: { components: { name: string; status: string; message: string | null }[] }
  }
  expect(status.data.components.find(({ name }) => name === 'database')).toMatchObject({
    status: 'degraded',
    message: reason,
  })
  const authorization = `Bearer ${adminTokens.rotate()}`
  const metrics = await (await instance.get('/metrics', undefined, { authorization })).text()
  expect(metrics).toContain('wellhead_damaged_pages 2')
})

describe('the webhook of notices', () => {
  const received: { body: string; headers: Headers }[] = []
  const server = Bun.serve({
    port: 0,
    async fetch(request) {
      received.push({ body: await request.text(), headers: request.headers })
      return new Response('', { status: request.url.endsWith('/no') ? 403 : 200 })
    },
  })
  afterAll(() => server.stop(true))
  const notice: Notice = {
    operatorAlert: 'disk',
    kind: 'over',
    text: 'room again',
    since: startAt,
    at: startAt + hourMs,
  }
  const send = (format: 'json' | 'slack' | 'ntfy', path = '') =>
    noticeHook(`http://127.0.0.1:${server.port}/${path}`, format, 'Prices').send([notice])

  test('speaks JSON, the form of chats, and that of ntfy', async () => {
    await send('json')
    await send('slack')
    await send('ntfy')
    const [json, slack, ntfy] = received
    expect(JSON.parse(json!.body)).toEqual({
      service: 'Prices',
      operator_alert: 'disk',
      matter: 'disk',
      kind: 'over',
      text: 'room again',
      since: '2026-11-20T15:00:00Z',
      at: '2026-11-20T16:00:00Z',
    })
    expect(JSON.parse(slack!.body)).toEqual({ text: 'Prices: Resolved: room again' })
    expect({ body: ntfy!.body, title: ntfy!.headers.get('title') }).toEqual({
      body: 'Prices: Resolved: room again',
      title: 'Prices',
    })
  })
  test('has one message of all notices of a pass for people, and a request for each for programs', async () => {
    received.length = 0
    const more: Notice = {
      ...notice,
      operatorAlert: 'backup',
      kind: 'begun',
      text: 'the backup failed',
    }
    for (const format of ['slack', 'ntfy', 'json'] as const)
      await noticeHook(`http://127.0.0.1:${server.port}/`, format, 'Prices').send([notice, more])
    const text = 'Prices: 2 notices\n- Resolved: room again\n- the backup failed'
    const [slack, ntfy, ...json] = received
    expect({ text: JSON.parse(slack!.body).text, body: ntfy!.body }).toEqual({ text, body: text })
    expect(json.map(({ body }) => JSON.parse(body).operator_alert).sort()).toEqual([
      'backup',
      'disk',
    ])
  })
  test('that is not taken is an error', async () => {
    expect(send('json', 'no')).rejects.toThrow('403')
  })
})
