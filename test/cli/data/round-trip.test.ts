import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { isArchive, readArchive, writeArchive } from '../../../src/cli/data/archive.ts'
import { archiveSource } from '../../../src/cli/data/pages.ts'
import { Temporary } from '../../../src/cli/exit-codes.ts'
import type { Operator } from '../../../src/cli/operator.ts'
import { pointBlockType } from '../../../src/http/input/body.ts'
import { createApp } from '../../../src/instance/app/app.ts'
import { dayMs, hourMs } from '../../../src/lib/time/instant.ts'
import { openTestInstance, startAt, type TestInstance } from '../../support/instance/instance.ts'
import { noInput } from '../../support/instance/memory-writer.ts'

const root = mkdtempSync(join(tmpdir(), 'wellhead-round-trip-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** An instance that is used by commands. */
function openDemoInstance(now = startAt) {
  const copy = openTestInstance({}, now)
  const local = new WeakSet<Request>()
  const app = createApp(copy.services, { local })
  const call = async (method: string, path: string, body?: unknown) => {
    const request = new Request(`http://localhost${path}`, {
      method,
      ...(body !== undefined && {
        body: body instanceof Uint8Array ? body : JSON.stringify(body),
        headers: {
          'content-type': body instanceof Uint8Array ? pointBlockType : 'application/json',
        },
      }),
    })
    local.add(request)
    const response = await app.handle(request)
    return { status: response.status, body: (await response.json()) as { data: never } }
  }
  const done = async (method: string, path: string, body?: unknown): Promise<never> => {
    const answer = await call(method, path, body)
    expect(answer.status, JSON.stringify(answer.body)).toEqual(expect.any(Number))
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
    return answer.body.data
  }
  const operator: Operator = {
    instance: undefined,
    call,
    fetch: () => Promise.reject(new Error('nothing is streamed')),
    close() {},
  }
  return { copy, done, operator }
}

const csvRow = (line: string): string[] =>
  [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
    quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'),
  )

/**
 * Everything that an instance can have: corrections, deletions, undos, sources, custom series,
 * datasets.
 */
async function fill({ copy, done }: ReturnType<typeof openDemoInstance>) {
  const { clock, services } = copy
  await done('POST', '/admin/v1/series', {
    series: [
      {
        code: 'DESK_GASOIL_USD',
        name: 'Desk',
        category: 'refined_products',
        unit: 'metric_ton',
        currency: 'USD',
        min: 0,
        max: 3000,
        value_time: '16:30',
        time_zone: 'Europe/London',
        release_days: ['mon', 'thu'],
        release_time: '17:00',
        release_holiday: 'before',
        aliases: ['DGO'],
        guards: { jump: 'off', repeat: 'flag' },
        decimals: 3,
        cadence: 'weekly',
        source: 'Desk',
        description: 'Marks of the desk, "Rotterdam"',
        level: 800,
        license_class: 'view',
        attribution: 'By the desk, as marked',
        visible_to: ['11111111-2222-4333-8444-555555555555'],
      },
      {
        code: 'DESK_CALENDAR',
        name: 'Calendar',
        category: 'refined_products',
        unit: 'metric_ton',
        currency: 'EUR',
        calendar: 'london_energy',
        release_lag_days: 1,
      },
      {
        code: 'DESK_OLD',
        name: '=HYPERLINK("http://evil.example","Old")',
        category: 'refined_products',
        unit: 'percent',
        currency: null,
      },
    ],
  })
  await done('PATCH', '/admin/v1/series/WTI_USD', { cadence: 'daily', release_lag_days: 2 })
  const push = (observations: unknown[], source?: string) =>
    done('POST', '/admin/v1/observations', { observations, ...(source && { source }) }) as Promise<{
      batch: number
    }>
  const day = (n: number) => new Date(startAt - n * dayMs).toISOString()
  await push(
    [40, 39, 38].map(n => ({ code: 'WTI_USD', observed_at: day(n), price: 70 + n / 10 })),
    'EIA, weekly',
  )
  await push([
    { code: 'DESK_GASOIL_USD', observed_at: '2026-11-10', price: 801.25, source: 'Desk' },
  ])
  await push([{ code: 'DESK_OLD', observed_at: '2026-11-10', price: 12 }])
  await push([{ code: 'DESK_OLD', observed_at: '2026-11-11', price: 13 }], '=cmd|calc')
  await push([{ code: 'DESK_OLD', observed_at: '2026-11-12', price: -13 }], "'@SUM(A1)")
  clock.advance(hourMs)
  const wrong = await push([{ code: 'WTI_USD', observed_at: day(39), price: 74.5 }], 'Desk')
  clock.advance(hourMs)
  await done('POST', `/admin/v1/batches/${wrong.batch}/undo`, {})
  await done('DELETE', '/admin/v1/values', {
    code: 'WTI_USD',
    observed_at: day(38),
    reason: 'holiday',
  })
  clock.advance(hourMs)
  const removal = (await done('DELETE', '/admin/v1/values', {
    code: 'WTI_USD',
    observed_at: day(40),
    reason: 'x',
  })) as {
    batch: number
  }
  clock.advance(hourMs)
  await done('POST', `/admin/v1/batches/${removal.batch}/undo`, {})
  const feed = services.batches.begin({
    kind: 'feed',
    actor: 'feed ecb',
    feed: { name: 'ecb', periodKind: 0 },
  })
  const { id: euro } = services.catalogue.named('EUR_USD')!
  feed.write([{ seriesId: euro, observedAt: startAt - 5 * dayMs, value: 1.08 }])
  feed
    .of({ name: 'ecb', periodKind: 2 })
    .write([{ seriesId: euro, observedAt: startAt - 6 * dayMs, value: 1.07 }])
  feed.end()
  const kinds = (await done('GET', '/admin/v1/datasets')) as { name: string; example: string }[]
  for (const { name, example } of kinds) {
    const [head = '', ...lines] = example.trimEnd().split('\n')
    const rows = lines.map(line =>
      Object.fromEntries(csvRow(line).map((cell, i) => [head.split(',')[i]!, cell])),
    )
    await done('POST', `/admin/v1/datasets/${name}`, { rows })
    clock.advance(hourMs)
  }
  await done('POST', '/admin/v1/datasets/rig-counts', {
    rows: [
      { date: '2026-11-13', region: 'US', oil: 410, gas: 126, misc: 6 },
      { date: '2020-07', total: 255 },
    ],
  })
  for (const { name, example } of kinds) {
    const [head = '', ...lines] = example.trimEnd().split('\n')
    const columns = head.split(',')
    const changed = corrected[name]
    if (!changed) continue
    const rows = lines.map(line =>
      Object.fromEntries(
        csvRow(line).map((cell, i) => {
          const column = columns[i]!
          return [column, column === changed && cell !== '' ? String(Number(cell) + 1) : cell]
        }),
      ),
    )
    await done('POST', `/admin/v1/datasets/${name}`, { rows })
    clock.advance(hourMs)
  }
  // A day of futures follows its ticks, also where one of them is corrected that is not its last.
  for (const [minute, price] of [
    [1, 70],
    [2, 71],
    [1, 72],
    [3, 73],
    [2, 74],
  ]) {
    const traded = { traded_at: `2026-11-19T15:0${minute}:00Z`, price, volume: 2 }
    await done('POST', '/admin/v1/datasets/futures-ticks', {
      rows: [{ contract: 'WTI_FUTURES_2027_03', ...traded }],
    })
    clock.advance(hourMs)
  }
  // Rows that were there for an hour, one of them of a contract that has no others.
  for (const [name, rows] of Object.entries(undone)) {
    const file = { file_name: `${name}.csv`, dataset: name }
    const { batch } = (await done('POST', '/admin/v1/batches', file)) as { batch: { id: number } }
    await done('POST', `/admin/v1/datasets/${name}`, { rows, batch: batch.id })
    await done('POST', `/admin/v1/batches/${batch.id}/end`, { superseded: 0, rejected: 0 })
    clock.advance(hourMs)
    await done('POST', `/admin/v1/batches/${batch.id}/undo`, {})
    clock.advance(hourMs)
  }
  await done('PATCH', '/admin/v1/series/WTI_USD', { cadence: 'daily', min: 60, max: 74 })
  await done('DELETE', '/admin/v1/series/DESK_OLD')
  await done('POST', '/admin/v1/quarantine', {
    code: 'EUR_USD',
    from: '2026-11-01',
    to: '2026-11-02',
    reason: 'stale, "x"',
  })
  return kinds.map(kind => kind.name)
}

/** Columns that are corrected, of the datasets whose earlier rows are kept. */
const corrected: Readonly<Record<string, string>> = {
  'cftc-positions': 'open_interest',
  'drilling-productivity': 'rig_count',
  'duc-wells': 'duc_count',
  'frac-spreads': 'active_spreads',
  'futures-settlements': 'volume',
  'futures-ticks': 'volume',
  'opec-productions': 'production',
  outlooks: 'value',
  'rig-counts': 'oil',
  'storage-capacities': 'capacity',
}

/** Rows that a batch brings which is undone. */
const undone: Readonly<Record<string, object[]>> = {
  'rig-counts': [
    { date: '2026-11-13', region: 'US', oil: 415, gas: 126, misc: 6 },
    { date: '2026-11-06', region: 'permian', oil: 240, gas: 3, misc: 1 },
  ],
  'opec-productions': [
    { country: 'Angola', month: '2026-09', production: 1_090, unit: 'thousand_barrels_per_day' },
  ],
  'futures-settlements': [
    { contract: 'WTI_FUTURES_2028_12', traded_on: '2026-11-18', settlement: 66.5 },
  ],
}

async function dump({ copy }: ReturnType<typeof openDemoInstance>, name: string, history: boolean) {
  const dir = join(root, name)
  await writeArchive(dir, archiveSource(copy.services.db), { history, now: startAt, err: () => {} })
  const text = (file: string) => {
    const bytes = readFileSync(join(dir, file))
    return file.endsWith('.gz') ? gunzipSync(bytes).toString() : bytes.toString()
  }
  return {
    dir,
    files: new Map(
      readdirSync(dir)
        .sort()
        .map(file => [file, text(file)]),
    ),
  }
}

/** SQL for a JSON text about a series, with its code for its number. */
const namedSeries = (column: string) => `CASE WHEN s.id IS NULL THEN ${column} ELSE
  s.code || CASE json_type(${column}) WHEN 'object' THEN json_remove(${column}, '$.series_id')
  ELSE json_remove(${column}, CASE d.subject WHEN 'outlook_forecasts' THEN '$[1]' ELSE '$[0]' END)
  END END`

/** What answers are made of, without the numbers of series and batches. */
function contentOf({ services }: TestInstance): Map<string, unknown[]> {
  const all = (sql: string) => services.db.query(sql).values()
  const sources = "coalesce(v.kind, ''), coalesce(v.name, ''), coalesce(v.period_kind, 0)"
  const tables: [string, string][] = [
    [
      'observations',
      `SELECT s.code, o.observed_at, o.value, o.recorded_at, ${sources} FROM observations o
      JOIN series s ON s.id = o.series_id LEFT JOIN value_sources v ON v.id = o.source_id ORDER BY 1, 2`,
    ],
    [
      'observation_revisions',
      `SELECT s.code, o.observed_at, o.recorded_at, o.value, o.replaced_at, ${sources}
      FROM observation_revisions o JOIN series s ON s.id = o.series_id LEFT JOIN value_sources v ON v.id = o.source_id
      ORDER BY 1, 2, 3`,
    ],
    [
      'bars',
      `SELECT s.code, b.span, b.starts_at, b.close, b.closed_at, b.recorded_at, b.open, b.high, b.low, b.sum, b.count
      FROM bars b JOIN series s ON s.id = b.series_id ORDER BY 1, 2, 3`,
    ],
    [
      'inventory_records',
      `SELECT r.id, s.code, r.starts_at FROM inventory_records r JOIN series s ON s.id = r.series_id ORDER BY 1`,
    ],
    [
      'outlook_forecasts',
      `SELECT f.id, s.code, f.source, f.period, f.value, f.published_on, f.recorded_at
      FROM outlook_forecasts f JOIN series s ON s.id = f.series_id ORDER BY 1`,
    ],
    [
      'storage_capacities',
      `SELECT s.code, c.effective_on, c.capacity, c.source, c.recorded_at
      FROM storage_capacities c JOIN series s ON s.id = c.series_id ORDER BY 1, 2`,
    ],
    [
      'futures_ticks',
      `SELECT s.code, t.traded_at, t.price, t.volume, t.recorded_at, t.source
      FROM futures_ticks t JOIN series s ON s.id = t.series_id ORDER BY 1, 2`,
    ],
    [
      'dataset_revisions',
      `SELECT d.subject, ${namedSeries('d.key')}, d.recorded_at, d.superseded_at,
        ${namedSeries('d.fields')}
      FROM dataset_revisions d
      LEFT JOIN series s ON s.id = d.fields ->> 'series_id'
      WHERE d.superseded_at > d.recorded_at ORDER BY 1, 2, 3`,
    ],
    ['dataset_coverage', 'SELECT subject, since_at FROM dataset_coverage ORDER BY 1'],
    [
      'futures_days',
      `SELECT s.code, d.* FROM futures_days d JOIN series s ON s.id = d.series_id ORDER BY 1, traded_on`,
    ],
  ]
  const whole = [
    'opec_productions',
    'cot_reports',
    'annotations',
    'congressional_trades',
    'rig_counts',
    'frac_spreads',
    'duc_wells',
    'drilling_productivities',
    'well_permits',
    'well_permit_papers',
    'permit_periods',
    'frac_disclosures',
    'frac_chemicals',
    'diesel_stations',
    'wells',
    'well_production',
    'state_production',
    'surcharges',
    'surcharge_schedules',
  ]
  return new Map([
    ...tables.map(
      ([name, sql]) =>
        [
          name,
          all(sql).map(row => (name === 'futures_days' ? [row[0], ...row.slice(2)] : row)),
        ] as const,
    ),
    ...whole.map(name => [name, all(`SELECT * FROM ${name} ORDER BY 1, 2, 3`)] as const),
  ])
}

test('a full export that is imported into an empty instance reproduces the original', async () => {
  const first = openDemoInstance()
  const kinds = await fill(first)
  const before = await dump(first, 'first', true)
  expect(isArchive(before.dir)).toBe(true)
  // No dataset is forgotten.
  expect(kinds.filter(kind => !before.files.has(`${kind}.csv`))).toEqual([])
  expect(before.files.get('prices.csv.gz')).toContain(',true\n')

  const second = openDemoInstance(first.copy.clock.now())
  const out: string[] = []
  const read = () =>
    readArchive(
      before.dir,
      {},
      {
        operator: second.operator,
        clock: second.copy.clock,
        terminal: undefined,
        stdin: noInput(),
        out: line => void out.push(line),
        err: line => void out.push(line),
      },
    )
  expect([await read(), out.filter(line => /rejected [1-9]|held [1-9]/.test(line))]).toEqual([
    0,
    [],
  ])
  const after = await dump(second, 'second', true)
  expect([...after.files.keys()]).toEqual([...before.files.keys()])
  for (const [file, text] of before.files) expect(after.files.get(file), file).toBe(text)
  const [given, taken] = [contentOf(first.copy), contentOf(second.copy)]
  for (const [table, rows] of given) {
    expect(rows.length, table).toBeGreaterThan(0)
    expect(taken.get(table), table).toEqual(rows)
  }
  expect(second.copy.services.observations.faults()).toEqual([])

  // Once more changes nothing.
  expect(await read()).toBe(0)
  expect(contentOf(second.copy)).toEqual(taken)

  // Reads as of any moment return the same as before.
  const ask = async (copy: TestInstance, path: string) => {
    // A key for each question, or most of them were one too many.
    const answer = await copy.get(path, copy.key())
    expect(answer.status, path).not.toBe(429)
    const text = (await answer.text()).replaceAll(/"request_id":"[^"]*"/g, '"request_id":""')
    return [answer.status, JSON.parse(text)]
  }
  for (const code of ['WTI_USD', 'DESK_GASOIL_USD', 'EUR_USD', 'DESK_OLD'])
    for (let at = startAt; at <= first.copy.clock.now(); at += hourMs / 2) {
      const path = `/v1/prices/past_year?by_code=${code}&interval=raw&as_of=${new Date(at).toISOString()}`
      expect(await ask(second.copy, path), path).toEqual(await ask(first.copy, path))
    }
  // So are rows of datasets that were corrected or taken back; before any, those first recorded.
  const statesOf = {
    '/v1/ei/rig_counts?': 6,
    '/v1/ei/opec_productions?': 3,
    '/v1/futures/exch-wti/historical?contract=2028-12&': 2,
    '/v1/futures/exch-wti/historical?contract=2027-03&': 7,
  }
  for (const [path, states] of Object.entries(statesOf)) {
    const answers = new Set<string>()
    for (let at = startAt; at <= first.copy.clock.now(); at += hourMs / 2) {
      const question = `${path}as_of=${new Date(at).toISOString()}`
      const [status, body] = await ask(first.copy, question)
      expect(await ask(second.copy, question), question).toEqual([status, body])
      answers.add(JSON.stringify([status, body.data ?? body.contracts ?? body]))
    }
    expect({ path, size: answers.size }).toEqual({ path, size: states })
  }
  for (const path of [
    '/v1/ei/oil_inventories',
    '/v1/ei/opec_productions',
    '/v1/ei/rig_counts',
    '/v1/prices/latest?by_code=EUR_USD',
  ])
    expect(await ask(second.copy, path), path).toEqual(await ask(first.copy, path))
}, 60_000)

test('a full import ends with its first file that cannot be written, and says that it may be repeated', async () => {
  const first = openDemoInstance()
  await fill(first)
  const { dir } = await dump(first, 'interrupted', false)
  const { copy, operator } = openDemoInstance(first.copy.clock.now())
  const stopped: string[] = []
  const call: Operator['call'] = (method, path, body) => {
    if (method !== 'POST' || path !== '/admin/v1/batches') return operator.call(method, path, body)
    stopped.push(path)
    return Promise.reject(new Temporary('the server stopped'))
  }
  const env = { clock: copy.clock, terminal: undefined, stdin: noInput(), out() {}, err() {} }
  expect(await readArchive(dir, {}, { ...env, operator: { ...operator, call } })).toBe(75)
  expect(stopped).toHaveLength(1)
})
