import { afterAll, beforeAll, expect, test } from 'bun:test'
import { pagePaths } from '../../src/console/paths.ts'
import { transact } from '../../src/database/database.ts'
import { evaluationAccountId } from '../../src/demo/open.ts'
import type { Settled } from '../../src/outbox/outbox.ts'
import { keepWebhookRecords } from '../../src/topics/webhooks/service/record.ts'
import type { Visitor } from '../support/console/browser.ts'
import { isFull, part } from '../support/full.ts'
import { needs } from '../support/needs.ts'
import { openStage, type Stage } from './console/stage.ts'

interface Captured {
  to: string
  subject: string
  text: string
  html: string | null
}

const base = 'http://prices.example.com'
const accountParts = ['usage', 'plan', 'members', 'notifications', 'display', 'sources', 'sign-ins']
const walked: readonly string[] = [
  ...pagePaths.filter(path => !path.includes(':')),
  '/series/WTI_USD',
  '/docs/quickstart',
  ...accountParts.map(part => `/account/${part}`),
]

const linksOf = (text: string): string[] =>
  (text.match(/https?:\/\/[^\s<>"]+/g) ?? []).map(url => url.replace(/[.,;:)]+$/, ''))

needs('chromium').describe('links lead to the page of what they speak of', () => {
  let stage: Stage
  const visitors: Visitor[] = []
  const operator = () => ({ authorization: `Bearer ${stage.instance.adminToken}` })
  const ask = async <T>(method: string, path: string, body?: unknown, key?: string): Promise<T> => {
    const isOperators = /^\/(_dev|admin)\//.test(path)
    const answer = await stage.instance.ask(method, path, {
      ...(body !== undefined && { body }),
      ...(isOperators && { key: null, headers: operator() }),
      ...(key !== undefined && { key }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return JSON.parse(text) as T
  }
  const advance = (period: string) => ask('POST', '/_dev/clock', { advance: period })
  const mailMessages = async (to: string): Promise<Captured[]> => {
    const { messages } = await ask<{ messages: Captured[] }>('GET', '/_dev/inbox?channel=email')
    return messages.filter(message => message.to === to)
  }
  /** The newest e-mail to an address whose subject contains the words. */
  const mailMessage = async (to: string, words: string): Promise<Captured> => {
    const all = await mailMessages(to)
    const newest = all.filter(({ subject }) => subject.includes(words)).at(-1)
    if (!newest)
      throw new Error(
        `no "${words}" among the e-mails to ${to}: ${all.map(({ subject }) => subject).join('; ')}`,
      )
    return newest
  }
  /** Someone signed in with an account: the evaluation's, unless another is named; null: no one. */
  const visitor = async (account?: string | null) => {
    const someone = await stage.visitor({
      isSignedIn: account !== null,
      ...(account && { account }),
    })
    visitors.push(someone)
    return someone
  }
  /** Follows a link of an e-mail as its recipient, and waits for the expected content. */
  const follow = async ({ page }: Visitor, url: string, shown: string) => {
    expect(url.startsWith(`${base}/`)).toBe(true)
    const answer = await page.goto(`${stage.origin}${url.slice(base.length)}`)
    expect(answer?.status(), url).toBe(200)
    await page.waitForSelector(shown)
  }
  /** The link in both forms of an e-mail: as text, and as HTML. */
  const linkOf = ({ subject, text, html }: Captured, path: RegExp): string => {
    const url = linksOf(text).find(link => path.test(link.slice(base.length)))
    if (url === undefined) throw new Error(`"${subject}" has no link to ${path}: ${text}`)
    expect(html).toContain(`<a href="${Bun.escapeHTML(url)}">`)
    // Nothing stays in the text that cannot be pressed.
    for (const link of linksOf(text))
      if (link.startsWith(base)) expect(html).toContain(`href="${Bun.escapeHTML(link)}"`)
    return url
  }

  beforeAll(async () => {
    stage = await openStage({
      'server.base_url': base,
      'accounts.signup': 'open',
      'mail.strangers_agree': 'true',
    })
  }, 120_000)
  afterAll(async () => {
    for (const { context } of visitors) await context.close()
    await stage?.close()
  })

  test('an alert e-mail links to the alert history and the notification settings', async () => {
    await ask('POST', '/v1/alerts', {
      price_alert: {
        name: 'Every barrel',
        commodity_code: 'WTI_USD',
        condition_operator: 'greater_than',
        condition_value: 1,
      },
    })
    await advance('PT30M')
    const told = await mailMessage('eval@example.com', 'Every barrel')
    const reader = await visitor()
    await follow(reader, linkOf(told, /^\/alerts\/[\w-]{36}$/), 'h1:has-text("Every barrel")')
    await follow(reader, linkOf(told, /^\/account\/notifications$/), '#ways')
    expect(reader.complaints).toEqual([])
  })

  test('a delivery e-mail links to its delivery, and one click unsubscribes the recipient', async () => {
    const delivery = {
      name: 'Desk',
      commodity_codes: ['WTI_USD'],
      cadence: 'daily',
      delivery_time: '08:10',
      time_zone: 'UTC',
    }
    const { data } = await ask<{ data: { id: string } }>('POST', '/v1/scheduled-deliveries', {
      scheduled_delivery: { ...delivery, recipient_email: 'eval@example.com' },
    })
    await ask('POST', `/v1/scheduled-deliveries/${data.id}/send_now`, {})
    const prices = await mailMessage('eval@example.com', 'Desk, ')
    const reader = await visitor()
    await follow(
      reader,
      linkOf(prices, /^\/webhooks#/),
      `tr.meant[id="${data.id}"]:has-text("Desk")`,
    )
    await follow(
      reader,
      linkOf(prices, /^\/mail\/unsubscribe\?/),
      'main:has-text("eval@example.com") button',
    )

    await ask('POST', '/v1/scheduled-deliveries', {
      scheduled_delivery: { ...delivery, recipient_email: 'recipient@example.net' },
    })
    const asked = await mailMessage('recipient@example.net', 'Confirm price e-mails')
    const recipient = await visitor(null)
    await follow(
      recipient,
      linkOf(asked, /^\/mail\/agree\?/),
      'main:has-text("recipient@example.net") button',
    )
    expect([...reader.complaints, ...recipient.complaints]).toEqual([])
  })

  test('of an endpoint that was switched off: the endpoint', async () => {
    const { data } = await ask<{ data: { id: string } }>('POST', '/v1/webhooks', {
      url: 'http://127.0.0.1:9/refuses',
      events: ['invoice.paid'],
    })
    const { services } = stage.instance.running
    let settle: (settled: Settled) => void = () => {}
    const listen = (_kind: string, listener: typeof settle) => {
      settle = listener
    }
    keepWebhookRecords({ ...services, outbox: { listen }, deactivateAfter: 1 })
    transact(services.db, () =>
      settle({
        id: 'message',
        kind: 'webhook',
        accountId: evaluationAccountId,
        lane: data.id,
        eventId: 'event',
        eventType: 'invoice.paid',
        ref: null,
        state: 'failed',
        attempts: 6,
        statusCode: null,
        error: 'refused',
        blameless: false,
        at: stage.instance.clock.now(),
      }),
    )
    const told = await mailMessage('eval@example.com', 'switched off')
    const reader = await visitor()
    await follow(
      reader,
      linkOf(told, /^\/webhooks\/[\w-]{36}$/),
      'main:has-text("http://127.0.0.1:9/refuses"):has-text("Disabled")',
    )
    linkOf(told, /^\/account\/notifications$/)
  })

  interface Played {
    details: { account: { id: string; email: string }; api_key: string }
  }

  test('a quota e-mail links to the usage page and to larger plans', async () => {
    const { details } = await ask<Played>('POST', '/_dev/scenario', { name: 'quota-edge' })
    const { account, api_key: key } = details
    await ask('GET', '/v1/prices/latest?by_code=WTI_USD', undefined, key)
    stage.instance.running.services.meter.flush()
    const told = await mailMessage(account.email, 'quota is used up')
    const reader = await visitor(account.id)
    await follow(reader, linkOf(told, /^\/account\/usage$/), 'main:has-text("Quota used by key")')
    await follow(reader, linkOf(told, /^\/account\/plan$/), '#plans')
    await reader.page.waitForSelector('tr:has-text("Current") >> text=Free')

    // The link of the refusal leads to the same page, where the user can choose.
    const refused = await stage.instance.ask('GET', '/v1/prices/latest?by_code=WTI_USD', { key })
    const { upgrade_url: upgrade } = (await refused.json()) as { upgrade_url: string }
    await follow(reader, upgrade, '#plans')
    const row = reader.page.locator('tr:has(th:has-text("Professional"))')
    await row.locator('button:has-text("Choose")').first().click()
    await row.locator('dialog button.danger').click()
    await reader.page.waitForSelector('.notice.good >> text=The Professional plan has started')
    await reader.page.waitForSelector('tr:has-text("Current") >> text=Professional')
    expect(reader.complaints).toEqual([])
  })

  test('an e-mail about an unpaid invoice links to the invoice', async () => {
    const { details } = await ask<Played>('POST', '/_dev/scenario', { name: 'payment-failing' })
    const told = await mailMessage(details.account.email, 'is not paid')
    const number = /invoice (\S+) is not paid/.exec(told.subject)![1]
    const reader = await visitor(details.account.id)
    await follow(reader, linkOf(told, /^\/account\/plan$/), `main a:has-text("${number}")`)
  })

  test('an e-mail that lets a person in links to signing in, to the organization or to the account', async () => {
    const { signIn, signUp } = stage.instance.running.services
    signIn.mailLink('eval@example.com', base)
    await signIn.settled()
    const link = await mailMessage('eval@example.com', 'Sign in to')
    await follow(
      await visitor(null),
      linkOf(link, /^\/sign-in/),
      'main:has-text("eval@example.com")',
    )

    await ask('POST', '/organizations/invitations', { email: 'new@example.net', role: 'member' })
    const invited = await mailMessage('new@example.net', 'invites you')
    await follow(
      await visitor(null),
      linkOf(invited, /^\/invitation/),
      'body:has-text("Evaluation")',
    )

    await ask('POST', '/v1/auth/signup', { email: 'starts@example.net' })
    await signUp.settled()
    const begun = await mailMessage('starts@example.net', 'Confirm your address')
    await follow(
      await visitor(null),
      linkOf(begun, /^\/signup/),
      'button:has-text("Create account")',
    )
  })

  test('links in errors and responses lead to existing pages that explain the code', async () => {
    const bodies: [string, unknown][] = []
    const keep = async (name: string, status: number, answer: Response) => {
      expect(answer.status, name).toEqual(status)
      bodies.push([name, await answer.json()])
    }
    const account = async (plan: string) =>
      (await ask<{ api_key: string }>('POST', '/_dev/accounts', { plan })).api_key
    const free = await account('free')
    await keep('401', 401, await stage.instance.ask('GET', '/v1/prices/latest', { key: null }))
    await keep('403', 403, await stage.instance.ask('GET', '/v1/ei/rig_counts', { key: free }))
    await keep(
      '403 add-on',
      403,
      await stage.instance.ask('GET', '/v1/futures/exch-brent/curve', {
        key: await account('developer'),
      }),
    )
    await keep('400', 400, await stage.instance.ask('GET', '/v1/prices/latest?by_code=WTI_USDD'))
    await keep('404', 404, await stage.instance.ask('GET', '/v1/commodities/WTI_USDD'))
    await keep('demo', 200, await stage.instance.ask('GET', '/v1/demo/prices', { key: null }))
    await keep('account', 200, await stage.instance.ask('GET', '/v1/account'))
    const { details } = await ask<Played>('POST', '/_dev/scenario', {
      name: 'quota-edge',
      remaining: 0,
    })
    const spent = await stage.instance.ask('GET', '/v1/prices/latest', { key: details.api_key })
    expect([402, 429]).toContain(spent.status)
    bodies.push(['quota', await spent.json()])

    const links = new Set<string>()
    for (const [, body] of bodies)
      for (const link of linksOf(JSON.stringify(body).replaceAll('\\"', '"'))) links.add(link)
    // The error for too many requests, which does not depend on the day.
    for (const place of ['batch', 'conditional-requests']) links.add(`${base}/docs#${place}`)
    const own = [...links].filter(link => link.startsWith(base))
    const answered: [string, number][] = []
    const reader = await visitor()
    for (const link of own) {
      // A new document each time: the same one with another place would not be requested again.
      await reader.page.goto('about:blank')
      const answer = await reader.page.goto(`${stage.origin}${link.slice(base.length)}`)
      answered.push([link, answer!.status()])
      const code = /\/docs#(\w+)$/.exec(link)?.[1]
      if (code?.match(/^[A-Z]|_/))
        await reader.page.waitForSelector(`h2:has-text("The error ${code}")`)
      else if (link.includes('/docs#')) {
        const place = link.split('#')[1]!
        await reader.page.waitForURL(url => url.hash !== `#${place}`)
        await reader.page.waitForSelector('article h2, #operation')
      }
    }
    expect(answered.filter(([, status]) => status !== 200)).toEqual([])
    expect(own.map(link => link.slice(base.length)).sort()).toEqual([
      '/account/plan',
      '/docs',
      '/docs#COMMODITY_NOT_FOUND',
      '/docs#FORBIDDEN',
      '/docs#INSUFFICIENT_PLAN',
      '/docs#PAYMENT_REQUIRED',
      '/docs#UNAUTHORIZED',
      '/docs#batch',
      '/docs#conditional-requests',
      '/docs#invalid_code',
      '/docs#scheduled-deliveries',
      '/docs#subscriptions',
      '/signup',
      '/v1/commodities/codes',
      '/v1/demo/prices',
      '/v1/prices/latest?by_code=WTI_USD',
      '/v1/prices/past_week?by_code=WTI_USD',
    ])
    // Addresses of others are in examples and sources only.
    expect([...links].filter(link => !link.startsWith(base))).toEqual([])
  })

  test('every link in the OpenAPI document and on the console pages leads to an existing page', async () => {
    const text = await (await stage.instance.ask('GET', '/openapi.json')).text()
    const { info } = JSON.parse(text) as { info: { description: string } }
    const reader = await visitor()
    const { page } = reader
    const hrefs = new Set(
      [...info.description.matchAll(/\]\((\/[^)]*)\)/g)].map(([, href]) => href!),
    )
    for (const path of part(walked)) {
      await reader.goTo(path)
      const there = await page.$$eval('a[href]', links =>
        links.map(link => link.getAttribute('href')!),
      )
      for (const href of there) hrefs.add(href)
    }
    // The same document answers every operation, and every series.
    const paths = [...hrefs].map(href =>
      href.startsWith('/v1/') ? href : href.replace(/[?#].*$/, ''),
    )
    const own = [...new Set(paths)].filter(
      path => path.startsWith('/') && (!path.startsWith('/series/') || path.includes('WTI_')),
    )
    const bad: [string, number][] = []
    for (const href of own) {
      const answer = await page.request.get(`${stage.origin}${href}`, { maxRedirects: 0 })
      if (answer.status() !== 200 && answer.status() !== 303) bad.push([href, answer.status()])
    }
    expect(bad).toEqual([])
    expect(own.length).toBeGreaterThan(isFull ? 40 : 25)
  })
})
