import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dependencies } from '../package.json' with { type: 'json' }
import { writeNotices } from '../scripts/notices.ts'

const dir = mkdtempSync(join(tmpdir(), 'notices-'))
afterAll(() => rmSync(dir, { recursive: true }))

test('the notices beside the binary name every library in it, in the version that is in it, with a licence', () => {
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
