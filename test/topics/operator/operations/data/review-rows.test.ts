import { describe, expect, test } from 'bun:test'
import { openTestInstance } from '../../../../support/instance/instance.ts'

interface Held {
  id: number
  dataset: string | null
  rule: string
  status: string
}
interface DatasetRow {
  name: string
  guarded: string[]
  guards: Record<string, string>
}
interface Answer {
  message: string
  data: {
    values: Held[]
    inserted: number
    held: number
    batch: { id: number }
    batches: object[]
  }
}

/** An instance that has counted rigs for half a year, with its operator. */
async function withRigs() {
  const instance = openTestInstance()
  const operator = {
    authorization: `Bearer ${instance.services.adminTokens.rotate()}`,
    'content-type': 'application/json',
  }
  const admin = async (method: string, path: string, body?: unknown) => {
    const answer = await instance.send(method, `/admin/v1${path}`, body, undefined, operator)
    return { status: answer.status, body: (await answer.json()) as Answer }
  }
  const push = async (rows: unknown[], more: object = {}) =>
    (await admin('POST', '/datasets/rig-counts', { rows, ...more })).body.data
  const dayOf = (week: number) =>
    new Date(Date.UTC(2026, 10, 13) - week * 7 * 86_400_000).toISOString().slice(0, 10)
  const known = Array.from({ length: 26 }, (_, week) => ({
    date: dayOf(week + 1),
    region: 'US',
    total: 540 + ((week * 7) % 11),
  }))
  await push(known)
  const newest = () => instance.services.drilling.rigs.between('US', '2026-11-13', '2026-11-14')
  const review = async (query = '') => (await admin('GET', `/review${query}`)).body.data.values
  return { ...instance, admin, push, newest, review }
}
const faulty = { date: '2026-11-13', region: 'US', total: 5460 }

describe('a suspicious row', () => {
  test('is held as a whole: not recorded, and listed with the reason', async () => {
    const { push, newest, review, admin } = await withRigs()
    const right = { date: '2026-11-13', region: 'permian', total: 251 }
    expect(await push([faulty, right])).toMatchObject({ inserted: 1, held: 1 })
    expect(newest()).toEqual([])
    const [batch] = (await admin('GET', '/batches')).body.data.batches
    expect(batch).toMatchObject({ inserted: 1, held: 1 })
    expect(await review()).toEqual([
      expect.objectContaining({
        code: null,
        dataset: 'rig-counts',
        line: { region: 'US' },
        column: 'total',
        row: faulty,
        price: 5460,
        before: 540,
        rule: 'unit',
        status: 'waiting',
        reason: expect.stringMatching(
          /^total: \+911\.1% after 540, as with a misplaced decimal point$/,
        ),
      }),
    ])
    expect(await review('?dataset=cftc-positions')).toEqual([])
    expect((await admin('GET', '/review?dataset=nothing')).status).toBe(400)
    // Sent again it has the same flag; a correct row is recorded without one.
    expect(await push([faulty])).toMatchObject({ inserted: 0, held: 1 })
    expect(await review()).toHaveLength(1)
    expect(await push([{ ...faulty, total: 546 }])).toMatchObject({ inserted: 1, held: 0 })
    expect(newest()).toMatchObject([{ total: 546 }])
  })

  test('a dry run reports a row held for review without storing anything', async () => {
    const { push, review } = await withRigs()
    expect(await push([faulty], { dry_run: true })).toMatchObject({ inserted: 0, held: 1 })
    expect(await review()).toEqual([])
  })

  test('a row held for review is recorded when it is released and is not flagged again', async () => {
    const { push, newest, review, admin } = await withRigs()
    await push([faulty])
    const [doubt] = await review()
    const released = await admin('POST', '/review/release', { ids: [doubt!.id], reason: 'so' })
    expect(released.body.data.values[0]).toMatchObject({
      status: 'released',
      decided_by: 'operator',
      decision_reason: 'so',
    })
    expect(newest()).toMatchObject([{ total: 5460 }])
    expect(await push([faulty])).toMatchObject({ unchanged: 1, held: 0 })
    const [batch] = (await admin('GET', '/batches?kind=release')).body.data.batches
    expect(batch).toMatchObject({
      id: released.body.data.batch,
      dataset: 'rig-counts',
      inserted: 1,
    })
  })

  test('is not released over a row that was recorded after the hold, unless it is to be replaced', async () => {
    const { push, newest, review, admin } = await withRigs()
    await push([faulty])
    expect(await review()).toMatchObject([{ recorded: null, superseded: null }])
    await push([{ ...faulty, total: 546 }])
    const [held] = await review()
    expect(held).toMatchObject({
      recorded: 546,
      superseded: expect.stringContaining('546 was recorded at'),
    })
    const release = (more: object = {}) =>
      admin('POST', '/review/release', { ids: [held!.id], ...more })
    expect((await release()).status).toBe(409)
    expect(newest()).toMatchObject([{ total: 546 }])
    expect((await release({ replace: true })).status).toBe(200)
    expect(newest()).toMatchObject([{ total: 5460 }])
  })

  test('that is rejected stays out, also where later rows have made it plausible', async () => {
    const { push, newest, review, admin } = await withRigs()
    await push([faulty])
    await admin('POST', '/review/reject', { ids: [(await review())[0]!.id] })
    await admin('PATCH', '/datasets/rig-counts', { guards: { unit: 'off', jump: 'off' } })
    expect(await push([faulty])).toMatchObject({ inserted: 0, held: 1 })
    expect(newest()).toEqual([])
    expect(await push([{ ...faulty, total: 5461 }])).toMatchObject({ inserted: 1, held: 0 })
  })

  test('is judged as the operator wants, and as usual again', async () => {
    const { push, review, admin } = await withRigs()
    const changed = await admin('PATCH', '/datasets/rig-counts', { guards: { unit: 'flag' } })
    expect(changed.body.data).toMatchObject({ dataset: { guards: { unit: 'flag' } } })
    expect(await push([faulty])).toMatchObject({ inserted: 1, held: 0 })
    expect(await review('?status=flagged')).toMatchObject([{ rule: 'unit', status: 'flagged' }])
    await admin('PATCH', '/datasets/rig-counts', { guards: { unit: 'usual' } })
    expect(await push([{ ...faulty, total: 54 }])).toMatchObject({ held: 1 })
    const listed = (await admin('GET', '/datasets')).body.data as unknown as DatasetRow[]
    expect(listed.find(({ name }) => name === 'rig-counts')).toMatchObject({
      guarded: ['total', 'oil', 'gas', 'misc'],
      guards: {},
    })
    for (const [name, guards] of [
      ['annotations', { jump: 'off' }],
      ['rig-counts', { jump: 'perhaps' }],
    ] as const)
      expect((await admin('PATCH', `/datasets/${name}`, { guards })).status).toBe(422)
  })

  test('a row flagged on another instance is imported as it was recorded', async () => {
    const { push, admin } = await withRigs()
    const begun = await admin('POST', '/batches', {
      file_name: 'rig-counts.csv',
      dataset: 'rig-counts',
      as_recorded: true,
    })
    const { id: batch } = begun.body.data.batch
    expect(await push([faulty], { batch })).toMatchObject({ inserted: 1, held: 0 })
  })

  test('anomalous rows are held before and between existing rows, and a second row for the same date is flagged', async () => {
    const { push, review } = await withRigs()
    const between = { date: '2026-09-09', region: 'US', total: 55 }
    expect(await push([between])).toMatchObject({ held: 1 })
    expect(await push([{ ...between, total: 545 }])).toMatchObject({ inserted: 1, held: 0 })
    const twice = [
      { date: '2026-11-13', region: 'US', total: 541 },
      { date: '2026-11-13', region: 'US', total: 542 },
    ]
    expect(await push(twice)).toMatchObject({ held: 0 })
    expect(await review('?status=flagged')).toMatchObject([{ rule: 'same_day' }])
  })
})
