import { afterEach, expect, test } from 'bun:test'
import { minuteMs } from '../../../../src/lib/time/instant.ts'
import { type SmtpServer, smtpServer } from '../../../support/servers/smtp-server.ts'
import { openMessageInstance } from '../../../support/topics/messages.ts'

const open: { close(): void }[] = []
afterEach(() => {
  for (const each of open.splice(0)) each.close()
})

/** A stand-in for the provider of text messages: what it took, and what it answers now. */
function texts() {
  const taken: string[] = []
  const state = { answer: (): Response | undefined => undefined }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const text = new URLSearchParams(await request.text()).get('Body') ?? ''
      const failure = state.answer()
      if (failure) return failure
      taken.push(text)
      return Response.json({ sid: `SM${taken.length}` }, { status: 201 })
    },
  })
  open.push({ close: () => void server.stop(true) })
  return { taken, state, url: `http://127.0.0.1:${server.port}` }
}

test.each([
  ['turn everything away', '421 4.3.2 down', () => new Response('{}', { status: 503 })],
  ['answer with pages', 'HTTP/1.1 200 OK', () => new Response('<html>')],
  ['cut connections or answer nothing', 'cut', () => new Response('')],
  ['refuse the credentials', '535 5.7.8 no', () => new Response('{"code":20003}', { status: 401 })],
  ['limit the rate', '421 4.7.0 slow', () => new Response('{"code":20429}', { status: 429 })],
] as const)(
  'providers that %s for an hour lose no message, and none is sent twice',
  async (_, greeting, failure) => {
    let isDown = false
    const mail: SmtpServer = await smtpServer(command =>
      isDown && command === 'greeting' ? greeting : undefined,
    )
    open.push(mail)
    const sms = texts()
    const { services, clock, deliver, ask, account, log } = openMessageInstance({
      mode: 'serve',
      flags: {
        'mail.provider': 'smtp',
        'mail.smtp_url': mail.url,
        'sms.provider': 'twilio',
        'sms.twilio_account': `AC${'0'.repeat(32)}`,
        'sms.twilio_token': 'token',
        'sms.twilio_from': '+15005550006',
        'sms.twilio_url': sms.url,
      },
    })
    const { id, token } = account()
    await ask('POST', '/v1/phone', token, { phone_number: '+15550100001', country_code: 'US' })
    await deliver()
    const [code] = /\d{6}/.exec(sms.taken.at(-1)!)!
    await ask('POST', '/v1/phone/verify', token, { verification_code: code })
    services.phones.optIn(id)
    sms.taken.length = 0

    let posted = 0
    const post = async () => {
      posted += 1
      services.mail.post({
        accountId: id,
        to: 'person1@example.com',
        subject: `message ${posted}`,
        text: 'A text.',
        dedupe: `message-${posted}`,
      })
      await ask('POST', '/v1/sms/test', token)
    }
    const minutes = async (count: number) => {
      for (let minute = 0; minute < count; minute += 1) {
        if (minute % 20 === 0 && isDown) await post()
        await deliver()
        clock.advance(minuteMs)
      }
    }
    isDown = true
    sms.state.answer = failure
    await minutes(59)
    await post()
    await minutes(1)
    expect(services.providerFaults.email()).toBeDefined()
    expect({ accepted: mail.accepted.length, taken: sms.taken.length }).toEqual({
      accepted: 0,
      taken: 0,
    })
    isDown = false
    sms.state.answer = () => undefined
    await minutes(90)
    const subjects = mail.accepted.map(({ raw }) => /^Subject: (.*)$/m.exec(raw)![1]!.trim())
    expect(subjects.sort()).toEqual(
      Array.from({ length: posted }, (_, each) => `message ${each + 1}`),
    )
    expect(sms.taken).toHaveLength(posted)
    expect({ email: services.providerFaults.email(), sms: services.providerFaults.sms() }).toEqual({
      email: undefined,
      sms: undefined,
    })
    expect(log.filter(line => line.includes('message_abandoned'))).toEqual([])
  },
  30_000,
)

test('an address that a provider repeats in its reason does not reach the log or the outbox', async () => {
  const mail = await smtpServer(command =>
    /^RCPT/i.test(command) ? '550 5.7.1 <Person1@example.com>: relaying denied' : undefined,
  )
  open.push(mail)
  const sms = texts()
  sms.state.answer = () =>
    Response.json(
      { code: 21408, message: "not enabled for the 'To' number: +15550100001", status: 400 },
      { status: 400 },
    )
  const { services, deliver, ask, account, log } = openMessageInstance({
    mode: 'serve',
    flags: {
      'mail.provider': 'smtp',
      'mail.smtp_url': mail.url,
      'sms.provider': 'twilio',
      'sms.twilio_account': `AC${'0'.repeat(32)}`,
      'sms.twilio_token': 'token',
      'sms.twilio_from': '+15005550006',
      'sms.twilio_url': sms.url,
    },
  })
  const { token, email } = account()
  await ask('POST', '/v1/phone', token, { phone_number: '+15550100001', country_code: 'US' })
  services.signIn.mailLink(email, 'http://localhost')
  await services.signIn.settled()
  await deliver()
  const errors = services.db
    .query<{ error: string }, []>('SELECT last_error AS error FROM outbox ORDER BY number')
    .all()
    .map(({ error }) => error)
  expect(errors).toHaveLength(2)
  expect(errors[0]).toContain("the 'To' number: the recipient")
  const all = [...log, ...errors].join('\n').toLowerCase()
  expect(all).toContain('the recipient')
  for (const address of ['5550100001', email]) expect(all.includes(address), address).toBe(false)
})
