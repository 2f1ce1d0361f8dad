import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSeededIds } from '../../../../src/lib/ids.ts'
import { createManualClock } from '../../../../src/lib/time/clock.ts'
import { dayMs, isoInstant, minuteMs } from '../../../../src/lib/time/instant.ts'
import { openFrontDoor, rateOf, startAt } from '../../../support/instance/front-door.ts'
import { codeOf, create, keyOf, listed } from '../../../support/topics/operations/api-keys.ts'

const directories: string[] = []

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true })
})

function databasePath(): string {
  const directory = mkdtempSync(join(tmpdir(), 'wellhead-'))
  directories.push(directory)
  return join(directory, 'test.db')
}

describe('POST /v1/api-keys with an Idempotency-Key', () => {
  const again = { 'idempotency-key': 'order 66' }

  test('gets the first answer, and there is one key', async () => {
    const door = openFrontDoor()
    const { token: caller } = door.open()
    const first = await create(door, caller, { name: 'one' }, again)
    door.clock.advance(dayMs - 1)
    const second = await create(door, caller, { name: 'one' }, again)
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(second.status).toBe(first.status)
    expect(await second.text()).toBe(await first.text())
    expect(await listed(door, caller)).toHaveLength(2)
  })

  test('is a new request after 24 hours', async () => {
    const door = openFrontDoor()
    const { token: caller } = door.open()
    const first = await keyOf(await create(door, caller, {}, again))
    door.clock.advance(dayMs)
    const second = await keyOf(await create(door, caller, {}, { 'idempotency-key': 'order 67' }))
    const third = await keyOf(await create(door, caller, {}, again))
    expect(new Set([first.id, second.id, third.id]).size).toBe(3)
    door.clock.advance(dayMs)
    await create(door, caller, {}, again)
    expect(door.services.db.query('SELECT count(*) AS rows FROM idempotency').get()).toEqual({
      rows: 1,
    })
  })

  test('is refused with another body', async () => {
    const door = openFrontDoor()
    const { token: caller } = door.open()
    await create(door, caller, { name: 'one' }, again)
    const response = await create(door, caller, { name: 'two' }, again)
    expect({ status: response.status, code: await codeOf(response) }).toEqual({
      status: 422,
      code: 'idempotency_key_reused',
    })
    expect(await listed(door, caller)).toHaveLength(2)
  })

  test('is another request under another path, another key and another account', async () => {
    const door = openFrontDoor()
    const { token: caller, key } = door.open()
    const other = door.open()
    const first = await keyOf(await create(door, caller, {}, again))
    const ids = [
      first.id,
      (await keyOf(await create(door, first.plain_token, {}, again))).id,
      (await keyOf(await create(door, other.token, {}, again))).id,
    ]
    expect(new Set(ids).size).toBe(3)
    const rolled = await door.ask('POST', `/v1/api-keys/${first.id}/roll`, {
      token: caller,
      headers: again,
    })
    expect(rolled.headers.get('idempotent-replayed')).toBeNull()
    expect((await keyOf(rolled)).id).toBe(first.id)
    expect(key.key.revokedAt).toBeNull()
  })

  test('is carried out when the first one was refused', async () => {
    const door = openFrontDoor()
    const { token: caller } = door.open()
    for (let i = 0; i < 4; i += 1) await create(door, caller)
    expect((await create(door, caller, {}, again)).status).toBe(422)
    const spare = (await listed(door, caller)).find(
      key => key.created_at === isoInstant(startAt) && key.name === null,
    )!
    await door.ask('DELETE', `/v1/api-keys/${(await listed(door, caller))[4]!.id}`, {
      token: caller,
    })
    expect(spare.active).toBe(true)
    expect((await create(door, caller, {}, again)).status).toBe(200)
  })

  test('a repeated roll answers the same token', async () => {
    const door = openFrontDoor()
    const { token: caller } = door.open()
    const key = await keyOf(await create(door, caller))
    const roll = async () =>
      keyOf(
        await door.ask('POST', `/v1/api-keys/${key.id}/roll`, { token: caller, headers: again }),
      )
    const [first, second] = [await roll(), await roll()]
    expect(second.plain_token).toBe(first.plain_token)
    expect((await door.get('/probe/free', second.plain_token)).status).toBe(200)
  })

  test('a repeated request with an Idempotency-Key counts once', async () => {
    const door = openFrontDoor()
    const { token: caller } = door.open('free')
    const ask = async (body: unknown) =>
      rateOf(await door.ask('POST', '/probe/counted', { token: caller, body, headers: again })).used
    expect([
      await ask({ a: 1 }),
      await ask({ a: 1 }),
      await ask({ a: 2 }),
      await ask({ a: 1 }),
    ]).toEqual(['1', '1', '1', '1'])
    const usage = (await (await door.get('/v1/users/me', caller)).json()) as {
      requests_this_month: number
    }
    expect(usage.requests_this_month).toBe(1)
  })

  test('can be read only with the token that asked first', async () => {
    const door = openFrontDoor()
    const { token: caller, key } = door.open()
    await create(door, caller, { name: 'one' }, again)
    const rolled = await keyOf(
      await door.ask('POST', `/v1/api-keys/${key.key.id}/roll`, {
        token: caller,
        body: { overlap_seconds: 60 },
      }),
    )
    const response = await create(door, rolled.plain_token, { name: 'one' }, again)
    expect({ status: response.status, code: await codeOf(response) }).toEqual({
      status: 422,
      code: 'idempotency_key_reused',
    })
    expect(
      (await create(door, caller, { name: 'one' }, again)).headers.get('idempotent-replayed'),
    ).toBe('true')
  })

  test.each(['', 'x'.repeat(256)])('with a key of %p is refused', async name => {
    const door = openFrontDoor()
    const { token: caller } = door.open()
    const response = await create(door, caller, {}, { 'idempotency-key': name })
    expect({ status: response.status, errorCode: response.headers.get('x-error-code') }).toEqual({
      status: 400,
      errorCode: 'INVALID_PARAMETER',
    })
    expect(await listed(door, caller)).toHaveLength(1)
  })

  test('gets the first answer over a restart', async () => {
    const path = databasePath()
    const before = openFrontDoor({ path })
    const { token: caller } = before.open()
    const first = await create(before, caller, { name: 'one' }, again)
    before.close()
    const after = openFrontDoor({
      path,
      ids: createSeededIds(2),
      clock: createManualClock(startAt + minuteMs),
    })
    const second = await create(after, caller, { name: 'one' }, again)
    expect(await second.text()).toBe(await first.text())
    expect(await listed(after, caller)).toHaveLength(2)
    after.close()
  })

  test('API key creation is rolled back when its idempotent response cannot be stored', async () => {
    const door = openFrontDoor()
    const { token: caller, account } = door.open()
    door.services.db.run(
      "CREATE TRIGGER full BEFORE INSERT ON idempotency BEGIN SELECT RAISE(ABORT, 'no room'); END",
    )
    expect((await create(door, caller, {}, again)).status).toBe(500)
    expect(await listed(door, caller)).toHaveLength(1)
    expect(door.services.keys.account(account.account.id)!.keys).toHaveLength(1)
    door.services.db.run('DROP TRIGGER full')
    expect((await create(door, caller, {}, again)).status).toBe(200)
  })
})
