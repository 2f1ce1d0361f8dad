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
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../../src/database/database.ts'
import { lockDataDir } from '../../../src/lib/files/directory-lock.ts'
import { freeBytesOf, requireSpace } from '../../../src/lib/files/free-space.ts'
import { workingFile } from '../../../src/lib/files/working-file.ts'
import { backupName } from '../../../src/plans/backup-retention.ts'
import { databaseBeganAt, settingsStore } from '../../../src/topics/operator/store/settings.ts'
import { remove, temporaryDir } from '../../support/instance/binary.ts'
import { command, commandIn, emptyDirectory } from '../../support/instance/command.ts'
import { needs } from '../../support/needs.ts'
import { standInBucket } from '../../support/servers/s3-server.ts'

const root = temporaryDir()
const bucket = standInBucket('backups')
afterAll(async () => {
  await bucket.stop()
  remove(root)
})

let places = 0
function place(settings = '') {
  places += 1
  const dir = join(root, `data-${places}`)
  const kept = join(root, `kept-${places}`)
  emptyDirectory(dir)
  writeFileSync(
    join(dir, 'wellhead.toml'),
    `[backups]
directory = "${kept}"
key = "of the operator"
s3_bucket = "backups"
s3_prefix = "copy-${places}"
s3_endpoint = "${bucket.endpoint}"
s3_access_key = "access"
s3_secret_key = "secret"
${settings}
`,
  )
  return { dir, kept, prefix: `copy-${places}/` }
}
const rowsIn = async (dir: string) =>
  (await command('quarantine', 'list', '--data', dir)).out.match(/reason \d/g) ?? []
const hold = (dir: string, n: number) =>
  command('quarantine', 'add', 'WTI_USD', `2026-11-0${n}`, '--reason', `reason ${n}`, '--data', dir)

describe('a backup', () => {
  test('goes sealed into every place, is listed and checked, and brings a lost directory back', async () => {
    const { dir, kept, prefix } = place()
    await hold(dir, 1)
    const backup = await command('backup', '--data', dir)
    expect({ code: backup.code, err: backup.err }).toEqual({ code: 0, err: '' })
    expect(backup.out).toContain('It does not include master.key')
    const [name] = readdirSync(kept)
    expect(name).toMatch(/^wellhead-\d{8}T\d{6}Z\.db\.sealed$/)
    expect([...bucket.objects.keys()]).toContain(prefix + name)
    expect(readFileSync(join(kept, name!)).includes('SQLite format')).toBe(false)
    expect(readdirSync(dir).filter(each => /making|fetched|checking/.test(each))).toEqual([])

    const listed = await command('backup', 'list', '--data', dir, '--json')
    expect(
      JSON.parse(listed.out)
        .map((row: { place: string }) => row.place)
        .sort(),
    ).toEqual([kept, `s3://backups/${prefix}`].sort())
    expect(
      (await command('backup', 'check', '--data', dir)).out.match(/complete and valid/g),
    ).toHaveLength(2)

    await hold(dir, 2)
    const settings = readFileSync(join(dir, 'wellhead.toml'), 'utf8')
    const copied = join(root, name!)
    copyFileSync(join(kept, name!), copied)
    remove(dir)
    remove(kept)
    mkdirSync(dir)
    writeFileSync(join(dir, 'wellhead.toml'), settings)
    const restored = await command('restore', '--from', 'latest', '--data', dir)
    expect({ code: restored.code, err: restored.err }).toEqual({ code: 0, err: '' })
    expect(restored.out).toContain(`s3://backups/${prefix}: ${name}`)
    expect(await rowsIn(dir)).toEqual(['reason 1'])
    const verified = await command('verify', copied, '--data', dir)
    expect({ code: verified.code, out: verified.out }).toEqual({
      code: 0,
      out: `${copied} is valid\n`,
    })
    const elsewhere = await commandIn({ WELLHEAD_BACKUPS_KEY: 'of another' }, 'verify', copied)
    expect({ code: elsewhere.code, err: elsewhere.err }).toEqual({
      code: 1,
      err: expect.stringContaining(`${copied} does not open: backups.key is another`),
    })
    expect(readdirSync(root).filter(each => /making/.test(each))).toEqual([])
    const lock = lockDataDir(dir, { pid: 1, role: 'serve', startedAt: 0 })
    const occupied = await command('restore', copied, '--data', dir)
    if ('release' in lock) lock.release()
    expect({ code: occupied.code, err: occupied.err }).toEqual({
      code: 75,
      err: expect.stringContaining('is in use'),
    })
    const named = await command('restore', copied, '--data', dir)
    expect({ code: named.code, err: named.err }).toEqual({ code: 0, err: '' })
    expect(await rowsIn(dir)).toEqual(['reason 1'])
    expect(readdirSync(dir).filter(each => /fetched/.test(each))).toEqual([])
    writeFileSync(join(dir, 'wellhead.toml'), '')
    const locked = await command('restore', copied, '--data', dir)
    expect(locked.err).toContain('is encrypted: set backups.key to the key it was encrypted with')
  }, 30_000)

  test('removes what killed backups left in the directory and at a destination, and nothing else', async () => {
    const { dir, kept } = place()
    const ended = Bun.spawn(['true'])
    await ended.exited
    const [, here] = /\.([0-9a-f]+)-\d+\.making$/.exec(workingFile(dir, 'x'))!
    const left = [
      `wellhead-20260101T000000Z.db.${here}-${ended.pid}.making`,
      `backup-checked.${here}-${ended.pid}.making`,
      `promoted.${here}-${ended.pid}.making`,
    ]
    const running = `wellhead-20260101T000000Z.db.${here}-${process.ppid}.making`
    // In another container, no process of this one has a meaning.
    const elsewhere = `wellhead-20260101T000000Z.db.4-${ended.pid}.making`
    const abandoned = `wellhead-20260102T000000Z.db.4-${ended.pid}.making`
    for (const name of [...left, `${left[0]}.part`, running, elsewhere, abandoned])
      writeFileSync(join(dir, name), '')
    utimesSync(join(dir, abandoned), 0, 0)
    mkdirSync(kept)
    const [old, fresh] = ['wellhead-20260101T000000Z.db.part', 'wellhead-20260102T000000Z.db.part']
    for (const name of [old, fresh, 'notes.part']) writeFileSync(join(kept, name), '')
    for (const name of [old, 'notes.part']) utimesSync(join(kept, name), 0, 0)
    expect((await command('backup', '--data', dir)).code).toBe(0)
    // A named file has its own working file.
    const named = join(dir, 'named.db')
    writeFileSync(`${named}.4-${ended.pid}.making`, '')
    expect((await command('backup', named, '--data', dir)).code).toBe(0)
    expect(existsSync(`${named}.4-${ended.pid}.making`)).toBe(true)
    rmSync(`${named}.4-${ended.pid}.making`)
    expect(new Set(readdirSync(dir).filter(name => name.includes('making')))).toEqual(
      new Set([running, elsewhere]),
    )
    expect(
      readdirSync(kept)
        .filter(name => name.endsWith('.part'))
        .sort(),
    ).toEqual(['notes.part', fresh].sort())
  })

  needs('root').test(
    'of root belongs to the owner of its destination, whose server checks it',
    async () => {
      const { dir, kept } = place()
      mkdirSync(kept)
      chownSync(kept, 65534, 65534)
      writeFileSync(join(dir, 'wellhead.toml'), `[backups]\ndirectory = "${kept}"\n`)
      expect((await command('backup', '--data', dir)).code).toBe(0)
      expect(readdirSync(kept).map(name => statSync(join(kept, name)).uid)).toEqual([65534, 65534])
    },
  )

  test('made while the clock was ahead is not the latest one', async () => {
    const { dir, kept } = place()
    writeFileSync(join(dir, 'wellhead.toml'), `[backups]\ndirectory = "${kept}"\n`)
    await hold(dir, 1)
    expect((await command('backup', '--data', dir)).code).toBe(0)
    const [name] = readdirSync(kept).filter(each => each.endsWith('.db'))
    for (const tail of ['', '.sha256'])
      copyFileSync(join(kept, name + tail), join(kept, `wellhead-29990101T000000Z.db${tail}`))
    for (const words of [
      ['backup', 'check'],
      ['restore', '--from', 'latest'],
    ]) {
      const { code, out } = await command(...words, '--data', dir)
      expect([code, out]).toEqual([0, expect.stringContaining(`: ${name}`)])
    }
    // It is better than nothing.
    for (const tail of ['', '.sha256']) rmSync(join(kept, name + tail))
    const { out } = await command('restore', '--from', 'latest', '--data', dir)
    expect(out).toContain('wellhead-29990101T000000Z.db')
  })

  test('that a destination cannot take leaves no checksum there', async () => {
    const { dir, kept } = place()
    writeFileSync(join(dir, 'wellhead.toml'), `[backups]\ndirectory = "${kept}"\n`)
    mkdirSync(kept)
    // The file of the backup cannot be written, because a directory has its name.
    // Its name has the second at which it begins, which comes late on a busy machine.
    const now = Date.now()
    for (let second = 0; second < 60; second += 1)
      mkdirSync(join(kept, `${backupName(now + second * 1000, false)}.part`))
    const { code, err } = await command('backup', '--data', dir)
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(kept) })
    expect(readdirSync(kept).filter(name => name.endsWith('.sha256'))).toEqual([])
  })

  test('that does not fit on the disk is refused before it takes the last room', () => {
    const free = freeBytesOf(root)
    expect(() => requireSpace(root, free + 2 ** 30, 'a backup of wellhead.db')).toThrow(
      /must have \d+ MB of free disk space for a backup of wellhead.db; it has \d+ MB/,
    )
  })

  needs('mount').test('of which a full destination takes nothing, not even a part', async () => {
    const { dir, kept } = place()
    writeFileSync(join(dir, 'wellhead.toml'), `[backups]\ndirectory = "${kept}"\n`)
    mkdirSync(kept)
    Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', kept])
    const { code, err } = await command('backup', '--data', dir)
    const left = readdirSync(kept)
    Bun.spawnSync(['umount', '-l', kept])
    expect({ code, err, left }).toEqual({
      code: 1,
      err: expect.stringMatching(
        /must have \d+ MB of free disk space for wellhead-\d{8}T\d{6}Z\.db; it has 0 MB/,
      ),
      left: [],
    })
  })

  needs('mount').test('has the room of what a killed one left at a full destination', async () => {
    const { dir, kept } = place()
    mkdirSync(kept)
    Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=16m', 'none', kept])
    const old = join(kept, 'wellhead-20260101T000000Z.db.sealed.part')
    writeFileSync(old, Buffer.alloc(freeBytesOf(kept) - 2 ** 17, 1))
    utimesSync(old, 0, 0)
    const { code, err } = await command('backup', '--data', dir)
    const left = readdirSync(kept)
    Bun.spawnSync(['umount', '-l', kept])
    expect({ code, err, left }).toEqual({
      code: 0,
      err: '',
      left: [expect.stringMatching(/Z\.db\.sealed$/)],
    })
  })

  test('of a moment is the newest from before it', async () => {
    const { dir, kept } = place()
    await hold(dir, 1)
    await command('backup', '--data', dir)
    const [name] = readdirSync(kept)
    const old = 'wellhead-20260101T000000Z.db.sealed'
    writeFileSync(join(kept, old), readFileSync(join(kept, name!)))
    const restored = await command('restore', '--from', '2026-02-01T00:00:00Z', '--data', dir)
    expect(restored.out).toContain(old)
    const none = await command('restore', '--from', '2025-02-01T00:00:00Z', '--data', dir)
    expect({ code: none.code, err: none.err }).toEqual({
      code: 1,
      err: expect.stringContaining('no backup from before 2025-02-01T00:00:00Z found in '),
    })
  })

  test('a backup that cannot be opened or fails at one destination is reported, and the other destination keeps it', async () => {
    const { dir, kept, prefix } = place()
    const label = `s3://backups/${prefix}`
    await hold(dir, 1)
    bucket.isDown = true
    const half = await command('backup', '--data', dir)
    bucket.isDown = false
    expect({ code: half.code, err: half.err }).toEqual({
      code: 1,
      err: expect.stringContaining('s3://backups/copy-'),
    })
    const [name] = readdirSync(kept)
    expect(readdirSync(kept).length).toBe(1)
    expect(half.err).toContain(`${name} is complete in ${kept}`)

    const file = join(dir, 'wellhead.toml')
    const settings = readFileSync(file, 'utf8')
    writeFileSync(file, settings.replace(bucket.endpoint, 'http://127.0.0.1:1'))
    const unreachable = `${label}: the storage cannot be reached or gives no reason; check backups.`
    for (const [args, shown] of [
      [['list'], name!],
      [['list', '--json'], name!],
      [['check'], `${kept}: ${name} is complete and valid`],
      [['check', '--json'], name!],
    ] as const) {
      const away = await command('backup', ...args, '--data', dir)
      expect({ args, code: away.code, out: away.out, err: away.err }).toEqual({
        args,
        code: 1,
        out: expect.stringContaining(shown),
        err: expect.stringContaining(unreachable),
      })
    }

    writeFileSync(file, settings)
    expect((await command('backup', '--data', dir)).code).toBe(0)
    const newest = readdirSync(kept).sort().at(-1)!
    writeFileSync(join(kept, newest), 'WELLHEAD-SEALED-1\nnothing of it')
    const checked = await command('backup', 'check', '--data', dir)
    expect({ code: checked.code, out: checked.out, err: checked.err }).toEqual({
      code: 1,
      out: expect.stringContaining(`${label}: ${newest} is complete and valid`),
      err: expect.stringMatching(new RegExp(`${kept}: .*does not open`)),
    })
  })

  test('removes older ones of the same database, and none from before it was begun', async () => {
    const { dir, kept } = place('keep_all = "1h"\nkeep_days = 1\nkeep_weeks = 1')
    mkdirSync(kept)
    const [before, since] = ['wellhead-20250101T000000Z', 'wellhead-20260201T000000Z'].map(
      name => `${name}.db.sealed`,
    )
    for (const name of [before!, since!]) writeFileSync(join(kept, name), 'sealed')
    const db = openDatabase(join(dir, 'wellhead.db'))
    settingsStore(db).set(databaseBeganAt, String(Date.UTC(2026, 0, 1)))
    db.close()
    expect((await command('backup', '--data', dir)).out).toContain('1 older ones were removed')
    const left = readdirSync(kept)
    expect(left).toHaveLength(2)
    expect(left).toContain(before!)
    expect(left).not.toContain(since!)
  })

  test('that is not encrypted has its checksum in every place, and one flipped bit is found in each', async () => {
    const { dir, kept, prefix } = place()
    const settings = join(dir, 'wellhead.toml')
    writeFileSync(settings, readFileSync(settings, 'utf8').replace(/^key = .*$/m, ''))
    await hold(dir, 1)
    expect((await command('backup', '--data', dir)).err).toBe('')
    const [name, beside] = readdirSync(kept).sort()
    expect(beside).toBe(`${name}.sha256`)
    expect(readFileSync(join(kept, beside!), 'utf8')).toMatch(
      new RegExp(`^[0-9a-f]{64}  ${name}\n$`),
    )
    expect([...bucket.objects.keys()]).toContain(`${prefix}${beside}`)
    expect((await command('backup', 'check', '--data', dir)).code).toBe(0)
    const bytes = readFileSync(join(kept, name!))
    // The last byte of a page that SQLite does not read.
    bytes[bytes.length - 1]! ^= 1
    writeFileSync(join(kept, name!), bytes)
    rmSync(settings)
    writeFileSync(settings, `[backups]\ndirectory = "${kept}"\n`)
    const before = readFileSync(join(dir, 'wellhead.db'))
    for (const args of [
      ['backup', 'check'],
      ['restore', '--from', 'latest'],
    ]) {
      const found = await command(...args, '--data', dir)
      expect({ code: found.code, err: found.err }, args[0]).toEqual({
        code: 1,
        err: expect.stringContaining('its SHA-256 checksum is'),
      })
    }
    expect(readFileSync(join(dir, 'wellhead.db')).equals(before)).toBe(true)
    expect(readdirSync(dir).filter(each => /making|fetched|checking/.test(each))).toEqual([])
  })

  test('is not accepted while its checksum cannot be read, and is without one that is not there', async () => {
    const { dir, kept } = place()
    const settings = join(dir, 'wellhead.toml')
    writeFileSync(settings, readFileSync(settings, 'utf8').replace(/^key = .*$/m, ''))
    await hold(dir, 1)
    expect((await command('backup', '--data', dir)).err).toBe('')
    bucket.refuses = /sha256$/
    const refused = await command('backup', 'check', '--data', dir)
    bucket.refuses = undefined
    expect({ code: refused.code, err: refused.err }).toEqual({
      code: 1,
      err: expect.stringMatching(/the checksum of .* cannot be read/),
    })
    expect((await command('backup', 'check', '--data', dir)).code).toBe(0)
    for (const key of bucket.objects.keys()) if (key.endsWith('sha256')) bucket.objects.delete(key)
    for (const name of readdirSync(kept)) if (name.endsWith('sha256')) rmSync(join(kept, name))
    expect((await command('backup', 'check', '--data', dir)).code).toBe(0)
  })

  test('without a place and without a file is refused with what would be one', async () => {
    const dir = join(root, 'bare')
    emptyDirectory(dir)
    const { code, err } = await command('backup', '--data', dir)
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('backups.directory') })
    expect((await command('restore', '--data', dir)).err).toContain('--from latest')
  })
})
