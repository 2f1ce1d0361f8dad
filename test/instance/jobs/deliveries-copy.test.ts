import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { evaluationKeys } from '../../../src/cli/server/first-start.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { type Instance, openInstance } from '../../../src/instance/instance.ts'
import { databasePath } from '../../../src/instance/services/directory.ts'
import { createSeededIds } from '../../../src/lib/ids.ts'
import { createLog } from '../../../src/lib/log/log.ts'
import { createManualClock } from '../../../src/lib/time/clock.ts'
import { dayMs, isoInstant } from '../../../src/lib/time/instant.ts'
import { startOfLocalDay } from '../../../src/lib/time/zone.ts'
import { priceChange } from '../../../src/topics/prices/math/change.ts'
import { roundTo } from '../../../src/topics/prices/math/format.ts'
import { demoDatabase } from '../../support/instance/demo-database.ts'

const clock = createManualClock(Date.parse('2026-11-20T15:00:00Z'))
const dir = mkdtempSync(join(tmpdir(), 'wellhead-deliveries-'))
let instance: Instance
let keys: ReturnType<typeof evaluationKeys>
beforeAll(() => {
  const keeping = {
    snapshot: async () => undefined,
    dropSnapshot: () => false,
    restore: async () => false,
    reset: async () => {},
  }
  const config = loadConfig({
    mode: 'dev',
    flags: {},
    env: { WELLHEAD_DEV_WORLD: 'small' },
    files: { directory: '/' },
    readFile: () => undefined,
  })
  const log = createLog({ level: 'error', format: 'json', write: () => {}, clock })
  copyFileSync(demoDatabase(config, clock.now()), databasePath(dir))
  instance = openInstance({
    runtime: { config, clock, ids: createSeededIds(7), log },
    dir,
    keeping,
  })
  keys = evaluationKeys(instance.services, dir)
}, 600_000)
afterAll(() => {
  instance.close()
  rmSync(dir, { recursive: true, force: true })
})

async function ask<T>(method: string, path: string, token: string, body?: unknown): Promise<T> {
  const response = await instance.app.handle(
    new Request(`http://localhost${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  )
  return (await response.json()) as T
}

interface Message {
  to: string
  subject: string
  text: string
  attachments: { filename: string; content: string }[]
  at: string
}
interface Answer {
  data: {
    id: string
    deliveries_count: number
    last_delivered_on: string
    next_delivery_at: string
    last_run: { status: string }
  }
}

/** The line of a code as its observations give it: those that were published by a moment. */
function lineAt(code: string, at: number, zone: string): string {
  const { catalogue, observations } = instance.services
  const series = catalogue.named(code)!
  const [newest] = observations.asOf(series.id, 0, at + 1, at, 1)
  const [before] = observations.asOf(series.id, 0, startOfLocalDay(newest!.observedAt, zone), at, 1)
  const { amount, percent, previous } = priceChange(before!.value, newest!.value, series.decimals)
  const price = roundTo(newest!.value, series.decimals)
  return [
    code,
    series.name,
    price,
    'USD',
    series.unit,
    isoInstant(newest!.observedAt),
    previous,
    amount,
    percent,
  ].join(',')
}

test('three days of a demo instance send three e-mails per daily delivery with the prices of their time', async () => {
  const zone = 'America/New_York'
  const { data } = await ask<Answer>('POST', '/v1/scheduled-deliveries', keys.apiKey!, {
    scheduled_delivery: {
      name: 'Desk',
      commodity_codes: ['wti_usd', 'DIESEL_USD'],
      cadence: 'daily',
      delivery_time: '08:10',
      time_zone: zone,
      recipient_email: 'desk@example.com',
    },
  })
  await ask('POST', '/_dev/clock', keys.adminToken!, { advance: 'P3D' })
  const { messages } = await ask<{ messages: Message[] }>(
    'GET',
    '/_dev/inbox?channel=email',
    keys.adminToken!,
  )
  const to = (address: string) => messages.filter(message => message.to === address)

  // 08:10 in New York is 13:10 UTC, and the next dispatch is at a quarter past.
  const moments = ['2026-11-21T13:15:00Z', '2026-11-22T13:15:00Z', '2026-11-23T13:15:00Z']
  expect(to('desk@example.com').map(message => [message.at, message.subject])).toEqual(
    moments.map(at => [at, `Desk, ${at.slice(0, 10)}`]),
  )
  for (const { at, text, attachments } of to('desk@example.com')) {
    expect(attachments.map(file => [file.filename, file.content])).toEqual([
      [
        `prices-${at.slice(0, 10)}.csv`,
        `code,name,price,currency,unit,observed_at,previous_price,change,change_percent\n${lineAt('WTI_USD', Date.parse(at), zone)}\n${lineAt('DIESEL_USD', Date.parse(at), zone)}\n`,
      ],
    ])
    expect(text).toContain('Fixture data')
  }
  expect(
    (await ask<Answer>('GET', `/v1/scheduled-deliveries/${data.id}`, keys.apiKey!)).data,
  ).toMatchObject({
    deliveries_count: 3,
    last_delivered_on: '2026-11-23',
    next_delivery_at: '2026-11-24T13:10:00Z',
    last_run: { status: 'sent', trigger: 'scheduled' },
  })

  const sample = to('eval@example.com').filter(message =>
    message.subject.startsWith('Morning prices'),
  )
  expect(sample.map(message => message.at)).toEqual([
    '2026-11-21T07:00:00Z',
    '2026-11-22T07:00:00Z',
    '2026-11-23T07:00:00Z',
  ])
  expect(sample.map(message => message.attachments[0]!.content.split('\n')[1])).toEqual(
    sample.map(message => lineAt('BRENT_CRUDE_USD', Date.parse(message.at), 'UTC')),
  )
  expect(messages.some(message => message.subject.startsWith('To delete'))).toBe(false)
  expect(clock.now() - Date.parse('2026-11-20T15:00:00Z')).toBe(3 * dayMs)
}, 60_000)
