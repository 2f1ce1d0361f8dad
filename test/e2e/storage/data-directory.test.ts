import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { configKeys } from '../../../src/config/keys.ts'
import {
  binary,
  remove,
  run,
  type Server,
  start,
  temporaryDir,
} from '../../support/instance/binary.ts'
import { needs } from '../../support/needs.ts'

const docs = resolve(import.meta.dir, '../../../docs')
const page = (path: string) => readFileSync(join(docs, path), 'utf8')

const root = temporaryDir()
afterAll(() => remove(root))

describe('a data directory that is served', () => {
  const dir = join(root, 'one')
  const data = join(dir, 'data')
  let server: Server
  beforeAll(async () => {
    server = await start('serve', dir)
  }, 60_000)
  afterAll(async () => {
    await server.stop()
  })

  test('holds the files that the page about the disk names, and no other', async () => {
    const [, ...rows] = page('reference/files.md').match(/^\| `.*$/gm)!
    const named = [...rows, page('reference/files.md').match(/^\| `.*$/m)![0]].flatMap(row =>
      [...row.split('|')[1]!.matchAll(/`([^`]+)`/g)].map(match => match[1]!),
    )
    const patterns = named.map(
      name => new RegExp(`^${name.replaceAll('.', '\\.').replaceAll(/\*|(?<=-)N$/g, '.+')}$`),
    )
    const held = new Set(readdirSync(data))
    expect(held.size).toBeGreaterThan(8)
    for (const name of ['wellhead.db', 'wellhead.db-wal', 'lock.json', 'wellhead.sock'])
      expect(held).toContain(name)
    await server.stop()
    for (const name of readdirSync(data)) held.add(name)
    expect(held).toContain('rate-windows.json')
    expect([...held].filter(name => !patterns.some(pattern => pattern.test(name)))).toEqual([])
    server = await start('serve', dir)
  }, 60_000)

  test('is what healthcheck asks, whatever else listens on the default port', async () => {
    const other = await start('serve', join(root, 'other'))
    const port = ['--port', new URL(other.url).port]
    const config = join(root, 'port.toml')
    writeFileSync(config, `[server]\nport = ${port[1]}\n`)
    const asked = (...words: string[]) => run('healthcheck', '--config', config, ...words)
    expect((await asked('--data', data)).code).toBe(0)
    await server.stop()
    const stopped = await asked('--data', data)
    expect({ code: stopped.code, err: stopped.err }).toEqual({
      code: 1,
      err: `No server runs in ${data}.\n`,
    })
    expect((await run('healthcheck', ...port)).code).toBe(0)
    await other.stop()
    server = await start('serve', dir)
  }, 60_000)

  test('a data directory that lost its database is not served again without --new-database', async () => {
    await server.stop()
    for (const tail of ['', '-wal', '-shm'])
      rmSync(join(data, `wellhead.db${tail}`), { force: true })
    const refused = await run('serve', '--data', data, '--port', '0')
    expect({ code: refused.code, out: refused.out }).toEqual({ code: 1, out: '' })
    expect(refused.err).toContain(`${join(data, 'wellhead.db')} is missing`)
    server = await start('serve', dir, '--new-database')
    expect((await server.get('/v1/account')).status).toBe(200)
  }, 60_000)
})

/** The ports that pages and samples for several machines name. */
test('samples of balancers and replicas use the default port', () => {
  const port = String(configKeys['server.port'].default)
  for (const path of [
    'how-to/replicas.md',
    'reference/nats.md',
    'explanation/replication.md',
    'balancers/Caddyfile',
    'balancers/haproxy.cfg',
    'balancers/nginx.conf',
  ]) {
    const ports = [...page(path).matchAll(/\b10\.\d+\.\d+\.\d+:(\d+)/g)].map(match => match[1]!)
    // NATS takes clients at 4222, and other servers of its cluster at 6222.
    const others = ports.filter(each => ![port, '4222', '6222'].includes(each))
    expect({ path, others }).toEqual({ path, others: [] })
  }
})

needs('unshare').test(
  'a read-only file system is reported with the directory',
  async () => {
    const dir = join(root, 'read-only')
    const server = await start('serve', dir)
    await server.stop()
    const data = join(dir, 'data')
    const script = `mount --bind ${dir} ${dir} && mount -o remount,ro,bind ${dir} && ${binary()} serve --port 0 --data ${data}`
    const child = Bun.spawnSync(['unshare', '-m', 'sh', '-c', script], { stderr: 'pipe' })
    expect({ exitCode: child.exitCode, stderr: child.stderr.toString().trim() }).toEqual({
      exitCode: 1,
      stderr: `${data} must be writable; its file system is mounted read-only. Mount it writable, or name another directory with --data.`,
    })
  },
  60_000,
)

const nobody = 65534
const asNobody = (...words: string[]) => {
  const child = Bun.spawnSync(
    ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', binary(), ...words],
    { env: { PATH: process.env.PATH }, cwd: '/', stderr: 'pipe' },
  )
  return { code: child.exitCode, text: child.stdout.toString() + child.stderr.toString() }
}

needs('root', 'setpriv').describe('another user than the owner of a file', () => {
  test('a database with the wrong owner is refused with the chown command to fix it and without a stack trace', async () => {
    const data = join(root, 'given', 'data')
    const server = await start('serve', join(root, 'given'))
    await server.stop()
    for (const name of readdirSync(data)) chownSync(join(data, name), nobody, nobody)
    for (const dir of [root, join(root, 'given'), data]) chownSync(dir, nobody, nobody)
    const path = join(data, 'wellhead.db')
    chownSync(path, 0, 0)
    const { code, text } = asNobody('serve', '--data', data, '--port', '0')
    expect({ code, text: text.trim() }).toEqual({
      code: 1,
      text: `${path} belongs to root and must belong to nobody, as its directory does. As root: chown -R nobody: ${data}`,
    })
    // The remedy exactly as the message gives it.
    const [way] = /chown .*/.exec(text)!
    expect(Bun.spawnSync(['sh', '-c', way]).exitCode).toBe(0)
    expect(asNobody('verify', '--data', data).code).toBe(0)
  }, 60_000)

  test('a command of root that is killed leaves a directory that its owner can serve', async () => {
    const data = join(root, 'given', 'data')
    const rows = Array.from(
      { length: 400_000 },
      (_, i) => `WTI_USD,${70 + (i % 10)},${new Date(i * 60_000).toISOString()}`,
    )
    const file = join(root, 'many.csv')
    writeFileSync(file, ['code,price,observed_at', ...rows].join('\n'))
    const command = [binary(), 'import', file, '--source', 'EIA', '--data', data]
    const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'ignore' })
    const wal = () => statSync(join(data, 'wellhead.db-wal'), { throwIfNoEntry: false })?.size ?? 0
    while (child.exitCode === null && wal() < 500_000) await new Promise(setImmediate)
    child.kill('SIGKILL')
    await child.exited
    expect([child.signalCode, existsSync(join(data, 'commit-mark'))]).toEqual(['SIGKILL', true])
    expect(asNobody('verify', '--data', data).code).toBe(0)
    // Commands open the directory as a server does.
    expect(asNobody('accounts', 'list', '--data', data)).toMatchObject({ code: 0 })
  }, 60_000)

  test('an inaccessible data directory is refused with the name of its owner', async () => {
    const data = join(root, 'closed')
    mkdirSync(data, { mode: 0o700 })
    const { code, text } = asNobody('accounts', 'list', '--data', data)
    expect({ code, text }).toEqual({
      code: 1,
      text: expect.stringContaining(`${data} belongs to root`),
    })
    expect(text).toContain('this is nobody')
  })
})
