import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { evaluationKeys } from '../../../../../src/cli/server/first-start.ts'
import { loadConfig } from '../../../../../src/config/config.ts'
import { type Instance, openInstance } from '../../../../../src/instance/instance.ts'
import { createSeededIds } from '../../../../../src/lib/ids.ts'
import { createLog } from '../../../../../src/lib/log/log.ts'
import { createManualClock } from '../../../../../src/lib/time/clock.ts'
import { startAt } from '../../../../support/topics/messages.ts'

describe('GET /_dev/inbox', () => {
  const dir = mkdtempSync(join(tmpdir(), 'wellhead-inbox-'))
  let instance: Instance
  let keys: ReturnType<typeof evaluationKeys>
  beforeAll(() => {
    const clock = createManualClock(startAt)
    const keeping = {
      snapshot: async () => undefined,
      dropSnapshot: () => false,
      restore: async () => false,
      reset: async () => {},
      tidy: async () => {},
    }
    const config = loadConfig({
      mode: 'dev',
      flags: {},
      env: {},
      files: { directory: '/' },
      readFile: () => undefined,
    })
    const log = createLog({ level: 'error', format: 'json', write: () => {}, clock })
    instance = openInstance({
      runtime: { config, clock, ids: createSeededIds(7), log },
      dir,
      keeping,
    })
    keys = evaluationKeys(instance.services, dir)
  })
  afterAll(() => {
    instance.close()
    rmSync(dir, { recursive: true, force: true })
  })

  const ask = async (method: string, path: string, token: string, body?: unknown) => {
    const response = await instance.app.handle(
      new Request(`http://localhost${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          accept: '*/*',
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    )
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  test('the development inbox lists sent messages oldest first as soon as they are requested', async () => {
    const { mail } = instance.services
    const attachments = [
      {
        filename: 'prices.csv',
        contentType: 'text/csv',
        content: 'code,price\r\nWTI_USD,61.2\r\n',
        encoding: 'utf8' as const,
      },
    ]
    mail.post({
      to: 'eval@example.com',
      subject: 'One',
      text: 'Here.',
      html: '<p>Here.</p>',
      attachments,
      accountId: null,
      dedupe: 'one',
    })
    mail.post({
      to: 'eval@example.com',
      subject: 'Two',
      text: 'Here.',
      accountId: null,
      dedupe: 'two',
    })
    expect((await ask('POST', '/v1/sms/test', keys.apiKey!)).body).toMatchObject({
      sent: true,
      to: '+15550100001',
    })
    const at = '2026-11-20T15:00:00Z'
    const id = expect.any(Number)
    const email = { id, channel: 'email', to: 'eval@example.com', text: 'Here.', at }
    const sms = {
      id,
      letter_url: null,
      channel: 'sms',
      to: '+15550100001',
      subject: null,
      text: expect.stringContaining('test message'),
      html: null,
      attachments: [],
      at,
    }
    const file = {
      filename: 'prices.csv',
      content_type: 'text/csv',
      content: 'code,price\r\nWTI_USD,61.2\r\n',
      encoding: 'utf8',
    }
    const mailMessages = [
      {
        ...email,
        subject: 'One',
        html: '<p>Here.</p>',
        attachments: [file],
        letter_url: expect.stringMatching(/^\/_dev\/letters\/1\.[0-9a-f]{64}$/),
      },
      { ...email, subject: 'Two', html: null, attachments: [], letter_url: null },
    ]
    expect((await ask('GET', '/_dev/inbox?channel=email', keys.adminToken!)).body).toEqual({
      messages: mailMessages,
    })
    expect((await ask('GET', '/_dev/inbox?channel=sms', keys.adminToken!)).body).toEqual({
      messages: [sms],
    })
    expect((await ask('GET', '/_dev/inbox', keys.adminToken!)).body.messages).toHaveLength(3)
  })

  test('the development inbox shows an e-mail as a page without scripts to anyone with its address', async () => {
    const { messages } = (await ask('GET', '/_dev/inbox?channel=email', keys.adminToken!)).body as {
      messages: { letter_url: string }[]
    }
    const mailMessage = (path: string) =>
      instance.app.handle(new Request(`http://localhost${path}`))
    const [{ letter_url: url }] = messages as [{ letter_url: string }]
    const page = await mailMessage(url)
    expect(page.status).toBe(200)
    expect(await page.text()).toEndWith('<p>Here.</p>')
    const policy = page.headers.get('content-security-policy')!
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain('sandbox allow-popups')
    expect(policy).not.toMatch(/script|same-origin/)
    for (const wrong of [
      url.replace('/1.', '/2.'),
      `${url.slice(0, -1)}${url.endsWith('0') ? '1' : '0'}`,
      '/_dev/letters/1',
      '/_dev/letters/1.',
    ])
      expect((await mailMessage(wrong)).status, wrong).toBe(404)
  })

  test('is the operator’s and has two channels', async () => {
    expect((await ask('GET', '/_dev/inbox', keys.apiKey!)).status).toBe(401)
    expect(await ask('GET', '/_dev/inbox?channel=fax', keys.adminToken!)).toMatchObject({
      status: 400,
      body: {
        error: { code: 'INVALID_PARAMETER', parameter: 'channel', allowed: ['email', 'sms'] },
      },
    })
  })

  test('the demo account has a sample phone number and a sample notification', async () => {
    expect((await ask('GET', '/v1/phone', keys.apiKey!)).body).toMatchObject({
      phone: '+15550100001',
      verified: true,
      country_code: 'US',
    })
    expect((await ask('GET', '/v1/sms/eligibility', keys.apiKey!)).body).toMatchObject({
      eligible: true,
      opted_in: true,
    })
    const { notifications } = (await ask('GET', '/v1/notifications?unread=true', keys.apiKey!))
      .body as { notifications: object[] }
    expect(notifications).toContainEqual(
      expect.objectContaining({ id: '00000000-0000-4000-8000-000000000701', read: false }),
    )
  })
})
