import { afterAll, afterEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { remove, run, temporaryDir } from '../../support/instance/binary.ts'
import { type Behaviour, provider } from '../../support/servers/provider.ts'
import { type Answers, smtpServer } from '../../support/servers/smtp-server.ts'

const dir = temporaryDir()
afterAll(() => remove(dir))
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** Providers of mail, text messages and payments that behave as scripted, and their settings. */
async function providers(behaviour: Behaviour, answers?: Answers) {
  const mail = await smtpServer(answers)
  const [sms, billing] = [await provider([behaviour], '{}'), await provider([behaviour], '{}')]
  closing.push(mail.close, sms.close, billing.close)
  const config = join(dir, `${closing.length}-${Bun.nanoseconds()}.toml`)
  const mailUrl = mail.url.replace('//', '//desk:password@')
  await Bun.write(
    config,
    `[mail]\nprovider = "smtp"\nsmtp_url = "${mailUrl}"\n` +
      `[sms]\nprovider = "twilio"\ntwilio_account = "AC${'0'.repeat(32)}"\ntwilio_token = "token"\ntwilio_from = "+15005550006"\ntwilio_url = "${sms.url}"\n` +
      `[billing]\nprovider = "stripe"\nstripe_key = "sk_test_1"\nstripe_webhook_secret = "whsec_1"\nstripe_url = "${billing.url}"\n`,
  )
  const doctor = async (...args: string[]) => {
    const { out } = await run(
      'doctor',
      '--json',
      '--data',
      join(dir, 'none'),
      '--config',
      config,
      ...args,
    )
    const { checks } = JSON.parse(out) as {
      checks: { check: string; status: string; found: string }[]
    }
    return checks.filter(({ check }) => ['mail', 'text messages', 'billing'].includes(check))
  }
  return { mail, sms, billing, doctor }
}

const told = (checks: { check: string; status: string; found: string }[]) =>
  checks.filter(({ found }) => !/ is (smtp|twilio|stripe)$/.test(found))

const signsIn: Answers = command => {
  if (command.startsWith('EHLO')) return '250-stand-in\r\n250 AUTH PLAIN'
  return command.startsWith('AUTH') ? '235 2.7.0 accepted' : undefined
}

test('doctor signs in at each provider and sends nothing', async () => {
  const { mail, sms, billing, doctor } = await providers('ok', signsIn)
  expect(told(await doctor())).toEqual([
    {
      check: 'mail',
      status: 'ok',
      found: 'the mail server accepts the connection and the credential',
      advice: null,
    },
    {
      check: 'text messages',
      status: 'ok',
      found: 'twilio accepts the connection and the credential',
      advice: null,
    },
    {
      check: 'billing',
      status: 'ok',
      found: 'stripe accepts the connection and the credential',
      advice: null,
    },
  ] as never)
  expect(mail.commands.some(command => command.startsWith('AUTH'))).toBe(true)
  expect([mail.accepted, mail.commands.filter(command => command.startsWith('MAIL'))]).toEqual([
    [],
    [],
  ])
  expect([sms, billing].flatMap(({ requests }) => requests.map(({ path }) => path))).toEqual([
    `/2010-04-01/Accounts/AC${'0'.repeat(32)}.json`,
    '/v1/subscriptions?limit=1',
  ])
  expect(told(await doctor('--offline'))).toEqual([])
  expect({ sms: sms.requests.length, billing: billing.requests.length }).toEqual({
    sms: 1,
    billing: 1,
  })
}, 60_000)

test('doctor reports a refused credential as an error and names the setting', async () => {
  const refuses: Answers = command =>
    command.startsWith('AUTH') ? '535 5.7.8 bad credentials' : signsIn(command, 1)
  const { doctor } = await providers({ status: 401, body: '{}' }, refuses)
  expect(told(await doctor())).toMatchObject([
    { check: 'mail', status: 'error', advice: 'correct mail.smtp_url' },
    {
      check: 'text messages',
      status: 'error',
      found: 'twilio: it refuses the credential',
      advice: 'correct sms.twilio_account and sms.twilio_token',
    },
    { check: 'billing', status: 'error', advice: 'correct billing.stripe_key' },
  ] as never)
}, 60_000)

test('doctor waits five seconds for a provider that never answers, and says how to skip it', async () => {
  const { doctor } = await providers('never answers', () => 'silence')
  const checks = told(await doctor())
  expect(checks.map(({ status }) => status)).toEqual(['warning', 'warning', 'warning'])
  expect(checks[2]).toMatchObject({
    found: 'stripe: no response within 5 s',
    advice: expect.stringContaining('--offline'),
  })
}, 60_000)
