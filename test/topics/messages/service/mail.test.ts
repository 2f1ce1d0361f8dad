import { describe, expect, test } from 'bun:test'
import { transact } from '../../../../src/database/database.ts'
import type { MailMessage } from '../../../../src/topics/messages/service/mail.ts'
import { openMessageInstance } from '../../../support/topics/messages.ts'

const mailMessage: MailMessage = {
  to: 'person@example.com',
  subject: 'Prices',
  text: 'Here they are.',
  accountId: null,
  dedupe: 'run-1',
}

describe('mail.post: an e-mail', () => {
  test('an e-mail is captured once with its attachments in a demo instance, and its delivery is reported', async () => {
    const instance = openMessageInstance()
    const settlements: unknown[] = []
    instance.services.outbox.listen(
      'email',
      ({ ref, state, eventId }) => void settlements.push([ref, state, eventId]),
    )
    const attachments = [
      {
        filename: 'prices.csv',
        contentType: 'text/csv',
        content: 'a,b\r\n',
        encoding: 'utf8' as const,
      },
    ]
    instance.services.mail.post({
      ...mailMessage,
      html: '<p>Here.</p>',
      attachments,
      ref: 'delivery_run:1',
    })
    instance.services.mail.post({ ...mailMessage, subject: 'Again' })
    await instance.deliver()
    expect(instance.captured('email')).toEqual([
      {
        number: 1,
        channel: 'email',
        eventId: 'run-1',
        to: 'person@example.com',
        subject: 'Prices',
        text: 'Here they are.',
        html: '<p>Here.</p>',
        attachments,
        at: instance.clock.now(),
      },
    ])
    expect(settlements).toEqual([['delivery_run:1', 'delivered', 'run-1']])
    expect(instance.captured('sms')).toEqual([])
  })

  test('is not there when the transaction that posted it is undone', async () => {
    const instance = openMessageInstance()
    const undone = () =>
      transact(instance.services.db, () => {
        instance.services.mail.post(mailMessage)
        throw new Error('undone')
      })
    expect(undone).toThrow('undone')
    await instance.deliver()
    expect(instance.captured('email')).toEqual([])
    expect(instance.services.mail.post(mailMessage)).toBeString()
  })

  test('that is confidential is not readable at rest, and arrives', async () => {
    const instance = openMessageInstance()
    instance.services.mail.post({
      ...mailMessage,
      text: 'https://prices.example.com/sign-in#canary',
      confidential: true,
    })
    const { body } = instance.services.outbox.log.page('email', 'security', {}, 1, 0).entries[0]!
    expect(body).not.toContain('canary')
    await instance.deliver()
    expect(instance.captured('email')[0]!.text).toContain('canary')
  })

  test('an e-mail fails when no provider is configured, and the problem is logged once', async () => {
    const instance = openMessageInstance({ mode: 'serve' })
    const settlements: unknown[] = []
    instance.services.outbox.listen(
      'email',
      ({ state, error, blameless, attempts }) =>
        void settlements.push({ state, error, blameless, attempts }),
    )
    instance.services.mail.post(mailMessage)
    instance.services.mail.post({ ...mailMessage, dedupe: 'run-2' })
    await instance.deliver()
    const settlement = {
      state: 'failed',
      error: 'No mail provider is configured.',
      blameless: true,
      attempts: 1,
    }
    expect(settlements).toEqual([settlement, settlement])
    expect(instance.log.filter(line => line.includes('mail_provider_missing'))).toHaveLength(1)
  })

  test('goes out by the provider that is configured, with the key and to the address of the settings', async () => {
    const order: string[] = []
    const provider = Bun.serve({
      port: 0,
      async fetch(request) {
        order.push(
          `${request.headers.get('authorization')} ${request.headers.get('idempotency-key')} ${((await request.json()) as { from: string }).from}`,
        )
        return Response.json({ id: 'one' })
      },
    })
    const instance = openMessageInstance({
      mode: 'serve',
      flags: {
        'mail.provider': 'resend',
        'mail.resend_key': 're_secret',
        'mail.resend_url': `http://127.0.0.1:${provider.port}`,
        'brand.sender': 'Desk <desk@example.com>',
      },
    })
    instance.services.mail.post(mailMessage)
    instance.services.mail.post({ ...mailMessage, dedupe: 'schlüssel 2' })
    await instance.deliver()
    await provider.stop(true)
    expect(order).toHaveLength(2)
    expect(order).toContain('Bearer re_secret run-1 Desk <desk@example.com>')
    // A header carries ASCII only: the key is a hash of the other characters.
    expect(order.some(line => /^Bearer re_secret [0-9a-f]{64} Desk/.test(line))).toBe(true)
    expect(instance.log.join('\n')).not.toContain('re_secret')
  })
})

test.each([
  [{ 'mail.provider': 'resend' }, 'mail.resend_key must be set, because mail.provider is resend'],
  [{ 'mail.provider': 'smtp' }, 'mail.smtp_url must be set, because mail.provider is smtp'],
  [
    { 'mail.provider': 'smtp', 'mail.smtp_url': 'mail.example.com' },
    'the configuration has 1 problem:\n  mail.smtp_url must be an address such as',
  ],
  [
    { 'mail.provider': 'smtp', 'mail.smtp_url': 'smtp://me:50%off@mail.example.com' },
    'mail.smtp_url must have %25 for each % in its user and password.',
  ],
  [{ 'mail.provider': 'capture' }, 'mail.provider: capture is for the command dev'],
  [{ 'sms.provider': 'capture' }, 'sms.provider: capture is for the command dev'],
  [{ 'sms.provider': 'twilio' }, 'sms.twilio_account must be set, because sms.provider is twilio'],
  [
    {
      'sms.provider': 'twilio',
      'sms.twilio_account': `AC${'0'.repeat(32)}`,
      'sms.twilio_token': 'x',
    },
    'sms.twilio_from must be set',
  ],
])('a service with %j does not start', (flags, message) => {
  expect(() =>
    openMessageInstance({ mode: 'serve', flags: flags as Record<string, string> }),
  ).toThrow(message)
})
