import { describe, expect, test } from 'bun:test'
import { openMessageInstance } from '../../../../support/topics/messages.ts'

/** An instance with its operator's token. */
function withOperator() {
  const instance = openMessageInstance()
  const token = instance.services.adminTokens.rotate()
  const ask = (method: string, path: string, body?: unknown) =>
    instance.ask(method, `/admin/v1/suppressions${path}`, undefined, body, {
      authorization: `Bearer ${token}`,
    })
  return { ...instance, admin: ask }
}

describe('/admin/v1/suppressions', () => {
  test('is what the operator makes of it', async () => {
    const instance = withOperator()
    const { mail, suppressions } = instance.services
    suppressions.add({
      address: 'gone@example.com',
      reason: '550 5.1.1 no such user',
      createdAt: instance.clock.now(),
    })
    instance.clock.advance(1000)
    const added = await instance.admin('POST', '', {
      address: ' Person@Example.com\r\n',
      reason: 'They asked.',
    })
    const row = {
      address: 'person@example.com',
      reason: 'They asked.',
      created_at: '2026-11-20T15:00:01Z',
    }
    expect({ status: added.status, data: added.body.data }).toEqual({ status: 201, data: row })
    expect(
      (await instance.admin('POST', '', { address: 'person@example.com', reason: 'Another.' })).body
        .data,
    ).toEqual(row)
    const gone = {
      address: 'gone@example.com',
      reason: '550 5.1.1 no such user',
      created_at: '2026-11-20T15:00:00Z',
    }
    expect((await instance.admin('GET', '')).body.data).toMatchObject({
      suppressions: [row, gone],
      meta: { total: 2 },
    })
    expect((await instance.admin('GET', '?per_page=1&page=2')).body.data).toMatchObject({
      suppressions: [gone],
    })

    expect(mail.suppressed('PERSON@example.com')).toBe('They asked.')
    const removed = await instance.admin('DELETE', '/Person%40example.com')
    expect({ status: removed.status, data: removed.body.data }).toEqual({
      status: 200,
      data: { address: 'person@example.com', deleted: true },
    })
    expect(mail.suppressed('person@example.com')).toBeUndefined()
    expect((await instance.admin('DELETE', '/person%40example.com')).status).toBe(404)
  })

  test.each([
    [{}],
    [{ address: 'nobody' }],
    [{ address: 'a@b.c, d@e.f' }],
    [{ address: 1 }],
    [{ address: 'a@b.c', reason: 2 }],
  ])('takes no %j', async body => {
    const instance = withOperator()
    expect(await instance.admin('POST', '', body)).toMatchObject({
      status: 422,
      body: { error_code: 'validation_failed' },
    })
    expect(instance.services.suppressions.count()).toBe(0)
  })

  test('is not the customers’', async () => {
    const instance = withOperator()
    expect(
      (await instance.ask('GET', '/admin/v1/suppressions', instance.account().token)).status,
    ).toBe(401)
  })
})
