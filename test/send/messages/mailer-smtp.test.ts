import { afterEach, describe, expect, test } from 'bun:test'
import { minuteMs } from '../../../src/lib/time/instant.ts'
import { type FrozenMailMessage, messageId } from '../../../src/send/messages/mailer.ts'
import { createSmtpMailer } from '../../../src/send/messages/mailer-smtp.ts'
import { createMailSender } from '../../../src/topics/messages/service/mail-sender.ts'
import {
  type Answers,
  attachments,
  fields,
  type SmtpServer,
  smtpServer,
} from '../../support/servers/smtp-server.ts'
import { openMessageInstance, startAt } from '../../support/topics/messages.ts'

const servers: SmtpServer[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function stand(answers?: Answers) {
  const server = await smtpServer(answers)
  servers.push(server)
  return server
}

const mailMessage: FrozenMailMessage = {
  from: 'Wellhead <prices@example.com>',
  to: 'person@example.com',
  subject: 'Prices',
  text: 'Here.',
  postedAt: startAt,
}
const sending = () => ({ key: 'run-1', repeated: false, signal: new AbortController().signal })
const send = (
  server: SmtpServer,
  change: Partial<FrozenMailMessage> = {},
  url = server.url,
  attemptMs = 30_000,
) => createSmtpMailer({ url, attemptMs }).send({ ...mailMessage, ...change }, sending())

test('an e-mail arrives over SMTP unchanged with its attachments', async () => {
  const server = await stand()
  const csv = '\ufeffcode,price\r\n"\'=WTI",61.2\r\n\tß,-1\r\n.\r\nno newline at the end'
  const attached = [
    {
      filename: 'prices-2026-11-20.csv',
      contentType: 'text/csv',
      content: csv,
      encoding: 'utf8' as const,
    },
    {
      filename: 'one.bin',
      contentType: 'application/octet-stream',
      content: Buffer.from([0, 13, 10, 255]).toString('base64'),
      encoding: 'base64' as const,
    },
  ]
  expect(await send(server, { html: '<p>Here.</p>', attachments: attached })).toEqual({
    accepted: true,
    statusCode: 250,
  })
  const [{ from, to, raw }] = server.accepted as [SmtpServer['accepted'][number]]
  expect({ from, to }).toEqual({ from: 'prices@example.com', to: ['person@example.com'] })
  expect(attachments(raw)).toEqual([Buffer.from(csv), Buffer.from([0, 13, 10, 255])])
  expect(Object.fromEntries(fields(raw))).toMatchObject({
    from: 'Wellhead <prices@example.com>',
    to: 'person@example.com',
    subject: 'Prices',
    'auto-submitted': 'auto-generated',
    'message-id': messageId('run-1', mailMessage.from),
    date: 'Fri, 20 Nov 2026 15:00:00 +0000',
  })
  expect(raw).toContain('<p>Here.</p>')
})

describe('the content of an e-mail', () => {
  const tries: [
    string,
    Parameters<ReturnType<typeof openMessageInstance>['services']['mail']['post']>[0]['subject'],
    string,
  ][] = [
    ['a subject with a second header', 'Prices\r\nBcc: victim@example.com', 'person@example.com'],
    ['a subject that ends the headers', 'Prices\r\n\r\nAnother body', 'person@example.com'],
    [
      'a subject of line ends alone',
      'Prices\nTo: victim@example.com\rCc: victim@example.com',
      'person@example.com',
    ],
    [
      'a subject with other line ends',
      'Prices\u2028Bcc: victim@example.com\u0085Bcc: victim@example.com',
      'person@example.com',
    ],
    ['a subject with a zero', 'Prices\0Bcc: victim@example.com', 'person@example.com'],
    [
      'a subject in another script',
      'Größe\r\n 🛢 =?utf-8?q?=0D=0ABcc:_victim@example.com?=',
      'person@example.com',
    ],
    ['a subject that turns around', 'Prices \u202emoc.elpmaxe', 'person@example.com'],
    ['an address with line ends', 'Prices', '\r\nperson@example.com\r\n'],
  ]
  test.each(tries)('stays in its header: %s', async (_, subject, to) => {
    const server = await stand()
    const instance = openMessageInstance()
    const { outbox, suppressions, vault, mail } = instance.services
    outbox.register(
      'email',
      createMailSender({
        mailer: createSmtpMailer({ url: server.url }),
        suppressions,
        vault,
        clock: instance.clock,
      }),
    )
    mail.post({ to, subject, text: 'Here.', accountId: null, dedupe: 'run-1' })
    await instance.deliver()
    const [{ to: recipients, raw }] = server.accepted as [SmtpServer['accepted'][number]]
    expect(recipients).toEqual(['person@example.com'])
    const names = fields(raw).map(([name]) => name)
    expect(names.toSorted()).toEqual([
      'auto-submitted',
      'content-transfer-encoding',
      'content-type',
      'date',
      'from',
      'message-id',
      'mime-version',
      'subject',
      'to',
    ])
    expect(server.commands.filter(line => line.startsWith('RCPT'))).toHaveLength(1)
    expect(raw.slice(raw.indexOf('\r\n\r\n')).trim()).toBe('Here.')
  })

  test.each([
    ['person@example.com, victim@example.com'],
    ['person@example.com\r\nRCPT TO:<victim@example.com>'],
    ['<a@b> <c@d>'],
  ])('is not sent to %j, which is more than an address', async to => {
    const server = await stand()
    const instance = openMessageInstance()
    const { outbox, suppressions, vault, mail } = instance.services
    outbox.register(
      'email',
      createMailSender({
        mailer: createSmtpMailer({ url: server.url }),
        suppressions,
        vault,
        clock: instance.clock,
      }),
    )
    expect(mail.suppressed(to)).toBe('It is not an e-mail address.')
    expect(
      mail.post({ to, subject: 'Prices', text: 'Here.', accountId: null, dedupe: 'run-1' }),
    ).toBeUndefined()
    await instance.deliver()
    expect(server.connections).toBe(0)
    expect(outbox.log.page('email', 'email', {}, 1, 0).entries[0]).toMatchObject({
      state: 'skipped',
      error: 'It is not an e-mail address.',
    })
  })
})

describe('a server', () => {
  const on =
    (start: string, answer: string): Answers =>
    command =>
      command.startsWith(start) ? answer : undefined

  test.each([
    ['that is not there', '', '', { again: true, statusCode: null }],
    [
      'that turns everybody away for now',
      'greeting',
      '421 4.3.2 too busy',
      { again: true, statusCode: 421, fault: 'provider' },
    ],
    [
      'that closes before the recipient',
      'RCPT',
      '421 4.4.2 shutting down',
      { again: true, statusCode: 421, fault: 'provider' },
    ],
    [
      'that turns us away',
      'greeting',
      '554 5.7.1 not you',
      { again: true, statusCode: 554, fault: 'setting' },
    ],
    ['that says nothing', 'greeting', 'silence', { again: true, statusCode: null }],
    ['that puts the address off', 'RCPT', '451 4.7.1 greylisted', { again: true, statusCode: 451 }],
    ['whose mailbox is full', 'RCPT', '552 5.2.2 over quota', { again: false, statusCode: 552 }],
    [
      'that does not want us',
      'RCPT',
      '550 5.7.1 blocked',
      { again: true, statusCode: 550, fault: 'setting' },
    ],
    [
      'that has a limit a day',
      '.',
      '550 5.4.5 daily limit',
      { again: true, statusCode: 550, fault: 'setting' },
    ],
    [
      'that does not know the address',
      'RCPT',
      '550 5.1.1 no such user',
      { again: false, statusCode: 550, fault: 'address' },
    ],
    [
      'of few words that does not know the address',
      'RCPT',
      '550 unknown',
      { again: false, statusCode: 550, fault: 'address' },
    ],
    [
      'that refuses the sender',
      'MAIL',
      '550 5.1.8 bad sender',
      { again: true, statusCode: 550, fault: 'setting' },
    ],
    [
      'that requires TLS first',
      'MAIL',
      '530 5.7.0 STARTTLS first',
      { again: true, statusCode: 530, fault: 'setting' },
    ],
    ['that refuses the message', '.', '554 5.6.0 malformed', { again: false, statusCode: 554 }],
    [
      'that greylists an address with the digits of a status',
      'RCPT',
      '450 4.7.1 host [10.4.3.9] is greylisted',
      { again: true, statusCode: 450 },
    ],
    [
      'that is out of space',
      '.',
      '452 4.3.1 no space',
      { again: true, statusCode: 452, fault: 'provider' },
    ],
    ['that hangs up', 'RCPT', 'cut', { again: true }],
    ['that takes the message and says nothing', '.', 'silence', { again: true, statusCode: null }],
    ['that takes the message and hangs up', '.', 'cut', { again: true }],
  ] as const)('%s is answered for what it is', async (_, start, answer, handed) => {
    const server = await stand(on(start, answer))
    if (start === '') server.close()
    const attemptMs = answer === 'silence' ? 100 : 30_000
    const handedOver = await send(server, {}, server.url, attemptMs)
    expect(handedOver).toMatchObject({ accepted: false, ...handed })
    if (!('fault' in handed)) expect(handedOver).not.toHaveProperty('fault')
  })

  test('an SMTP server that sends no greeting does not delay an e-mail beyond the time limit', async () => {
    const server = await stand(on('greeting', 'silence'))
    expect(await send(server, {}, server.url, 100)).toMatchObject({ accepted: false, again: true })
  })

  test('gets the name and password, and a wrong one is the fault of the settings', async () => {
    const server = await stand()
    const url = server.url.replace('smtp://', 'smtp://desk%40example.com:p%3Ass@')
    expect(await send(server, {}, url)).toMatchObject({ accepted: true })
    const plain = server.commands
      .find(line => line.startsWith('AUTH'))!
      .split(' ')
      .at(-1)!
    expect(Buffer.from(plain, 'base64').toString()).toBe('\0desk@example.com\0p:ss')
    const strict = await stand(on('AUTH', '535 5.7.8 bad credentials'))
    const refused = await send(strict, {}, strict.url.replace('smtp://', 'smtp://desk:wrong@'))
    expect(refused).toMatchObject({
      accepted: false,
      again: true,
      statusCode: 535,
      fault: 'setting',
    })
    expect(JSON.stringify(refused)).not.toContain('wrong')
  })

  test('an e-mail that an SMTP server lost after receiving its end is sent again with the same message id', async () => {
    let lost = 2
    const server = await stand(command => (command === '.' && lost-- > 0 ? 'cut' : undefined))
    const instance = openMessageInstance()
    const { outbox, suppressions, vault, mail } = instance.services
    outbox.register(
      'email',
      createMailSender({
        mailer: createSmtpMailer({ url: server.url }),
        suppressions,
        vault,
        clock: instance.clock,
      }),
    )
    mail.post({
      to: 'person@example.com',
      subject: 'Prices',
      text: 'Here.',
      accountId: null,
      dedupe: 'run-1',
    })
    for (let n = 0; n < 4; n += 1) {
      await instance.deliver()
      instance.clock.advance(20 * minuteMs)
    }
    const ids = server.accepted.map(({ raw }) => Object.fromEntries(fields(raw))['message-id'])
    expect(ids).toHaveLength(3)
    expect(new Set(ids).size).toBe(1)
    expect(new Set(server.accepted.map(({ raw }) => raw)).size).toBe(1)
  })

  test('that does not know an address is not asked again: the address is suppressed, in any spelling of its case', async () => {
    const server = await stand(on('RCPT', '550 5.1.1 <person@example.com>: no such user'))
    const instance = openMessageInstance()
    const { outbox, suppressions, vault, mail } = instance.services
    outbox.register(
      'email',
      createMailSender({
        mailer: createSmtpMailer({ url: server.url }),
        suppressions,
        vault,
        clock: instance.clock,
      }),
    )
    const post = (to: string, dedupe: string) =>
      mail.post({ to, subject: 'Prices', text: 'Here.', accountId: null, dedupe })
    post('Person@example.com', 'run-1')
    await instance.deliver()
    expect(mail.suppressed('person@EXAMPLE.com')).toContain('no such user')
    expect(mail.suppressed('another@example.com')).toBeUndefined()
    const { connections } = server
    expect(post('person@example.com', 'run-2')).toBeUndefined()
    await instance.deliver()
    expect(server.connections).toBe(connections)
    expect(outbox.log.find('email', 'email', 'run-2')).toMatchObject({
      state: 'skipped',
      error: expect.stringContaining('no such user'),
    })
    expect(suppressions.remove('person@example.com')).toBe(true)
    expect(mail.suppressed('person@example.com')).toBeUndefined()
  })
})

test.each([['mail.example.com'], ['http://mail.example.com'], ['smtp://'], ['']])(
  '%j is not accepted as the address of a mail server',
  url => {
    expect(() => createSmtpMailer({ url })).toThrow('mail.smtp_url must be an address such as')
  },
)
