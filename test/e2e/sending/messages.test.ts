import { afterAll, afterEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { remove, type Server, start, temporaryDir } from '../../support/instance/binary.ts'
import { provider, type Stand } from '../../support/servers/provider.ts'
import { fields, smtpServer } from '../../support/servers/smtp-server.ts'
import { until } from '../../support/until.ts'

// Modules that are loaded on demand must be in the binary too: each provider is called once.
const dir = temporaryDir()
afterAll(() => remove(dir))
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function serving(name: string, settings: string): Promise<Server> {
  const path = join(dir, `${name}.toml`)
  await Bun.write(path, settings)
  const server = await start('serve', join(dir, name), '--config', path)
  closing.push(() => server.stop())
  return server
}

async function stand(answer: string): Promise<Stand> {
  const server = await provider(['ok'], answer)
  closing.push(() => server.close())
  return server
}

const ask = async (server: Server, method: string, path: string, body?: unknown) => {
  const headers = { authorization: `Token ${server.apiKey}`, 'content-type': 'application/json' }
  const response = await fetch(server.url + path, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const arrived = <T>(look: () => T | undefined) => until('a message arrives', look)

const link = (server: Server) =>
  ask(server, 'POST', '/v1/auth/link', { email: 'operator@localhost' })

test('the binary sends mail through a provider and text messages through another one', async () => {
  const [mail, sms] = [await stand('{"id":"one"}'), await stand('{"sid":"SM1"}')]
  const server = await serving(
    'providers',
    `[mail]\nprovider = "resend"\nresend_key = "re_key"\nresend_url = "${mail.url}"\n` +
      `[sms]\nprovider = "twilio"\ntwilio_account = "AC${'0'.repeat(32)}"\ntwilio_token = "token"\ntwilio_from = "+15005550006"\ntwilio_url = "${sms.url}"\n`,
  )
  await link(server)
  expect(JSON.parse((await arrived(() => mail.requests[0])).body)).toMatchObject({
    to: ['operator@localhost'],
  })

  expect(
    (await ask(server, 'POST', '/v1/phone', { phone_number: '+447911123456', country_code: 'GB' }))
      .status,
  ).toBe(201)
  const { body } = await arrived(() => sms.requests[0])
  const code = /\d{6}/.exec(new URLSearchParams(body).get('Body')!)![0]
  expect(
    (await ask(server, 'POST', '/v1/phone/verify', { verification_code: code })).body,
  ).toMatchObject({ verified: true })
}, 120_000)

test('the binary sends mail through a mail server', async () => {
  const smtp = await smtpServer()
  closing.push(() => smtp.close())
  const server = await serving('smtp', `[mail]\nprovider = "smtp"\nsmtp_url = "${smtp.url}"\n`)
  await link(server)
  const { to, raw } = await arrived(() => smtp.accepted[0])
  expect(to).toEqual(['operator@localhost'])
  expect(fields(raw).find(([name]) => name === 'from')![1]).toBe('Wellhead <wellhead@localhost>')
}, 120_000)
