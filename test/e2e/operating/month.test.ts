import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import {
  binary,
  remove,
  run,
  type Server,
  startWith,
  temporaryDir,
} from '../../support/instance/binary.ts'
import { needs } from '../../support/needs.ts'
import { standIn } from '../../support/publishers/stand-in.ts'
import { faketimeLibrary } from '../../support/requirements.ts'
import { queriesOf, startPrometheus } from '../../support/servers/prometheus.ts'
import { answered, receiver } from '../../support/servers/receiver.ts'
import { smtpServer } from '../../support/servers/smtp-server.ts'
import { until as waitUntil } from '../../support/until.ts'

/**
 * A month of a server in production, its clock moved under it by libfaketime: six things go wrong one
 * after another and are put right again. A quarter of an hour of a machine, therefore only with
 * `bun run torture R33`.
 */

const docs = resolve(import.meta.dir, '../../../docs/monitoring')
const root = temporaryDir()
const disk = join(root, 'disk')
mkdirSync(disk)
const isAsked = process.env.WELLHEAD_TORTURE === '1'
const month = isAsked
  ? needs('../shared/data', 'prometheus', 'libfaketime', 'mount')
  : needs('torture R33')
if (month.isMet) Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=1400m', 'none', disk])
afterAll(() => {
  if (month.isMet) Bun.spawnSync(['umount', '-l', disk])
  remove(root)
})

const [secondMs, minuteMs, dayMs] = [1000, 60_000, 86_400_000]
/** The day whose values a publisher has out at a moment: it publishes at 16:00 in Frankfurt. */
const publishedDay = (at: number) => new Date(at - 15 * 60 * minuteMs).toISOString().slice(0, 10)
/** Below an hour, after which a clock that jumps is left to settle. */
const stepMs = 50 * minuteMs
/** While messages are sent again and again: below the pauses between the tries. */
const smallStepMs = 14 * minuteMs
/** Passes of the jobs are a second apart. */
const passMs = 1100

/** A clock that starts at a moment of the month and then runs in real time. */
function clockOfMonth(file: string, startsAt: string) {
  let offsetMs = Date.parse(startsAt) - Date.now()
  const write = () =>
    writeFileSync(file, `${offsetMs < 0 ? '' : '+'}${Math.round(offsetMs / secondMs)}`)
  write()
  const now = () => Date.now() + offsetMs
  return {
    now,
    day: () => new Date(now()).toISOString().slice(0, 10),
    async step(byMs: number) {
      offsetMs += byMs
      write()
      await Bun.sleep(passMs)
    },
  }
}

interface Notice {
  operatorAlert: string
  kind: string
  text: string
  at: string
}

month.describe('a month in which six things go wrong', () => {
  test('has one notice of each in its time and one when it is over, and the alert rules fire', async () => {
    const publishers = await standIn()
    const mails = await smtpServer()
    const notices: Notice[] = []
    const places = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        notices.push((await request.json()) as Notice)
        return new Response('')
      },
    })
    let endpointStatus = '200 OK'
    const endpoint = await receiver(socket => socket.end(answered(endpointStatus)))
    const backups = join(root, 'backups')
    mkdirSync(backups)
    writeFileSync(join(root, 'plans.toml'), '[plans.free]\nrequest_quota = 40\n')
    const config = join(root, 'wellhead.toml')
    writeFileSync(
      config,
      `plans = "plans.toml"
egress.allow = ["127.0.0.0/8"]
data.reserve_mb = 2
mail.provider = "smtp"
mail.smtp_url = "${mails.url}"
notices.url = "http://127.0.0.1:${places.port}/"
notices.format = "json"
notices.mail = "ops@example.com"
notices.again = "30d"
backups.directory = "${backups}"
backups.every = "1d"
[feeds.ecb]
base_url = "${publishers.url}"
since = "2025-12-01"
`,
    )
    const clock = clockOfMonth(join(root, 'offset'), '2026-01-06T12:00:00Z')
    publishers.today = '2026-01-05'
    const program = [
      'env',
      `LD_PRELOAD=${faketimeLibrary}`,
      `FAKETIME_TIMESTAMP_FILE=${join(root, 'offset')}`,
      'FAKETIME_NO_CACHE=1',
      'FAKETIME_DONT_FAKE_MONOTONIC=1',
      binary(),
    ]
    const server = await startWith(program, 'serve', disk, '--config', config)
    const log = linesOf(server)
    const rules = readFileSync(join(docs, 'alerts.yml'), 'utf8').replace(/for: \d+[sm]/g, 'for: 0s')
    writeFileSync(join(root, 'alerts.yml'), rules)
    const prometheus = await startPrometheus(root, {
      target: new URL(server.url).host,
      token: server.adminToken,
      rulesFile: join(root, 'alerts.yml'),
    })
    const firing = async () =>
      new Set(
        (await prometheus.rows('ALERTS{alertstate="firing"}')).map(
          ({ metric }) => metric.alertname!,
        ),
      )
    const until = (what: string, isSo: () => boolean | Promise<boolean>) =>
      waitUntil(what, isSo, 60_000, () => JSON.stringify(notices.slice(-5)))

    const send = async (authorization: string, path: string, body: unknown, method = 'POST') => {
      const answer = await fetch(`${server.url}${path}`, {
        method,
        headers: {
          authorization,
          'content-type': 'application/json',
          'idempotency-key': `month-${Bun.nanoseconds()}`,
        },
        body: JSON.stringify(body),
      })
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
      return (await answer.json()) as Record<string, never>
    }
    const operator = `Bearer ${server.adminToken}`
    const account = async (email: string, plan: string) => {
      const { data } = (await send(operator, '/admin/v1/accounts', { email, plan })) as unknown as {
        data: { api_key: { plain_token: string } }
      }
      return `Token ${data.api_key.plain_token}`
    }
    const push = (code: string, at: number, price: number) =>
      send(operator, '/admin/v1/observations', {
        observations: [{ code, observed_at: new Date(at).toISOString(), price }],
      })
    const pushMany = async (place: number) => {
      const answer = await fetch(`${server.url}/admin/v1/observations`, {
        method: 'POST',
        headers: { authorization: operator, 'content-type': 'application/json' },
        body: JSON.stringify({ observations: minutesFrom(place) }),
      })
      await answer.body?.cancel()
      return answer.status
    }
    const owner = await account('owner@example.com', 'enterprise')
    const customer = await account('customer@example.com', 'free')
    const webhook = (await send(owner, '/v1/webhooks', {
      url: endpoint.url,
      events: ['price.updated'],
      commodity_filters: ['WTI_USD'],
    })) as unknown as { data: { id: string } }

    // Daily data is not late after five minutes.
    await send(operator, '/admin/v1/series/WTI_USD', { cadence: 'daily' }, 'PATCH')
    const price = (n: number) => Math.round((60 + 3 * Math.sin(n * 1.7)) * 100) / 100
    await send(operator, '/admin/v1/observations', {
      observations: Array.from({ length: 61 }, (_, n) => ({
        code: 'WTI_USD',
        observed_at: new Date(clock.now() - n * dayMs).toISOString(),
        price: price(n),
      })),
    })
    let isFrozen = false
    let isSilent = false
    let pushedOn = ''
    let days = 0
    /** The ordinary course of things: a price a day, and what agencies publish. */
    const goTo = async (moment: string, byMs = stepMs) => {
      const to = Date.parse(moment)
      while (clock.now() < to) {
        await clock.step(Math.min(byMs, Math.max(secondMs, to - clock.now())))
        if (!isSilent) publishers.today = publishedDay(clock.now())
        if (pushedOn === clock.day()) continue
        pushedOn = clock.day()
        days += 1
        await push('WTI_USD', clock.now() - minuteMs, isFrozen ? 64.5 : price(days))
        // A message that is under way while the clock jumps is late by the jump.
        await Bun.sleep(passMs)
      }
    }
    const begun = (operatorAlert: RegExp) =>
      notices.filter(notice => notice.kind === 'begun' && operatorAlert.test(notice.operatorAlert))
    const over = (operatorAlert: RegExp) =>
      notices.filter(notice => notice.kind === 'over' && operatorAlert.test(notice.operatorAlert))
    const fires = (name: string) => until(name, async () => (await firing()).has(name))
    const ceases = (name: string) => until(`no ${name}`, async () => !(await firing()).has(name))
    /** Notices about a fault, at moments of the month. */
    const told: Record<string, { begunAt: string; overAt: string }> = {}
    const isNotified = async (name: string, operatorAlert: RegExp, state: typeof begun) =>
      until(`${name}: ${operatorAlert}`, () => state(operatorAlert).length > 0)
    const note = (name: string, operatorAlert: RegExp) => {
      told[name] = { begunAt: begun(operatorAlert)[0]!.at, overAt: over(operatorAlert)[0]!.at }
    }

    try {
      await until('the first scrape', async () => (await prometheus.rows('up == 1')).length === 1)
      await goTo('2026-01-07T20:00:00Z')

      // A publisher stops; its data published by 16:00 may take twenty hours more.
      isSilent = true
      await goTo('2026-01-09T12:00:00Z')
      await isNotified('silent feed', /^feed ecb late$/, begun)
      await fires('WellheadFeedLate')
      isSilent = false
      await goTo('2026-01-09T21:00:00Z')
      await isNotified('silent feed', /^feed ecb late$/, over)
      await ceases('WellheadFeedLate')
      note('silent feed', /^feed ecb late$/)

      // The disk fills, up to the last byte.
      await goTo('2026-01-10T12:00:00Z')
      fill(join(disk, 'ballast'))
      // Lines that fit into the log are still written.
      for (let n = 0; (await pushMany(n)) === 200; n += 1) expect(n).toBeLessThan(200)
      await isNotified('full disk', /^writes$/, begun)
      await isNotified('full disk', /^disk$/, begun)
      for (const name of ['WellheadRefusesWrites', 'WellheadDiskLow']) await fires(name)
      rmSync(join(disk, 'ballast'))
      await isNotified('full disk', /^writes$/, over)
      await isNotified('full disk', /^disk$/, over)
      for (const name of ['WellheadRefusesWrites', 'WellheadDiskLow']) await ceases(name)
      note('full disk', /^writes$/)

      // A series stops.
      isFrozen = true
      await goTo('2026-01-20T12:00:00Z')
      await isNotified('frozen value', /^series WTI_USD frozen$/, begun)
      await fires('WellheadSeriesFrozen')
      isFrozen = false
      await goTo('2026-01-22T12:00:00Z')
      await isNotified('frozen value', /^series WTI_USD frozen$/, over)
      await ceases('WellheadSeriesFrozen')
      note('frozen value', /^series WTI_USD frozen$/)

      // A customer's endpoint dies.
      endpointStatus = '500 Internal Server Error'
      for (let n = 0; n < 12; n += 1)
        await push('WTI_USD', clock.now() - secondMs * (12 - n), price(days) + n / 100)
      // It is switched off after ten failures in a row, which its pauses spread over hours.
      for (let step = 1; step <= 100 && begun(/^endpoint /).length === 0; step += 1)
        await goTo(
          new Date(Date.parse('2026-01-22T12:00:00Z') + step * smallStepMs).toISOString(),
          smallStepMs,
        )
      await isNotified('dead endpoint', /^endpoint /, begun)
      endpointStatus = '200 OK'
      await send(owner, `/v1/webhooks/${webhook.data.id}`, { status: 'active' }, 'PATCH')
      await goTo('2026-01-23T16:00:00Z', smallStepMs)
      await isNotified('dead endpoint', /^endpoint /, over)
      note('dead endpoint', /^endpoint /)

      // A customer uses up a quota.
      await goTo('2026-01-24T12:00:00Z')
      let refused = 0
      for (let n = 0; n < 60; n += 1) {
        const answer = await server.get('/v1/prices/latest?by_code=WTI_USD', {
          authorization: customer,
        })
        if (answer.status !== 200) refused += 1
      }
      expect(refused).toBe(20)
      await isNotified('spent quota', /^quota /, begun)
      await fires('WellheadQuotaSpent')
      await until('the e-mail to the customer', () =>
        mails.accepted.some(({ to }) => to.includes('customer@example.com')),
      )

      // Backups cannot be written.
      await goTo('2026-01-26T12:00:00Z')
      renameSync(backups, `${backups}-away`)
      writeFileSync(backups, 'no directory')
      await goTo('2026-01-27T18:00:00Z')
      await isNotified('failed backup', /^backup$/, begun)
      await fires('WellheadBackupFailed')
      rmSync(backups)
      renameSync(`${backups}-away`, backups)
      await goTo('2026-01-28T20:00:00Z')
      await isNotified('failed backup', /^backup$/, over)
      await ceases('WellheadBackupFailed')
      note('failed backup', /^backup$/)

      for (const { title, query } of queriesOf(readFileSync(join(docs, 'dashboard.json'), 'utf8')))
        expect((await prometheus.rows(query)).length, `${title} ${query}`).toBeGreaterThan(0)

      await goTo('2026-02-06T12:00:00Z')
      await isNotified('spent quota', /^quota /, over)
      await ceases('WellheadQuotaSpent')
      note('spent quota', /^quota /)

      console.log(JSON.stringify(told, null, 1))
      for (const { operatorAlert, kind, at, text } of notices)
        console.log(at, kind, operatorAlert, '|', text)
      for (const line of log)
        if (/^feed_(failed|held|late|broke)/.test(line.msg)) console.log(JSON.stringify(line))
      const counts = Object.entries(
        Object.groupBy(
          notices,
          ({ operatorAlert, kind }) =>
            `${operatorAlert.replace(/^(endpoint|quota) .*/, '$1')} ${kind}`,
        ),
      ).map(([name, all]) => [name, all!.length])
      expect(Object.fromEntries(counts)).toEqual(
        Object.fromEntries(
          [
            'feed ecb late',
            'writes',
            'disk',
            'series WTI_USD frozen',
            'endpoint',
            'quota',
            'backup',
          ].flatMap(operatorAlert => [
            [`${operatorAlert} begun`, 1],
            [`${operatorAlert} over`, 1],
          ]),
        ),
      )
      // The operator also gets an e-mail about each.
      const mailMessages = mails.accepted.filter(({ to }) => to.includes('ops@example.com'))
      expect(mailMessages).toHaveLength(notices.length)
      expect(log.filter(({ level }) => level === 'error').map(({ msg }) => msg)).toEqual(
        expect.arrayContaining(['storage_unwritable', 'backup_failed']),
      )
      expect(await server.stop()).toBe(0)
      expect((await run('verify', '--data', join(disk, 'data'))).code).toBe(0)
    } finally {
      await prometheus.stop()
      server.process.kill('SIGKILL')
      await Promise.all([publishers.stop(), places.stop(true), endpoint.close()])
      mails.close()
    }
  }, 3_600_000)
})

/** Four hundred minutes of a day long ago. */
const minutesFrom = (place: number) =>
  Array.from({ length: 400 }, (_, n) => ({
    code: 'WTI_USD',
    observed_at: new Date(Date.UTC(2020, 0, 1) + (place * 400 + n) * minuteMs).toISOString(),
    price: 60 + (n % 7) / 10,
  }))

interface Line {
  msg: string
  level: string
}

/** Lines of the log as they come. */
function linesOf(server: Server): Line[] {
  const lines: Line[] = []
  const read = async (stream: ReadableStream<Uint8Array>) => {
    let rest = ''
    for await (const chunk of stream) {
      const parts = (rest + new TextDecoder().decode(chunk)).split('\n')
      rest = parts.pop()!
      for (const part of parts) if (part.startsWith('{')) lines.push(JSON.parse(part) as Line)
    }
  }
  void read(server.process.stderr as ReadableStream<Uint8Array>)
  void read(server.process.stdout as ReadableStream<Uint8Array>)
  return lines
}

/** Until there is no room for one byte more. */
function fill(path: string) {
  for (const size of [1 << 20, 1 << 12, 1]) {
    const block = Buffer.alloc(size, 1)
    try {
      for (;;) writeFileSync(path, block, { flag: 'a' })
    } catch {
      // No room for a block of this size.
    }
  }
}
