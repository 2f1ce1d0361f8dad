import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readDisposable, writeSideFile } from '../../../src/lib/files/side-file.ts'
import { createLog } from '../../../src/lib/log/log.ts'
import { createManualClock } from '../../../src/lib/time/clock.ts'

let dir: string
let lines: string[]
const log = createLog({
  level: 'debug',
  format: 'json',
  write: line => void lines.push(line),
  clock: createManualClock(0),
})

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'wellhead-side-'))
  lines = []
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

describe('writeSideFile', () => {
  test('only its owner may read what it writes, and no part stays', () => {
    const path = join(dir, 'file.json')
    writeSideFile(path, 'one')
    writeSideFile(path, 'two')
    expect(readFileSync(path, 'utf8')).toBe('two')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(dir)).toEqual(['file.json'])
  })

  test('what fails leaves the file that was there', () => {
    const path = join(dir, 'file.json')
    writeSideFile(path, 'one')
    // A directory stands where the part would be written.
    expect(() => writeSideFile(join(path, 'below.json'), 'two')).toThrow()
    expect(readFileSync(path, 'utf8')).toBe('one')
  })
})

describe('readDisposable', () => {
  for (const [name, content] of [
    ['an empty file', ''],
    ['a file of NULs', '\0'.repeat(65)],
    ['half a file', '{"seed":12'],
  ] as const) {
    test(`${name} is moved aside with a warning that names it`, () => {
      const path = join(dir, 'rates.json')
      writeFileSync(path, content)
      expect(readDisposable(path, text => JSON.parse(text) as unknown, log)).toBeUndefined()
      expect(existsSync(path)).toBe(false)
      expect(readFileSync(`${path}.damaged`, 'utf8')).toBe(content)
      expect(lines.join()).toContain('side_file_damaged')
      expect(lines.join()).toContain(path)
    })
  }

  test('a missing disposable file is not reported', () => {
    expect(readDisposable(join(dir, 'none'), text => text, log)).toBeUndefined()
    expect(lines).toEqual([])
  })
})
