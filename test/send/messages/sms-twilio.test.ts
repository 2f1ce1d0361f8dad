import { afterEach, expect, test } from 'bun:test'
import { createTwilioSmsProvider } from '../../../src/send/messages/sms-twilio.ts'
import { type Behaviour, provider, type Stand } from '../../support/servers/provider.ts'

const stands: Stand[] = []
afterEach(() => {
  for (const stand of stands.splice(0)) stand.close()
})

const account = `AC${'0'.repeat(32)}`

async function stand(behaviours: Behaviour[], from = '+15005550006') {
  const server = await provider(behaviours, '{"sid":"SM1","status":"queued"}')
  stands.push(server)
  return {
    server,
    texter: createTwilioSmsProvider({
      account,
      token: 'secret token',
      from,
      url: server.url,
      attemptMs: server.attemptMs(),
    }),
  }
}
const message = { to: '+15550100001', text: 'Brent above 90: $91.20 & rising' }

test.each([
  ['+15005550006', { From: '+15005550006' }],
  [`MG${'1'.repeat(32)}`, { MessagingServiceSid: `MG${'1'.repeat(32)}` }],
])('a message goes out from %s, each time', async (from, sender) => {
  const { server, texter } = await stand(['ok'], from)
  for (const n of [1, 2, 3]) {
    expect(await texter.send(message, 'key')).toEqual({ accepted: true, statusCode: 200 })
    const { path, headers, body } = server.requests[n - 1]!
    expect(path).toBe(`/2010-04-01/Accounts/${account}/Messages.json`)
    expect(headers.authorization).toBe(
      `Basic ${Buffer.from(`${account}:secret token`).toString('base64')}`,
    )
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      To: message.to,
      Body: message.text,
      ...sender,
    })
  }
})

const failure = (status: number, code: number): Behaviour => ({
  status,
  body: JSON.stringify({ code, message: 'No.', status }),
})

test.each<[string, Behaviour, object]>([
  ['fails', { status: 500, body: 'oops' }, { accepted: false, again: true, statusCode: 500 }],
  [
    'gets too many requests',
    failure(429, 20429),
    { accepted: false, again: true, statusCode: 429 },
  ],
  [
    'cuts the connection',
    'cuts the connection',
    { accepted: false, again: true, statusCode: null },
  ],
  ['never answers', 'never answers', { accepted: false, again: true, statusCode: null }],
  [
    'knows the owner does not want messages',
    failure(400, 21610),
    { accepted: false, again: false, statusCode: 400, fault: 'refused' },
  ],
  [
    'knows the number takes no messages',
    failure(400, 21614),
    { accepted: false, again: false, fault: 'address' },
  ],
  [
    'may not send to the country of the number',
    failure(400, 21408),
    { accepted: false, again: false, statusCode: 400, fault: 'address' },
  ],
  ...[21265, 21266, 21268, 21635].map((code): [string, Behaviour, object] => [
    `cannot reach the number (${code})`,
    failure(400, code),
    { accepted: false, again: false, fault: 'address' },
  ]),
  [
    'has a full queue for the sender',
    failure(400, 21611),
    { accepted: false, again: true, statusCode: 400 },
  ],
  ...[21267, 21608, 21704, 21705].map((code): [string, Behaviour, object] => [
    `has an account or sender that is not set up (${code})`,
    failure(400, code),
    { accepted: false, again: true, fault: 'setting' },
  ]),
  [
    'does not know us',
    failure(401, 20003),
    { accepted: false, again: true, statusCode: 401, fault: 'setting' },
  ],
  [
    'does not have the account',
    failure(404, 20404),
    { accepted: false, again: true, statusCode: 404, fault: 'setting' },
  ],
  [
    'does not know the sender',
    failure(400, 21606),
    { accepted: false, again: true, statusCode: 400, fault: 'setting' },
  ],
  [
    'does not like the message',
    failure(400, 21617),
    { accepted: false, again: false, statusCode: 400 },
  ],
  [
    'creates the message and answers no JSON',
    { status: 201, body: '<html>' },
    { accepted: true, statusCode: 201 },
  ],
  ...[
    ['with a page', { status: 200, body: '<html>' }],
    ['with nothing', { status: 200, body: '' }],
    ['with another document', { status: 200, body: '{"status":"ok"}' }],
    ['elsewhere', { status: 302, body: '', headers: { location: '/sign-in' } }],
  ].map(([how, behaviour]): [string, Behaviour, object] => [
    `is a proxy that answers ${how}`,
    behaviour as Behaviour,
    { accepted: false, again: true, fault: 'provider' },
  ]),
])('a provider that %s is answered for what it is', async (_, behaviour, handed) => {
  const { texter } = await stand([behaviour])
  const answer = await texter.send(message, 'key')
  expect(answer).toMatchObject(handed)
  expect(JSON.stringify(answer)).not.toContain('secret token')
})
