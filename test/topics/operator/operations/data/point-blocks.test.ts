import { describe, expect, test } from 'bun:test'
import { pointBlockType } from '../../../../../src/http/input/body.ts'
import { nextTurn } from '../../../../../src/lib/process/loop-turns.ts'
import {
  type BlockEnvelope,
  encodePoints,
} from '../../../../../src/topics/prices/files/point-block.ts'
import type { Point } from '../../../../../src/topics/prices/store/observations.ts'
import { openTestInstance, startAt } from '../../../../support/instance/instance.ts'

const dayMs = 86_400_000
const at = (daysAgo: number) => Math.floor(startAt / dayMs) * dayMs - daysAgo * dayMs

/** An instance that points are sent to as an import sends them. */
function withBlocks() {
  const h = openTestInstance()
  const admin = h.services.adminTokens.rotate()
  const { catalogue, observations } = h.services
  const idOf = (code: string) => catalogue.named(code)!.id
  const send = async (body: Uint8Array | object, path = '/admin/v1/observations') => {
    const type = body instanceof Uint8Array ? pointBlockType : 'application/json'
    const headers = { authorization: `Bearer ${admin}`, 'content-type': type }
    const answer = await h.send('POST', path, body, undefined, headers)
    return {
      status: answer.status,
      body: (await answer.json()) as Record<string, never>,
      ignored: answer.headers.get('x-service-ignored-parameters'),
    }
  }
  return {
    send,
    idOf,
    block: (points: readonly Point[], envelope: BlockEnvelope = {}) =>
      encodePoints(points, id => catalogue.byId(id).code, envelope),
    valuesOf: (code: string) =>
      observations.oldestFirst(idOf(code), 0, startAt).map(({ value }) => value),
  }
}

describe('a block of points', () => {
  test('records the values of several codes with their times, as rows of a push do', async () => {
    const { send, block, idOf, valuesOf } = withBlocks()
    const points = ['WTI_USD', 'BRENT_CRUDE_USD'].flatMap((code, k) =>
      [3, 2, 1].map(n => ({ seriesId: idOf(code), observedAt: at(n), value: 70 + k + n / 8 })),
    )
    const { status, body, ignored } = await send(block(points, { source: 'Desk' }))
    expect({ status, data: body.data }).toEqual({
      status: 200,
      data: expect.objectContaining({ received: 6, inserted: 6, revised: 0, unchanged: 0 }),
    })
    // Its bytes are not fields that the operation ignores.
    expect(ignored).toBeNull()
    expect(valuesOf('WTI_USD')).toEqual([70.375, 70.25, 70.125])
    expect(valuesOf('BRENT_CRUDE_USD')).toEqual([71.375, 71.25, 71.125])
    const again = await send(block(points, { source: 'Desk' }), '/admin/v1/observations/compare')
    expect(again.body.data).toMatchObject({ inserted: 0, unchanged: 6 })
  })

  test('a block of a file is written in parts, between which other requests are answered', async () => {
    const { send, block, idOf, valuesOf } = withBlocks()
    const minuteMs = 60_000
    const begun = await send(
      { file_name: 'minutes.csv', sha256: 'a'.repeat(64) },
      '/admin/v1/batches',
    )
    const { id: batch } = (begun.body as { data?: { batch: { id: number } } }).data!.batch
    const points = Array.from({ length: 4500 }, (_, i) => ({
      seriesId: idOf('WTI_USD'),
      observedAt: at(9) + i * minuteMs,
      value: 70 + (i % 7) / 8,
    }))
    const sending = send(block(points, { batch }))
    const seen = new Set<number>()
    let isDone = false
    void sending.finally(() => {
      isDone = true
    })
    while (!isDone) {
      seen.add(valuesOf('WTI_USD').length)
      await nextTurn()
    }
    const { status, body } = await sending
    expect({ status, data: body.data }).toEqual({
      status: 200,
      data: expect.objectContaining({
        received: 4500,
        inserted: 4500,
        revised: 0,
        unchanged: 0,
        batch,
      }),
    })
    expect([...seen].filter(n => n > 0 && n < 4500)).toEqual([2000, 4000])
    expect(valuesOf('WTI_USD')).toEqual(points.map(({ value }) => value))
    const again = await send(block(points, { batch }))
    expect(again.body.data).toMatchObject({ inserted: 0, unchanged: 4500 })
  })

  test('no part of a block is written to a batch that has ended', async () => {
    const { send, block, idOf, valuesOf } = withBlocks()
    const begun = await send({ file_name: 'late.csv', sha256: 'b'.repeat(64) }, '/admin/v1/batches')
    const { id: batch } = (begun.body as { data?: { batch: { id: number } } }).data!.batch
    const points = Array.from({ length: 4500 }, (_, i) => ({
      seriesId: idOf('WTI_USD'),
      observedAt: at(9) + i * 60_000,
      value: 70,
    }))
    const sending = send(block(points, { batch }))
    for (let i = 0; i < 10_000 && valuesOf('WTI_USD').length === 0; i += 1) await nextTurn()
    expect(valuesOf('WTI_USD')).not.toEqual([])
    const ended = await send({}, `/admin/v1/batches/${batch}/end`)
    expect(ended.status).toBe(200)
    const { status, body } = await sending
    expect({ status, errors: JSON.stringify(body.errors) }).toEqual({
      status: 422,
      errors: expect.stringContaining('batch'),
    })
    expect(valuesOf('WTI_USD').length).toBeLessThan(4500)
  })

  test('a block of points is refused as a whole with the reason when any of its points is invalid', async () => {
    const { send, block, idOf, valuesOf } = withBlocks()
    const good = { seriesId: idOf('WTI_USD'), observedAt: at(2), value: 70 }
    const bad: [Point, string, string][] = [
      [{ ...good, value: 70_000_000 }, 'price', 'price'],
      [{ ...good, value: Number.NaN }, 'price', 'price'],
      [{ ...good, observedAt: startAt + 3 * dayMs }, 'observed_at', 'is in the future'],
      [{ ...good, observedAt: 0.5 }, 'observed_at', 'observed_at'],
      [{ ...good, recordedAt: startAt + dayMs }, 'recorded_at', 'is in the future'],
    ]
    for (const [point, field, reason] of bad) {
      const { status, body } = await send(block([good, point]))
      expect(status).toBe(422)
      expect(JSON.stringify(body.errors)).toContain(`observations.1.${field}`)
      expect(JSON.stringify(body.errors)).toContain(reason)
    }
    expect(valuesOf('WTI_USD')).toEqual([])
  })

  test('that names an unknown code, is cut off or malformed is refused', async () => {
    const { send, block, idOf, valuesOf } = withBlocks()
    const good = block([{ seriesId: idOf('WTI_USD'), observedAt: at(2), value: 70 }])
    const unknown = Buffer.from(
      Buffer.from(good).toString('latin1').replace('WTI_USD', 'WTI_UDS'),
      'latin1',
    )
    const bodies = [
      unknown,
      good.subarray(0, good.length - 3),
      good.subarray(0, good.length - 16),
      Buffer.from('not a block\n'),
      Buffer.from('{"parts":[null],"sources":[],"width":2,"envelope":{}}\n'),
      new Uint8Array(1),
    ]
    for (const body of bodies) expect((await send(body)).status).toBe(422)
    expect(valuesOf('WTI_USD')).toEqual([])
  })
})
