import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closeToOthers } from '../../../src/lib/files/private-file.ts'

const dir = mkdtempSync(join(tmpdir(), 'wellhead-private-'))
afterAll(() => rmSync(dir, { recursive: true }))

test('rights of others to a file are taken, and those to devices and pipes stay', () => {
  const [file, pipe] = [join(dir, 'file'), join(dir, 'pipe')]
  writeFileSync(file, '', { mode: 0o644 })
  Bun.spawnSync(['mkfifo', '-m', '666', pipe])
  const rightsOf = (path: string) => statSync(path).mode & 0o777
  const ofNull = rightsOf('/dev/null')
  for (const path of [file, pipe, '/dev/null', join(dir, 'none')]) closeToOthers(path)
  expect({ file: rightsOf(file), pipe: rightsOf(pipe), null: rightsOf('/dev/null') }).toEqual({
    file: 0o600,
    pipe: 0o666,
    null: ofNull,
  })
})
