import { beforeAll, describe, expect, test } from 'bun:test'
import { timestampedSignature } from '../../../../src/lib/secrets/signature.ts'
import { secondMs } from '../../../../src/lib/time/instant.ts'
import { expectShape } from '../../../support/interface/shape.ts'
import { openSourceInstance, row, type SourceInstance } from '../../../support/topics/sources.ts'

const secret = 'a secret that only the pusher knows'
let instance: SourceInstance
beforeAll(() => {
  instance = openSourceInstance()
})

const make = (more: Record<string, unknown> = {}, token?: string) =>
  instance.make({ source_type: 'webhook', credentials: { secret }, ...more }, token)
const push = (
  id: string,
  body: string,
  headers: Record<string, string> = { authorization: `Bearer ${secret}` },
) => instance.send('POST', `/v1/data-sources/${id}/ingest`, body, undefined, headers)
const signed = (body: string, at = instance.clock.now(), key = secret) => {
  const timestamp = Math.floor(at / secondMs)
  return {
    'x-service-signature': timestampedSignature(key, body, timestamp),
    'x-service-signature-timestamp': String(timestamp),
  }
}
const body = JSON.stringify([row])

describe('POST /v1/data-sources/{id}/ingest', () => {
  test('are taken from who knows the secret, and the same again changes nothing', async () => {
    const id = await make()
    const counts = async (text: string) => {
      const response = await push(id, text)
      expect(response.status).toBe(200)
      const answer = (await response.json()) as { data: Record<string, unknown> }
      expectShape(instance.app, '/v1/data-sources/:id/ingest', answer)
      return answer.data
    }
    expect(await counts(body)).toEqual({
      received: 1,
      inserted: 1,
      revised: 0,
      unchanged: 0,
      rejected: 0,
      rejections: [],
    })
    expect(await counts(body)).toMatchObject({ inserted: 0, unchanged: 1 })
    expect(
      await counts(
        JSON.stringify([
          { ...row, price: 540 },
          { ...row, price: 'x', port: 'RTM' },
        ]),
      ),
    ).toMatchObject({
      received: 2,
      revised: 1,
      rejected: 1,
      rejections: [expect.stringMatching(/^row 2: price x/)],
    })
    expect(instance.source(id)).toMatchObject({
      status: 'active',
      successfulSyncs: 3,
      nextSyncAt: null,
      lastSyncAt: instance.clock.now(),
    })
    const { data } = await instance.ask<{ data: { logs: { trigger: string }[] } }>(
      'GET',
      `/v1/data-sources/${id}/logs`,
    )
    expect(data.data.logs.map(log => log.trigger)).toEqual(['push', 'push', 'push'])
  })

  test('pushed source rows can be CSV or NDJSON and are parsed according to the source configuration', async () => {
    const id = await make({
      scraper_config: { fields: { price: 'usd' }, defaults: { port: 'RTM' } },
    })
    const csv = 'timestamp,fuel_type,usd\n2026-11-20,MGO,700\n'
    expect(
      (await push(id, csv, { authorization: `Bearer ${secret}`, 'content-type': 'text/csv' }))
        .status,
    ).toBe(200)
    const lines =
      '{"timestamp":"2026-11-19","fuel_type":"MGO","usd":690}\n{"timestamp":"2026-11-18","fuel_type":"MGO","usd":691}\n'
    expect(
      (
        await push(id, lines, {
          authorization: `Token ${secret}`,
          'content-type': 'application/x-ndjson',
        })
      ).status,
    ).toBe(200)
    expect(
      instance.services.dataSources
        .newestRows(instance.source(id), 9)
        .map(row => [row.port, row.price]),
    ).toEqual([
      ['ROTTERDAM', 700],
      ['ROTTERDAM', 690],
      ['ROTTERDAM', 691],
    ])
  })

  test('may be signed over the bytes instead, for five minutes', async () => {
    const id = await make()
    const spaced = ` ${body}\n`
    const now = instance.clock.now()
    const statuses = async (...headers: Record<string, string>[]) => {
      const statuses: number[] = []
      for (const header of headers) statuses.push((await push(id, spaced, header)).status)
      return statuses
    }
    expect(
      await statuses(signed(spaced), signed(spaced, now - 299_000), signed(spaced, now + 299_000)),
    ).toEqual([200, 200, 200])
    expect(
      await statuses(
        signed(body),
        signed(spaced, now - 302_000),
        signed(spaced, now + 302_000),
        signed(spaced, now, 'another secret'),
      ),
    ).toEqual([401, 401, 401, 401])
    const { 'x-service-signature': signature } = signed(spaced)
    expect(
      await statuses(
        { 'x-service-signature': signature },
        { ...signed(spaced), 'x-service-signature-timestamp': '1e9' },
      ),
    ).toEqual([401, 401])
  })

  test('a source push from any other caller is refused without revealing the reason', async () => {
    const [id, weak, paused] = [
      await make(),
      await make({ credentials: { secret: 'short' } }),
      await make({ status: 'paused' }),
    ]
    const api = await instance.make({ source_type: 'api', credentials: { secret } })
    const answer = async (path: string, headers: Record<string, string>) => {
      const response = await push(path, body, headers)
      const { request_id: _, ...error } = (
        (await response.json()) as { error: Record<string, unknown> }
      ).error
      return [response.status, error]
    }
    const right = { authorization: `Bearer ${secret}` }
    const refused = await Promise.all([
      answer(id, {}),
      answer(id, { authorization: 'Bearer wrong' }),
      answer(id, { authorization: `Bearer ${instance.token}` }),
      answer(weak, { authorization: 'Bearer short' }),
      answer(api, right),
      answer(paused, { authorization: 'Bearer wrong' }),
      answer('00000000-0000-4000-8000-999999999999', right),
      answer('nonsense', right),
    ])
    for (const refusal of refused) expect(refusal).toEqual(refused[0]!)
    expect(refused[0]![0]).toBe(401)
    expect(instance.services.dataSources.newestRows(instance.source(id), 1)).toEqual([])
  })

  test('a source push without any valid rows is refused with the errors found', async () => {
    const id = await make()
    const answer = async (text: string) => {
      const response = await push(id, text)
      return [
        response.status,
        (await response.json()) as { field: string; errors: { message: string }[] },
      ] as const
    }
    const [status, faults] = await answer(JSON.stringify([{ ...row, price: 'x' }, {}]))
    expect({ status, field: faults.field, length: faults.errors.length }).toEqual({
      status: 422,
      field: 'rows.1',
      length: 2,
    })
    expect((await answer('not, rows'))[0]).toBe(200)
    const [, none] = await answer('')
    expect({ field: none.field, message: none.errors[0]!.message }).toEqual({
      field: 'body',
      message: 'it is empty',
    })
    expect((await push(id, 'x'.repeat(2 ** 20 + 1))).status).toBe(413)
    expect(instance.source(id)).toMatchObject({ status: 'error', nextSyncAt: null })
    await push(id, body)
    expect(instance.source(id)).toMatchObject({ status: 'active', failedInARow: 0 })
  })

  test('are refused while the source is paused, and when its account may not have it', async () => {
    const token = instance.key('professional')
    const id = await make({}, token)
    await instance.ask(
      'PATCH',
      `/v1/data-sources/${id}`,
      { data_source: { status: 'paused' } },
      token,
    )
    const paused = await push(id, body)
    expect({ status: paused.status, errorCode: paused.headers.get('x-error-code') }).toEqual({
      status: 422,
      errorCode: 'data_source_paused',
    })
    await instance.ask(
      'PATCH',
      `/v1/data-sources/${id}`,
      { data_source: { status: 'active' } },
      token,
    )
    const { keys } = instance.services
    const { account } = keys.find(token)!
    keys.putAccount({ ...account.account, plan: 'starter' })
    const poor = await push(id, body)
    expect({ status: poor.status, errorCode: poor.headers.get('x-error-code') }).toEqual({
      status: 403,
      errorCode: 'INSUFFICIENT_PLAN',
    })
    keys.putAccount({ ...account.account, plan: 'professional', suspendedAt: 1 })
    expect((await push(id, body)).headers.get('x-error-code')).toBe('KEY_SUSPENDED')
  })

  test('failed source pushes use the request slots of the client address, so secrets cannot be guessed freely', async () => {
    const narrow = openSourceInstance({ 'limits.unauthenticated_per_minute': '10' })
    const id = await narrow.make({ source_type: 'webhook', credentials: { secret } })
    const statuses: number[] = []
    for (let i = 0; i < 12; i += 1) {
      statuses.push(
        (
          await narrow.send('POST', `/v1/data-sources/${id}/ingest`, body, undefined, {
            authorization: 'Bearer wrong',
          })
        ).status,
      )
    }
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429])
  })
})
