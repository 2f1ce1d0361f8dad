import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ImportOptions, runImport } from '../../src/cli/data/import.ts'
import { dataOf } from '../../src/cli/data/writer.ts'
import type { Operator } from '../../src/cli/operator.ts'
import type { Instance } from '../../src/instance.ts'
import { openTestInstance, startAt } from '../support/instance/instance.ts'
import { noInput } from '../support/instance/memory-writer.ts'

const folder = mkdtempSync(join(tmpdir(), 'wellhead-check-'))
afterAll(() => rmSync(folder, { recursive: true }))
const dayMs = 86_400_000
const dayOf = (i: number) => new Date(startAt - (400 - i) * dayMs).toISOString().slice(0, 10)

/** Runs imports into one instance, as a command does that opens the directory itself. */
function withImports() {
  const { services, clock } = openTestInstance()
  const operator = { instance: { services } as Instance } as Operator
  let files = 0
  return {
    services,
    async run(rows: readonly [day: string, price: number][], options: ImportOptions = {}) {
      files += 1
      const path = join(folder, `${files}.csv`)
      const lines = rows.map(([day, price]) => `WTI_USD,${day},${price}`)
      writeFileSync(path, `code,observed_at,price\n${lines.join('\n')}\n`)
      const output: string[] = []
      const code = await runImport([path], options, {
        out: line => void output.push(line),
        err: line => void output.push(line),
        terminal: undefined,
        stdin: noInput(),
        clock,
        ...(await dataOf(operator)),
      })
      return { code, said: output.join('\n') }
    },
  }
}

const daily: [string, number][] = Array.from({ length: 300 }, (_, i) => [
  dayOf(i),
  70 + Math.round(100 * Math.sin(i / 20)) / 50,
])

test('a dry run tells what the import then does', async () => {
  const { run, services } = withImports()
  await run(daily.slice(0, 200))
  const next: [string, number][] = [
    [dayOf(198), daily[198]![1]],
    [dayOf(199), 77],
    [dayOf(200), 78],
    [dayOf(201), 780],
  ]
  const dry = await run(next, { dryRun: true })
  expect(dry.said).toContain('would be written 2, inserted 1, revised 1, unchanged 1')
  expect(dry.said).toContain('held 1')
  expect(dry.said).toContain(`WTI_USD ${dayOf(199)}T00:00:00Z: ${daily[199]![1]} -> 77`)
  const { total } = services.batchStore
  expect(total({})).toBe(1)
  const done = await run(next)
  expect(done.said).toContain('inserted 1, revised 1, unchanged 1')
  expect(services.doubtedValues.total({ status: 'waiting' })).toBe(1)
})

test('a coarser file does not replace a finer one unasked', async () => {
  const { run, services } = withImports()
  await run(daily)
  const weekly = daily
    .filter((_, i) => i % 7 === 0)
    .map(([day, price]): [string, number] => [day, price + 0.5])
  const dry = await run(weekly, { dryRun: true })
  expect(dry.said).toContain('WTI_USD: the file has 43 values where 295 are recorded')
  const refused = await run(weekly)
  expect([refused.code, refused.said]).toEqual([
    1,
    expect.stringContaining('Nothing was written; --replace does it all the same'),
  ])
  expect(services.batchStore.total({})).toBe(1)
  const replaced = await run(weekly, { replace: true })
  expect([replaced.code, replaced.said]).toEqual([0, expect.stringContaining('revised 43')])
})

test('a file that revises more than a tenth of a series is refused, a few corrections are not', async () => {
  const { run } = withImports()
  await run(daily)
  const many = daily.slice(0, 40).map(([day, price]): [string, number] => [day, price + 0.1])
  expect(await run(many)).toEqual({
    code: 1,
    said: expect.stringContaining('WTI_USD: 40 of its 300 recorded values would be revised'),
  })
  const few = daily.slice(0, 20).map(([day, price]): [string, number] => [day, price + 0.1])
  expect((await run(few)).code).toBe(0)
})
