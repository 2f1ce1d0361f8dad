import { describe, expect, test } from 'bun:test'
import { minuteMs } from '../../../../src/lib/time/instant.ts'
import { openMessageInstance } from '../../../support/topics/messages.ts'

/** An instance with an account that has so many notifications, a minute apart. */
function withNotices(count: number) {
  const instance = openMessageInstance()
  const account = instance.account('free')
  for (let n = 1; n <= count; n += 1) {
    instance.clock.advance(minuteMs)
    instance.services.notices.post(
      {
        accountId: account.id,
        type: 'price_alert',
        title: `Number ${n}`,
        message: 'It is so.',
        data: { n },
      },
      instance.clock.now(),
    )
  }
  const ids = instance.services.notifications
    .page(account.id, false, 1000, 0)
    .map(notification => notification.id)
  return { ...instance, ...account, ids }
}
const titles = (body: Record<string, unknown>) =>
  (body.notifications as { title: string }[]).map(notification => notification.title)

describe('GET /v1/notifications: notifications', () => {
  test('are listed newest first, in pages, with the unread count', async () => {
    const instance = withNotices(45)
    const first = await instance.ask('GET', '/v1/notifications', instance.token)
    expect(titles(first.body)).toEqual(Array.from({ length: 20 }, (_, n) => `Number ${45 - n}`))
    expect(first.body).toMatchObject({
      unread_count: 45,
      meta: { page: 1, per_page: 20, total: 45, total_pages: 3, has_next: true, has_prev: false },
    })
    expect((first.body.notifications as unknown[])[0]).toEqual({
      id: instance.ids[0],
      type: 'price_alert',
      title: 'Number 45',
      message: 'It is so.',
      read: false,
      created_at: '2026-11-20T15:45:00Z',
      data: { n: 45 },
    })
    expect({
      xTotal: first.headers.get('x-total'),
      xHasNext: first.headers.get('x-has-next'),
    }).toEqual({ xTotal: '45', xHasNext: 'true' })
    const last = await instance.ask('GET', '/v1/notifications?page=3', instance.token)
    expect(titles(last.body)).toEqual(['Number 5', 'Number 4', 'Number 3', 'Number 2', 'Number 1'])
    expect(
      (await instance.ask('GET', '/v1/notifications?per_page=1000', instance.token)).body.meta,
    ).toMatchObject({ per_page: 100 })
    expect(
      titles((await instance.ask('GET', '/v1/notifications?page=99', instance.token)).body),
    ).toEqual([])
    for (const query of ['page=0', 'page=1.5', 'per_page=0', 'unread=perhaps']) {
      const { status, body } = await instance.ask(
        'GET',
        `/v1/notifications?${query}`,
        instance.token,
      )
      expect({ status, code: (body.error as { code: string }).code }).toEqual({
        status: 400,
        code: 'INVALID_PARAMETER',
      })
    }
  })

  test('of one moment keep the order in which they came', async () => {
    const instance = openMessageInstance()
    const { id, token } = instance.account()
    for (const title of ['a', 'b', 'c']) {
      instance.services.notices.post(
        { accountId: id, type: 'usage', title, message: '' },
        instance.clock.now(),
      )
    }
    expect(titles((await instance.ask('GET', '/v1/notifications', token)).body)).toEqual([
      'c',
      'b',
      'a',
    ])
  })

  test('are marked one by one, and only once', async () => {
    const instance = withNotices(3)
    const mark = () =>
      instance.ask('POST', `/v1/notifications/${instance.ids[1]}/mark_read`, instance.token)
    expect((await mark()).body).toMatchObject({
      notification: { id: instance.ids[1], title: 'Number 2', read: true },
      unread_count: 2,
    })
    const readAt = instance.services.notifications.find(instance.id, instance.ids[1]!)!.readAt
    instance.clock.advance(minuteMs)
    expect((await mark()).body).toMatchObject({ notification: { read: true }, unread_count: 2 })
    expect(instance.services.notifications.find(instance.id, instance.ids[1]!)!.readAt).toBe(readAt)
    expect(
      (await instance.ask('GET', '/v1/notifications/unread_count', instance.token)).body,
    ).toEqual({
      unread_count: 2,
    })
    const unread = await instance.ask('GET', '/v1/notifications?unread=true', instance.token)
    expect(titles(unread.body)).toEqual(['Number 3', 'Number 1'])
    expect(unread.body.meta).toMatchObject({ total: 2 })
    expect(
      titles((await instance.ask('GET', '/v1/notifications?unread=false', instance.token)).body),
    ).toHaveLength(3)
  })

  test('are marked all at once', async () => {
    const instance = withNotices(3)
    await instance.ask('POST', `/v1/notifications/${instance.ids[0]}/mark_read`, instance.token)
    const mark = async () =>
      (await instance.ask('POST', '/v1/notifications/mark_all_read', instance.token)).body
    expect(await mark()).toEqual({ marked: 2, unread_count: 0 })
    expect(await mark()).toEqual({ marked: 0, unread_count: 0 })
    expect((await instance.ask('GET', '/v1/notifications', instance.token)).body).toMatchObject({
      unread_count: 0,
      meta: { total: 3 },
    })
  })

  test('of another account look like none, and stay as they are', async () => {
    const instance = withNotices(2)
    const stranger = instance.account()
    const tries = [instance.ids[0]!, crypto.randomUUID(), 'nonsense', `${instance.ids[0]}'--`]
    const answers = await Promise.all(
      tries.map(id =>
        instance.ask(
          'POST',
          `/v1/notifications/${encodeURIComponent(id)}/mark_read`,
          stranger.token,
        ),
      ),
    )
    // The error repeats the id of the request.
    const shown = answers.map(({ status, body }, i) => {
      const { message, ...error } = body.error as { message: string }
      return [status, { ...error, message: message.replace(tries[i]!, 'ID'), request_id: '' }]
    })
    expect(shown).toEqual(tries.map(() => shown[0]!))
    expect(shown[0]).toEqual([404, expect.objectContaining({ code: 'NOT_FOUND' })])
    expect((await instance.ask('GET', '/v1/notifications', stranger.token)).body).toMatchObject({
      notifications: [],
      unread_count: 0,
    })
    expect(
      (await instance.ask('POST', '/v1/notifications/mark_all_read', stranger.token)).body,
    ).toEqual({ marked: 0, unread_count: 0 })
    expect(instance.services.notifications.unread(instance.id)).toBe(2)
  })

  test('do not count against the quota', async () => {
    const instance = withNotices(1)
    const { headers } = await instance.ask('GET', '/v1/notifications', instance.token)
    expect(headers.get('x-ratelimit-used')).toBe('0')
  })
})

describe('/v1/notification_preferences: preferences', () => {
  const first = {
    email: { enabled: true, price_alerts: true, weekly_digest: true, product_updates: false },
    sms: { enabled: true, price_alerts: true },
    push: { enabled: false },
  }

  test('change where the body names them, bare or wrapped, and stay where it does not', async () => {
    const instance = openMessageInstance()
    const { token } = instance.account('free')
    expect((await instance.ask('GET', '/v1/notification_preferences', token)).body).toEqual(first)
    const patch = async (body: unknown) =>
      (await instance.ask('PATCH', '/v1/notification_preferences', token, body)).body
    const email = { ...first.email, weekly_digest: false }
    expect(await patch({ email: { weekly_digest: false } })).toEqual({ ...first, email })
    const wrapped = {
      notification_preferences: { sms: { enabled: false }, push: { enabled: true } },
    }
    const after = { email, sms: { enabled: false, price_alerts: true }, push: { enabled: true } }
    expect(await patch(wrapped)).toEqual(after)
    expect(await patch({ email: { unknown: true }, account_id: 'another' })).toEqual(after)
    expect((await instance.ask('GET', '/v1/notification_preferences', token)).body).toEqual(after)
    expect(
      (await instance.ask('GET', '/v1/notification_preferences', instance.account().token)).body,
    ).toEqual(first)
  })

  test.each([
    [{ email: true }, ['email']],
    [{ email: { enabled: 'no' } }, ['email.enabled']],
    [{ sms: { price_alerts: 1 }, push: { enabled: null } }, ['sms.price_alerts', 'push.enabled']],
    [{ notification_preferences: [] }, ['notification_preferences']],
  ])('%j is refused, all faults at once', async (body, fields) => {
    const instance = openMessageInstance()
    const { token } = instance.account()
    const answer = await instance.ask('PATCH', '/v1/notification_preferences', token, body)
    expect({ status: answer.status, error_code: answer.body.error_code }).toEqual({
      status: 422,
      error_code: 'validation_failed',
    })
    expect((answer.body.errors as { field: string }[]).map(fault => fault.field)).toEqual(fields)
    expect((await instance.ask('GET', '/v1/notification_preferences', token)).body).toEqual(first)
  })
})
