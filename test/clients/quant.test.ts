import { beforeAll, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Wellhead } from '../../clients/testkit/src/testkit.ts'
import {
  environmentOf,
  installedIn,
  root,
  runProgram,
  sharedInstance,
} from '../support/interface/packages.ts'
import { needs } from '../support/needs.ts'

const pandas = needs('pandas')

let copy: Wellhead
beforeAll(async () => {
  if (pandas.isMet) copy = await sharedInstance()
}, 600_000)

const page = readFileSync(join(root, 'docs/how-to/research.md'), 'utf8')
const [script = ''] = [...page.matchAll(/^```python\n([\s\S]*?)^```/gm)].map(match => match[1])

test('the script of the page has thirty lines at most', () => {
  expect(script.trim().split('\n').length).toBeLessThanOrEqual(30)
})

pandas.test('loads ten years of fifty codes in one request', async () => {
  const directory = installedIn()
  writeFileSync(join(directory, 'quant.py'), script)
  const { text: out, code } = await runProgram(['python3', 'quant.py'], directory, {
    ...environmentOf(copy),
  })
  expect(code, out).toBe(0)
  const [, rows = '', codes = '', seconds = ''] =
    /(\d+) closes of (\d+) codes from \S+ in ([\d.]+) s/.exec(out) ?? []
  expect(Number(codes)).toBe(50)
  expect(Number(rows)).toBeGreaterThan(50 * 1000)
  expect(Number(seconds)).toBeGreaterThan(0)
  expect(out).toMatch(/WTI_USD +1\.0/)
})
