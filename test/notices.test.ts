import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dependencies } from '../package.json' with { type: 'json' }
import { writeNotices } from '../scripts/notices.ts'

const dir = mkdtempSync(join(tmpdir(), 'notices-'))
afterAll(() => rmSync(dir, { recursive: true }))

test('the notices next to the binary name the runtime and the code linked into it, with their terms', () => {
  const target = join(dir, 'engine.txt')
  writeNotices(target)
  const [bun, engine, sqlite] = readFileSync(target, 'utf8').split(`\n${'-'.repeat(80)}\n`)
  const { versions } = process
  expect(bun!.trim()).toStartWith(`bun ${Bun.version} (MIT)`)
  // Every statically linked library is named; the licences of two of them require it.
  for (const library of ['boringssl', 'mimalloc', 'tinycc', 'libicu'])
    expect(bun).toContain(library)
  expect(bun).toContain('GNU LESSER GENERAL PUBLIC LICENSE')
  expect(bun).toContain('Apache License')
  expect(engine!.trim()).toStartWith(`JavaScriptCore ${versions.webkit} (LGPL-2.0-or-later)`)
  expect(engine).toContain('GNU LIBRARY GENERAL PUBLIC LICENSE')
  expect(engine).toContain('https://github.com/oven-sh/WebKit')
  expect(sqlite!.trim()).toStartWith(`SQLite ${versions.sqlite} (blessing)`)
})

test('the notices next to the binary name every bundled library with its exact version and a licence', () => {
  const target = join(dir, 'notices.txt')
  writeNotices(target)
  const titles = readFileSync(target, 'utf8')
    .split(`\n${'-'.repeat(80)}\n`)
    .map(text => text.trim().split('\n')[0]!)
  for (const [name, version] of Object.entries(dependencies)) {
    expect(titles.filter(title => title.startsWith(`${name} ${version} (`))).toHaveLength(1)
  }
  // Not one of ours: what a library of ours needs.
  expect(titles.some(title => title.startsWith('memoirist '))).toBe(true)
  expect(titles.filter(title => title.endsWith('(no licence named)'))).toEqual([])
})
