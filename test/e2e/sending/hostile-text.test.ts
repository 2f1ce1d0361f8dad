import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { launchBrowser, openVisitor } from '../../support/console/browser.ts'
import { remove, type Server, start, temporaryDir } from '../../support/instance/binary.ts'
import { needs } from '../../support/needs.ts'
import {
  attachments,
  fields,
  type SmtpServer,
  smtpServer,
} from '../../support/servers/smtp-server.ts'
import { until } from '../../support/until.ts'

/** A spreadsheet runs a cell that begins like this. */
const formula = /^[=+\-@\t\r＝＋－＠]/
const hostileNames = [
  '=HYPERLINK("http://evil.example","Settle")',
  '@SUM(1+1)*cmd|calc',
  '<script>alert(1)</script><b>bold</b>',
]
const hostileTitle = '=cmd|calc <img src=x onerror=alert(1)>'
const lineBreaks = 'Morning\r\nBcc: thief@evil.example\u0000\u001b[2J'

// Names that people give reach mail programs and spreadsheets of others.
let dir = ''
let mail: SmtpServer
let server: Server
let key = ''
let accountId = ''

const ask = async (method: string, path: string, token: string, body?: unknown) => {
  const answer = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, body: (await answer.json()) as { data: Record<string, never> } }
}
const asOperator = (method: string, path: string, body?: unknown) =>
  ask(method, path, server.adminToken, body)

beforeAll(async () => {
  dir = temporaryDir()
  mail = await smtpServer()
  const config = join(dir, 'wellhead.toml')
  await Bun.write(
    config,
    `[mail]\nprovider = "smtp"\nsmtp_url = "${mail.url}"\n[brand]\nsender = "Prices <p@example.com>"\n`,
  )
  server = await start('serve', join(dir, 'serve'), '--config', config)
  const account = await asOperator('POST', '/admin/v1/accounts', {
    email: 'ann@example.com',
    plan: 'enterprise',
  })
  const created = account.body.data as unknown as {
    account: { id: string }
    api_key: { plain_token: string }
  }
  key = created.api_key.plain_token
  accountId = created.account.id
  for (const [i, name] of hostileNames.entries()) {
    const code = `HOSTILE_${i}_USD`
    const made = await asOperator('POST', '/admin/v1/series', {
      code,
      name,
      category: 'crude_oil',
      unit: 'barrel',
      currency: 'USD',
    })
    expect({ name, status: made.status }).toEqual({ name, status: 201 })
    const observations = [
      { code, observed_at: new Date().toISOString(), price: -70 - i, source: '=cmd|calc' },
    ]
    expect((await asOperator('POST', '/admin/v1/observations', { observations })).status).toBe(200)
  }
}, 120_000)
afterAll(async () => {
  await server?.stop()
  mail?.close()
  remove(dir)
})

/** Cells of a CSV text, with the quotes taken off. */
const cellsOf = (text: string): string[] =>
  [...text.matchAll(/(?:^|,|\n)(?:"((?:[^"]|"")*)"|([^,\r\n]*))/g)].map(([, quoted, plain]) =>
    quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'),
  )

function expectNoFormula(text: string): void {
  for (const cell of cellsOf(text))
    if (cell === '' || !Number.isFinite(Number(cell))) expect(cell).not.toMatch(formula)
}

const deliver = async (name: string) => {
  const made = await ask('POST', '/v1/scheduled-deliveries', key, {
    name,
    commodity_codes: hostileNames.map((_, i) => `HOSTILE_${i}_USD`),
    cadence: 'daily',
    delivery_time: '07:00',
    time_zone: 'UTC',
  })
  if (made.status !== 201) return { made, raw: undefined }
  const before = mail.accepted.length
  const { id } = made.body.data as unknown as { id: string }
  await ask('POST', `/v1/scheduled-deliveries/${id}/send_now`, key, {})
  await until('the e-mail came', () => mail.accepted[before])
  return { made, raw: mail.accepted[before]!.raw }
}

test('the attachment of a scheduled e-mail runs nothing in a spreadsheet, and its HTML is text', async () => {
  const { raw } = await deliver(hostileTitle)
  const [attached] = attachments(raw!)
  const text = attached!.toString()
  expectNoFormula(text)
  for (const name of hostileNames.slice(0, 2)) expect(cellsOf(text)).toContain(`'${name}`)
  const html = bodiesOf(raw!)
  for (const tag of ['<script', '<b>bold', '<img src=x']) expect(html).not.toContain(tag)
  expect(html).toContain('&lt;script&gt;')
}, 60_000)

test('line breaks and control characters in a name add no header field to an e-mail', async () => {
  const { made, raw } = await deliver(lineBreaks)
  // Refused, or sent as one line.
  if (raw === undefined) return expect(made.status).toBe(422)
  const names = fields(raw).map(([name]) => name)
  expect(names).not.toContain('bcc')
  const subject = fields(raw).find(([name]) => name === 'subject')![1]
  expect(subject).not.toMatch(/\p{Cc}/u)
  expect(mail.accepted.at(-1)!.to).toEqual(['ann@example.com'])
}, 60_000)

needs('chromium').test(
  'the CSV that the console saves of a table begins no cell like a formula',
  async () => {
    for (const name of hostileNames) {
      const made = await ask('POST', '/v1/alerts', key, {
        price_alert: {
          name,
          commodity_code: 'WTI_USD',
          condition_operator: 'greater_than',
          condition_value: 1000,
        },
      })
      expect({ name, status: made.status }).toEqual({ name, status: 201 })
    }
    const link = await asOperator('POST', `/admin/v1/accounts/${accountId}/link`, {})
    const { sign_in_url } = link.body.data as unknown as { sign_in_url: string }
    const token = new URL(sign_in_url, server.url).searchParams.get('token')!
    const browser = await launchBrowser()
    try {
      const { page, goTo } = await openVisitor(browser, server.url, {}, token)
      await goTo('/alerts')
      await page.waitForSelector(`tr:has-text("Settle")`)
      const saved = page.waitForEvent('download')
      await page.click('section[aria-labelledby=alerts] .tools button:text-is("CSV")')
      const text = readFileSync(await (await saved).path(), 'utf8')
      expectNoFormula(text)
      for (const name of hostileNames.slice(0, 2)) expect(cellsOf(text)).toContain(`'${name}`)
    } finally {
      await browser.close()
    }
  },
  120_000,
)

/** The bodies of a message without its attachments, decoded. */
function bodiesOf(raw: string): string {
  return raw
    .split(/\r\n--[^\r\n]+/)
    .filter(part => /content-type: text\/html/i.test(part))
    .map(part => {
      const body = part.slice(part.indexOf('\r\n\r\n') + 4)
      if (/content-transfer-encoding: base64/i.test(part))
        return Buffer.from(body.replace(/\s/g, ''), 'base64').toString()
      return body
        .replace(/=\r\n/g, '')
        .replace(/=([\dA-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    })
    .join('\n')
}
