import { afterEach, describe, expect, test } from 'bun:test'
import { dayMs, hourMs, minuteMs } from '../../../src/lib/time/instant.ts'
import type { FrozenMailMessage, Mailer } from '../../../src/send/messages/mailer.ts'
import { createResendMailer } from '../../../src/send/messages/mailer-resend.ts'
import { createMailSender } from '../../../src/topics/messages/service/mail-sender.ts'
import { type Behaviour, provider, type Stand } from '../../support/servers/provider.ts'
import {
  type MessageInstance,
  openMessageInstance,
  startAt,
} from '../../support/topics/messages.ts'

const stands: Stand[] = []
afterEach(() => {
  for (const stand of stands.splice(0)) stand.close()
})

async function stand(...behaviours: Behaviour[]) {
  const server = await provider(behaviours, '{"id":"49a3999c-0ce1-4ea6-ab68-afcd6dc2e794"}')
  stands.push(server)
  const mailer = (now = () => startAt): Mailer => ({
    send: (...sent) =>
      createResendMailer({
        key: 're_key',
        url: server.url,
        now,
        attemptMs: server.attemptMs(),
      }).send(...sent),
  })
  return { server, mailer }
}

/** An instance whose e-mails go out by a mailer. */
function instanceOf(mailer: Mailer): MessageInstance {
  const instance = openMessageInstance()
  const { outbox, suppressions, vault } = instance.services
  outbox.register('email', createMailSender({ mailer, suppressions, vault, clock: instance.clock }))
  return instance
}

const post = (
  instance: MessageInstance,
  more: Partial<Parameters<MessageInstance['services']['mail']['post']>[0]> = {},
) =>
  instance.services.mail.post({
    to: 'person@example.com',
    subject: 'Prices',
    text: 'Here they are.',
    accountId: null,
    dedupe: 'run-1',
    ...more,
  })
const stateOf = (instance: MessageInstance) =>
  instance.services.outbox.log.page('email', 'email', {}, 1, 0).entries[0]!

describe('an e-mail is sent once', () => {
  const passing: [string, Behaviour[]][] = [
    ['is slow to answer what it accepted', ['accepts and never answers', 'ok']],
    [
      'cuts the connection after it accepted',
      ['accepts and cuts the connection', 'accepts and cuts the connection', 'ok'],
    ],
    ['accepts the e-mail but does not answer with JSON', ['accepts and answers no JSON', 'ok']],
    ['answers half of it', ['accepts and answers half', 'ok']],
    ['cuts the connection', ['cuts the connection', 'ok']],
    ['never answers', ['never answers', 'ok']],
    ['drips', ['drips', 'drips', 'ok']],
    [
      'fails with 500',
      [
        { status: 500, body: '{"statusCode":500,"name":"internal_server_error","message":"no"}' },
        'ok',
      ],
    ],
    ['fails with a page', [{ status: 502, body: '<html>bad gateway</html>' }, 'ok']],
    ['fails with null', [{ status: 500, body: 'null' }, 'ok']],
    ['fails with an empty body', [{ status: 503, body: '' }, 'ok']],
    [
      'gets too many requests',
      [
        {
          status: 429,
          body: '{"statusCode":429,"name":"rate_limit_exceeded","message":"slow down"}',
        },
        'ok',
      ],
    ],
    [
      'still works on the first attempt',
      [
        {
          status: 409,
          body: '{"statusCode":409,"name":"concurrent_idempotent_requests","message":"wait"}',
        },
        'ok',
      ],
    ],
    [
      'does everything wrong before it works',
      [
        'accepts and never answers',
        'cuts the connection',
        { status: 500, body: 'x' },
        'accepts and answers half',
        'ok',
      ],
    ],
  ]
  test.each(passing)('though the provider %s', async (_, behaviours) => {
    const { server, mailer } = await stand(...behaviours)
    const instance = instanceOf(mailer())
    post(instance)
    for (const _attempt of behaviours) {
      await instance.deliver()
      instance.clock.advance(70 * minuteMs)
    }
    expect(stateOf(instance)).toMatchObject({
      state: 'delivered',
      attempts: behaviours.length,
      error: null,
    })
    expect(server.delivered).toEqual(['run-1'])
    expect(new Set(server.requests.map(request => request.headers['idempotency-key']))).toEqual(
      new Set(['run-1']),
    )
    // Another text under the same key would be refused.
    expect(new Set(server.requests.map(request => request.body)).size).toBe(1)
    instance.clock.advance(2 * dayMs)
    await instance.deliver()
    expect(server.requests).toHaveLength(behaviours.length)
  })

  test('when it is posted twice', async () => {
    const { server, mailer } = await stand('ok')
    const instance = instanceOf(mailer())
    expect([typeof post(instance), post(instance)]).toEqual(['string', undefined])
    await instance.deliver()
    expect(server.requests).toHaveLength(1)
  })

  test('when the answer to its last attempt was lost and a day has passed: it is given up instead of repeated', async () => {
    const { server, mailer } = await stand('accepts and cuts the connection', 'ok')
    const instance = instanceOf(mailer(() => instance.clock.now()))
    post(instance)
    await instance.deliver()
    instance.clock.advance(23 * hourMs)
    await instance.deliver()
    expect(stateOf(instance)).toMatchObject({
      state: 'failed',
      error: 'The e-mail is a day old; sending it again could duplicate it.',
    })
    expect(server.requests).toHaveLength(1)
  })

  test('also when it had to wait for longer than that before its first attempt', async () => {
    const { server, mailer } = await stand('ok')
    const instance = instanceOf(mailer(() => instance.clock.now()))
    post(instance)
    instance.clock.advance(3 * dayMs)
    await instance.deliver()
    expect(server.delivered).toEqual(['run-1'])
  })
})

describe('an e-mail that the provider refuses', () => {
  test.each([
    [400, 'validation_error'],
    [409, 'invalid_idempotent_request'],
    [422, 'validation_error'],
  ])('with %i %s fails at the first attempt', async (status, name) => {
    const { server, mailer } = await stand({
      status,
      body: JSON.stringify({ statusCode: status, name, message: 'It will not do.' }),
    })
    const instance = instanceOf(mailer())
    post(instance)
    await instance.deliver()
    instance.clock.advance(dayMs)
    await instance.deliver()
    expect(stateOf(instance)).toMatchObject({
      state: 'failed',
      attempts: 1,
      statusCode: status,
      error: 'It will not do.',
    })
    expect(server.requests).toHaveLength(1)
  })

  test.each([
    [401, 'restricted_api_key'],
    [403, 'not_allowed'],
  ])('because of the settings, with %i %s, is sent when they are correct', async (status, name) => {
    const { server, mailer } = await stand(
      { status, body: JSON.stringify({ statusCode: status, name, message: 'The key.' }) },
      'ok',
    )
    const instance = instanceOf(mailer())
    const repeats: boolean[] = []
    instance.services.outbox.listen('email', ({ blameless }) => void repeats.push(blameless))
    post(instance)
    await instance.deliver()
    expect(repeats).toEqual([true])
    expect(instance.services.mail.suppressed('person@example.com')).toBeUndefined()
    instance.clock.advance(2 * minuteMs)
    await instance.deliver()
    expect(server.delivered).toEqual(['run-1'])
  })

  test('an e-mail that the provider keeps refusing is tried five times, with retries after 1, 5, 15 and 60 minutes', async () => {
    const { server, mailer } = await stand({ status: 500, body: '{}' })
    const instance = instanceOf(mailer())
    post(instance)
    await instance.deliver()
    for (const minutes of [1, 5, 15, 60]) {
      const before = server.requests.length
      instance.clock.advance(minutes * minuteMs - 1)
      await instance.deliver()
      expect(server.requests).toHaveLength(before)
      instance.clock.advance(minutes * minuteMs * 0.05 + 1)
      await instance.deliver()
      expect(server.requests).toHaveLength(before + 1)
    }
    expect(stateOf(instance)).toMatchObject({ state: 'failed', attempts: 5 })
  })

  test('with a wait is tried again then', async () => {
    const { server, mailer } = await stand(
      {
        status: 429,
        body: '{"statusCode":429,"name":"rate_limit_exceeded","message":"slow down"}',
        headers: { 'retry-after': '7' },
      },
      'ok',
    )
    const instance = instanceOf(mailer())
    post(instance)
    await instance.deliver()
    instance.clock.advance(6_999)
    await instance.deliver()
    expect(server.requests).toHaveLength(1)
    instance.clock.advance(1)
    await instance.deliver()
    expect(server.delivered).toEqual(['run-1'])
  })
})

test('an e-mail is sent through the Resend API with its attachment unchanged', async () => {
  const { server, mailer } = await stand('ok')
  const csv = 'code,price\r\n"\'=WTI",61.2\r\n\tß,-1\r\n'
  const mailMessage: FrozenMailMessage = {
    from: 'Wellhead <prices@example.com>',
    to: 'person@example.com',
    subject: 'Prices',
    text: 'Here.',
    html: '<p>Here.</p>',
    postedAt: startAt,
    attachments: [
      { filename: 'prices.csv', contentType: 'text/csv', content: csv, encoding: 'utf8' },
      {
        filename: 'one.bin',
        contentType: 'application/octet-stream',
        content: 'AAEC/w==',
        encoding: 'base64',
      },
    ],
  }
  const signal = new AbortController().signal
  expect(await mailer().send(mailMessage, { key: 'run-1', repeated: false, signal })).toEqual({
    accepted: true,
    statusCode: 200,
  })
  const [{ path, headers, body }] = server.requests as [Stand['requests'][number]]
  expect({
    path,
    authorization: headers.authorization,
    idempotencyKey: headers['idempotency-key'],
  }).toEqual({ path: '/emails', authorization: 'Bearer re_key', idempotencyKey: 'run-1' })
  const posted = JSON.parse(body)
  expect(posted).toMatchObject({
    from: mailMessage.from,
    to: ['person@example.com'],
    subject: 'Prices',
    text: 'Here.',
    html: '<p>Here.</p>',
  })
  expect(
    posted.attachments.map((file: { content: string }) =>
      Buffer.from(file.content, 'base64').toString('latin1'),
    ),
  ).toEqual([Buffer.from(csv).toString('latin1'), '\0\x01\x02\xff'])
})
