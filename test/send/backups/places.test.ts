import { expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { directoryPlace } from '../../../src/send/backups/places.ts'

test('a backup is written to a new file, and not to what its name is linked to', async () => {
  const root = mkdtempSync(join(tmpdir(), 'wellhead-places-'))
  const [kept, backup, other] = [root, join(root, 'made'), join(root, 'other')]
  writeFileSync(backup, 'a backup')
  writeFileSync(other, 'of another program')
  const name = 'wellhead-20261120T150000Z.db'
  symlinkSync(other, join(kept, `${name}.part`))
  await directoryPlace(kept).put(backup, name)
  expect(readFileSync(other, 'utf8')).toBe('of another program')
  expect(readFileSync(join(kept, name), 'utf8')).toBe('a backup')
  expect(readdirSync(kept).sort()).toEqual(['made', 'other', name])
  rmSync(root, { recursive: true })
})
