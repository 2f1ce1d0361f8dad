import { afterAll, expect, test } from 'bun:test'
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { flushWhileWritten } from '../../../src/lib/files/flush-while-written.ts'
import { remove, temporaryDir } from '../../support/instance/binary.ts'
import { until } from '../../support/until.ts'

const dir = temporaryDir()
afterAll(() => remove(dir))

const linkOf = (file: string): string | undefined => {
  try {
    return readlinkSync(`/proc/self/fd/${file}`)
  } catch {
    return undefined
  }
}
const isOpen = (path: string) => readdirSync('/proc/self/fd').some(file => linkOf(file) === path)

test('a file is held open for syncing while it is written, and no longer', async () => {
  const path = join(dir, 'long')
  writeFileSync(path, 'text')
  const { promise, resolve } = Promise.withResolvers<string>()
  const written = flushWhileWritten(path, promise)
  await until('the file is synced', () => isOpen(path))
  resolve('done')
  expect(await written).toBe('done')
  await until('the file is closed', () => !isOpen(path), 5_000)
})

test('an error of the writer is passed on, and ends the syncing', async () => {
  const path = join(dir, 'broken')
  writeFileSync(path, 'text')
  const { promise, reject } = Promise.withResolvers<void>()
  const written = flushWhileWritten(path, promise)
  await until('the file is synced', () => isOpen(path))
  reject(new Error('disk full'))
  await expect(written).rejects.toThrow('disk full')
  await until('the file is closed', () => !isOpen(path), 5_000)
})
