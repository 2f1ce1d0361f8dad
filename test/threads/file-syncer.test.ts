import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { flushedMeanwhile } from '../../src/threads/file-syncer.ts'

const dir = mkdtempSync(join(tmpdir(), 'flushing-'))
const path = join(dir, 'file')

/** Writes for a while without giving up the thread, as one statement of SQLite does. */
function written(pieces: number): number {
  for (let piece = 0; piece < pieces; piece += 1) {
    writeFileSync(path, Buffer.alloc(2 ** 20, piece), { flag: 'a' })
    Bun.sleepSync(20)
  }
  return pieces
}

test('the work is done as without it, and the file may be removed afterwards', () => {
  writeFileSync(path, '')
  expect(flushedMeanwhile(path, () => written(20))).toBe(20)
  const bytes = readFileSync(path)
  expect(bytes.byteLength).toBe(20 * 2 ** 20)
  expect({ first: bytes[0], last: bytes.at(-1) }).toEqual({ first: 0, last: 19 })
  rmSync(dir, { recursive: true })
})

test('an error in the work that runs during a file sync reaches the caller', () => {
  const other = join(tmpdir(), `flushing-failed-${process.pid}`)
  writeFileSync(other, '')
  const failing = () =>
    flushedMeanwhile(other, () => {
      throw new Error('no room')
    })
  expect(failing).toThrow('no room')
  rmSync(other)
})

test('a missing file does not make a file sync fail other work', async () => {
  const missing = join(tmpdir(), `flushing-missing-${process.pid}`)
  expect(flushedMeanwhile(missing, () => Bun.sleepSync(200))).toBeUndefined()
  await Bun.sleep(100)
})
