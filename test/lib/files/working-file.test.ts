import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { removeLeftFiles, workingFile } from '../../../src/lib/files/working-file.ts'

const dir = mkdtempSync(join(tmpdir(), 'wellhead-working-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

test('a file that an earlier process with the same number left is removed before its name is used again', () => {
  // In a container that starts again, each process has the number of the one before.
  const [left, other] = [workingFile(dir, 'snapshot'), workingFile(dir, 'backup-checked')]
  for (const path of [left, `${left}-wal`, other]) writeFileSync(path, 'half of it')
  expect(workingFile(dir, 'snapshot')).toBe(left)
  // This process has one of another name.
  expect(readdirSync(dir)).toEqual([basename(other)])
  removeLeftFiles(dir)
  expect(readdirSync(dir)).toEqual([])
})

test('a left file that cannot be removed stops nothing', () => {
  const path = join(dir, 'of-another-user.4-1.making')
  mkdirSync(path)
  utimesSync(path, 0, 0)
  expect(workingFile(dir, 'snapshot')).toStartWith(dir)
  expect(readdirSync(dir)).toEqual([basename(path)])
})
