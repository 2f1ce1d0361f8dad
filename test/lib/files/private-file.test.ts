import { afterAll, expect, test } from 'bun:test'
import { lchownSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closeToOthers } from '../../../src/lib/files/private-file.ts'
import { needs } from '../../support/needs.ts'

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

needs('root').test('root changes no rights through the link of another user', () => {
  const [file, own, other] = [join(dir, 'linked'), join(dir, 'own'), join(dir, 'other')]
  writeFileSync(file, '', { mode: 0o644 })
  for (const link of [own, other]) symlinkSync(file, link)
  lchownSync(other, 65534, 65534)
  closeToOthers(other)
  expect(statSync(file).mode & 0o777).toBe(0o644)
  closeToOthers(own)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})
