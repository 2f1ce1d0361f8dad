import { describe, expect, test } from 'bun:test'
import { openTestInstance } from '../../../../support/instance/instance.ts'

const dayMs = 86_400_000

interface Batch {
  id: number
  kind: string
  dataset: string | null
  undoes: number | null
  undone_at: string | null
  status: string
}
interface Answer {
  data: {
    batch: Batch
    batches: Batch[]
    rows: { row: string; before: number; now: number; percent: number | null }[]
    restored: number
    removed: number
    left: number
  }
  message: string
}

function openOperator() {
  const own = openTestInstance()
  const authorization = `Bearer ${own.services.adminTokens.rotate()}`
  const send = async (method: string, path: string, body?: unknown) => {
    own.clock.advance(1000)
    const response = await own.send(method, path, body, undefined, { authorization })
    return { status: response.status, body: (await response.json()) as Answer }
  }
  const record = async (rows: unknown[]): Promise<number> => {
    await send('POST', '/admin/v1/datasets/rig-counts', { rows })
    const { body } = await send('GET', '/admin/v1/batches?per_page=1')
    return body.data.batches[0]!.id
  }
  const undo = (id: number, body: object = {}) => send('POST', `/admin/v1/batches/${id}/undo`, body)
  return { ...own, send, record, undo }
}

const row = { date: '2026-11-13', region: 'US', oil: 411, gas: 126, misc: 6 }

describe('POST /admin/v1/batches/{id}/undo', () => {
  test('puts back the rows of a dataset, in a batch that can be undone itself', async () => {
    const { record, undo } = openOperator()
    await record([row])
    const id = await record([
      { ...row, oil: 420 },
      { ...row, date: '2026-11-06' },
    ])
    const undone = await undo(id, { reason: 'wrong file' })
    expect({ status: undone.status, data: undone.body.data }).toMatchObject({
      status: 200,
      data: {
        batch: { kind: 'undo', dataset: 'rig-counts', undoes: id, reason: 'wrong file' },
        restored: 1,
        removed: 1,
        left: 0,
      },
    })
    expect(await undo(id)).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining(`Batch ${id} was undone at `) },
    })
    expect((await undo(undone.body.data.batch.id)).body.data).toMatchObject({ restored: 2 })
  })

  test('stays when the rows that it took back are sent again, unless they are to replace it', async () => {
    const { record, undo, send } = openOperator()
    await record([row])
    const wrong = [
      { ...row, oil: 420 },
      { ...row, date: '2026-11-06' },
    ]
    await undo(await record(wrong))
    const sent = async (rows: unknown[], replace?: boolean) =>
      (await send('POST', '/admin/v1/datasets/rig-counts', { rows, replace })).body.data
    const left = { inserted: 0, revised: 0, kept_as_corrected: 2 }
    expect(await sent([row, ...wrong.slice(1), wrong[0]])).toMatchObject(left)
    const { body } = await send('GET', '/admin/v1/batches?per_page=1')
    expect(body.data.batches[0]).toMatchObject(left)
    expect(await sent([{ ...wrong[0], gas: 127 }])).toMatchObject({
      revised: 1,
      kept_as_corrected: 0,
    })
    expect(await sent(wrong.slice(1), true)).toMatchObject({ inserted: 1, kept_as_corrected: 0 })
  })

  test('gives back a value that was recorded between the batch and what it replaced, for the past', async () => {
    const own = openOperator()
    const push = async (price: number, recordedAt?: number) => {
      const recorded = recordedAt && { recorded_at: new Date(recordedAt).toISOString() }
      const value = { code: 'WTI_USD', observed_at: '2026-11-19T15:00:00Z', price, ...recorded }
      const { body } = await own.send('POST', '/admin/v1/observations', { observations: [value] })
      return body.data as unknown as { batch: number; recorded_at: string }
    }
    const before = Date.parse((await push(71)).recorded_at)
    own.clock.advance(60_000)
    const { batch } = await push(75)
    await push(72, before + 30_000)
    await own.undo(batch)
    const token = own.key()
    const priced = async (path: string) => {
      const response = await own.get(path, token)
      return ((await response.json()) as { data: { price: number } }).data.price
    }
    expect(await priced('/v1/prices/latest?by_code=WTI_USD')).toBe(72)
    const changes = await own.get('/v1/changes?since=start&codes=WTI_USD&format=ndjson', token)
    const last = JSON.parse((await changes.text()).trim().split('\n').at(-1)!) as object
    expect(last).toMatchObject({ kind: 'revised', value: 72, previous: 75 })
  })

  test('undoing a batch lists rows that were changed later and skips them on request', async () => {
    const { record, undo } = openOperator()
    const id = await record([row, { ...row, date: '2026-11-06' }])
    await record([{ ...row, oil: 420 }])
    expect(await undo(id)).toMatchObject({
      status: 422,
      body: {
        message: `1 row of batch ${id} was written again later (rig_counts US 2026-11-13): undo the later batch first, or skip values that were written later (only_untouched).`,
      },
    })
    expect((await undo(id, { only_untouched: true })).body.data).toMatchObject({
      restored: 0,
      removed: 1,
      left: 1,
    })
  })

  test('undoing a batch is refused with a reason when the earlier rows are no longer stored', async () => {
    const { record, undo, clock, services } = openOperator()
    const id = await record([row])
    clock.advance(91 * dayMs)
    services.batches.prune()
    expect(await undo(id)).toMatchObject({
      status: 422,
      body: {
        message: `Batch ${id} can no longer be undone: the earlier rows are no longer stored (batches.undo_days). Import the correct rows again.`,
      },
    })
  })
})

describe('GET /admin/v1/batches/{id}', () => {
  test('has the numbers of rows that changed most', async () => {
    const { record, send } = openOperator()
    await record([row])
    const id = await record([{ ...row, oil: 822, gas: 125 }])
    expect((await send('GET', `/admin/v1/batches/${id}`)).body.data.rows).toEqual([
      { row: 'rig_counts US 2026-11-13 oil', before: 411, now: 822, percent: 100 },
      { row: 'rig_counts US 2026-11-13 total', before: 543, now: 953, percent: 75.5064 },
      { row: 'rig_counts US 2026-11-13 gas', before: 126, now: 125, percent: -0.793651 },
    ])
  })
})

describe('a batch of a file that is sent in several requests', () => {
  const begin = async () => {
    const own = openOperator()
    const { body } = await own.send('POST', '/admin/v1/batches', { file_name: 'wti.csv' })
    const { id } = body.data.batch
    const write = (price: number) =>
      own.send('POST', '/admin/v1/observations', {
        batch: id,
        observations: [{ code: 'WTI_USD', observed_at: '2026-11-19T15:00:00Z', price }],
      })
    const status = async () =>
      (await own.send('GET', `/admin/v1/batches/${id}`)).body.data.batch.status
    return { ...own, id, write, status }
  }
  test('is interrupted when its sender is silent, and in progress when that continues', async () => {
    const { clock, write, status, send, id } = await begin()
    expect(await status()).toBe('in_progress')
    clock.advance(10 * 60_000)
    expect(await status()).toBe('interrupted')
    expect((await write(71)).status).toBe(200)
    expect(await status()).toBe('in_progress')
    await send('POST', `/admin/v1/batches/${id}/end`, {})
    expect(await status()).toBe('completed')
  })
  test('is undone when it is interrupted and not before, and takes nothing more then', async () => {
    const { clock, write, undo, id, status } = await begin()
    await write(71)
    const early = await undo(id)
    expect({ status: early.status, message: early.body.message }).toEqual({
      status: 422,
      message: expect.stringContaining('is still being written'),
    })
    clock.advance(10 * 60_000)
    const undone = await undo(id)
    expect([undone.status, undone.body.data.removed, await status()]).toEqual([
      200,
      1,
      'interrupted',
    ])
    expect((await write(72)).status).toBe(422)
  })
})

describe('the value of a daily code that has means of another code', () => {
  const [hourly, daily] = ['POWER_DA_DE_LU_EUR', 'POWER_DE_EUR']
  const [meanDay, recordedDay] = ['2026-11-02T00:00:00Z', '2026-11-03T00:00:00Z']
  async function openPower() {
    const { send } = openOperator()
    await send('PATCH', `/admin/v1/series/${hourly}`, { resolution: 'PT1H' })
    const midnight = Date.parse('2026-11-01T23:00:00Z')
    await send('POST', '/admin/v1/observations', {
      observations: [
        ...Array.from({ length: 24 }, (_, hour) => ({
          code: hourly,
          observed_at: new Date(midnight + hour * 3_600_000).toISOString(),
          price: 50 + hour,
        })),
        { code: daily, observed_at: recordedDay, price: 70 },
      ],
    })
    const change = (method: string, observed_at: string, price?: number) =>
      send(method, '/admin/v1/values', { code: daily, observed_at, price, reason: 'test' })
    return { send, change }
  }

  test('is corrected and deleted on quarantined days as well', async () => {
    const { send, change } = await openPower()
    await send('POST', '/admin/v1/quarantine', {
      code: daily,
      from: '2026-11-02',
      to: '2026-11-03',
      reason: 'test',
    })
    expect(await change('PATCH', recordedDay, 71)).toMatchObject({
      status: 200,
      body: { data: { before: 70, after: 71 } },
    })
    expect(await change('DELETE', recordedDay)).toMatchObject({
      status: 200,
      body: { data: { before: 71, after: null } },
    })
    expect((await change('DELETE', recordedDay)).status).toBe(404)
    expect((await change('DELETE', meanDay)).status).toBe(404)
  })

  test('is not deleted where it is a mean, but a correction replaces it', async () => {
    const { change } = await openPower()
    const refused = await change('DELETE', meanDay)
    expect(refused.status).toBe(422)
    expect(JSON.stringify(refused.body)).toContain(`is the mean of ${hourly}`)
    expect((await change('PATCH', meanDay, 60)).body.data).toMatchObject({ before: 61.5 })
    expect((await change('DELETE', meanDay)).body.data).toMatchObject({ before: 60, after: null })
    expect((await change('DELETE', meanDay)).status).toBe(422)
  })
})
