import { describe, expect, test } from 'bun:test'
import { messageHouse } from '../../support/messages.ts'

/** A house with its operator's token. */
function withOperator() {
  const house = messageHouse()
  const token = house.services.adminTokens.rotate()
  const ask = (method: string, path: string, body?: unknown) =>
    house.ask(method, `/admin/v1/suppressions${path}`, undefined, body, {
      authorization: `Bearer ${token}`,
    })
  return { ...house, admin: ask }
}

describe('the list of addresses without mail', () => {
  test('is what the operator makes of it', async () => {
    const house = withOperator()
    const { mail, suppressions } = house.services
    suppressions.add({
      address: 'gone@example.com',
      reason: '550 5.1.1 no such user',
      createdAt: house.clock.now(),
    })
    house.clock.advance(1000)
    const added = await house.admin('POST', '', {
      address: ' Person@Example.com\r\n',
      reason: 'They asked.',
    })
    const row = {
      address: 'person@example.com',
      reason: 'They asked.',
      created_at: '2026-11-20T15:00:01Z',
    }
    expect([added.status, added.body.data]).toEqual([201, row])
    expect(
      (await house.admin('POST', '', { address: 'person@example.com', reason: 'Another.' })).body
        .data,
    ).toEqual(row)
    const gone = {
      address: 'gone@example.com',
      reason: '550 5.1.1 no such user',
      created_at: '2026-11-20T15:00:00Z',
    }
    expect((await house.admin('GET', '')).body.data).toMatchObject({
      suppressions: [row, gone],
      meta: { total: 2 },
    })
    expect((await house.admin('GET', '?per_page=1&page=2')).body.data).toMatchObject({
      suppressions: [gone],
    })

    expect(mail.suppressed('PERSON@example.com')).toBe('They asked.')
    const removed = await house.admin('DELETE', '/Person%40example.com')
    expect([removed.status, removed.body.data]).toEqual([
      200,
      { address: 'person@example.com', deleted: true },
    ])
    expect(mail.suppressed('person@example.com')).toBeUndefined()
    expect((await house.admin('DELETE', '/person%40example.com')).status).toBe(404)
  })

  test.each([
    [{}],
    [{ address: 'nobody' }],
    [{ address: 'a@b.c, d@e.f' }],
    [{ address: 1 }],
    [{ address: 'a@b.c', reason: 2 }],
  ])('takes no %j', async body => {
    const house = withOperator()
    expect(await house.admin('POST', '', body)).toMatchObject({
      status: 422,
      body: { error_code: 'validation_failed' },
    })
    expect(house.services.suppressions.count()).toBe(0)
  })

  test('is not the customers’', async () => {
    const house = withOperator()
    expect((await house.ask('GET', '/admin/v1/suppressions', house.account().token)).status).toBe(
      401,
    )
  })
})
