import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { tortureRows } from '../scripts/torture/rows.ts'

const root = resolve(import.meta.dir, '..')

test('every reliability row names an existing test or script that verifies it', () => {
  expect(new Set(tortureRows.map(row => row.id)).size).toBe(tortureRows.length)
  for (const { id, tests = [], script, open } of tortureRows) {
    expect(tests.length > 0 || script !== undefined || open !== undefined, id).toBe(true)
    const files = [...tests, ...(script ? [join('scripts/torture', script[0]!)] : [])]
    for (const file of files) expect(existsSync(join(root, file)), `${id} ${file}`).toBe(true)
  }
})

test('the document of reliability has every row, in order', () => {
  const document = readFileSync(join(root, 'docs/explanation/reliability.md'), 'utf8')
  const listed = [...document.matchAll(/^\| ([RS]\d\d) \| ([^|]+) \|/gm)].map(([, id, promise]) => [
    id!,
    promise!,
  ])
  expect(listed).toEqual(tortureRows.map(({ id, promise }) => [id, promise]))
})
