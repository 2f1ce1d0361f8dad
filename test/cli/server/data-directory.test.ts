import { afterAll, describe, expect, test } from 'bun:test'
import {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { silentEnvironment } from '../../../scripts/docs/program.ts'
import { programOf } from '../../../src/cli/all-commands.ts'
import { lockDataDir } from '../../../src/lib/files/directory-lock.ts'
import { remove, temporaryDir } from '../../support/instance/binary.ts'
import { command, commandIn, emptyDirectory } from '../../support/instance/command.ts'
import { needs } from '../../support/needs.ts'

const root = temporaryDir()
afterAll(() => remove(root))
let places = 0
const place = (name = 'data') => {
  places += 1
  mkdirSync(join(root, String(places)))
  return join(root, String(places), name)
}

const env = silentEnvironment(root)

/** These make a directory, and no other command does. */
const making = ['serve', 'dev', 'promote']

/** A command line of every command that takes a data directory, with what the command needs. */
function commandLines(): string[][] {
  const lines: string[][] = []
  const walk = (parent: Command, words: readonly string[]) => {
    const needed = parent.registeredArguments.filter(argument => argument.required)
    const mandatory = parent.options.filter(option => option.mandatory)
    if (parent.options.some(option => option.long === '--data') && !making.includes(words[0]!))
      lines.push([
        ...words,
        ...needed.map(() => 'x'),
        ...(words[0] === 'restore' ? ['backup.db'] : []),
        ...mandatory.flatMap(option => [option.long!, ...(option.required ? ['x'] : [])]),
      ])
    for (const each of parent.commands) walk(each, [...words, each.name()])
  }
  walk(programOf(env, { set() {} }), [])
  return lines
}

const lines = commandLines().map(words => [words.join(' '), words] as const)

describe('a data directory that is not there', () => {
  test('the table has every command that takes one', () => {
    expect(lines.length).toBeGreaterThan(50)
  })

  test.each(lines)('%s: is an error that names it, and nothing is written', async (_, words) => {
    const dir = place('typo')
    const named = await command(...words, '--data', dir)
    expect(named.code).toBe(1)
    expect(named.out + named.err).toContain(dir)
    expect(named.out + named.err).toMatch(/[Tt]here is no |[Mm]issing/)
    const byVariable = await commandIn({ WELLHEAD_DATA_DIR: dir }, ...words)
    expect([byVariable.code, byVariable.out + byVariable.err]).toEqual([
      1,
      expect.stringContaining(dir),
    ])
    expect(readdirSync(join(dir, '..'))).toEqual([])
  })

  test.each(lines)('%s: writes nothing into a directory of something else', async (_, words) => {
    const dir = place('notes')
    mkdirSync(dir)
    writeFileSync(join(dir, 'notes.txt'), 'a note')
    await command(...words, '--data', dir)
    expect(readdirSync(dir)).toEqual(['notes.txt'])
  })

  test('a missing data directory is reported with the similarly named directory that was probably meant', async () => {
    const dir = emptyDirectory(place('wellhead'))
    const { code, err } = await command('accounts', 'list', '--data', `${dir.slice(0, -1)}`)
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(`Did you mean ${dir}?`) })
  })

  test('import and restore create a missing data directory when --create is given', async () => {
    const dir = place()
    const file = join(dir, '..', 'wti.csv')
    writeFileSync(file, 'code,observed_at,price\nWTI_USD,2026-11-19T15:00:00Z,71.23\n')
    expect((await command('import', file, '--data', dir, '--create')).code).toBe(0)
    const backup = join(dir, '..', 'backup.db')
    expect((await command('backup', backup, '--data', dir)).code).toBe(0)
    const restored = place()
    expect((await command('restore', backup, '--data', restored)).code).toBe(1)
    expect(existsSync(restored)).toBe(false)
    const { code, out } = await command('restore', backup, '--data', restored, '--create')
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringContaining(`restored ${join(restored, 'wellhead.db')} from ${backup}`),
    })
    expect(out).toContain('minutes ago')
  })
})

describe('a database that is empty or gone although its other files exist', () => {
  /** A directory that was served once, by a command at least. */
  async function used() {
    const dir = emptyDirectory(place())
    await command('accounts', 'create', 'ann@example.com', '--data', dir)
    expect(existsSync(join(dir, 'master.key'))).toBe(true)
    for (const tail of ['-wal', '-shm']) rmSync(join(dir, `wellhead.db${tail}`), { force: true })
    return { dir, path: join(dir, 'wellhead.db') }
  }
  test.each([
    ['missing', (path: string) => rmSync(path)],
    ['empty', (path: string) => writeFileSync(path, '')],
  ])(
    '%s: refuses a start and every command by its name, and writes nothing',
    async (state, lose) => {
      const { dir, path } = await used()
      lose(path)
      const before = readdirSync(dir)
      for (const words of [
        ['serve', '--port', '0'],
        ['dev', '--port', '0'],
        ['import', 'x.csv', '--create'],
        ['accounts', 'list'],
        ['verify'],
        ['backup', join(dir, '..', 'copy.db')],
      ]) {
        const { code, err } = await command(...words, '--data', dir)
        expect({ words, code }).toEqual({ words, code: 1 })
        expect(err).toContain(`${path} is ${state}, but master.key`)
        expect(err).toContain('--new-database')
      }
      const doctor = await command('doctor', '--data', dir, '--json')
      expect({ code: doctor.code, out: doctor.out }).toEqual({
        code: 1,
        out: expect.stringContaining(`${path} is ${state}`),
      })
      expect(readdirSync(dir).filter(name => !before.includes(name))).toEqual([])
    },
  )

  test('a directory with nothing but a lock is a new one', async () => {
    const dir = place()
    mkdirSync(dir)
    const lock = lockDataDir(dir, { pid: 1, role: 'serve', startedAt: 0 })
    if ('release' in lock) lock.release()
    expect(readdirSync(dir)).toContain('lock')
    const file = join(dir, '..', 'wti.csv')
    writeFileSync(file, 'code,observed_at,price\nWTI_USD,2026-11-19T15:00:00Z,71.23\n')
    expect((await command('import', file, '--data', dir, '--create')).code).toBe(0)
  })
})

describe('a restore', () => {
  /** A backup with a sealed secret, and the key that opens it. */
  async function sealedBackup() {
    const dir = emptyDirectory(place())
    const { backedUp } = await import('../../support/instance/restored.ts')
    const world = await backedUp()
    const file = join(dir, '..', 'sealed.db')
    copyFileSync(world.file, file)
    const key = readFileSync(join(world.directory(), 'master.key'), 'utf8')
    world.close()
    return { file, key }
  }

  test('of sealed secrets is refused without the key that opens them, with the remedy', async () => {
    const { file, key } = await sealedBackup()
    const dir = place()
    const refused = await command('restore', file, '--data', dir, '--create')
    expect({ code: refused.code, existsSync: existsSync(dir) }).toEqual({
      code: 1,
      existsSync: false,
    })
    for (const way of [
      join(dir, 'master.key'),
      'WELLHEAD_SECRETS_MASTER_KEY_FILE',
      '--without-master-key',
      '--new-master-key',
    ])
      expect(refused.err).toContain(way)
    mkdirSync(dir)
    writeFileSync(join(dir, 'master.key'), 'fedcba9876543210'.repeat(4))
    const other = await command('restore', file, '--data', dir)
    expect({ code: other.code, err: other.err }).toEqual({
      code: 1,
      err: expect.stringContaining('does not open them'),
    })
    expect(existsSync(join(dir, 'wellhead.db'))).toBe(false)
    writeFileSync(join(dir, 'master.key'), key)
    expect((await command('restore', file, '--data', dir)).code).toBe(0)

    const withKey = { WELLHEAD_SECRETS_MASTER_KEY: key }
    const byVariable = await commandIn(withKey, 'restore', file, '--create', '--data', place())
    expect({ code: byVariable.code, err: byVariable.err }).toEqual({ code: 0, err: '' })
    const without = ['restore', file, '--create', '--without-master-key']
    const given = await command(...without, '--data', place())
    expect({ code: given.code, out: given.out }).toEqual({
      code: 0,
      out: expect.stringContaining('There is no master.key'),
    })
  }, 20_000)

  test('a restore from a scheduled backup reports when that backup was made', async () => {
    const dir = emptyDirectory(place())
    const file = join(dir, '..', 'wellhead-20260101T000000Z.db')
    expect((await command('backup', file, '--data', dir)).code).toBe(0)
    const { out } = await command('restore', file, '--data', dir)
    expect(out).toMatch(/, made at 2026-01-01T00:00:00Z \(\d+\.\d days ago\)/)
    expect(out).toContain('The backup has no pending messages.')
    expect(out).toContain(`The database before it is ${join(dir, 'wellhead.db.before-')}`)
  })

  needs('root').test(
    'and any other command that root runs leave every file to the owner of the directory',
    async () => {
      const nobody = 65534
      const dir = emptyDirectory(place())
      const backup = join(dir, '..', 'backup.db')
      expect((await command('backup', backup, '--data', dir)).code).toBe(0)
      const target = place()
      mkdirSync(target, { mode: 0o700 })
      chownSync(target, nobody, nobody)
      const owners = () =>
        readdirSync(target).map(name => {
          const { uid, gid } = statSync(join(target, name))
          return [name, uid, gid]
        })
      expect((await command('restore', backup, '--data', target)).code).toBe(0)
      expect(owners()).toContainEqual(['wellhead.db', nobody, nobody])
      await command('accounts', 'create', 'ann@example.com', '--data', target)
      expect(owners().map(([name]) => name)).toContain('master.key')
      expect(owners().filter(([, uid]) => uid !== nobody)).toEqual([])
      expect(statSync(target).mode & 0o777).toBe(0o700)
    },
  )
})

describe('a start that fails names its file and the remedy', () => {
  const start = (dir: string) => command('serve', '--port', '0', '--data', dir)
  test('the database is a directory', async () => {
    const dir = place()
    mkdirSync(join(dir, 'wellhead.db'), { recursive: true })
    const { code, err } = await start(dir)
    expect({ code, err: err.trim() }).toEqual({
      code: 1,
      err: `${join(dir, 'wellhead.db')} must be the database file; got a directory. Move it away.`,
    })
  })
  test('the data directory is a file', async () => {
    const dir = place()
    writeFileSync(dir, '')
    const { code, err } = await start(dir)
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining(`${dir} must be a directory`),
    })
  })
  test.each([
    ['file is not a database', (path: string) => writeFileSync(path, 'prose'.repeat(2000))],
    [
      'malformed',
      (path: string) => {
        const bytes = readFileSync(path)
        bytes.fill(0xff, 4096, 4096 * 60)
        writeFileSync(path, bytes)
      },
    ],
  ])('the database is damaged: %s', async (fault, damage) => {
    const dir = emptyDirectory(place())
    const path = join(dir, 'wellhead.db')
    damage(path)
    const { code, err } = await start(dir)
    expect(code).toBe(1)
    expect(err).toContain(path)
    expect(err).toContain(fault)
    expect(err).toContain('Restore a backup')
  })
  test('the port is taken', async () => {
    const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('') })
    const dir = place()
    const { port } = other
    const { code, err } = await command('serve', '--port', String(port), '--data', dir)
    await other.stop(true)
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining(`another process listens on 127.0.0.1:${port}`),
    })
    expect(err).toContain('--port')
    expect(existsSync(join(dir, 'wellhead.db'))).toBe(false)
  })
  test('the schema is newer', async () => {
    const dir = emptyDirectory(place())
    const path = join(dir, 'wellhead.db')
    const { Database } = await import('bun:sqlite')
    const db = new Database(path)
    db.run('PRAGMA user_version = 9999')
    db.close()
    const { code, err } = await start(dir)
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining(`${path}: the database has schema`),
    })
  })
})
