import { afterAll, describe, expect, test } from 'bun:test'
import { createManualClock } from '../../../src/lib/clock.ts'
import { dayMs, hourMs, minuteMs } from '../../../src/lib/instant.ts'
import { createLog } from '../../../src/lib/log.ts'
import { mattersOf, quietOf } from '../../../src/matters.ts'
import { noticeHook } from '../../../src/send/notices/hook.ts'
import {
  createOperatorNotices,
  isQuiet,
  type Matter,
  type Notice,
} from '../../../src/service/operator/notices.ts'
import { openTestInstance, startAt } from '../../support/instance/instance.ts'

function noticeWorld(quiet = '') {
  const clock = createManualClock(startAt)
  const kept = new Map<string, string>()
  const sent: Notice[] = []
  const state: { matters: Matter[] } = { matters: [] }
  const open = () =>
    createOperatorNotices({
      matters: () => state.matters,
      places: [{ label: 'a place', send: async notice => void sent.push(notice) }],
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
    state,
    restart() {
      notices = open()
    },
    /** Passes every minute for a time; the kinds that were told meanwhile. */
    during(ms: number): string[] {
      const before = sent.length
      for (let left = ms; left > 0; left -= minuteMs) {
        notices.pass()
        clock.advance(minuteMs)
      }
      return sent.slice(before).map(({ matter, kind }) => `${matter} ${kind}`)
    },
  }
}

describe('a matter', () => {
  test('is told once, again after a day, and when it is over, through starts', () => {
    const { during, state, restart } = noticeWorld()
    expect(during(hourMs)).toEqual([])
    state.matters = [{ id: 'feed ecb late', text: 'late' }]
    expect(during(hourMs)).toEqual(['feed ecb late begun'])
    restart()
    expect(during(22 * hourMs)).toEqual([])
    state.matters.push({ id: 'backup', text: 'failed' })
    expect(during(2 * hourMs)).toEqual(['backup begun', 'feed ecb late again'])
    state.matters = []
    restart()
    expect(during(hourMs)).toEqual(['feed ecb late over', 'backup over'])
    expect(during(2 * dayMs)).toEqual([])
  })

  test('waits for the end of the quiet hours, and is not told if it is over by then; an urgent one is', () => {
    // It is 15:00.
    const { during, state } = noticeWorld('14:00-16:00')
    state.matters = [
      { id: 'short', text: 'x' },
      { id: 'long', text: 'x' },
      { id: 'writes', text: 'x', urgent: true },
    ]
    expect(during(30 * minuteMs)).toEqual(['writes begun'])
    state.matters.shift()
    expect(during(hourMs)).toEqual(['long begun'])
  })
})

test('quiet hours may go over midnight', () => {
  const at = (time: string) => Date.parse(`2026-11-20T${time}:00Z`)
  const quiet = quietOf('22:00-07:00')
  expect(
    ['21:59', '22:00', '03:00', '06:59', '07:00'].map(time => isQuiet(quiet, at(time))),
  ).toEqual([false, true, true, true, false])
})

test('a disk that takes no writes, a failed backup and an endpoint that was switched off are matters until they are over', () => {
  const { services } = openTestInstance()
  const ids = () => mattersOf(services).map(matter => matter.id)
  expect(ids()).toEqual([])
  services.disk.failed(Object.assign(new Error('no'), { code: 'SQLITE_IOERR_WRITE' }))
  services.backupRecord.set({ trouble: 'no room' })
  expect(ids()).toEqual(['writes', 'backup'])
  services.disk.pass()
  services.backupRecord.set({ trouble: undefined })
  expect(ids()).toEqual([])
})

test('a page that the disk changed is a matter, a degraded state and a number', async () => {
  const instance = openTestInstance()
  const { settings, adminTokens } = instance.services
  settings.set('scrub', JSON.stringify({ damaged: [7], rewritten: [9] }))
  const reason = '2 pages of the database were damaged on the disk.'
  const matters = mattersOf(instance.services)
  expect(matters.map(({ id, urgent }) => [id, urgent])).toEqual([['pages', true]])
  expect(matters[0]!.text).toStartWith(reason)
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
    matter: 'disk',
    kind: 'over',
    text: 'room again',
    since: startAt,
    at: startAt + hourMs,
  }
  const send = (format: 'json' | 'slack' | 'ntfy', path = '') =>
    noticeHook(`http://127.0.0.1:${server.port}/${path}`, format, 'Prices').send(notice)

  test('speaks JSON, the form of chats, and that of ntfy', async () => {
    await send('json')
    await send('slack')
    await send('ntfy')
    const [json, slack, ntfy] = received
    expect(JSON.parse(json!.body)).toEqual({
      service: 'Prices',
      matter: 'disk',
      kind: 'over',
      text: 'room again',
      since: '2026-11-20T15:00:00Z',
      at: '2026-11-20T16:00:00Z',
    })
    expect(JSON.parse(slack!.body)).toEqual({ text: 'Prices: Over: room again' })
    expect([ntfy!.body, ntfy!.headers.get('title')]).toEqual(['Prices: Over: room again', 'Prices'])
  })
  test('that is not taken is an error', async () => {
    expect(send('json', 'no')).rejects.toThrow('403')
  })
})
