import { expect, test } from 'bun:test'
import { isoInstant } from '../../../../src/lib/time/instant.ts'
import { datasetOfTable } from '../../../../src/topics/changes/store/dataset-versions.ts'
import { openTestInstance, startAt } from '../../../support/instance/instance.ts'

/** Tables with a row for every value, or every write: none is read whole for a request. */
const large = [
  'observations',
  'observation_revisions',
  'price_changes',
  'change_events',
  'dataset_changes',
  'dataset_revisions',
  'late_rows',
  'outbox',
  ...datasetOfTable.keys(),
]

test('changes, vintages and formulas are read by indexes of their times', async () => {
  const instance = openTestInstance()
  const { db } = instance.services
  const statements = new Set<string>()
  const prepare = db.query.bind(db)
  db.query = ((sql: string) => {
    statements.add(sql)
    return prepare(sql)
  }) as typeof db.query
  const token = instance.key()
  const operator = { authorization: `Bearer ${instance.services.adminTokens.rotate()}` }
  const operate = async (path: string, body: unknown) => {
    instance.clock.advance(60_000)
    const answer = await instance.send('POST', `/admin/v1/${path}`, body, undefined, operator)
    expect({ path, ok: answer.ok }).toEqual({ path, ok: true })
  }
  for (const code of ['WTI_USD', 'BRENT_CRUDE_USD'])
    instance.record(code, [60, 61, 62], startAt, 86_400_000)
  const formula = 'lag(BRENT_CRUDE_USD, 1) - avg(WTI_USD, 2 days)'
  const body = { code: 'MY_SPREAD', name: 'Spread', formula, unit: 'barrel', currency: 'USD' }
  expect((await instance.send('POST', '/v1/formulas', body, token)).status).toBe(201)
  for (const price of [63, 64])
    await operate('observations', {
      observations: [{ code: 'WTI_USD', observed_at: '2026-11-19', price }],
    })
  for (const production of [200, 201])
    await operate('datasets/opec-productions', {
      rows: [{ country: 'Gabon', month: '2026-09', production, unit: 'thousand_barrels_per_day' }],
    })
  const datasets = [...datasetOfTable.values()].map(({ name }) => name)
  const from = isoInstant(startAt - 86_400_000)
  const to = isoInstant(startAt + 86_400_000)
  for (const path of [
    `changes?since=start&derived=true&dataset=prices,${datasets.join(',')}`,
    `changes?since=${from}&codes=MY_SPREAD`,
    `changes/replay?from=${from}&to=${to}&speed=max&format=ndjson&dataset=prices,${datasets.join(',')}`,
    `prices/latest?by_code=MY_SPREAD&as_of=${to}`,
    'prices/past_month?by_code=MY_SPREAD&interval=raw',
    'prices/vintages?by_code=WTI_USD&observed_at=2026-11-19',
  ]) {
    const answer = await instance.get(`/v1/${path}`, token)
    expect({ path, status: answer.status }).toEqual({ path, status: 200 })
    await answer.text()
  }
  const reads = [...statements].filter(sql => /^\s*(SELECT|WITH)\b/.test(sql))
  expect(reads.length).toBeGreaterThan(30)
  const whole = reads.flatMap(sql => {
    const plan = prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all()
    const names = new Map(
      [...sql.matchAll(/\b(?:FROM|JOIN)\s+(?:main\.)?(\w+)(?:\s+(?:AS\s+)?(\w+))?/g)].map(
        ([, table = '', alias = '']) => [alias, table],
      ),
    )
    return plan.flatMap(({ detail }) => {
      const [, kind, name = '', how = ''] = /^(SCAN|SEARCH) (\S+) ?(.*)/.exec(detail) ?? []
      const table = names.get(name) ?? name
      // A name of WITH hides the table of the same name.
      const isLarge = large.includes(table) && !sql.startsWith(`WITH ${table} `)
      // Earlier versions of all rows of a dataset have one subject, and this index has all of them.
      const isWhole =
        kind === 'SCAN' ||
        how === 'USING PRIMARY KEY (subject=?)' ||
        how.endsWith('INDEX dataset_changes_by_recording')
      return isLarge && isWhole ? [`${detail}: ${sql}`] : []
    })
  })
  expect(whole).toEqual([])
  // A page by its number reads all rows before it.
  expect(reads.filter(sql => /\bOFFSET\b/.test(sql))).toEqual([])
}, 60_000)
