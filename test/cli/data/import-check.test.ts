import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ImportOptions, runImport } from '../../../src/cli/data/import.ts'
import { createImportCheck } from '../../../src/cli/data/import-check.ts'
import { dataOf } from '../../../src/cli/data/writer.ts'
import type { Operator } from '../../../src/cli/operator.ts'
import type { Instance } from '../../../src/instance/instance.ts'
import type { SeriesComparison } from '../../../src/topics/prices/service/checks/comparison.ts'
import { openTestInstance, startAt } from '../../support/instance/instance.ts'
import { noInput } from '../../support/instance/memory-writer.ts'

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
    async run(
      rows: readonly [day: string, price: number][],
      options: ImportOptions = {},
      through: 'file' | 'standard input' = 'file',
    ) {
      files += 1
      clock.advance(1000)
      const path = join(folder, `${files}.csv`)
      const lines = rows.map(([day, price]) => `WTI_USD,${day},${price}`)
      const text = `code,observed_at,price\n${lines.join('\n')}\n`
      writeFileSync(path, text)
      const input = async function* () {
        yield new TextEncoder().encode(text)
      }
      const output: string[] = []
      const code = await runImport([through === 'file' ? path : '-'], options, {
        out: line => void output.push(line),
        err: line => void output.push(line),
        terminal: undefined,
        stdin: through === 'file' ? noInput() : input(),
        clock,
        ...(await dataOf(operator, {
          source: options.source,
          replace: options.replace === true,
        })),
      })
      return { code, said: output.join('\n') }
    },
  }
}

const daily: [string, number][] = Array.from({ length: 300 }, (_, i) => [
  dayOf(i),
  70 + Math.round(100 * Math.sin(i / 20)) / 50,
])

test('a dry run reports the same counts that the import then produces', async () => {
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
  expect(dry.said).toContain(`WTI_USD ${dayOf(199)}T00:00:00Z: revised ${daily[199]![1]} -> 77`)
  expect(dry.said).toContain(`WTI_USD ${dayOf(200)}T00:00:00Z: new 78, after 77`)
  const { total } = services.batchStore
  expect(total({})).toBe(1)
  const done = await run(next)
  expect(done.said).toContain('inserted 1, revised 1, unchanged 1')
  expect(services.flaggedValues.total({ status: 'waiting' })).toBe(1)
})

test('a dry run counts held values and repeated lines once', async () => {
  const { run } = withImports()
  await run(daily.slice(0, 200))
  const rows: [string, number][] = [
    [dayOf(200), 74],
    [dayOf(200), 74],
    [dayOf(201), 74.2],
    [dayOf(202), 742],
  ]
  const dry = await run(rows, { dryRun: true })
  expect(dry.said).toContain('read 4, would be written 2, inserted 2, unchanged 1')
  expect(dry.said).toContain('held 1')
  const json = JSON.parse((await run(rows, { dryRun: true, json: true })).said)
  expect(json).toMatchObject({ would_be_written: 2, inserted: 2, unchanged: 1, held: 1 })
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
  expect({ code: refused.code, said: refused.said }).toEqual({
    code: 1,
    said: expect.stringContaining('Nothing was written; --replace imports it anyway'),
  })
  expect(services.batchStore.total({})).toBe(1)
  const replaced = await run(weekly, { replace: true })
  expect({ code: replaced.code, said: replaced.said }).toEqual({
    code: 0,
    said: expect.stringContaining('revised 43'),
  })
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

test('an old file after a corrected one is reported with the values that go back', async () => {
  const { run } = withImports()
  const corrected = daily.slice(10, 13).map(([day, price]): [string, number] => [day, price + 0.1])
  const note = 'WTI_USD: 3 revised values go back to an earlier value'
  await run(daily)
  expect((await run(corrected)).said).not.toContain('earlier value')
  expect((await run(daily, { dryRun: true })).said).toContain(note)
  const again = await run(daily)
  expect(again).toEqual({ code: 0, said: expect.stringContaining(note) })
  expect(again.said).toContain('revised 3')
  const { said } = await run(corrected.slice(0, 1), { json: true })
  expect(said).toContain('WTI_USD: 1 revised value goes back to an earlier value')
  expect(JSON.parse(said.slice(said.indexOf('{')))).toMatchObject({ revised: 1, reverted: 1 })
  expect((await run(corrected.slice(0, 1))).said).not.toContain('earlier value')
  const replaced = (await run(daily.slice(10, 11), { json: true, replace: true })).said
  expect(JSON.parse(replaced.slice(replaced.indexOf('{')))).not.toHaveProperty('reverted')
})

test('what comes through standard input is judged as a file is, and written from the same bytes', async () => {
  const { run, services } = withImports()
  expect(await run(daily, {}, 'standard input')).toMatchObject({ code: 0 })
  const weekly = daily
    .filter((_, i) => i % 7 === 0)
    .map(([day, price]): [string, number] => [day, price + 0.5])
  expect(await run(weekly, {}, 'standard input')).toEqual({
    code: 1,
    said: expect.stringContaining('WTI_USD: the file has 43 values where 295 are recorded'),
  })
  const many = daily.slice(0, 40).map(([day, price]): [string, number] => [day, price + 0.1])
  expect(await run(many, {}, 'standard input')).toEqual({
    code: 1,
    said: expect.stringContaining('WTI_USD: 40 of its 300 recorded values would be revised'),
  })
  expect(services.batchStore.total({})).toBe(1)
  const few = await run(many.slice(0, 20), {}, 'standard input')
  expect(few).toEqual({ code: 0, said: expect.stringContaining('revised 20') })
  const replaced = await run(weekly, { replace: true }, 'standard input')
  expect(replaced).toEqual({ code: 0, said: expect.stringContaining('revised 43') })
})

test('a file that is imported again leaves corrections, deletions and undone batches as they are', async () => {
  const { run, services } = withImports()
  const { batches, batchStore, catalogue, observations, flaggedValues } = services
  const seriesId = catalogue.named('WTI_USD')!.id
  const source = 'EIA'
  const at = (i: number) => Date.parse(dayOf(i))
  const priceOf = (i: number) => observations.between(seriesId, at(i), at(i) + 1, 1)[0]?.value
  await run(daily.slice(0, 100), { source })
  const wrong = daily.slice(10, 13).map(([day, price]): [string, number] => [day, price + 1])
  await run(wrong, { source })
  batches.undo(batchStore.list({}, 1, 0)[0]!, { actor: 'test' }, false)
  const start = { kind: 'correction', actor: 'test', reason: 'typing' } as const
  batches.correct(start, { seriesId, observedAt: at(20), value: 71.95 })
  batches.remove({ ...start, reason: 'closed' }, seriesId, [at(30)])

  const again = await run(daily.slice(0, 100), { source })
  expect(again.code).toBe(0)
  expect(again.said).toContain('revised 0, unchanged 98')
  expect(again.said).toContain('kept as corrected 2')
  expect(again.said).toContain('2 values are kept as corrected')
  expect(again.said).toContain('wellhead review list --status all')
  const undone = await run(wrong, { source })
  expect(undone.said).toContain('kept as corrected 3')
  expect([priceOf(10), priceOf(20), priceOf(30)]).toEqual([daily[10]![1], 71.95, undefined])
  expect(batchStore.list({}, 1, 0)[0]).toMatchObject({ kept: 3, revised: 0, inserted: 0 })

  const listed = flaggedValues.list({ status: 'kept' }, 10, 0)
  expect(
    listed.map(({ rule, reason }) => [rule, reason.replace(/\d{4}-\d\d-\d\d/, 'DAY')]),
  ).toEqual([
    ...Array.from({ length: 3 }, () => [
      'corrected',
      expect.stringMatching(/ stands by an undo of DAY \(batch \d\)$/),
    ]),
    ...[20, 30].map(i => [
      'corrected',
      i === 20
        ? '71.95 stands by a correction of DAY (batch 4): typing'
        : 'no value stands by a deletion of DAY (batch 5): closed',
    ]),
  ])

  // A point that the source has never sent counts as news.
  const news = await run([[dayOf(20), 72.4]], { source })
  expect({ said: news.said, price: priceOf(20) }).toEqual({
    said: expect.stringContaining('revised 1'),
    price: 72.4,
  })
  const others = await run([daily[30]!], { source: 'Desk' })
  expect({ said: others.said, price: priceOf(30) }).toEqual({
    said: expect.stringContaining('inserted 1'),
    price: daily[30]![1],
  })
  const dry = await run(wrong, { source, dryRun: true })
  expect(dry.said).toContain('would be written 0')
  expect(dry.said).toContain('kept as corrected 3')
  const replaced = await run(wrong, { source, replace: true })
  expect({ said: replaced.said, price: priceOf(10) }).toEqual({
    said: expect.stringContaining('revised 3'),
    price: daily[10]![1] + 1,
  })
  expect(flaggedValues.total({ status: 'kept' })).toBe(0)
})

test('a value that was rejected in review is counted as left out by a decision, and not as held', async () => {
  const { run, services } = withImports()
  await run(daily.slice(0, 100))
  const slip: [string, number][] = [[dayOf(100), 712]]
  const held = await run(slip)
  expect(held.said).toContain('1 value is held for review; wellhead review list shows why')
  const [flag] = services.flaggedValues.list({ status: 'waiting' }, 1, 0)
  services.flaggedValues.decide(flag!.id, 'rejected', 'test', 'cents', startAt)
  const again = await run(slip)
  expect(again.said).toContain('1 value is kept as corrected')
  expect(again.said).not.toContain('held')
})

test('a server that does not count values that go back leaves their number unknown, and not null', () => {
  const check = createImportCheck()
  const { reverted: _, ...uncounted } = {
    code: 'WTI_USD',
    points: 2,
    revised: 1,
    reverted: 0,
    firstAt: 0,
    lastAt: dayMs,
    recordedBetween: 1,
    recorded: 1,
  }
  const part = { inserted: 1, revised: 1, unchanged: 0, held: 0, kept: 0, biggest: [] }
  for (let i = 0; i < 2; i += 1) check.add({ ...part, series: [uncounted as SeriesComparison] })
  expect(JSON.stringify({ reverted: check.reverted() })).toBe('{}')
  expect(check.revertedNotes()).toEqual([])
})
