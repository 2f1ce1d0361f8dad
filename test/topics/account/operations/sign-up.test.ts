import { describe, expect, test } from 'bun:test'
import { dayMs, hourMs } from '../../../../src/lib/time/instant.ts'
import { type Asked, codeOf, people, signUpToken } from '../../../support/topics/people.ts'

const newcomer = 'newcomer@example.com'
const opened = (flags: Record<string, string> = {}) => {
  const house = people({ 'accounts.signup': 'open', ...flags })
  const signUp = async (email: string) => {
    const answer = await house.ask('POST', '/v1/auth/signup', undefined, { email })
    await house.services.signUp.settled()
    await house.services.signIn.settled()
    return answer
  }
  const confirm = (token: string) =>
    house.ask('POST', '/v1/auth/signup/confirm', undefined, { token })
  return { ...house, signUp, confirm }
}
const statusAndCode = (answer: Asked) => [answer.status, codeOf(answer)]

describe('POST /v1/auth/signup', () => {
  test('mails a link that makes an account on the free plan, whose key and link work', async () => {
    const { signUp, confirm, services, ask, key } = opened()
    key()
    const before = services.keys.accounts().length
    expect((await signUp('NewComer@example.com')).status).toBe(202)
    expect(services.keys.accounts()).toHaveLength(before)

    const answer = await confirm(signUpToken(services, newcomer))
    expect(answer.status).toBe(201)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const data = answer.body.data as Record<string, string>
    expect(data).toMatchObject({ email: newcomer, plan: 'free' })
    const { account } = services.keys.accountByEmail(newcomer)!
    expect(account.emailConfirmedAt).not.toBeNull()
    const me = await ask('GET', '/v1/users/me', `Token ${data.api_key}`)
    expect({ status: me.status, email: me.body.email }).toEqual({ status: 200, email: newcomer })
    const session = { link_token: data.link_token }
    expect((await ask('POST', '/v1/auth/session', undefined, session)).status).toBe(200)
    expect((await ask('POST', '/v1/auth/session', undefined, session)).status).toBe(401)
  })

  test('a link is good once, for a day, and only as it was written', async () => {
    const { signUp, confirm, services, clock } = opened()
    await signUp(newcomer)
    const token = signUpToken(services, newcomer)
    const forged = Buffer.from(token, 'base64url')
    forged[forged.length - 1]! ^= 1
    for (const wrong of [forged.toString('base64url'), 'x', token.slice(0, 40)])
      expect(statusAndCode(await confirm(wrong))).toEqual([401, 'INVALID_CREDENTIALS'])
    clock.advance(dayMs)
    expect(statusAndCode(await confirm(token))).toEqual([401, 'INVALID_CREDENTIALS'])
    await signUp(newcomer)
    const next = signUpToken(services, newcomer)
    expect((await confirm(next)).status).toBe(201)
    expect(statusAndCode(await confirm(next))).toEqual([401, 'INVALID_CREDENTIALS'])
  })

  test('an address with an account gets a link to sign in, and the answer is the same', async () => {
    const { signUp, person, mailMessages } = opened()
    person('ann')
    const [known, unknown] = [await signUp('ann@example.com'), await signUp(newcomer)]
    expect({ status: known.status, body: known.body }).toEqual({
      status: unknown.status,
      body: unknown.body,
    })
    expect(mailMessages('ann@example.com').map(({ subject }) => subject)).toEqual([
      expect.stringContaining('Sign in to'),
    ])
    expect(mailMessages(newcomer)[0]!.text).toContain('/signup?token=')
  })

  test('sign-up sends at most two e-mails an hour to one address and five for one client', async () => {
    const { signUp, mailMessages, clock } = opened()
    for (let i = 0; i < 2; i += 1) expect((await signUp(newcomer)).status).toBe(202)
    const third = await signUp(newcomer)
    expect(statusAndCode(third)).toEqual([429, 'SIGNUP_LIMITED'])
    expect(third.headers.get('retry-after')).toBe('3600')
    expect(mailMessages(newcomer)).toHaveLength(2)
    for (let i = 0; i < 2; i += 1) await signUp(`other-${i}@example.com`)
    expect((await signUp('last@example.com')).status).toBe(429)
    clock.advance(hourMs)
    expect((await signUp('last@example.com')).status).toBe(202)
  })

  test.each([
    ['no address', {}, ['email']],
    ['a word', { email: 'nobody' }, ['email']],
    ['a line break', { email: 'a@example.com\nBcc: b@example.com' }, ['email']],
  ])(
    'a sign-up request with %s is refused with the names of the faulty fields',
    async (_, body, fields) => {
      const answer = await opened().ask('POST', '/v1/auth/signup', undefined, body)
      expect(answer.status).toBe(422)
      expect((answer.body.errors as { field: string }[]).map(({ field }) => field)).toEqual(fields)
    },
  )

  test.each(['closed', 'invite'])('is refused where sign-up is %s', async mode => {
    const { signUp, mailMessages } = opened({ 'accounts.signup': mode })
    expect(statusAndCode(await signUp(newcomer))).toEqual([403, 'SIGNUP_CLOSED'])
    expect(mailMessages(newcomer)).toEqual([])
  })

  test('is closed unless the operator opens it, also for links from before', async () => {
    const house = people()
    const answer = await house.ask('POST', '/v1/auth/signup', undefined, { email: newcomer })
    expect(statusAndCode(answer)).toEqual([403, 'SIGNUP_CLOSED'])
    const confirmed = await house.ask('POST', '/v1/auth/signup/confirm', undefined, { token: 'x' })
    expect(statusAndCode(confirmed)).toEqual([403, 'SIGNUP_CLOSED'])
  })
})

describe('POST /admin/v1/invitations', () => {
  const invite = (house: ReturnType<typeof opened>, email: string, token?: string) =>
    house.ask('POST', '/admin/v1/invitations', token && `Bearer ${token}`, { email })

  test('lets in whom the operator writes to, for a week', async () => {
    const house = opened({ 'accounts.signup': 'invite' })
    const token = house.services.adminTokens.rotate()
    expect((await invite(house, newcomer, token)).status).toBe(201)
    house.clock.advance(6 * dayMs)
    expect((await house.confirm(signUpToken(house.services, newcomer))).status).toBe(201)
    const again = await invite(house, newcomer, token)
    expect({
      status: again.status,
      field: (again.body.errors as { field: string }[])[0]!.field,
    }).toEqual({ status: 422, field: 'email' })
  })

  test.each([
    ['none', 'No e-mail was sent to new@example.com, because mail.provider is none. Create an acc'],
    ['resend', 'An invitation was sent to new@example.com. Its link is valid for 7 days.'],
  ])('an invitation with the mail provider %s says what became of it', async (provider, words) => {
    const house = opened({
      'accounts.signup': 'invite',
      'mail.provider': provider,
      'mail.resend_key': 're_1',
    })
    const token = house.services.adminTokens.rotate()
    const { status, body } = await invite(house, 'new@example.com', token)
    expect([status, (body.data as { message: string }).message]).toEqual([
      201,
      expect.stringContaining(words),
    ])
  })

  test('POST /admin/v1/invitations requires the operator and an instance that is not closed to sign-up', async () => {
    expect((await invite(opened(), newcomer)).status).toBe(401)
    const closed = opened({ 'accounts.signup': 'closed' })
    expect(
      statusAndCode(await invite(closed, newcomer, closed.services.adminTokens.rotate())),
    ).toEqual([403, 'SIGNUP_CLOSED'])
  })
})
