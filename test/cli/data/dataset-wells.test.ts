import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runDatasetImport } from '../../../src/cli/data/dataset.ts'
import type { Operator } from '../../../src/cli/operator.ts'
import { createApp } from '../../../src/instance/app/app.ts'
import { openTestInstance } from '../../support/instance/instance.ts'
import { noInput } from '../../support/instance/memory-writer.ts'
import { json } from '../../support/interface/shape.ts'
import { prefix, type Row, sample, second } from '../../support/topics/wells.ts'

describe('import --dataset for wells, their months and states', () => {
  const folder = mkdtempSync(join(tmpdir(), 'wellhead-wells-test-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** The command over an instance, through the operator's interface as in the data directory. */
  function openWellFiles() {
    const own = openTestInstance()
    const local = new WeakSet<Request>()
    const app = createApp(own.services, { local })
    const operator: Operator = {
      instance: undefined,
      async call(method, path, body) {
        const headers = { 'content-type': 'application/json' }
        const request = new Request(`http://localhost${path}`, {
          method,
          ...(body !== undefined && { body: JSON.stringify(body), headers }),
        })
        local.add(request)
        const response = await app.handle(request)
        return { status: response.status, body: await response.json() }
      },
      fetch: () => Promise.reject(new Error('nothing is streamed')),
      close() {},
    }
    const load = async (dataset: string, name: string, lines: readonly string[]) => {
      const path = join(folder, name)
      writeFileSync(path, `${lines.join('\n')}\n`)
      const out: string[] = []
      const write = (line: string) => void out.push(line)
      const code = await runDatasetImport(
        [path],
        { dataset },
        {
          operator,
          clock: own.clock,
          terminal: undefined,
          stdin: noInput(),
          out: write,
          err: write,
        },
      )
      return { code, out: out.join('\n'), rejected: `${path}.rejected` }
    }
    return { own, load }
  }

  test('go in but for their bad rows, which come back with their reasons and go in when corrected', async () => {
    const { own, load } = openWellFiles()
    const token = own.key()
    const header = 'api_number,month,oil_bbl,gas_mcf,days_producing,operator,well_name'
    const { code, out, rejected } = await load('well-production', 'months.csv', [
      header,
      '42-329-40001,2026-07,21840,45210,31,Juniper Ridge,BRADFORD 3H',
      '42-329-40001,2026-08,18975,40112,32,,',
      '42-329-40001,2026-09,-5,0,30,,',
      '99-329-40001,2026-07,1,1,1,,',
      '42-329-40002,2026-08,100,,31,,',
    ])
    expect({ code, out }).toEqual({
      code: 2,
      out: expect.stringContaining(
        'read 5, inserted 2, revised 0, unchanged 0, blank 0, rejected 3',
      ),
    })
    expect(out).toContain('months.csv:3: days_producing 32 is not a number from 0 to 31')
    const text = readFileSync(rejected, 'utf8')
    const again = text
      .replace(',32,', ',31,')
      .replace(',-5,', ',5,')
      .replaceAll('99-329', '42-329')
      .trim()
      .split('\n')
    expect(await load('well-production', 'corrected.csv', again)).toMatchObject({
      code: 0,
      out: expect.stringContaining('inserted 2, revised 1'),
    })
    const well = await json<{ data: { data: Row[] } & Row }>(
      own.get(`${prefix}/wells/42-329-40001`, token),
    )
    expect(well.data).toMatchObject({
      operator: 'Juniper Ridge',
      well_name: 'BRADFORD 3H',
      county: null,
      count: 3,
    })
    expect(
      well.data.data.map(row => [row.period, row.oil_bbl, row.days_producing, row.source]),
    ).toEqual([
      ['2026-07', 1, 1, 'import'],
      ['2026-08', 18975, 31, 'import'],
      ['2026-09', 5, 30, 'import'],
    ])
    const top = await json<{ data: { producers: Row[] } }>(
      own.get(`${prefix}/top-producers`, token),
    )
    expect(
      top.data.producers.map(producer => [
        producer.api_number,
        producer.operator,
        producer.total_oil_bbl,
      ]),
    ).toEqual([
      ['42329400010000', 'Juniper Ridge', 18981],
      ['42329400020000', 'Unknown', 100],
    ])
  })

  test('imported states and wells are returned by the API with the imported values', async () => {
    const { own, load } = openWellFiles()
    const token = own.key()
    expect(
      (
        await load('state-production', 'states.csv', [
          'state,month,oil_bbl,gas_mcf',
          'tx,2026-08,310,600',
          'US,2026-08,310,600',
        ])
      ).code,
    ).toBe(2)
    const states = await json<{ data: Row }>(own.get(`${prefix}/states`, token))
    expect(states.data).toEqual({
      period: '2026-08',
      count: 1,
      states: [
        { state: 'TX', period: '2026-08', oil_bbl: 310, oil_bpd: 10, gas_mcf: 600, boe: 410 },
      ],
    })
    const lines = [
      'api_number,operator,permit_date,first_production_date',
      `${sample},Juniper Ridge,2026-01-01,2026-04-11`,
      `${second},Juniper Ridge,2026-01-01,`,
    ]
    expect((await load('wells', 'wells.csv', lines)).code).toBe(0)
    const cycle = await json<{ data: Row & { stage_breakdown: Row } }>(
      own.get(`${prefix}/cycle-time`, token),
    )
    expect(cycle.data).toMatchObject({
      well_count: 2,
      wells_with_cycle_data: 1,
      cycle_time_stats: { median_days: 100 },
    })
    expect(cycle.data.stage_breakdown).toEqual({
      permit_to_spud: null,
      spud_to_completion: null,
      completion_to_first_production: null,
    })
  })
})
