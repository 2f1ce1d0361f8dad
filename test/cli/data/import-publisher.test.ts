import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ImportOptions, runImport } from '../../../src/cli/data/import.ts'
import { dataOf } from '../../../src/cli/data/writer.ts'
import type { Operator } from '../../../src/cli/operator.ts'
import type { Instance } from '../../../src/instance/instance.ts'
import { openTestInstance } from '../../support/instance/instance.ts'
import { noInput } from '../../support/instance/memory-writer.ts'

const folder = mkdtempSync(join(tmpdir(), 'wellhead-publisher-'))
afterAll(() => rmSync(folder, { recursive: true }))

const rates = 'Date,USD,JPY,GBP,\n2026-11-18,1.0932,168.42,0.8611,\n'
const fred = 'observation_date,DCOILWTICO\n2026-11-18,71.23\n'
const agency = JSON.stringify({
  response: {
    frequency: 'daily',
    data: [{ period: '2026-11-18', series: 'RBRTE', value: '75.10', units: '$/BBL' }],
  },
})

test.each<[string, string, string, ImportOptions, string | undefined]>([
  ['rates of the European Central Bank', rates, 'EUR_USD', {}, 'ECB'],
  ['a download from FRED', fred, 'WTI_USD', {}, 'FRED'],
  ['an answer of the EIA', agency, 'BRENT_CRUDE_USD', {}, 'EIA'],
  ['another name that was given with it', rates, 'EUR_USD', { source: 'Desk' }, 'Desk'],
  [
    'columns that were named by hand',
    rates,
    'EUR_USD',
    { map: 'observed_at=Date,EUR_USD=USD' },
    undefined,
  ],
])('the values of %s are of that source', async (_, text, code, options, expected) => {
  const { services, clock } = openTestInstance()
  const operator = { instance: { services } as Instance } as Operator
  const path = join(folder, `${Bun.hash(text)}.csv`)
  writeFileSync(path, text)
  const output: string[] = []
  const exit = await runImport([path], options, {
    out: line => void output.push(line),
    err: line => void output.push(line),
    terminal: undefined,
    stdin: noInput(),
    clock,
    ...(await dataOf(operator, { source: options.source })),
  })
  expect({ exit, output }).toEqual({ exit: 0, output })
  const { id } = services.catalogue.named(code)!
  expect(services.valueSources.ofNewest(id)?.name).toBe(expected as string)
  const [batch] = services.batchStore.list({}, 1, 0)
  expect(services.valueSources.byId(batch!.sourceId ?? 0)?.name).toBe(expected as string)
})
