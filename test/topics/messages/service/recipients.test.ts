import { describe, expect, test } from 'bun:test'
import { daily, deliveryWorld } from '../../../support/topics/deliveries.ts'

const dayMs = 86_400_000
const stranger = 'desk@elsewhere.example'
const asking = { 'mail.strangers_agree': 'true' }

const linkIn = (text: string) => /http:\/\/127\.0\.0\.1:8470(\/mail\/\S+)/.exec(text)![1]!

function world(flags: Record<string, string> = {}) {
  const opened = deliveryWorld({ flags: { ...asking, ...flags } })
  const request = (method: string, path: string) =>
    opened.app.handle(new Request(`http://localhost${path}`, { method }))
  return Object.assign(opened, {
    request,
    last: () => opened.mails().at(-1)!,
    to: (address: string) => opened.mails().filter(mail => mail.to === address),
  })
}

describe('a scheduled delivery to an address outside the account', () => {
  test('asks it once, and sends nothing before it agrees by the button on the page', async () => {
    const all = world()
    const account = all.account()
    all.create(account, { recipientEmail: stranger, name: 'Buy my coin now' })
    await all.advance(3 * dayMs)
    expect(all.to(stranger)).toHaveLength(1)
    expect(all.runs().map(run => [run.status, run.error])).toContainEqual([
      'suppressed',
      'The address has not confirmed the subscription yet.',
    ])
    const link = linkIn(all.last().text)
    expect((await all.request('GET', link)).status).toBe(200)
    await all.advance(dayMs)
    expect(all.to(stranger)).toHaveLength(1)

    expect((await all.request('POST', link)).status).toBe(200)
    await all.advance(dayMs)
    expect(all.to(stranger)).toHaveLength(2)
    expect(JSON.stringify(all.to(stranger))).not.toContain('coin')
  })

  test('scheduled delivery to an external address ends permanently after one POST to the unsubscribe link', async () => {
    const all = world()
    const account = all.account()
    const id = all.create(account, { recipientEmail: stranger })
    await all.beat()
    await all.request('POST', linkIn(all.last().text))
    await all.advance(dayMs)
    expect(all.to(stranger)).toHaveLength(2)
    const end = linkIn(all.last().text)
    expect(end).toStartWith('/mail/unsubscribe')
    expect((await all.request('POST', end)).status).toBe(200)
    const delivery = all.services.deliveries.own(account.account.id, id)!
    all.services.deliveries.change(delivery, { recipientEmail: stranger })
    await all.advance(3 * dayMs)
    expect(all.to(stranger)).toHaveLength(2)
    expect(all.services.deliveries.recipientState(delivery)).toBe('declined')
  })

  test('an external recipient receives at most one request for consent a day, however often the account sends it', async () => {
    const all = world()
    const account = all.account()
    const id = all.create(account, { recipientEmail: stranger })
    const change = () => {
      const { deliveries } = all.services
      deliveries.change(deliveries.own(account.account.id, id)!, { recipientEmail: stranger })
    }
    for (let n = 0; n < 20; n += 1) change()
    await all.beat()
    expect(all.to(stranger)).toHaveLength(1)
    all.clock.advance(dayMs)
    change()
    await all.beat()
    expect(all.to(stranger)).toHaveLength(2)
  })
})

test('the account’s own address and those of its members need not agree, and may come back', async () => {
  const all = world()
  const account = all.account()
  const id = all.create(account, { name: 'Desk' })
  await all.advance(dayMs)
  expect(all.last().subject).toStartWith('Desk, ')
  await all.request('POST', linkIn(all.last().text))
  await all.advance(dayMs)
  expect(all.mails()).toHaveLength(1)
  const { deliveries } = all.services
  deliveries.change(deliveries.own(account.account.id, id)!, { enabled: true })
  await all.advance(dayMs)
  expect(all.mails()).toHaveLength(2)
})

describe('a link', () => {
  test('an e-mail link with a forged token or a token for another account or address is refused', async () => {
    const all = world()
    all.create(all.account(), { recipientEmail: stranger })
    await all.beat()
    const link = linkIn(all.last().text)
    const [named = '', proof = ''] = link.split('token=')[1]!.split('.')
    const [accountId] = JSON.parse(Buffer.from(named, 'base64url').toString()) as string[]
    const other = Buffer.from(JSON.stringify([accountId, 'x@y.example'])).toString('base64url')
    for (const token of ['', 'a.b', named, `${named}.`, `${other}.${proof}`, `x${named}.${proof}`])
      for (const path of ['/mail/agree', '/mail/unsubscribe'])
        expect((await all.request('POST', `${path}?token=${token}`)).status).toBe(404)
  })
})

describe('the e-mails of an account on a day', () => {
  const mailMessage = (accountId: string, to: string, n: number) => ({
    to,
    subject: 'x',
    text: 'x',
    accountId,
    dedupe: `${to} ${n}`,
  })

  test('the daily e-mail limit of an account covers all recipients and resets the next day', () => {
    const all = world({ 'mail.letters_per_day': '5' })
    const { account } = all.account()
    const post = (n: number) => all.services.mail.post(mailMessage(account.id, account.email, n))
    const posted = [1, 2, 3, 4, 5, 6, 7].map(post)
    expect(posted.map(id => id !== undefined)).toEqual([true, true, true, true, true, false, false])
    expect(post(1)).toBeUndefined()
    all.clock.advance(dayMs)
    expect(post(8)).toBeDefined()
  })

  test('daily e-mail limits are lower for one unverified recipient and for the number of unverified recipients', () => {
    const all = world({
      'mail.letters_to_stranger_per_day': '2',
      'mail.strangers_per_day': '3',
    })
    const { account } = all.account()
    const sent = (to: string, n: number) =>
      all.services.mail.post(mailMessage(account.id, to, n)) !== undefined
    expect([1, 2, 3].map(n => sent('a@x.example', n))).toEqual([true, true, false])
    expect(['b', 'c', 'd', 'e'].map(name => sent(`${name}@x.example`, 1))).toEqual([
      true,
      true,
      false,
      false,
    ])
    expect(sent('B@x.example', 2)).toBe(true)
    expect(sent(account.email, 1)).toBe(true)
  })

  test('never hold up a link to sign in', () => {
    const all = world({ 'mail.letters_per_day': '1' })
    const { account } = all.account()
    all.services.mail.post(mailMessage(account.id, account.email, 1))
    expect(all.services.mail.post(mailMessage(account.id, account.email, 2))).toBeUndefined()
    const link = { ...mailMessage(account.id, account.email, 3), confidential: true }
    expect(all.services.mail.post(link)).toBeDefined()
  })
})

test('a scheduled e-mail contains its unsubscribe link in the header', async () => {
  const all = world()
  all.create(all.account(), daily)
  await all.advance(dayMs)
  const { body } = all.db
    .query<{ body: string }, []>('SELECT body FROM outbox_bodies ORDER BY id DESC LIMIT 1')
    .get()!
  const { unsubscribeUrl } = JSON.parse(body) as { unsubscribeUrl: string }
  expect(unsubscribeUrl).toBe(`http://127.0.0.1:8470${linkIn(all.last().text)}`)
})
