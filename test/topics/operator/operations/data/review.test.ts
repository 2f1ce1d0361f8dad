import { describe, expect, test } from 'bun:test'
import { guardRules } from '../../../../../src/topics/prices/math/guards.ts'
import { openTestInstance } from '../../../../support/instance/instance.ts'

interface Held {
  id: number
  code: string
  price: number
  before: number
  rule: string
  status: string
  superseded: string | null
}
interface Answer {
  message: string
  code?: string
  data: {
    values: Held[]
    inserted: number
    held: number
    unchanged: number
    batch: number
    price: number
  }
}

/** An instance whose WTI has been pushed for some days, with its operator. */
async function withPushes() {
  const instance = openTestInstance()
  const operator = {
    authorization: `Bearer ${instance.services.adminTokens.rotate()}`,
    'content-type': 'application/json',
  }
  const key = instance.key()
  const admin = async (method: string, path: string, body?: unknown) => {
    const answer = await instance.send(method, `/admin/v1${path}`, body, undefined, operator)
    return { status: answer.status, body: (await answer.json()) as Answer }
  }
  const push = (day: string, price: number) =>
    admin('POST', '/observations', {
      observations: [{ code: 'WTI_USD', observed_at: `2026-11-${day}T15:00:00Z`, price }],
    })
  const latest = async () => {
    const answer = await instance.get('/v1/prices/latest?by_code=WTI_USD', key)
    return ((await answer.json()) as Answer).data.price
  }
  for (const [day, price] of [
    ['16', 90.4],
    ['17', 90.9],
    ['18', 91.2],
  ] as const)
    await push(day, price)
  return { ...instance, admin, push, latest }
}

describe('a value that an operator corrected', () => {
  const correction = {
    code: 'WTI_USD',
    observed_at: '2026-11-18T15:00:00Z',
    price: 91.4,
    reason: 'typing',
  }

  test('a push of the replaced value does not overwrite an operator correction and is listed for review', async () => {
    const { push, latest, admin } = await withPushes()
    await admin('PATCH', '/values', correction)
    expect((await push('18', 91.2)).body.data).toMatchObject({
      revised: 0,
      held: 0,
      kept_as_corrected: 1,
    })
    await push('18', 91.2)
    expect(await latest()).toBe(91.4)
    expect((await admin('GET', '/review')).body.data.values).toEqual([])
    expect((await admin('GET', '/review?status=kept')).body.data.values).toMatchObject([
      { price: 91.2, before: 91.4, rule: 'corrected', status: 'kept' },
    ])
    expect((await push('18', 91.3)).body.data).toMatchObject({ revised: 1, kept_as_corrected: 0 })
    expect((await admin('GET', '/review?status=kept')).body.data.values).toEqual([])
  })

  test('a value that a correction keeps out and that another source sends is listed again if it is held', async () => {
    const { admin, push } = await withPushes()
    await admin('POST', '/observations', {
      replace: true,
      source: 'desk',
      observations: [{ code: 'WTI_USD', observed_at: correction.observed_at, price: 0 }],
    })
    const [held] = (await admin('GET', '/review')).body.data.values
    await admin('POST', '/review/release', { ids: [held!.id] })
    await admin('PATCH', '/values', correction)
    const zero = (source: string) =>
      admin('POST', '/observations', {
        source,
        observations: [{ code: 'WTI_USD', observed_at: correction.observed_at, price: 0 }],
      })
    expect((await zero('desk')).body.data).toMatchObject({ held: 0, kept_as_corrected: 1 })
    expect((await zero('exchange')).body.data).toMatchObject({ held: 1, kept_as_corrected: 0 })
    expect((await admin('GET', '/review')).body.data.values).toMatchObject([
      { price: 0, before: 90.9, status: 'waiting', decided_at: null, decided_by: null },
    ])
    expect((await push('18', 91.2)).body.data).toMatchObject({ kept_as_corrected: 1 })
  })

  test('an operator correction is overridden by a push with replace and by the release of a skipped value', async () => {
    const { push, latest, admin } = await withPushes()
    await admin('PATCH', '/values', correction)
    const replaced = await admin('POST', '/observations', {
      observations: [{ code: 'WTI_USD', observed_at: correction.observed_at, price: 91.2 }],
      replace: true,
    })
    expect(replaced.body.data).toMatchObject({ revised: 1, kept_as_corrected: 0 })
    expect(await latest()).toBe(91.2)
    await admin('PATCH', '/values', correction)
    await push('18', 91.2)
    const [left] = (await admin('GET', '/review?status=kept')).body.data.values
    expect((await admin('POST', '/review/release', { ids: [left!.id] })).status).toBe(200)
    expect(await latest()).toBe(91.2)
  })

  test('does not come back when it was deleted, until the deletion is undone', async () => {
    const { push, latest, admin } = await withPushes()
    const { price: _, ...named } = correction
    const deleted = await admin('DELETE', '/values', named)
    expect((await push('18', 91.2)).body.data).toMatchObject({ inserted: 0, kept_as_corrected: 1 })
    expect(await latest()).toBe(90.9)
    const { batch } = deleted.body.data
    expect((await admin('POST', `/batches/${batch}/undo`, {})).status).toBe(200)
    expect(await latest()).toBe(91.2)
    expect((await admin('GET', '/review?status=kept')).body.data.values).toEqual([])
    expect((await push('18', 91.2)).body.data).toMatchObject({ unchanged: 1, kept_as_corrected: 0 })
  })
})

describe('the release of a held value', () => {
  const at = '2026-11-19T15:00:00Z'
  const named = { code: 'WTI_USD', observed_at: at, reason: 'checked' }

  test('is refused where another value was recorded after the hold, unless it is to be replaced', async () => {
    const { push, latest, admin, clock } = await withPushes()
    await push('19', 912)
    const [held] = (await admin('GET', '/review')).body.data.values
    expect(held).toMatchObject({ recorded: null, recorded_at: null, superseded: null })
    clock.advance(60_000)
    await push('19', 91.9)
    const [listed] = (await admin('GET', '/review')).body.data.values
    expect(listed).toMatchObject({
      recorded: 91.9,
      superseded: expect.stringMatching(/^91\.9 was recorded at 2026-/),
    })
    const release = (more: object = {}) =>
      admin('POST', '/review/release', { ids: [held!.id], ...more })
    const { status, body } = await release()
    expect({ status, code: body.code, message: body.message }).toEqual({
      status: 409,
      code: 'newer_value',
      message: `Value ${held!.id} (WTI_USD at ${at}) is 912, and after it was held, 91.9 was recorded at 2026-11-20T15:01:00Z. Reject it, or release it with replace.`,
    })
    expect(await latest()).toBe(91.9)
    expect((await release({ replace: true })).status).toBe(200)
    expect(await latest()).toBe(912)
  })

  test('is not refused where the recorded value was there before the hold', async () => {
    const { push, latest, admin } = await withPushes()
    await push('18', 912)
    const [held] = (await admin('GET', '/review')).body.data.values
    expect(held).toMatchObject({ recorded: 91.2, superseded: null })
    expect((await admin('POST', '/review/release', { ids: [held!.id] })).status).toBe(200)
    expect(await latest()).toBe(912)
  })

  test('is refused after a correction, a deletion and the undo of its batch, also once it was rejected', async () => {
    const { push, latest, admin } = await withPushes()
    const { batch } = (await push('19', 912)).body.data
    const [held] = (await admin('GET', '/review')).body.data.values
    const refused = async (reason: string) => {
      const { status, body } = await admin('POST', '/review/release', { ids: [held!.id] })
      expect({ status, message: body.message }).toEqual({
        status: 409,
        message: expect.stringContaining(reason),
      })
    }
    await push('19', 91.9)
    await admin('PATCH', '/values', { ...named, price: 91.8 })
    await refused('91.8 was recorded at')
    await admin('POST', '/review/reject', { ids: [held!.id] })
    await refused('91.8 was recorded at')
    await admin('DELETE', '/values', named)
    await refused('the value of this time was removed at')
    expect(await latest()).toBe(91.2)

    const other = await withPushes()
    const brought = (await other.push('19', 912)).body.data.batch
    await other.admin('POST', `/batches/${brought}/undo`, {})
    const [waiting] = (await other.admin('GET', '/review')).body.data.values
    expect(waiting!.superseded).toContain(`batch ${brought}, which contains it, was undone at`)
    const answer = await other.admin('POST', '/review/release', { ids: [waiting!.id] })
    expect({ status: answer.status, batch }).toEqual({ status: 409, batch: brought })
  })
})

describe('a suspicious value', () => {
  test('a value that differs by an exchange rate is reported as a probable currency mismatch', async () => {
    const { push, admin } = await withPushes()
    await admin('POST', '/observations', {
      observations: [{ code: 'USD_JPY', observed_at: '2026-11-19T15:00:00Z', price: 151.3 }],
    })
    expect((await push('19', 13_620)).status).toBe(422)
    await admin('PATCH', '/series/WTI_USD', { max: 100_000 })
    expect((await push('19', 13_620)).body.data.held).toBe(1)
    const [doubt] = (await admin('GET', '/review')).body.data.values
    expect(doubt).toMatchObject({
      rule: 'unit',
      reason: expect.stringContaining('as between USD and JPY'),
    })
  })

  test('is what comes again of a series that had stopped, where its operator wants that', async () => {
    const { push, admin, clock } = await withPushes()
    clock.set(Date.parse('2026-11-30T15:00:00Z'))
    await admin('PATCH', '/series/WTI_USD', { guards: { stop: 'hold' } })
    expect((await push('27', 91.3)).body.data.held).toBe(1)
    expect((await push('30', 91.4)).body.data.held).toBe(1)
    // The values in between do not reset the guard.
    expect((await push('18', 91.3)).body.data).toMatchObject({ held: 0 })
    clock.advance(6 * 3_600_000)
    const { values } = (await admin('GET', '/review')).body.data
    expect(values).toMatchObject([{ rule: 'stop' }, { rule: 'stop' }])
    expect(values[0]).toMatchObject({
      reason: 'the first after 2026-11-18, where the series had stopped',
    })
    await admin('POST', '/review/release', { ids: values.map(({ id }) => id) })
    expect((await push('30', 91.5)).body.data).toMatchObject({ held: 0 })
  })

  test('no value is held while all validation rules are off, and values are held again after a rule reset', async () => {
    const { push, admin } = await withPushes()
    const off = Object.fromEntries(guardRules.map(rule => [rule, 'off']))
    await admin('PATCH', '/series/WTI_USD', { guards: off })
    expect((await push('19', 912)).body.data).toMatchObject({ inserted: 1, held: 0 })
    expect((await admin('GET', '/review?status=all')).body.data.values).toEqual([])
    await admin('PATCH', '/series/WTI_USD', { guards: null })
    expect((await push('20', 91.4)).body.data).toMatchObject({ held: 1 })
  })

  test('a value held for review is not served, triggers no notifications and is listed with its reason', async () => {
    const { push, latest, admin, services } = await withPushes()
    const fired: number[] = []
    services.ingest.listen(changes => void fired.push(changes.length))
    const pushed = await push('19', 912)
    expect(pushed.body.data).toMatchObject({ inserted: 0, held: 1 })
    expect({ latest: await latest(), fired }).toEqual({ latest: 91.2, fired: [] })
    const { values } = (await admin('GET', '/review')).body.data
    expect(values).toEqual([
      expect.objectContaining({
        code: 'WTI_USD',
        price: 912,
        before: 91.2,
        rule: 'unit',
        status: 'waiting',
        batch: pushed.body.data.batch,
        reason: '+900.0% after 91.2, as with a misplaced decimal point',
      }),
    ])
    // Sent again it has the same flag.
    expect((await push('19', 912)).body.data.held).toBe(1)
    expect((await admin('GET', '/review')).body.data.values).toHaveLength(1)
    // A correct value is recorded as usual.
    expect((await push('19', 91.9)).body.data).toMatchObject({ inserted: 1, held: 0 })
    expect(await latest()).toBe(91.9)
  })

  test('a value held for review is recorded when it is released and is not flagged again', async () => {
    const { push, latest, admin, clock } = await withPushes()
    await push('19', 912)
    clock.advance(60_000)
    const [doubt] = (await admin('GET', '/review')).body.data.values
    const released = await admin('POST', '/review/release', {
      ids: [doubt!.id],
      reason: 'it is so',
    })
    expect(released.body.data.values[0]).toMatchObject({
      status: 'released',
      decided_by: 'operator',
      decision_reason: 'it is so',
    })
    const { batch } = released.body.data as unknown as { batch: number }
    expect((await admin('GET', `/batches/${batch}`)).body.data).toMatchObject({
      batch: { kind: 'release', reason: 'it is so' },
    })
    expect(await latest()).toBe(912)
    expect((await push('19', 912)).body.data).toMatchObject({ unchanged: 1, held: 0 })
    const again = await admin('POST', '/review/release', { ids: [doubt!.id] })
    expect({ status: again.status, message: again.body.message }).toEqual({
      status: 422,
      message: `Value ${doubt!.id} is released already.`,
    })
  })

  test('that is rejected stays out', async () => {
    const { push, latest, admin } = await withPushes()
    await push('19', 912)
    const [doubt] = (await admin('GET', '/review')).body.data.values
    await admin('POST', '/review/reject', { ids: [doubt!.id] })
    expect((await push('19', 912)).body.data).toMatchObject({ held: 0, kept_as_corrected: 1 })
    expect(await latest()).toBe(91.2)
    expect((await admin('GET', '/review')).body.data.values).toEqual([])
    expect((await admin('GET', '/review?status=rejected')).body.data.values).toHaveLength(1)
    expect((await admin('POST', '/review/reject', { ids: [99] })).status).toBe(404)
    expect((await admin('POST', '/review/reject', { ids: ['x'] })).status).toBe(422)
  })

  test('that was rejected goes in when it is released after all', async () => {
    const { push, latest, admin } = await withPushes()
    await push('19', 912)
    const [doubt] = (await admin('GET', '/review')).body.data.values
    await admin('POST', '/review/reject', { ids: [doubt!.id] })
    await admin('POST', '/review/release', { ids: [doubt!.id] })
    expect(await latest()).toBe(912)
    expect((await push('19', 912)).body.data).toMatchObject({ unchanged: 1, kept_as_corrected: 0 })
    expect((await admin('POST', '/review/release', { ids: [doubt!.id] })).status).toBe(422)
  })

  test('a held value stays held when it is pushed again after its anomaly no longer applies', async () => {
    const { push, latest, admin } = await withPushes()
    await push('19', 912)
    const [doubt] = (await admin('GET', '/review')).body.data.values
    // The value before it turns out to have been wrong by a decimal point, and no one has decided.
    await admin('PATCH', '/values', {
      code: 'WTI_USD',
      observed_at: '2026-11-18T15:00:00Z',
      price: 910,
      reason: 'a decimal point',
    })
    expect((await push('19', 912)).body.data).toMatchObject({ inserted: 0, held: 1 })
    expect(await latest()).toBe(910)
    await admin('POST', '/review/reject', { ids: [doubt!.id] })
    expect((await push('19', 912)).body.data).toMatchObject({
      inserted: 0,
      held: 0,
      kept_as_corrected: 1,
    })
    // Another value of that time is taken; so is the rejected one where someone recorded it.
    expect((await push('19', 911)).body.data).toMatchObject({ inserted: 1, held: 0 })
    await admin('PATCH', '/values', {
      code: 'WTI_USD',
      observed_at: '2026-11-19T15:00:00Z',
      price: 912,
      reason: 'it was right',
    })
    expect((await push('19', 912)).body.data).toMatchObject({ unchanged: 1, held: 0 })
  })

  test('comes in where the operator has switched the guard off', async () => {
    const { push, latest, admin } = await withPushes()
    await admin('PATCH', '/series/WTI_USD', { guards: { unit: 'off', jump: 'flag' } })
    expect((await push('19', 912)).body.data).toMatchObject({ inserted: 1, held: 0 })
    expect(await latest()).toBe(912)
    const flagged = (await admin('GET', '/review?status=flagged')).body.data.values
    expect(flagged.map(flag => flag.rule)).toEqual(['jump'])
  })
})
