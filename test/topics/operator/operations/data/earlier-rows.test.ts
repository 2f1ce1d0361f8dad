import { describe, expect, test } from 'bun:test'
import { dayMs, isoInstant } from '../../../../../src/lib/time/instant.ts'
import { openTestInstance, startAt } from '../../../../support/instance/instance.ts'

interface Answer {
  data: Record<string, unknown>
  errors: { field: string }[]
}

function openDemoInstance() {
  const copy = openTestInstance()
  const authorization = `Bearer ${copy.services.adminTokens.rotate()}`
  const send = async (path: string, body: unknown) => {
    const answer = await copy.send('POST', `/admin/v1/${path}`, body, undefined, { authorization })
    return { status: answer.status, body: (await answer.json()) as Answer }
  }
  const begin = async (dataset: string, asRecorded: boolean) => {
    const { body } = await send('batches', {
      file_name: 'a file',
      dataset,
      as_recorded: asRecorded,
    })
    return (body.data.batch as { id: number }).id
  }
  /** The production of Gabon, as known so many days ago. */
  const known = async (daysAgo: number) => {
    const path = `/v1/ei/opec_productions?as_of=${isoInstant(startAt - daysAgo * dayMs)}`
    const { data } = (await (await copy.get(path, copy.key())).json()) as {
      data: { production_bpd: number }[]
    }
    return data.map(row => row.production_bpd)
  }
  return { send, begin, known, kept: () => keptIn(copy.services.db) }
}

const keptIn = (db: ReturnType<typeof openTestInstance>['services']['db']) =>
  db
    .query('SELECT count(*) FROM dataset_revisions WHERE superseded_at > recorded_at')
    .values()[0]![0]

const ago = (days: number) => isoInstant(startAt - days * dayMs)
const gabon = { country: 'Gabon', month: '2026-09' }
const stood = (bpd: number, from: number, until: number) => ({
  id: 7,
  ...gabon,
  bpd,
  source: 'OPEC',
  recorded_at: ago(from),
  superseded_at: ago(until),
})
const stands = (production: number, since: number) => ({
  ...gabon,
  production,
  unit: 'barrels_per_day',
  recorded_at: ago(since),
})
const path = 'datasets/opec-productions'

describe('rows that stood before', () => {
  test('earlier row versions are accepted only in a batch that imports a file recorded by another instance', async () => {
    const { send, begin, kept } = openDemoInstance()
    const rows = [stood(200_000, 9, 5)]
    const batch = await begin('opec-productions', false)
    for (const body of [
      { rows, earlier: true },
      { rows, earlier: true, batch },
      { rows, earlier: 1 },
    ]) {
      const { status, body: refusal } = await send(path, body)
      expect({ status, errors: refusal.errors.map(error => error.field) }).toEqual({
        status: 422,
        errors: ['earlier'],
      })
    }
    const surcharges = await begin('surcharges', true)
    const none = await send('datasets/surcharges', { rows, earlier: true, batch: surcharges })
    expect({ status: none.status, kept: kept() }).toEqual({ status: 422, kept: 0 })
  })

  test('are refused as a whole where one is not as its table has it', async () => {
    const { send, begin, kept } = openDemoInstance()
    const row = stood(200_000, 9, 5)
    const batch = await begin('opec-productions', true)
    const rows = [
      row,
      { ...row, bpd: 'x' },
      { ...row, bpd: 1.5 },
      { ...row, country: null },
      { ...row, other: 1 },
      { ...row, superseded_at: ago(9) },
      { ...row, superseded_at: ago(-0.5) },
      { ...row, recorded_at: 'yesterday' },
      7,
    ]
    const { status, body } = await send(path, { rows, batch, earlier: true })
    expect({ status, errors: body.errors.map(error => error.field) }).toEqual({
      status: 422,
      errors: [
        'rows.1.bpd',
        'rows.2.bpd',
        'rows.3.country',
        'rows.4.other',
        'rows.5.superseded_at',
        'rows.6.superseded_at',
        'rows.7.recorded_at',
        'rows.8.id',
      ],
    })
    const days = await begin('futures-settlements', true)
    const settled = {
      traded_on: '2026-11-18',
      settlement: 66.5,
      from_ticks: 0,
      quoted_at: ago(9),
      source: 'Desk',
      recorded_at: ago(9),
      superseded_at: ago(5),
    }
    const unknown = await send('datasets/futures-settlements', {
      rows: [
        { ...settled, series: 'NO_SUCH_USD' },
        { ...settled, series: 'WTI_FUTURES_2028_12' },
      ],
      batch: days,
      earlier: true,
    })
    expect(unknown.body.errors.map(error => error.field)).toEqual(['rows.0.series'])
    expect(kept()).toBe(0)
  })

  test('importing earlier row versions never duplicates a row, whatever the instance already stored', async () => {
    const { send, begin, known, kept } = openDemoInstance()
    for (const row of [stands(210_000, 8), stands(230_000, 3)])
      expect((await send(path, { rows: [row] })).status).toBe(200)
    const batch = await begin('opec-productions', true)
    const rows = [stood(190_000, 10, 7), stood(220_000, 7, 2), stood(240_000, 2, 1)]
    const first = await send(path, { rows, batch, earlier: true })
    expect(first.body.data).toMatchObject({ inserted: 1, revised: 1, unchanged: 1 })
    const answers = []
    for (const days of [11, 9, 8, 7, 4, 3, 1.5, 0]) answers.push(await known(days))
    // Before anything was known, the row has the value first recorded.
    expect(answers).toEqual([
      [190_000],
      [190_000],
      [190_000],
      [220_000],
      [220_000],
      [230_000],
      [230_000],
      [230_000],
    ])
    const again = await send(path, { rows, batch, earlier: true })
    expect(again.body.data).toMatchObject({ inserted: 0, revised: 0, unchanged: 3 })
    expect(kept()).toBe(2)
  })
})
