import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { whileLocked } from '../../../src/cli/server/locked-directory.ts'
import { remove, temporaryDir } from '../../support/instance/binary.ts'
import { openTestInstance } from '../../support/instance/instance.ts'

const root = temporaryDir()
afterAll(() => remove(root))

/** The files of a directory at the moment when its lock is released. */
async function heldAtRelease(dir: string, isNew: boolean): Promise<string[] | undefined> {
  let files: string[] | undefined
  await whileLocked(
    { runtime: openTestInstance().services, dir, err: () => undefined },
    {
      role: 'serve',
      isNew,
      inUse: () => 'in use',
      async serve(lock) {
        const { release } = lock
        lock.release = () => {
          files = existsSync(dir) ? readdirSync(dir) : undefined
          release()
        }
        return 1
      },
    },
  )
  return files
}

test('a refused start removes its new directory before another process can take it', async () => {
  const dir = join(root, 'new')
  mkdirSync(dir)
  expect(await heldAtRelease(dir, true)).toBe(undefined)
  expect(existsSync(dir)).toBe(false)
})

test('a refused start leaves a directory with other files', async () => {
  const dir = join(root, 'used')
  mkdirSync(dir)
  writeFileSync(join(dir, 'wellhead.toml'), '')
  expect(await heldAtRelease(dir, true)).toContain('wellhead.toml')
  expect(existsSync(join(dir, 'wellhead.toml'))).toBe(true)
})
