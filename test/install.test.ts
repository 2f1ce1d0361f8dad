import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const dir = mkdtempSync(join(tmpdir(), 'wellhead-install-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

test('the first start reports that it downloads dependencies, and the next one prints nothing', () => {
  mkdirSync(join(dir, 'dependency'))
  const write = (path: string, manifest: object) =>
    writeFileSync(join(dir, path), JSON.stringify(manifest))
  write('dependency/package.json', { name: 'dependency', version: '1.0.0' })
  write('package.json', { name: 'clone', dependencies: { dependency: 'file:./dependency' } })
  const bun = (...args: string[]) =>
    Bun.spawnSync([process.execPath, ...args], { cwd: dir, stderr: 'pipe' })
  expect(bun('install', '--silent').exitCode).toBe(0)
  rmSync(join(dir, 'node_modules'), { recursive: true })

  const install = resolve(import.meta.dir, '../scripts/install.ts')
  const first = bun(install)
  expect(first.exitCode, first.stderr.toString()).toBe(0)
  expect(first.stdout.toString()).toContain('Downloading dependencies')
  const next = bun(install)
  expect({ exitCode: next.exitCode, stdout: next.stdout.toString() }).toEqual({
    exitCode: 0,
    stdout: '',
  })
})
