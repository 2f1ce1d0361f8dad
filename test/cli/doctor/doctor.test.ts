import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { examineSpace } from '../../../src/cli/doctor/directory.ts'
import { runDoctor } from '../../../src/cli/doctor/doctor.ts'
import type { Finding } from '../../../src/cli/doctor/finding.ts'
import { listenLocally } from '../../../src/cli/socket.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { openInstance } from '../../../src/instance/instance.ts'
import { lockDataDir } from '../../../src/lib/files/directory-lock.ts'
import { createSeededIds } from '../../../src/lib/ids.ts'
import { createLog } from '../../../src/lib/log/log.ts'
import { createManualClock } from '../../../src/lib/time/clock.ts'
import { dayMs, hourMs, minuteMs } from '../../../src/lib/time/instant.ts'
import { defaultSettings } from '../../../src/topics/webhooks/store/webhooks.ts'
import { version } from '../../../src/version.ts'
import { startAt } from '../../support/instance/instance.ts'
import { needs } from '../../support/needs.ts'

const megabyte = 2 ** 20
const root = mkdtempSync(join(tmpdir(), 'wellhead-test-'))
const sound = join(root, 'sound')
/** Switched off. */
const endpointId = '00000000-0000-4000-8000-000000000001'

/**
 * A directory as a stopped server leaves it: a fresh price, a sealed text of each kind, nothing to
 * send.
 */
beforeAll(() => {
  const clock = createManualClock(startAt)
  const config = loadConfig({
    flags: { 'data.dir': sound },
    env: {},
    files: { directory: root },
    readFile: () => undefined,
  })
  const log = createLog({ level: 'error', format: 'json', write: () => {}, clock })
  const instance = openInstance({
    runtime: { config, clock, ids: createSeededIds(1), log },
    dir: sound,
    serving: true,
  })
  const { services } = instance
  const series = services.catalogue.named('WTI_USD')!
  services.ingest.write([{ seriesId: series.id, observedAt: startAt - minuteMs, value: 70 }])
  const account = services.keys.putAccount({
    id: services.ids.uuid(),
    email: 'desk@example.com',
    plan: 'enterprise',
    addOns: [],
    trialStartedAt: null,
    trialEndsAt: null,
    emailConfirmedAt: startAt,
    suspendedAt: null,
    createdAt: startAt,
  })
  services.dataSources.create(account, {
    name: 'feed',
    sourceType: 'custom',
    credentials: { token: 'example' },
  })
  services.accountSecrets.current(account.account.id)
  const endpoint = {
    ...defaultSettings,
    url: 'https://example.com/hook',
    events: ['price.updated'],
    active: false,
  }
  services.webhooks.create(account, endpoint, { id: endpointId })
  instance.close()
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

interface Case {
  /** Makes the fault in a copy of the sound directory. */
  prepare?(dir: string): void
  now?: number
  toml?: string
  env?: Record<string, string>
  freeBytes?: number
  openFiles?: number | undefined
}

interface Examined {
  code: number
  text: string
  findings: Finding[]
  /** The first finding of a check that is not good. */
  of(check: string): Finding | undefined
}

let copies = 0

async function doctor(
  dir: string,
  { now = startAt, env = {}, freeBytes = 10_000 * megabyte, ...machine }: Case,
  json = true,
): Promise<Examined> {
  const lines: string[] = []
  const sources = { env, directory: root }
  const code = await runDoctor({
    out: line => void lines.push(line),
    json,
    online: false,
    paint: (_, word) => word,
    clock: createManualClock(now),
    sources,
    config: mode =>
      loadConfig({ mode, flags: { 'data.dir': dir }, env, files: { directory: root } }),
    fallback: () =>
      loadConfig({
        flags: { 'data.dir': dir },
        env: {},
        files: { directory: root },
        readFile: () => undefined,
      }),
    machine: {
      freeBytes: () => freeBytes,
      openFiles: () => ('openFiles' in machine ? machine.openFiles : 4096),
    },
  })
  const text = lines.join('\n')
  const findings = json ? (JSON.parse(text) as { checks: Finding[] }).checks : []
  return {
    code,
    text,
    findings,
    of: check =>
      findings.find(finding => finding.check === check && finding.status !== 'ok') ??
      findings.find(finding => finding.check === check),
  }
}

/** Every file of a directory with its mode and a hash of its contents. */
const pictureOf = (dir: string) =>
  existsSync(dir) && lstatSync(dir).isDirectory()
    ? readdirSync(dir)
        .sort()
        .map(name => [
          name,
          lstatSync(join(dir, name)).mode,
          lstatSync(join(dir, name)).isFile() && Bun.hash(readFileSync(join(dir, name))),
        ])
    : existsSync(dir)

async function examinedInstance(scenario: Case): Promise<Examined> {
  copies += 1
  const dir = join(root, `copy${copies}`)
  cpSync(sound, dir, { recursive: true })
  chmodSync(dir, 0o700)
  if (scenario.toml !== undefined)
    writeFileSync(join(dir, 'wellhead.toml'), scenario.toml, { mode: 0o600 })
  scenario.prepare?.(dir)
  const before = pictureOf(dir)
  const examined = await doctor(dir, scenario)
  expect(pictureOf(dir)).toEqual(before)
  return examined
}

const sql = (dir: string, text: string, ...values: (string | number | Uint8Array)[]) => {
  const db = new Database(join(dir, 'wellhead.db'))
  db.query(text).run(...values)
  db.close()
}
const message = (dir: string, state: string, dueAt: number, lane = 'email') => {
  sql(
    dir,
    'INSERT OR IGNORE INTO outbox_lanes (id, kind, lane) VALUES (1, ?, ?)',
    lane === 'email' ? 'email' : 'webhook',
    lane,
  )
  sql(dir, "INSERT INTO outbox_bodies (id, uses, body) VALUES (1, 1, '{}')")
  sql(
    dir,
    "INSERT INTO outbox (id, lane_id, event_id, event_type, body_id, state, due_at, created_at) VALUES ('a', 1, 'b', 'c', 1, ?, ?, ?)",
    state,
    dueAt,
    dueAt,
  )
}
const damaged = (dir: string) => {
  const path = join(dir, 'wellhead.db')
  const file = openSync(path, 'r+')
  for (let page = 2; page < 40; page += 1)
    writeSync(file, new Uint8Array(2048).fill(0xa5), 0, 2048, page * 4096)
  closeSync(file)
}

test('a sound data directory passes doctor with exit code 0, and the table and JSON output agree', async () => {
  const { code, findings } = await examinedInstance({})
  expect(findings.filter(finding => finding.status !== 'ok')).toEqual([])
  expect(code).toBe(0)
  const checks = [
    'configuration',
    'mail',
    'text messages',
    'billing',
    'data directory',
    'server',
    'open files',
    'disk',
    'log',
  ]
  expect(findings.map(finding => finding.check)).toEqual([
    ...checks,
    'master key',
    'schema',
    'database',
    'secrets',
    'clock',
    'outbox',
    'data, intraday_5m',
    'series',
    'feeds',
  ])
  const table = await doctor(sound, {}, false)
  const lines = table.text.split('\n')
  expect(lines[0]).toMatch(/^STATUS +CHECK +RESULT$/)
  for (const [i, { status, check, found: sentence }] of (
    await doctor(sound, {})
  ).findings.entries()) {
    expect(lines[i + 1]).toMatch(new RegExp(`^${status} +${check} +${RegExp.escape(sentence)}$`))
  }
  expect(lines.at(-1)).toBe('no problems found')
})

const key = (dir: string) => join(dir, 'master.key')
const db = (dir: string) => join(dir, 'wellhead.db')

test('a missing master key is an error in an older schema too, as a start refuses it', async () => {
  const { code, of } = await examinedInstance({
    prepare(dir) {
      rmSync(key(dir))
      sql(dir, 'PRAGMA user_version = 1')
    },
  })
  expect([code, of('schema')?.status]).toEqual([1, 'warning'])
  expect(of('secrets')).toMatchObject({
    status: 'error',
    found: '3 encrypted, but the master key is missing',
  })
})

describe('a fault is found, with what would be right, and nothing is changed:', () => {
  const cases: [
    name: string,
    given: Case,
    check: string,
    status: Finding['status'],
    found: RegExp,
  ][] = [
    [
      'a directory that others may enter',
      { prepare: dir => chmodSync(dir, 0o755) },
      'data directory',
      'warning',
      /mode 0755/,
    ],
    ['no database', { prepare: dir => rmSync(db(dir)) }, 'database', 'error', /is missing, but/],
    [
      'an empty database',
      { prepare: dir => truncateSync(db(dir), 0) },
      'database',
      'error',
      /is empty, but/,
    ],
    [
      'a file that is not a database',
      { prepare: dir => writeFileSync(db(dir), 'text '.repeat(1000)) },
      'database',
      'error',
      /cannot be opened/,
    ],
    [
      'damaged pages',
      { prepare: damaged },
      'database',
      'error',
      /is damaged|can not be opened|malformed/,
    ],
    [
      'a newer schema',
      { prepare: dir => sql(dir, 'PRAGMA user_version = 99') },
      'database',
      'error',
      /schema version 99/,
    ],
    [
      'no master key',
      { prepare: dir => rmSync(key(dir)) },
      'secrets',
      'error',
      /3 encrypted, but the master key is missing/,
    ],
    [
      'another master key',
      { prepare: dir => writeFileSync(key(dir), 'fedcba9876543210'.repeat(4), { mode: 0o600 }) },
      'secrets',
      'error',
      /3 encrypted, but with another master key/,
    ],
    [
      'a master key that a start refuses',
      { prepare: dir => writeFileSync(key(dir), 'short', { mode: 0o600 }) },
      'master key',
      'error',
      /has fewer than 16 characters/,
    ],
    [
      'a configured master key that a start refuses',
      { toml: '[secrets]\nmaster_key = "short"\n' },
      'master key',
      'error',
      /secrets\.master_key has fewer than 16 characters/,
    ],
    [
      'an empty master key',
      { prepare: dir => truncateSync(key(dir), 0) },
      'master key',
      'error',
      /is empty/,
    ],
    [
      'a master key for everybody',
      { prepare: dir => chmodSync(key(dir), 0o644) },
      'master key',
      'warning',
      /other users can read/,
    ],
    [
      'a feed whose address is inside the network',
      { toml: '[feeds.ecb]\nbase_url = "http://10.0.0.7:8080"\n' },
      'feeds',
      'warning',
      /^feeds\.ecb\.base_url .*: ecb is not read/,
    ],
    [
      'a clock that lags',
      { now: startAt - dayMs - 1 },
      'clock',
      'error',
      /was recorded at 2026-11-20T15:00:00Z/,
    ],
    [
      'data that stays away',
      { now: startAt + 30 * dayMs },
      'data, intraday_5m',
      'warning',
      /1 of 1 codes stale/,
    ],
    [
      'messages that do not leave',
      { prepare: dir => message(dir, 'retry', startAt - hourMs) },
      'outbox',
      'warning',
      /1 message waits, the oldest due at 2026-11-20T14:00/,
    ],
    ['a disk that is full', { freeBytes: 63 * megabyte }, 'disk', 'error', /63 MB free/],
    ['few open files', { openFiles: 256 }, 'open files', 'warning', /256/],
    [
      'a provider without its key',
      { toml: '[mail]\nprovider = "resend"' },
      'mail',
      'error',
      /mail.resend_key is empty/,
    ],
    [
      'a key without its provider',
      { toml: '[mail]\nresend_key = "re_1"' },
      'mail',
      'warning',
      /mail.resend_key is set, and mail.provider is none/,
    ],
    [
      'notices by e-mail without a provider',
      { toml: '[notices]\nmail = "ops@example.com"' },
      'mail',
      'warning',
      /notices.mail is set, and mail.provider is none: e-mails are not sent/,
    ],
    [
      'half an account for text messages',
      { toml: `[sms]\nprovider = "twilio"\ntwilio_account = "AC${'0'.repeat(32)}"` },
      'text messages',
      'error',
      /sms.twilio_token, sms.twilio_from is empty/,
    ],
    [
      'a processor without its secret',
      { toml: '[billing]\nprovider = "stripe"\nstripe_key = "sk_1"' },
      'billing',
      'error',
      /stripe_webhook_secret is empty/,
    ],
    [
      'a mail server that is none',
      { toml: '[mail]\nprovider = "smtp"\nsmtp_url = "example.com"' },
      'configuration',
      'error',
      /does not start/,
    ],
    ['a setting that is none', { toml: '[servr]\nport = 1' }, 'configuration', 'error', /servr/],
    [
      'a plan table that is missing',
      { toml: 'plans = "gone.toml"' },
      'configuration',
      'error',
      /gone.toml/,
    ],
    [
      'a secret file that is missing',
      { env: { WELLHEAD_MAIL_RESEND_KEY_FILE: 'gone' } },
      'configuration',
      'error',
      /there is no file gone/,
    ],
    [
      'a source directory that is missing',
      { toml: '[data_sources]\ndirectory = "gone"' },
      'data_sources.directory',
      'error',
      /must be a directory that \w+ can read; got .*gone, which does not exist/,
    ],
    [
      'a ready file without a directory',
      { toml: '[server]\nready_file = "gone/ready"' },
      'server.ready_file',
      'error',
      /must be a file in a directory that \w+ can write to; got .*gone, which does not exist/,
    ],
  ]
  test.each(cases)('the doctor finds a fault: %s', async (_, scenario, check, status, sentence) => {
    const { code, of, findings } = await examinedInstance(scenario)
    const finding = of(check)
    expect(
      { status: finding?.status, found: finding?.found },
      JSON.stringify(findings, null, 1),
    ).toEqual({ status, found: expect.stringMatching(sentence) })
    expect(finding!.advice).toMatch(/\w/)
    expect(code).toBe(status === 'error' ? 1 : 0)
    const others = findings.filter(finding => finding.status !== 'ok' && finding.check !== check)
    expect(
      others.filter(
        other =>
          !['secrets', 'configuration', 'data', 'data, intraday_5m', 'series'].includes(
            other.check,
          ),
      ),
    ).toEqual([])
  })

  test('a secret file that everybody may read', async () => {
    const open = join(root, 'open')
    mkdirSync(open)
    chmodSync(open, 0o755)
    const path = join(open, 'secret')
    writeFileSync(path, 're_1', { mode: 0o644 })
    chmodSync(path, 0o644)
    const env = { WELLHEAD_MAIL_RESEND_KEY_FILE: 'open/secret', WELLHEAD_MAIL_PROVIDER: 'resend' }
    const { code, of } = await examinedInstance({ env })
    expect({ code, file: of(`file ${path}`)?.status, mail: of('mail')?.status }).toEqual({
      code: 0,
      file: 'warning',
      mail: 'ok',
    })
    chmodSync(path, 0o600)
    expect((await examinedInstance({ env })).of(`file ${path}`)?.status).toBe('ok')
    const statusesOf = async (toml: string) =>
      (
        await examinedInstance({
          toml,
          prepare: dir => chmodSync(join(dir, 'wellhead.toml'), 0o644),
        })
      ).findings
        .filter(finding => finding.check.endsWith('wellhead.toml'))
        .map(finding => finding.status)
    // The directory itself keeps others out.
    expect(await statusesOf(`[secrets]\nmaster_key = "${'x'.repeat(64)}"`)).toEqual(['ok'])
    expect(await statusesOf('[server]\nport = 1')).toEqual(['ok'])
  })

  needs('root').test('files of another user', async () => {
    const { code, of } = await examinedInstance({ prepare: dir => chownSync(db(dir), 4711, 4711) })
    expect({ code, status: of('owner')?.status, found: of('owner')?.found }).toEqual({
      code: 0,
      status: 'warning',
      found: expect.stringContaining('wellhead.db'),
    })
  })

  test('a directory that is missing or none, which is not made', async () => {
    const missing = join(root, 'missing')
    const gone = await doctor(missing, {})
    expect({
      code: gone.code,
      status: gone.of('data directory')?.status,
      exists: existsSync(missing),
    }).toEqual({ code: 1, status: 'error', exists: false })
    const file = join(root, 'file')
    writeFileSync(file, '')
    const none = await doctor(file, {})
    expect({ code: none.code, found: none.of('data directory')?.found }).toEqual({
      code: 1,
      found: `${file} is not a directory`,
    })
  })
})

describe('no fault is', () => {
  test('a message that is due, or one of an endpoint that is switched off', async () => {
    const due = await examinedInstance({
      prepare: dir => message(dir, 'pending', startAt - minuteMs),
    })
    expect(due.of('outbox')).toMatchObject({
      status: 'ok',
      found: expect.stringContaining('1 message waits'),
    })
    const off = await examinedInstance({
      prepare: dir => message(dir, 'pending', startAt - hourMs, endpointId),
    })
    expect(off.of('outbox')).toMatchObject({ status: 'ok', found: 'no pending messages' })
  })

  test('a demo instance that captures its mail and had its clock ahead passes doctor', async () => {
    const { code, of } = await examinedInstance({
      now: startAt - 2 * dayMs,
      prepare: dir => sql(dir, "UPDATE settings SET value = 'dev' WHERE name = 'directory.mode'"),
    })
    expect({ code, status: of('mail')?.status, found: of('mail')?.found }).toEqual({
      code: 0,
      status: 'ok',
      found: expect.stringContaining('capture'),
    })
    expect(of('clock')).toMatchObject({
      status: 'ok',
      found: expect.stringContaining('moved ahead'),
    })
  })

  test('a system that reports no open-file limit gets no open-files finding', async () => {
    expect((await examinedInstance({ openFiles: undefined })).of('open files')).toBeUndefined()
  })
})

describe('examineServer', () => {
  const examineHeld = async (role: string, answer: (() => Response) | undefined) => {
    copies += 1
    const dir = join(root, `copy${copies}`)
    cpSync(sound, dir, { recursive: true })
    const lock = lockDataDir(dir, { pid: process.pid, role, startedAt: startAt })
    if ('heldBy' in lock) throw new Error('the directory is held')
    const socket = answer && listenLocally(dir, new WeakSet(), answer)
    try {
      return await doctor(dir, {})
    } finally {
      await socket?.stop()
      lock.release()
    }
  }
  const health = (status: string, of: string, timestamp = '2026-11-20T15:00:00Z') => ({
    status,
    version: of,
    uptime_seconds: 1,
    timestamp,
  })

  test.each([
    ['answers', 'serve', () => Response.json(health('ok', version)), 'ok', /answers, version/],
    [
      'is of another version',
      'serve',
      () => Response.json(health('ok', '0.0.1')),
      'warning',
      /version 0.0.1/,
    ],
    [
      'is not well',
      'dev',
      () => Response.json(health('unavailable', version), { status: 503 }),
      'error',
      /says it is unavailable/,
    ],
    [
      'holds the directory and does not respond',
      'serve',
      undefined,
      'error',
      new RegExp(`process ${process.pid}.* does not respond`),
    ],
    [
      'is none, but a command works in the directory',
      'command',
      undefined,
      'ok',
      /in use by command/,
    ],
  ] as const)('that %s', async (_, role, answer, status, finding) => {
    const { code, of } = await examineHeld(role, answer)
    expect({ status: of('server')?.status, found: of('server')?.found }).toEqual({
      status,
      found: expect.stringMatching(finding),
    })
    expect(code).toBe(status === 'error' ? 1 : 0)
  })

  test('doctor reports the server time and judges the data age of a demo instance by its clock', async () => {
    const { of } = await examineHeld('dev', () =>
      Response.json(health('ok', version, '2027-01-20T15:00:00Z')),
    )
    expect({ found: of('clock')?.found, status: of('data, intraday_5m')?.status }).toEqual({
      found: '2027-01-20T15:00:00Z',
      status: 'warning',
    })
  })

  test('that was killed leaves a name, and the directory is free', async () => {
    const { of } = await examinedInstance({
      prepare: dir => {
        const lock = lockDataDir(dir, { pid: process.pid, role: 'serve', startedAt: startAt })
        if ('heldBy' in lock) throw new Error('the directory is held')
        const name = readFileSync(join(dir, 'lock.json'))
        lock.release()
        writeFileSync(join(dir, 'lock.json'), name)
      },
    })
    expect(of('server')).toMatchObject({ status: 'ok', found: 'none runs' })
  })
})

test('disk space is judged by the size of the database and WAL, and a WAL that is never checkpointed is reported', () => {
  const dir = join(root, 'space')
  mkdirSync(dir)
  const sized = (name: string, bytes: number) => {
    writeFileSync(join(dir, name), '')
    truncateSync(join(dir, name), bytes)
  }
  const statuses = (freeMegabytes: number, autocheckpoint = 1000, hasServer = true) =>
    examineSpace(dir, freeMegabytes * megabyte, autocheckpoint, hasServer).map(
      finding => finding.status,
    )
  sized('wellhead.db', 1000 * megabyte)
  expect([statuses(2000), statuses(1999), statuses(64), statuses(63)]).toEqual([
    ['ok', 'ok'],
    ['warning', 'ok'],
    ['warning', 'ok'],
    ['error', 'ok'],
  ])
  sized('wellhead.db-wal', 300 * megabyte)
  expect([statuses(364), statuses(363)]).toEqual([
    ['warning', 'warning'],
    ['error', 'warning'],
  ])
  const advice = (autocheckpoint: number, hasServer: boolean) =>
    examineSpace(dir, 1e12, autocheckpoint, hasServer)[1]!.advice
  expect([advice(0, true), advice(1000, true), advice(1000, false)]).toEqual([
    expect.stringContaining('replicator'),
    expect.stringContaining('a reader never ends'),
    expect.stringContaining('start the server'),
  ])
})

test('no secret of the configuration is printed', async () => {
  const secret = 'hunter2-hunter2-hunter2'
  const toml = `[mail]\nprovider = "smtp"\nsmtp_url = "smtp://me:${secret}@"\n[secrets]\nmaster_key = "${secret}"`
  expect((await examinedInstance({ toml })).text).not.toContain(secret)
})
