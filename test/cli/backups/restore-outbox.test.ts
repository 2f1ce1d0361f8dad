import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { createSystemClock } from '../../../src/lib/time/clock.ts'
import { hourMs, isoInstant } from '../../../src/lib/time/instant.ts'
import {
  arrived,
  backedUp,
  databaseIn,
  heldEvents,
  rowsIn,
} from '../../support/instance/restored.ts'
import { fields } from '../../support/servers/smtp-server.ts'

const reason = 'held back: the database was restored from a backup'
const { file, webhookId, hooks, mails, texts, directory, command, serving, close } =
  await backedUp()
afterEach(() => {
  for (const came of [hooks, mails.accepted, texts.requests]) came.length = 0
})
afterAll(close)

interface Log {
  webhook_events: { event_id: string; status: string; last_error: string | null }[]
}

const subjects = () =>
  mails.accepted.map(({ raw }) => fields(raw).find(([name]) => name === 'subject')![1])
const runsIn = (dir: string) =>
  rowsIn<unknown>(
    databaseIn(dir),
    'SELECT trigger, status, error FROM scheduled_delivery_runs ORDER BY number',
  )
const eventIds = Object.values(heldEvents).toSorted()

describe('restore', () => {
  test('with --release-outbox it sends what waits, and what had been sent since goes out again under the same ids', async () => {
    const dir = directory()
    const restored = await command('restore', '--data', dir, '--release-outbox', file)
    expect({ code: restored.code, lines: restored.lines.slice(1) }).toEqual({
      code: 0,
      lines: ['Pending messages of the backup are sent at the next start.'],
    })
    const server = await serving(dir)
    await arrived(
      () => hooks.length === 4 && mails.accepted.length === 3 && texts.requests.length === 1,
    )
    await server.stop()
    expect(hooks).toEqual(expect.arrayContaining(eventIds))
    expect(subjects().filter(subject => subject.startsWith('Brent above 1'))).toHaveLength(1)
  }, 30_000)

  test('a default restore holds pending messages without fault, logs it and releases them under their old ids', async () => {
    const dir = directory()
    const restored = await command('restore', '--data', dir, file)
    expect(restored.code).toBe(0)
    expect(restored.lines.slice(0, 4)).toEqual([
      expect.stringContaining(
        `restored ${databaseIn(dir)} from ${file}; its newest record is from `,
      ),
      'held: 3 webhooks, 1 e-mail, 1 text message',
      'skipped: 1 scheduled delivery whose time has come',
      'dropped: 1 price that alerts had not evaluated yet',
    ])
    const first = await serving(dir)
    // Sending is possible: messages created after the start are sent in the order in which they are
    // due.
    const { data } = await first.ask<{ data: { event_id: string } }>(
      'POST',
      `/v1/webhooks/${webhookId}/test`,
    )
    await first.stop()
    expect({ hooks, accepted: mails.accepted, requests: texts.requests }).toEqual({
      hooks: [data.event_id],
      accepted: [],
      requests: [],
    })

    const server = await serving(dir)
    const log = () => server.ask<Log>('GET', `/v1/webhooks/${webhookId}/events`)
    const failed = (await log()).webhook_events.filter(entry => entry.status === 'failed')
    expect(failed.map(entry => entry.event_id).toSorted()).toEqual(eventIds)
    expect(failed.map(entry => entry.last_error)).toEqual([reason, reason, reason])
    expect(await server.ask<unknown>('GET', `/v1/webhooks/${webhookId}`)).toMatchObject({
      data: { status: 'active', failed_deliveries: 0, consecutive_failures: 0 },
    })
    expect(runsIn(dir)).toEqual([
      { trigger: 'manual', status: 'suppressed', error: reason },
      { trigger: 'scheduled', status: 'skipped', error: reason },
    ])

    const from = isoInstant(createSystemClock().now() - hourMs)
    expect(
      await server.ask<unknown>('POST', `/v1/webhooks/${webhookId}/replay`, { from }),
    ).toMatchObject({ data: { replayed: 3 } })
    await arrived(() => hooks.length === 4)
    expect(hooks.slice(1).toSorted()).toEqual(eventIds)

    const listed = await command('outbox', 'held', '--data', dir)
    expect(listed.lines.slice(1).map(line => line.split(/ +/)[1])).toEqual(['email', 'sms'])
    const released = await command('outbox', 'release', '--data', dir)
    expect(released.lines).toEqual(['released: 2 messages'])
    await arrived(() => mails.accepted.length === 1 && texts.requests.length === 1)
    await server.stop()
    expect(runsIn(dir)[0]).toEqual({ trigger: 'manual', status: 'sent', error: null })
    expect((await command('outbox', 'release', '--data', dir)).lines).toEqual([
      'released: 0 messages',
    ])
    expect({
      hooks: hooks.length,
      mails: mails.accepted.length,
      texts: texts.requests.length,
    }).toEqual({ hooks: 4, mails: 1, texts: 1 })
  }, 30_000)
})
