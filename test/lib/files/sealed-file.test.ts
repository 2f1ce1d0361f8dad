import { afterAll, expect, test } from 'bun:test'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSealedFile, sealFile } from '../../../src/lib/files/sealed-file.ts'
import { remove, temporaryDir } from '../../support/instance/binary.ts'

const dir = temporaryDir()
afterAll(() => remove(dir))
const [plain, sealed, opened] = ['plain', 'sealed', 'opened'].map(name => join(dir, name)) as [
  string,
  string,
  string,
]
const megabyte = 2 ** 20

for (const bytes of [0, 1, megabyte - 1, megabyte, megabyte + 1, 3 * megabyte]) {
  test(`a file of ${bytes} bytes comes back under its key, and under no other`, () => {
    writeFileSync(plain, Buffer.alloc(bytes, 'readable '))
    sealFile(plain, sealed, 'a key')
    expect(readFileSync(sealed).includes('readable')).toBe(false)
    expect(statSync(sealed).mode & 0o077).toBe(0)
    openSealedFile(sealed, opened, 'a key')
    expect(readFileSync(opened).equals(readFileSync(plain))).toBe(true)
    expect(() => openSealedFile(sealed, opened, 'another')).toThrow('does not open')
  })
}

test('a sealed file that was truncated, changed or reassembled does not open', () => {
  writeFileSync(plain, Buffer.alloc(3 * megabyte, 'readable '))
  sealFile(plain, sealed, 'a key')
  const whole = readFileSync(sealed)
  const head = 18 + 16
  const piece = megabyte + 16
  const changed = Buffer.from(whole)
  changed[head + 100]! ^= 1
  const swapped = Buffer.concat([
    whole.subarray(0, head),
    whole.subarray(head + piece, head + 2 * piece),
    whole.subarray(head, head + piece),
    whole.subarray(head + 2 * piece),
  ])
  for (const damaged of [
    whole.subarray(0, head + piece),
    whole.subarray(0, -1),
    changed,
    swapped,
  ]) {
    writeFileSync(sealed, damaged)
    expect(() => openSealedFile(sealed, opened, 'a key')).toThrow('does not open')
  }
})
