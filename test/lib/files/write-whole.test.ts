import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, openSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { openSealedFile, sealFile } from '../../../src/lib/files/sealed-file.ts'
import { appendWhole, writeWhole } from '../../../src/lib/files/write-whole.ts'
import {
  createPriceFiles,
  failureText,
} from '../../../src/topics/prices/service/exports/price-files.ts'
import { remove, temporaryDir } from '../../support/instance/binary.ts'
import { needs } from '../../support/needs.ts'

const root = temporaryDir()
const small = join(root, 'small')
mkdirSync(small)
const disk = needs('mount')
if (disk.isMet) Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=4m', 'none', small])
afterAll(() => {
  if (disk.isMet) Bun.spawnSync(['umount', '-l', small])
  remove(root)
})

const ballast = join(small, 'ballast')
const megabyte = 2 ** 20
/** Leaves so much of the disk that the last write finds room for a part of its bytes. */
function leave(bytes: number) {
  rmSync(ballast, { force: true })
  const { bavail, bsize } = statfsSync(small)
  writeFileSync(ballast, Buffer.alloc(bavail * bsize - bytes, 1))
}
const full = expect.objectContaining({ code: 'ENOSPC' })

disk.describe('a disk that has room for a part of the last write', () => {
  test('is full for a write, which would else end without an error', async () => {
    leave(megabyte)
    const bytes = Buffer.alloc(megabyte + 5000, 2)
    expect(() => writeWhole(openSync(join(small, 'a'), 'w'), bytes)).toThrow(full)
    rmSync(join(small, 'a'))
    const file = await open(join(small, 'b'), 'w')
    expect(await appendWhole(file, bytes).catch(error => error)).toEqual(full)
    await file.close()
    rmSync(join(small, 'b'))
  })

  test('keeps no truncated encrypted backup, and does not blame the key of one that is opened', () => {
    const [plain, sealed] = [join(root, 'plain'), join(root, 'sealed')]
    writeFileSync(plain, Buffer.alloc(2 * megabyte - 100, 'readable '))
    leave(megabyte + 4096 * 20)
    expect(() => sealFile(plain, join(small, 'sealed'), 'a key')).toThrow(full)
    rmSync(join(small, 'sealed'))
    sealFile(plain, sealed, 'a key')
    expect(() => openSealedFile(sealed, join(small, 'opened'), 'a key')).toThrow(full)
    rmSync(join(small, 'opened'))
  })

  test('keeps the nightly file of the night before, and names the full disk', async () => {
    rmSync(ballast, { force: true })
    const directory = join(small, 'files')
    const files = createPriceFiles(directory, 'a key', () => 0)
    const wanted = { contents: [{ kind: 'prices', of: '2026' }], failures: [] }
    const rows = (byte: number, bytes: number) => async () => ({
      rows: 1,
      pieces: (async function* () {
        yield new Uint8Array(bytes).fill(byte)
      })(),
    })
    const first = await files.make(wanted, rows(1, 1000))
    leave(megabyte)
    const second = await files.make(wanted, rows(2, megabyte + 5000))
    expect(second.failures).toEqual([
      { kind: 'prices', name: '2026.parquet', reason: expect.stringContaining('the disk is full') },
    ])
    expect(second.failures.map(failureText)).toEqual([
      expect.stringContaining('the nightly file prices/2026.parquet could not be made: '),
    ])
    expect(second.files).toEqual(first.files)
    expect(readdirSync(join(directory, 'prices'))).toEqual(['2026.parquet'])
  })
})

test.each([
  [{ kind: '', name: '' }, 'no nightly file could be made: the disk is full'],
  [
    { kind: 'rig-counts', name: '' },
    'the nightly files of rig-counts could not be listed: the disk is full',
  ],
])('a failure of nightly files is named for what is missing: %j', (files, text) => {
  expect(failureText({ ...files, reason: 'the disk is full' })).toBe(text)
})
