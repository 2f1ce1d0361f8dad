import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSeededIds } from '../../../src/lib/ids.ts'
import { masterKeyOf, storedMasterKey } from '../../../src/lib/secrets/master-key.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'wellhead-key-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

describe('masterKeyOf', () => {
  test('the first start makes a key, for its owner alone, and later ones read it', () => {
    const key = masterKeyOf(dir, '', createSeededIds(1))
    expect(key).toMatch(/^[0-9a-f]{64}$/)
    expect(statSync(join(dir, 'master.key')).mode & 0o777).toBe(0o600)
    expect(masterKeyOf(dir, '', createSeededIds(2))).toBe(key)
  })

  for (const [name, content] of [
    ['65 NULs, as a power cut leaves them', '\0'.repeat(65)],
    ['nothing', ''],
    ['a short word', 'secret\n'],
    ['one character many times', 'a'.repeat(64)],
  ] as const) {
    test(`a file that holds ${name} is refused by its name, and stays as it is`, () => {
      const path = join(dir, 'master.key')
      writeFileSync(path, content)
      expect(() => masterKeyOf(dir, '', createSeededIds(1))).toThrow(path)
      expect(readFileSync(path, 'utf8')).toBe(content)
    })
    test(`a setting that holds ${name} is refused by its name`, () => {
      if (content === '') return
      expect(() => masterKeyOf(dir, content, createSeededIds(1))).toThrow('secrets.master_key')
    })
  }

  test('no key is made where one is only read', () => {
    expect(storedMasterKey(dir, '')).toBeUndefined()
    expect(existsSync(join(dir, 'master.key'))).toBe(false)
  })
})
