import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { transact } from '../../../../../src/database/database.ts'
import { createApp } from '../../../../../src/instance/app/app.ts'
import { createLogTail } from '../../../../../src/lib/log/log-tail.ts'
import { emptyDirectory } from '../../../../support/instance/command.ts'
import { deliveryWorld } from '../../../../support/topics/deliveries.ts'

const dir = mkdtempSync(join(tmpdir(), 'wellhead-workbench-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

interface Answer {
  status: number
  // Each test sets its own expectations.
  data: Record<string, unknown>
  text: string
}

/** An instance and its operator. */
function workbench(
  flags: Record<string, string> = {},
  options: Parameters<typeof createApp>[1] = {},
) {
  const world = deliveryWorld({ flags })
  const { services } = world
  const app = createApp(services, options)
  const token = services.adminTokens.rotate()
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const response = await app.handle(
      new Request(`http://localhost/admin/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    )
    const text = await response.text()
    return { status: response.status, data: JSON.parse(text).data ?? {}, text }
  }
  return { ...world, ask }
}

describe('/admin/v1/outbox', () => {
  const put = ({ services, db, clock }: ReturnType<typeof workbench>, subject: string) =>
    transact(
      db,
      () =>
        services.outbox.put({
          kind: 'email',
          lane: 'email',
          accountId: null,
          eventId: `evt_${subject}`,
          eventType: 'email',
          body: JSON.stringify({
            from: 'a@example.com',
            to: 'b@example.com',
            subject,
            text: 'text',
            postedAt: clock.now(),
          }),
        })!,
    )

  test('the outbox lists pending messages and can drop them permanently or until they are sent on request', async () => {
    const bench = workbench()
    const [kept, dropped] = [put(bench, 'kept'), put(bench, 'dropped')]
    const { ask } = bench
    const waiting = await ask('GET', '/outbox?kind=email')
    expect(waiting.data).toMatchObject({
      messages: [
        { id: kept, state: 'pending', given_up_at: null },
        { id: dropped, state: 'pending' },
      ],
      counts: { waiting: 2, given_up: 0 },
    })
    expect(waiting.text).not.toContain('b@example.com')
    const ids = { ids: [dropped, 'unknown'] }
    const key = { 'idempotency-key': 'drop-once' }
    expect((await ask('POST', '/outbox/drop', ids, key)).data).toEqual({ count: 1 })
    expect((await ask('POST', '/outbox/drop', ids, key)).data).toEqual({ count: 1 })
    expect((await ask('POST', '/outbox/drop', ids)).data).toEqual({ count: 0 })
    expect((await ask('GET', '/outbox?state=given_up')).data.messages).toMatchObject([
      { id: dropped, state: 'failed', error: 'the operator dropped it', next_attempt_at: null },
    ])
    await bench.beat()
    expect(bench.mails().map(({ eventId }) => eventId)).toEqual(['evt_kept'])

    expect((await ask('POST', '/outbox/send', ids)).data).toEqual({ count: 1 })
    await bench.beat()
    expect(bench.mails().map(({ eventId }) => eventId)).toContain('evt_dropped')
    expect((await ask('GET', '/outbox')).data.counts).toEqual({ waiting: 0, given_up: 0 })
  })

  test('refuses states and kinds that there are not, and bodies without ids', async () => {
    const { ask } = workbench()
    expect((await ask('GET', '/outbox?state=lost')).status).toBe(400)
    expect((await ask('GET', '/outbox?kind=fax')).status).toBe(400)
    expect((await ask('POST', '/outbox/send', {})).status).toBe(422)
    expect((await ask('POST', '/outbox/drop', { ids: 'all' })).text).toContain('"field":"ids"')
  })
})

describe('tests of the delivery channels', () => {
  test('a delivery channel test posts one signed event and returns the response of the receiver', async () => {
    const got: { body: string; signature: string | null }[] = []
    const receiver = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const names = [...request.headers.keys()]
        const name = names.find(header => header.endsWith('signature'))
        got.push({
          body: await request.text(),
          signature: name === undefined ? null : request.headers.get(name),
        })
        return new Response('no', { status: new URL(request.url).pathname === '/no' ? 418 : 204 })
      },
    })
    try {
      const at = `http://127.0.0.1:${receiver.port}`
      const { ask } = workbench({ 'egress.allow': '127.0.0.0/8' })
      const taken = await ask('POST', '/webhooks/test', { url: `${at}/yes` })
      expect(taken.data, taken.text).toMatchObject({ taken: true, status_code: 204 })
      expect(JSON.parse(got[0]!.body).type).toBe('webhook.test')
      expect(got[0]!.signature).not.toBeNull()
      const refused = await ask('POST', '/webhooks/test', { url: `${at}/no` })
      expect(refused.data).toMatchObject({ taken: false, status_code: 418 })
    } finally {
      await receiver.stop(true)
    }
  })

  test('refuse addresses that no account could name', async () => {
    const { ask } = workbench({ 'egress.allow': '' })
    for (const url of ['http://hooks.example.com/', 'ftp://hooks.example.com/', 'nowhere'])
      expect((await ask('POST', '/webhooks/test', { url })).status, url).toBe(422)
  })

  test('delivery channel tests name missing settings and invalid addresses', async () => {
    const { ask } = workbench({ 'mail.provider': 'none', 'sms.provider': 'log' })
    expect((await ask('POST', '/mail/test', { to: 'you@example.com' })).data).toMatchObject({
      taken: false,
      message: expect.stringContaining('mail.provider is none'),
    })
    expect((await ask('POST', '/sms/test', { to: '+4915112345678' })).data).toMatchObject({
      taken: false,
      message: expect.stringContaining('sms.provider is log'),
    })
    expect((await ask('POST', '/notices/test')).data).toMatchObject({
      taken: false,
      message: expect.stringContaining('notices.url is empty'),
    })
    expect((await ask('POST', '/mail/test', { to: 'a@b.c, d@e.f' })).text).toContain('"field":"to"')
    expect((await ask('POST', '/sms/test', { to: '12' })).text).toContain('"field":"to"')
  })
})

describe('/admin/v1/backups', () => {
  test('the backups endpoint reports a missing backup directory and creates no backup', async () => {
    const { ask } = workbench()
    expect((await ask('GET', '/backups')).data).toMatchObject({
      is_configured: false,
      backups: [],
      task: null,
    })
    const refused = await ask('POST', '/backups', { what: 'make' })
    expect({ status: refused.status, text: refused.text }).toEqual({
      status: 422,
      text: expect.stringContaining('backups.directory'),
    })
    expect((await ask('POST', '/backups', { what: 'lose' })).text).toContain('"field":"what"')
  })

  test('makes one by the command of the program, lists it and checks it', async () => {
    const [data, place] = [join(dir, 'data'), join(dir, 'place')]
    emptyDirectory(data)
    mkdirSync(place)
    const file = join(dir, 'wellhead.toml')
    writeFileSync(file, `[backups]\ndirectory = "${place}"\n`)
    const running: Promise<unknown>[] = []
    const command = (...args: string[]) => {
      const child = Bun.spawn(
        [process.execPath, 'src/main.ts', ...args, '--data', data, '--config', file],
        { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
      )
      const outcome = Promise.all([
        child.exited,
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]).then(([code, out, err]) => ({ code, out, err }))
      running.push(outcome)
      return outcome
    }
    const made = await command('token', 'rotate', '--yes')
    expect(made.code, made.err).toBe(0)
    const { ask } = workbench({ 'backups.directory': place }, { command })
    const end = async (what: string) => {
      const begun = await ask('POST', '/backups', { what })
      expect({ status: begun.status, data: begun.data }, begun.text).toMatchObject({
        status: 202,
        data: { what, ended_at: null },
      })
      expect((await ask('POST', '/backups', { what })).text).toContain('backup_under_way')
      await Promise.all(running)
      const { task } = (await ask('GET', '/backups')).data
      expect(task).toMatchObject({ what, is_fine: true })
    }
    await end('make')
    await end('check')
    const { data: desk, text } = await ask('GET', '/backups')
    expect(desk.backups, text).toMatchObject([{ place: expect.stringContaining(place) }])
    expect({ made_at: desk.made_at, checked_at: desk.checked_at, trouble: desk.trouble }).toEqual({
      made_at: '2026-11-20T15:00:00Z',
      checked_at: '2026-11-20T15:00:00Z',
      trouble: null,
    })
  }, 60_000)
})

test('the log is read from where it was left, and by its words', async () => {
  const tail = createLogTail(3, 10)
  for (const line of ['one\n', 'two', 'three', 'a line that is long']) tail.add(line)
  expect(tail.after(0, 10)).toEqual([
    { number: 2, line: 'two' },
    { number: 3, line: 'three' },
    { number: 4, line: 'a line tha…' },
  ])
  expect(tail.after(3, 10).map(({ number }) => number)).toEqual([4])
  expect(tail.after(0, 1).map(({ number }) => number)).toEqual([4])
  expect({ after: tail.after(4, 10), last: tail.last }).toEqual({ after: [], last: 4 })
  const { ask } = workbench()
  expect((await ask('GET', '/logs?after=x')).status).toBe(400)
  expect((await ask('GET', '/logs')).data).toEqual({ lines: [], last: 0 })
})

test('organizations are listed with their members', async () => {
  const bench = workbench()
  const { organizationStore: store, ids } = bench.services
  for (const name of ['Zeta <b>Trading</b>', 'Alpha Power'])
    store.put({
      id: ids.uuid(),
      name,
      accountId: bench.account().account.id,
      createdAt: bench.clock.now(),
    })
  const { data } = await bench.ask('GET', '/organizations?per_page=1')
  expect(data).toMatchObject({
    organizations: [{ name: 'Alpha Power', members: [] }],
    meta: { total: 2 },
  })
})

test('the operator condition report contains the health data that an operator checks first', async () => {
  const { ask, services, clock } = workbench()
  services.tally.count('/v1/broken', 500, '', 3)
  services.tally.count('/v1/fine', 200, 'free', 3)
  services.backupRecord.set({ madeAt: clock.now(), fault: 'No room in /backups.' })
  const { status, data, text } = await ask('GET', '/condition')
  expect({ status, data }, text).toMatchObject({
    status: 200,
    data: {
      series: { stopped: [], frozen: [], unit_breaks: [] },
      process: { server_errors: 1, is_overloaded: false, memory_bytes: expect.any(Number) },
      disk: { trouble: null },
      outbox: { pending: 0, oldest_pending_seconds: null },
      backups: { made_at: '2026-11-20T15:00:00Z', trouble: 'No room in /backups.' },
    },
  })
})
