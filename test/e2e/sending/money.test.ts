import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { remove, run, type Server, start, temporaryDir } from '../../support/instance/binary.ts'
import { until } from '../../support/until.ts'

// Selling a plan on the program that is shipped: over the socket of its port, and by its commands.
const dir = temporaryDir()
let server: Server = undefined!
let people = 0

beforeAll(async () => {
  server = await start('serve', dir)
}, 120_000)
afterAll(async () => {
  await server.stop()
  remove(dir)
})

interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into field by field
  body: any
}

async function ask(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(server.url + path, {
    method,
    headers: {
      authorization: `Bearer ${server.adminToken}`,
      'content-type': 'application/json',
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json() }
}
const customer = async () => {
  people += 1
  const email = `buyer${people}@example.com`
  const { body } = await ask('POST', '/admin/v1/accounts', { email })
  return { email, id: body.data.account.id as string }
}
const invoicesOf = async (id: string) =>
  (await ask('GET', `/admin/v1/invoices?account=${id}`)).body.data.invoices as {
    number: string
    status: string
  }[]
const command = (...args: string[]) => run(...args, '--data', join(dir, 'data'))

test('a double click on a plan sells it once, with and without an Idempotency-Key', async () => {
  const ways: Record<string, string>[] = [{}, { 'idempotency-key': 'one-click' }]
  for (const headers of ways) {
    const { id } = await customer()
    const body = { account: id, plan: 'professional', price: 9900 }
    const clicks = await Promise.all(
      [1, 2, 3].map(() => ask('POST', '/admin/v1/subscriptions', body, headers)),
    )
    expect(new Set(clicks.map(click => click.body.data.subscription.id)).size).toBe(1)
    expect(await invoicesOf(id)).toHaveLength(1)
  }
})

test('a retry after the answer was lost sells nothing again, and names the same subscription', async () => {
  const { id } = await customer()
  const body = { account: id, plan: 'scale', price: 39_900, billing_period: 'yearly' }
  // The connection is cut before the answer is read.
  const cut = new AbortController()
  const lost = fetch(`${server.url}/admin/v1/subscriptions`, {
    method: 'POST',
    signal: cut.signal,
    headers: {
      authorization: `Bearer ${server.adminToken}`,
      'content-type': 'application/json',
      'idempotency-key': 'lost',
    },
    body: JSON.stringify(body),
  }).catch(() => undefined)
  await until('the invoice is stored', async () => (await invoicesOf(id)).length > 0)
  cut.abort()
  await lost
  const retried = await ask('POST', '/admin/v1/subscriptions', body, { 'idempotency-key': 'lost' })
  const later = await ask('POST', '/admin/v1/subscriptions', body)
  expect({ retried: retried.status, later: later.status }).toEqual({ retried: 201, later: 200 })
  expect(later.body.data.subscription.id).toBe(retried.body.data.subscription.id)
  expect(await invoicesOf(id)).toHaveLength(1)
})

test('the commands sell, list, show, pay, void and cancel', async () => {
  const { email, id } = await customer()
  const sold = await command('subscriptions', 'agree', email, '--plan', 'starter', '--price', '49')
  expect({ code: sold.code, err: sold.err }).toEqual({ code: 0, err: '' })
  expect(sold.out).toMatch(new RegExp(`${email}  starter  USD 49.00 \\(agreed\\)  monthly  active`))
  const same = await command('subscriptions', 'agree', id, '--plan', 'starter', '--price', '49.00')
  expect(same.out).toContain('nothing was invoiced')

  const asked = await command('subscriptions', 'agree', id, '--plan', 'starter', '--price', '45.5')
  expect({ code: asked.code, out: asked.out }).toEqual({ code: 1, out: '' })
  expect(asked.err).toContain('is open: --open-invoices must be "void"')
  const cheaper = ['subscriptions', 'agree', id, '--plan', 'starter', '--price', '45.5']
  const other = await command(...cheaper, '--open-invoices', 'void')
  expect(other.out).toContain('USD 45.50')
  const listed = await command('invoices', 'list', '--account', email)
  expect(listed.out).toMatch(/USD 45\.50 +open/)
  expect(listed.out).toMatch(/USD 49\.00 +void/)
  const [open] = (await invoicesOf(id)).filter(({ status }) => status === 'open')
  const shown = await command('invoices', 'show', open!.number)
  expect(shown.out).toMatch(/Starter plan, monthly +USD 45\.50/)
  const paid = await command('invoices', 'pay', open!.number)
  expect(paid.out).toMatch(/USD 45\.50 +paid/)
  const closed = await command('invoices', 'void', open!.number, '--yes')
  expect({ code: closed.code, err: closed.err.trim() }).toEqual({
    code: 1,
    err: 'invoices void: The invoice is paid and cannot be changed.',
  })
  const ending = await command('subscriptions', 'cancel', email)
  expect(ending.out).toMatch(/active +ends /)
  const ended = await command('subscriptions', 'cancel', email, '--now', '--yes')
  expect(ended.out).toMatch(/cancelled +ended /)
  const none = await command('subscriptions', 'list', '--account', email, '--status', 'active')
  expect({ code: none.code, out: none.out.trim() }).toEqual({ code: 0, out: 'No subscriptions.' })
  const price = await command('subscriptions', 'agree', id, '--plan', 'starter', '--price', '1e3')
  expect(price.err).toContain('--price must be an amount such as 99 or 99.50; got 1e3.')
}, 60_000)
