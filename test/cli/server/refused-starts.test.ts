import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { openDatabase } from '../../../src/database/database.ts'
import { createReplicationState } from '../../../src/replication/store/state.ts'
import { settingsStore } from '../../../src/topics/operator/store/settings.ts'
import { remove, temporaryDir } from '../../support/instance/binary.ts'
import { command, commandIn, emptyDirectory } from '../../support/instance/command.ts'

const root = temporaryDir()
afterAll(() => remove(root))

let places = 0
function place(): string {
  places += 1
  return join(root, `data-${places}`)
}

/** A directory with the database of the first version, which has sealed secrets, and no key. */
function oldest(change = ''): string {
  const dir = place()
  mkdirSync(dir)
  const db = new Database(join(dir, 'wellhead.db'), { create: true })
  db.run(readFileSync(resolve(import.meta.dir, '../../../fixtures/schema-1.sql'), 'utf8'))
  db.run('PRAGMA user_version = 1')
  if (change !== '') db.run(change)
  db.close()
  return dir
}

function current(change: (db: Database) => void): string {
  const dir = emptyDirectory(place())
  const db = openDatabase(join(dir, 'wellhead.db'))
  change(db)
  db.close()
  return dir
}

/** A directory with a database in which the first page of a table is damaged. */
function damaged(table: string): string {
  let [page, pageBytes] = [0, 0]
  const dir = current(db => {
    const root = 'SELECT rootpage FROM sqlite_schema WHERE name = ?'
    page = db.query<{ rootpage: number }, [string]>(root).get(table)!.rootpage
    pageBytes = db.query<{ page_size: number }, []>('PRAGMA page_size').get()!.page_size
  })
  const path = join(dir, 'wellhead.db')
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.fill(0xff, (page - 1) * pageBytes, page * pageBytes))
  return dir
}

/** All files of a directory with a hash of each. The lock holds no data. */
const contentsOf = (dir: string): readonly string[] =>
  readdirSync(dir)
    .filter(name => name !== 'lock')
    .sort()
    .map(name => `${name} ${Bun.hash(readFileSync(join(dir, name)))}`)

const otherKey = 'fedcba9876543210'.repeat(4)
const withoutSecrets =
  'DELETE FROM webhook_account_secrets; UPDATE data_sources SET credentials = NULL; DELETE FROM webhooks'

const refusals: readonly (readonly [
  name: string,
  dir: () => string,
  words: string[],
  text: string,
])[] = [
  ['an older schema without its master key', oldest, ['serve'], 'master.key is missing'],
  [
    'an older schema with another master key',
    () => {
      const dir = oldest()
      writeFileSync(join(dir, 'master.key'), otherKey)
      return dir
    },
    ['serve'],
    'master.key does not open what is sealed in',
  ],
  [
    'a demo instance of an older schema',
    () => oldest(`${withoutSecrets}; INSERT INTO settings VALUES ('directory.mode', 'dev')`),
    ['serve'],
    'it is a demo instance',
  ],
  [
    'real data of an older schema, for the command dev',
    () => oldest(`${withoutSecrets}; INSERT INTO settings VALUES ('directory.mode', 'serve')`),
    ['dev'],
    'it holds real data',
  ],
  [
    'observations of a directory that no one served, for the command dev',
    () => oldest(withoutSecrets),
    ['dev'],
    'it holds observations already',
  ],
  [
    'a newer schema',
    () => current(db => db.run('PRAGMA user_version = 9999')),
    ['serve'],
    'schema version 9999 and this program knows up to',
  ],
  [
    'a database of another program',
    () => {
      const dir = place()
      mkdirSync(dir)
      const db = new Database(join(dir, 'wellhead.db'), { create: true })
      db.run('CREATE TABLE notes (text TEXT)')
      db.run('PRAGMA user_version = 3')
      db.close()
      return dir
    },
    ['serve'],
    'is a database of another program',
  ],
  [
    'a replica',
    () => current(db => createReplicationState(db).set('replica_at', '7')),
    ['serve'],
    'is a replica: serve it with --replica',
  ],
  [
    'a primary that was replaced',
    () => current(db => createReplicationState(db).set('replaced_by', 'epoch 3 began')),
    ['serve'],
    'another instance took over from it, epoch 3 began',
  ],
  ['a damaged table', () => damaged('settings'), ['serve'], '"wellhead verify" lists the damage'],
  [
    'a damaged table, for --replica',
    () => damaged('replication_state'),
    ['serve', '--replica'],
    '"wellhead verify" lists the damage',
  ],
  [
    'a database that is not a replica, for --replica',
    () => current(db => settingsStore(db).set('directory.mode', 'serve')),
    ['serve', '--replica'],
    'holds a database that is not a replica',
  ],
  [
    'an older schema that is not a replica, for --replica',
    oldest,
    ['serve', '--replica'],
    'not a replica',
  ],
  [
    'an older schema without its master key, for a command',
    oldest,
    ['accounts', 'list'],
    'master.key is missing',
  ],
  [
    'an older schema with another master key, for a command',
    () => {
      const dir = oldest()
      writeFileSync(join(dir, 'master.key'), otherKey)
      return dir
    },
    ['accounts', 'list'],
    'master.key does not open what is sealed in',
  ],
]

/** A replica needs these to get as far as its directory. */
const replicaSettings = {
  WELLHEAD_NATS_SERVERS: 'nats://127.0.0.1:1',
  WELLHEAD_REPLICA_PRIMARY: 'http://127.0.0.1:1',
}

describe('a start that is refused for its database', () => {
  test.each(refusals)('%s: is exit code 1, and writes nothing', async (_, make, words, text) => {
    const dir = make()
    const before = contentsOf(dir)
    const env = words.includes('--replica') ? replicaSettings : {}
    const isServer = words[0] === 'serve' || words[0] === 'dev'
    const port = isServer ? ['--port', '0'] : []
    const { code, err } = await commandIn(env, ...words, ...port, '--data', dir)
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(text) })
    expect(err).toContain(dir)
    expect(contentsOf(dir)).toEqual(before)
  })
})

const settings: readonly (readonly [setting: string, env: Record<string, string>])[] = [
  ['mail.smtp_url', { WELLHEAD_MAIL_PROVIDER: 'smtp' }],
  ['mail.smtp_url', { WELLHEAD_MAIL_PROVIDER: 'smtp', WELLHEAD_MAIL_SMTP_URL: 'mail.example.com' }],
  ['mail.resend_key', { WELLHEAD_MAIL_PROVIDER: 'resend' }],
  ['mail.provider', { WELLHEAD_MAIL_PROVIDER: 'capture' }],
  ['sms.twilio_account', { WELLHEAD_SMS_PROVIDER: 'twilio' }],
  ['billing.stripe_key', { WELLHEAD_BILLING_PROVIDER: 'stripe' }],
  [
    'billing.stripe_webhook_secret',
    { WELLHEAD_BILLING_PROVIDER: 'stripe', WELLHEAD_BILLING_STRIPE_KEY: 'sk_test_123' },
  ],
  ['secrets.master_key', { WELLHEAD_SECRETS_MASTER_KEY: 'short' }],
  [
    'nats.credentials_file',
    { WELLHEAD_NATS_SERVERS: 'nats://127.0.0.1:1', WELLHEAD_NATS_CREDENTIALS_FILE: '/no/creds' },
  ],
]

describe('a start that is refused for its settings', () => {
  test.each(settings)('%s: makes no directory', async (setting, env) => {
    const dir = place()
    const { code, err } = await commandIn(env, 'serve', '--port', '0', '--data', dir)
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(setting) })
    expect(readdirSync(root)).not.toContain(dir.slice(root.length + 1))
  })

  test.each(settings)('%s: leaves an older schema as it was', async (setting, env) => {
    const dir = oldest(withoutSecrets)
    const before = contentsOf(dir)
    for (const words of [
      ['serve', '--port', '0'],
      ['accounts', 'list'],
    ]) {
      const { code, err } = await commandIn(env, ...words, '--data', dir)
      expect({ words, code, err }).toEqual({
        words,
        code: 1,
        err: expect.stringContaining(setting),
      })
      expect(contentsOf(dir)).toEqual(before)
    }
  })

  test.each([
    ['server.ready_file', { WELLHEAD_SERVER_READY_FILE: '/no/directory/ready' }, []],
    ['log.file', { WELLHEAD_LOG_FILE: '/no/directory/log' }, []],
    ['nats.servers', replicaSettings, ['--replica']],
    [
      'nats.credentials_file',
      { ...replicaSettings, WELLHEAD_NATS_CREDENTIALS_FILE: '/no/creds' },
      ['--replica'],
    ],
  ] as const)(
    '%s: names the setting, without a code of the system',
    async (setting, env, words) => {
      const dir = place()
      const args = ['serve', ...words, '--port', '0', '--data', dir]
      const { code, err } = await commandIn(env, ...args)
      expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(setting) })
      expect(err).not.toMatch(/\bE[A-Z]{4,}/)
      expect(existsSync(dir)).toBe(false)
    },
  )

  const plain = join(root, 'plain')
  writeFileSync(plain, '')
  const pipe = join(root, 'pipe')
  Bun.spawnSync(['mkfifo', pipe])
  const directoryRight = 'must be a directory that \\w+ can write to'
  test.each([
    ['files.directory', plain, directoryRight, 'which is a file'],
    ['files.directory', join(plain, 'a/b'), directoryRight, 'leads through a file'],
    ['backups.directory', plain, directoryRight, 'which is a file'],
    ['data_sources.directory', plain, 'must be a directory that \\w+ can read', 'which is a file'],
    ['data_sources.directory', join(root, 'no'), 'must be a directory', 'which does not exist'],
    ['server.ready_file', root, 'must be a file in a directory', 'which is a directory'],
    ['server.ready_file', pipe, 'must be a file in a directory', 'which is a pipe or a device'],
    ['oidc.client_secret_file', root, 'must be a file that \\w+ can read', 'which is a directory'],
    ['oidc.client_secret_file', join(root, 'no'), 'must be a file', 'which does not exist'],
    ['nats.credentials_file', root, 'must be a file that \\w+ can read', 'which is a directory'],
    ['plans', root, 'must be a file that can be read', 'is a directory'],
  ])('%s = %s: says what it must be and what is there', async (setting, path, right, found) => {
    const dir = place()
    const variable = `WELLHEAD_${setting.replaceAll('.', '_').toUpperCase()}`
    const env = {
      [variable]: path,
      ...(setting.startsWith('nats.') && { WELLHEAD_NATS_SERVERS: 'nats://127.0.0.1:1' }),
      ...(setting.startsWith('oidc.') && {
        WELLHEAD_OIDC_ISSUER: 'https://id.example.com',
        WELLHEAD_OIDC_CLIENT_ID: 'prices',
      }),
    }
    const { code, err } = await commandIn(env, 'serve', '--port', '0', '--data', dir)
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(new RegExp(`${setting}.*${right}.*${found}`, 'i')),
    })
    expect(err).not.toMatch(/\bE[A-Z]{4,}|wellhead\.db/)
    expect(existsSync(dir)).toBe(false)
  })
  test('directories that are created at their first use refuse no start', async () => {
    const dir = place()
    const [files, backups] = [join(root, 'new/files'), join(root, 'new/backups')]
    const child = commandIn(
      {
        WELLHEAD_FILES_DIRECTORY: files,
        WELLHEAD_BACKUPS_DIRECTORY: backups,
        WELLHEAD_SERVER_READY_FILE: join(dir, 'ready.json'),
        // The last check of a start before it takes the directory.
        WELLHEAD_METRICS_PORT: '0',
        WELLHEAD_SERVER_HOST: '192.0.2.1',
      },
      'serve',
      '--port',
      '0',
      '--data',
      dir,
    )
    expect((await child).err).toContain('server.host must be an address of this machine')
  })

  test('a taken port of metrics: leaves no account whose key no one has seen', async () => {
    const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('') })
    const dir = place()
    const { code, err } = await commandIn(
      { WELLHEAD_METRICS_PORT: String(other.port) },
      'serve',
      '--port',
      '0',
      '--data',
      dir,
    )
    await other.stop(true)
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining(`metrics.port must be a free port`),
    })
    expect(existsSync(dir)).toBe(false)
  })
})

test('promote refuses --without-master-key where it reads no stream', async () => {
  const dir = oldest(withoutSecrets)
  const both = ['--from-here', '--without-master-key']
  const { code, err } = await command('promote', ...both, '--data', dir)
  expect(code).not.toBe(0)
  expect(err).toContain('--without-master-key')
  expect(readdirSync(dir)).toEqual(['wellhead.db'])
})

test.each([[['accounts', 'list']], [['promote', '--from-here']]])(
  'the command %j stores the database before it upgrades it, as a server does',
  async words => {
    const dir = oldest(withoutSecrets)
    expect((await command(...words, '--data', dir)).code).toBe(0)
    const kept = new Database(join(dir, 'wellhead.db.schema-1'), { readonly: true })
    expect(kept.query('PRAGMA user_version').get()).toEqual({ user_version: 1 })
    kept.close()
  },
)
