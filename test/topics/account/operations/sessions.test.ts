import { describe, expect, test } from 'bun:test'
import { SignJWT } from 'jose'
import { hourMs, isoInstant, minuteMs } from '../../../../src/lib/time/instant.ts'
import { sessionKeyOf } from '../../../../src/topics/account/service/session-tokens.ts'
import { reuseGraceMs } from '../../../../src/topics/account/service/sessions.ts'
import { startAt } from '../../../support/instance/instance.ts'
import { type Asked, codeOf, people, tokenIn } from '../../../support/topics/people.ts'

const password = 'correct horse battery'
const dataOf = ({ body }: Asked) =>
  body.data as { token: string; expires_at: string; account: { email: string; tier: string } }
const jwt = /^[\w-]+\.[\w-]+\.[\w-]+$/

describe('POST /v1/auth/session with a password', () => {
  test('answers a token of twelve hours that acts as the account, in any spelling of the address', async () => {
    const { ask, person, services } = people()
    const { account } = person('ann', 'starter')
    await services.signIn.setPassword(account, password)
    const answer = await ask('POST', '/v1/auth/session', undefined, {
      email: 'Ann@Example.com',
      password,
    })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('set-cookie')).toBeNull()
    expect(answer.body).toEqual({
      status: 'success',
      data: {
        token: expect.stringMatching(jwt),
        token_type: 'Bearer',
        expires_at: isoInstant(startAt + 12 * hourMs),
        account: { email: 'ann@example.com', tier: 'starter' },
      },
    } as never)
    const me = await ask('GET', '/v1/users/me', `Bearer ${dataOf(answer).token}`)
    expect({ status: me.status, email: me.body.email }).toEqual({
      status: 200,
      email: 'ann@example.com',
    })
  })

  test.each([
    ['a wrong password', { email: 'ann@example.com', password: 'correct horse batterz' }],
    ['an unknown address', { email: 'nobody@example.com', password }],
    ['an account without a password', { email: 'bob@example.com', password }],
    ['an empty password', { email: 'ann@example.com', password: '' }],
    ['an API key for a password', { email: 'ann@example.com', password: 'f'.repeat(64) }],
  ])('with %s is refused in the same words', async (_, body) => {
    const { ask, person, services } = people()
    await services.signIn.setPassword(person('ann').account, password)
    person('bob')
    const answer = await ask('POST', '/v1/auth/session', undefined, body)
    expect({ status: answer.status, code: codeOf(answer) }).toEqual({
      status: 401,
      code: 'INVALID_CREDENTIALS',
    })
    expect((answer.body.error as { message: string }).message).toBe(
      'The address, password or link is not valid.',
    )
    expect(JSON.stringify(answer.body)).not.toContain(body.password || 'unset')
  })

  test('a sign-in with an unknown address takes the same hashing work as one with a known address', async () => {
    const { services } = people()
    const verify = Bun.password.verify
    const hashes: unknown[] = []
    Object.assign(Bun.password, {
      verify(password: string, hash: string) {
        hashes.push(hash.split('$').slice(0, 4).join('$'))
        return verify(password, hash)
      },
    })
    try {
      await services.signIn.withPassword('nobody@example.com', 'x', 'here')
    } finally {
      Object.assign(Bun.password, { verify })
    }
    expect(hashes).toEqual(['$argon2id$v=19$m=19456,t=2,p=1'])
  })

  test.each([
    ['nothing', undefined, ['email', 'password']],
    ['no password', { email: 'ann@example.com' }, ['password']],
    ['a number for a password', { email: 'ann@example.com', password: 1 }, ['password']],
    ['a list', [], ['body']],
    ['a link that is not text', { link_token: {} }, ['link_token']],
  ])(
    'a sign-in request with %s is refused with the names of the faulty fields',
    async (_, body, fields) => {
      const answer = await people().ask('POST', '/v1/auth/session', undefined, body)
      expect({ status: answer.status, code: codeOf(answer) }).toEqual({
        status: 422,
        code: 'validation_failed',
      })
      expect((answer.body.errors as { field: string }[]).map(error => error.field)).toEqual(fields)
    },
  )

  test('takes no body that is larger than a body may be', async () => {
    const answer = await people().ask('POST', '/v1/auth/session', undefined, {
      email: 'ann@example.com',
      password: 'x'.repeat(2 ** 20),
    })
    expect({ status: answer.status, code: codeOf(answer) }).toEqual({
      status: 413,
      code: 'PAYLOAD_TOO_LARGE',
    })
  })

  test('locks an address and an account for each other after five wrong tries, and only those two', async () => {
    const { ask, person, services, clock } = people({ 'server.trusted_proxies': '127.0.0.1' })
    await services.signIn.setPassword(person('ann').account, password)
    await services.signIn.setPassword(person('bob').account, password)
    const attempt = (email: string, password: string) =>
      ask('POST', '/v1/auth/session', undefined, { email, password: password })
    for (let i = 0; i < 5; i += 1)
      expect((await attempt('ann@example.com', 'wrong, so wrong')).status).toBe(401)
    const locked = await attempt('ann@example.com', password)
    expect({
      status: locked.status,
      code: codeOf(locked),
      retryAfter: locked.headers.get('retry-after'),
    }).toEqual({ status: 429, code: 'LOGIN_LOCKED', retryAfter: '900' })
    expect((await attempt('bob@example.com', password)).status).toBe(200)
    expect(
      await services.signIn.withPassword('ann@example.com', password, 'another address'),
    ).toHaveProperty('token')
    expect((await attempt('nobody@example.com', password)).status).toBe(401)
    clock.advance(15 * minuteMs)
    expect((await attempt('ann@example.com', password)).status).toBe(200)
  })

  test('repeated failed sign-ins lock an unknown address just like a known one', async () => {
    const { ask } = people()
    const attempt = () =>
      ask('POST', '/v1/auth/session', undefined, { email: 'nobody@example.com', password })
    for (let i = 0; i < 5; i += 1) expect((await attempt()).status).toBe(401)
    expect((await attempt()).status).toBe(429)
  })

  test('lets no more than five through when all come at once', async () => {
    const { services, person } = people()
    await services.signIn.setPassword(person('ann').account, password)
    const all = await Promise.all(
      Array.from({ length: 30 }, () =>
        services.signIn.withPassword('ann@example.com', 'wrong', 'here'),
      ),
    )
    expect(
      all.filter(attempt => 'refused' in attempt && attempt.refused === 'locked'),
    ).toHaveLength(25)
  })
})

describe('a session token of POST /v1/auth/session', () => {
  test('acts on every endpoint as a key of its account, and is counted under the id of the account', async () => {
    const { ask, person, signedIn, services } = people()
    const ann = person('ann', 'starter')
    const token = await signedIn(ann)
    const answer = await ask('GET', '/v1/commodities', `Bearer ${token}`)
    expect({
      status: answer.status,
      ratelimitUsed: answer.headers.get('x-ratelimit-used'),
      ratelimitLimit: answer.headers.get('x-ratelimit-limit'),
    }).toEqual({ status: 200, ratelimitUsed: '1', ratelimitLimit: '50000' })
    services.meter.flush()
    const counters = services.db.query('SELECT key_id, used FROM quota_counters').all()
    expect(counters).toEqual([{ key_id: ann.account.account.id, used: 1 }])
    const account = await ask('GET', '/v1/account', `Bearer ${token}`)
    expect((account.body.account as { usage_this_month: number }).usage_this_month).toBe(1)
  })

  test('a session token is not listed as a key, cannot be changed as a key and does not use up a key', async () => {
    const { ask, person, signedIn, services } = people()
    const ann = person('ann')
    const token = await signedIn(ann)
    const { id } = ann.account.account
    for (const authorization of [`Bearer ${token}`, `Token ${ann.key}`]) {
      const { body } = await ask('GET', '/v1/api-keys', authorization)
      expect((body.data as { total_count: number }).total_count).toBe(1)
      expect(JSON.stringify(body)).not.toContain(`"id":"${id}"`)
    }
    expect((await ask('DELETE', `/v1/api-keys/${id}`, `Token ${ann.key}`)).status).toBe(404)
    expect((await ask('POST', `/v1/api-keys/${id}/roll`, `Token ${ann.key}`)).status).toBe(404)
    for (let i = 0; i < 4; i += 1)
      expect((await ask('POST', '/v1/api-keys', `Bearer ${token}`, {})).status).toBe(200)
    expect(codeOf(await ask('POST', '/v1/api-keys', `Bearer ${token}`, {}))).toBe(
      'api_key_limit_reached',
    )
    services.keys.reload()
    expect((await ask('GET', '/v1/account', `Bearer ${token}`)).status).toBe(200)
    expect(services.keys.byId(id)).toBeUndefined()
  })

  test.each([
    ['after Token', (token: string) => ({ authorization: `Token ${token}` }), ''],
    ['in the address', () => ({}), '?api_key='],
  ])('a session token that is sent %s is not accepted', async (_, headers, query) => {
    const { ask, person, signedIn } = people()
    const token = await signedIn(person('ann'))
    const answer = await ask(
      'GET',
      `/v1/commodities${query && query + token}`,
      undefined,
      undefined,
      headers(token),
    )
    expect(answer.status).toBe(401)
  })

  test('ends at its hour', async () => {
    const { ask, person, signedIn, clock } = people()
    const token = await signedIn(person('ann'))
    clock.advance(12 * hourMs - 1)
    expect((await ask('GET', '/v1/account', `Bearer ${token}`)).status).toBe(200)
    clock.advance(1)
    const answer = await ask('GET', '/v1/account', `Bearer ${token}`)
    expect({ status: answer.status, code: codeOf(answer) }).toEqual({
      status: 401,
      code: 'UNAUTHORIZED',
    })
  })

  test('of a suspended account is refused, and acts again when it is released', async () => {
    const { ask, person, signedIn, services } = people()
    const ann = person('ann')
    const token = await signedIn(ann)
    services.keys.putAccount({ ...ann.account.account, suspendedAt: startAt })
    expect(codeOf(await ask('GET', '/v1/account', `Bearer ${token}`))).toBe('KEY_SUSPENDED')
    services.keys.putAccount({ ...ann.account.account, suspendedAt: null })
    expect((await ask('GET', '/v1/account', `Bearer ${token}`)).status).toBe(200)
  })

  test('a session token signed by another key or another account is rejected even where its row exists', async () => {
    const { ask, person, signedIn, services } = people()
    const [ann, bob] = [person('ann'), person('bob')]
    const token = await signedIn(ann)
    const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<
      string,
      unknown
    >
    const sign = (payload: Record<string, unknown>, masterKey: string) =>
      new SignJWT(payload)
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .sign(sessionKeyOf(masterKey))
    const forged = [
      await sign(claims, 'another master key'),
      await sign({ ...claims, sub: bob.account.account.id }, services.masterKey),
      await sign({ ...claims, jti: crypto.randomUUID() }, services.masterKey),
      await sign({ ...claims, typ: 'invitation' }, services.masterKey),
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${token.split('.')[1]}.`,
      `${token}.`,
      'a.b.c',
      '..',
    ]
    for (const forgery of forged)
      expect((await ask('GET', '/v1/account', `Bearer ${forgery}`)).status, forgery).toBe(401)
    expect((await ask('GET', '/v1/account', `Bearer ${token}`)).status).toBe(200)
  })

  test('outlives a restart: what ends it is in the database', async () => {
    const { ask, person, signedIn, services } = people()
    const token = await signedIn(person('ann'))
    services.keys.reload()
    expect((await ask('GET', '/v1/account', `Bearer ${token}`)).status).toBe(200)
  })
})

describe('POST /v1/auth/session/refresh', () => {
  test('a session refresh replaces the old token with a new one', async () => {
    const { ask, person, signedIn, clock } = people()
    const token = await signedIn(person('ann'))
    clock.advance(hourMs)
    const answer = await ask('POST', '/v1/auth/session/refresh', `Bearer ${token}`)
    expect({ status: answer.status, expires_at: dataOf(answer).expires_at }).toEqual({
      status: 200,
      expires_at: isoInstant(startAt + 13 * hourMs),
    })
    expect((await ask('GET', '/v1/account', `Bearer ${dataOf(answer).token}`)).status).toBe(200)
    clock.advance(reuseGraceMs + 1)
    expect((await ask('GET', '/v1/account', `Bearer ${token}`)).status).toBe(401)
  })

  test('the old token is accepted for half a minute, and refreshing it gives the same new one', async () => {
    const { ask, person, signedIn, clock } = people()
    const token = await signedIn(person('ann'))
    const refresh = async (of: string) => {
      const answer = await ask('POST', '/v1/auth/session/refresh', `Bearer ${of}`)
      expect(answer.status).toBe(200)
      return dataOf(answer).token
    }
    const next = await refresh(token)
    clock.advance(reuseGraceMs)
    expect((await ask('GET', '/v1/account', `Bearer ${token}`)).status).toBe(200)
    expect(await refresh(token)).toBe(next)
    const third = await refresh(next)
    expect(third).not.toBe(next)
    // A token whose successor was replaced too does not count as a stolen copy while it may be in
    // flight.
    expect(await refresh(token)).toBe(third)
    expect((await ask('GET', '/v1/account', `Bearer ${third}`)).status).toBe(200)
  })

  test('an old session token is rejected after sign-out and cannot be refreshed', async () => {
    const { ask, person, signedIn } = people()
    const token = await signedIn(person('ann'))
    const next = dataOf(await ask('POST', '/v1/auth/session/refresh', `Bearer ${token}`)).token
    expect((await ask('DELETE', '/v1/auth/session', `Bearer ${next}`)).status).toBe(200)
    for (const shown of [token, next])
      for (const [method, path] of [
        ['GET', '/v1/account'],
        ['POST', '/v1/auth/session/refresh'],
      ] as const)
        expect((await ask(method, path, `Bearer ${shown}`)).status).toBe(401)
  })

  test.each([
    ['refreshing', 'POST', '/v1/auth/session/refresh'],
    ['reading', 'GET', '/v1/account'],
  ])(
    'an old token shown later for %s ends the whole sign-in, and no other',
    async (_, method, path) => {
      const { ask, person, signedIn, clock } = people()
      const ann = person('ann')
      const [token, other] = [await signedIn(ann), await signedIn(ann)]
      const next = dataOf(await ask('POST', '/v1/auth/session/refresh', `Bearer ${token}`)).token
      clock.advance(reuseGraceMs + 1)
      expect((await ask(method, path, `Bearer ${token}`)).status).toBe(401)
      expect((await ask('GET', '/v1/account', `Bearer ${next}`)).status).toBe(401)
      expect((await ask('POST', '/v1/auth/session/refresh', `Bearer ${next}`)).status).toBe(401)
      expect((await ask('GET', '/v1/account', `Bearer ${other}`)).status).toBe(200)
    },
  )

  test('requests that refresh one token at the same time get the same new token', async () => {
    const { ask, person, signedIn } = people()
    const token = await signedIn(person('ann'))
    const all = await Promise.all(
      Array.from({ length: 20 }, () => ask('POST', '/v1/auth/session/refresh', `Bearer ${token}`)),
    )
    expect(all.map(answer => answer.status)).toEqual(all.map(() => 200))
    expect(new Set(all.map(answer => dataOf(answer).token)).size).toBe(1)
    const [first] = all
    expect((await ask('GET', '/v1/account', `Bearer ${dataOf(first!).token}`)).status).toBe(200)
  })

  test('a session can be refreshed until thirty days after sign-in and not a moment longer', async () => {
    const { ask, person, signedIn, clock } = people()
    let token = await signedIn(person('ann'))
    for (let half = 1; half <= 60; half += 1) {
      clock.advance(12 * hourMs - 1000)
      const answer = await ask('POST', '/v1/auth/session/refresh', `Bearer ${token}`)
      expect(answer.status).toBe(200)
      token = dataOf(answer).token
    }
    const { expires_at } = dataOf(await ask('POST', '/v1/auth/session/refresh', `Bearer ${token}`))
    expect(expires_at).toBe(isoInstant(startAt + 30 * 24 * hourMs))
  })

  test('takes a session, not a key', async () => {
    const { ask, person } = people()
    const { key } = person('ann')
    for (const [method, path] of [
      ['POST', '/v1/auth/session/refresh'],
      ['DELETE', '/v1/auth/session'],
      ['DELETE', '/v1/auth/session?all=true'],
    ] as const) {
      const answer = await ask(method, path, `Bearer ${key}`)
      expect({ status: answer.status, code: codeOf(answer) }).toEqual({
        status: 401,
        code: 'UNAUTHORIZED',
      })
    }
  })
})

describe('DELETE /v1/auth/session', () => {
  test('DELETE /v1/auth/session ends the session and its refreshed tokens and leaves other sessions active', async () => {
    const { ask, person, signedIn } = people()
    const ann = person('ann')
    const [token, other] = [await signedIn(ann), await signedIn(ann)]
    const answer = await ask('DELETE', '/v1/auth/session', `Bearer ${token}`)
    expect([answer.status, answer.body]).toEqual([
      200,
      { status: 'success', data: { revoked: true } },
    ] as never)
    expect((await ask('GET', '/v1/account', `Bearer ${token}`)).status).toBe(401)
    expect((await ask('POST', '/v1/auth/session/refresh', `Bearer ${token}`)).status).toBe(401)
    expect((await ask('GET', '/v1/account', `Bearer ${other}`)).status).toBe(200)
  })

  test('everywhere ends all sessions of the account and none of another', async () => {
    const { ask, person, signedIn } = people()
    const [ann, bob] = [person('ann'), person('bob')]
    const tokens = [await signedIn(ann), await signedIn(ann), await signedIn(ann)]
    const bobs = await signedIn(bob)
    expect((await ask('DELETE', '/v1/auth/session?all=true', `Bearer ${tokens[0]}`)).status).toBe(
      200,
    )
    for (const token of tokens)
      expect((await ask('GET', '/v1/account', `Bearer ${token}`)).status).toBe(401)
    expect((await ask('GET', '/v1/account', `Bearer ${bobs}`)).status).toBe(200)
    expect((await ask('GET', '/v1/account', `Token ${ann.key}`)).status).toBe(200)
  })

  test('with an `all` that must be true or false changes nothing', async () => {
    const { ask, person, signedIn } = people()
    const token = await signedIn(person('ann'))
    expect((await ask('DELETE', '/v1/auth/session?all=perhaps', `Bearer ${token}`)).status).toBe(
      400,
    )
    expect((await ask('GET', '/v1/account', `Bearer ${token}`)).status).toBe(200)
  })

  test('comes with a new password that the operator sets', async () => {
    const { ask, person, signedIn, services } = people()
    const ann = person('ann')
    const token = await signedIn(ann)
    const admin = `Bearer ${services.adminTokens.rotate()}`
    const path = `/admin/v1/accounts/${ann.account.account.id}`
    const weak = await ask('POST', `${path}/password`, admin, { password: 'short' })
    expect({ status: weak.status, field: weak.body.field }).toEqual({
      status: 422,
      field: 'password',
    })
    expect(JSON.stringify(weak.body)).not.toContain('short')
    expect((await ask('GET', '/v1/account', `Bearer ${token}`)).status).toBe(200)
    expect((await ask('POST', `${path}/password`, admin, { password })).status).toBe(200)
    expect((await ask('GET', '/v1/account', `Bearer ${token}`)).status).toBe(401)
    const again = await ask('POST', '/v1/auth/session', undefined, { email: ann.email, password })
    expect(again.status).toBe(200)
    expect((await ask('DELETE', `${path}/sessions`, admin)).status).toBe(200)
    expect((await ask('GET', '/v1/account', `Bearer ${dataOf(again).token}`)).status).toBe(401)
    for (const end of ['password', 'link'])
      expect(
        (
          await ask(
            'POST',
            `/admin/v1/accounts/nobody/${end}`,
            admin,
            end === 'password' ? { password } : {},
          )
        ).status,
      ).toBe(404)
  })
})

describe('POST /v1/auth/link', () => {
  test('is mailed, signs in once within fifteen minutes and confirms the address', async () => {
    const { ask, services, mailMessages, clock } = people()
    const account = services.keys.putAccount({
      id: services.ids.uuid(),
      email: 'new@example.com',
      plan: 'starter',
      addOns: [],
      trialStartedAt: null,
      trialEndsAt: null,
      emailConfirmedAt: null,
      suspendedAt: null,
      createdAt: clock.now(),
    })
    const linkAnswer = await ask(
      'POST',
      '/v1/auth/link',
      undefined,
      { email: 'New@example.com' },
      { host: 'evil.example' },
    )
    await services.signIn.settled()
    expect(linkAnswer.status).toBe(202)
    const [mailMessage] = mailMessages('new@example.com')
    expect(mailMessage!.text).toContain('http://127.0.0.1:8470/sign-in?token=')
    expect(mailMessage!.text).not.toContain('evil')
    const link_token = tokenIn(mailMessage!.text)
    clock.advance(15 * minuteMs - 1)
    const answer = await ask('POST', '/v1/auth/session', undefined, { link_token })
    expect({ status: answer.status, account: dataOf(answer).account }).toEqual({
      status: 200,
      account: { email: 'new@example.com', tier: 'starter' },
    })
    expect(account.account.emailConfirmedAt).toBe(clock.now())
    const again = await ask('POST', '/v1/auth/session', undefined, { link_token })
    expect({ status: again.status, code: codeOf(again) }).toEqual({
      status: 401,
      code: 'INVALID_CREDENTIALS',
    })
  })

  test('is over after fifteen minutes', async () => {
    const { ask, person, services, clock } = people()
    const link_token = services.signIn.makeLink(person('ann').account)
    clock.advance(15 * minuteMs)
    expect((await ask('POST', '/v1/auth/session', undefined, { link_token })).status).toBe(401)
  })

  test('is good for one of those who use it at the same time', async () => {
    const { ask, person, services } = people()
    const link_token = services.signIn.makeLink(person('ann').account)
    const all = await Promise.all(
      Array.from({ length: 8 }, () => ask('POST', '/v1/auth/session', undefined, { link_token })),
    )
    expect(all.filter(answer => answer.status === 200)).toHaveLength(1)
  })

  test('a sign-in link for an unknown address is requested with the same response, and no e-mail is sent', async () => {
    const { ask, person, services, mailMessages } = people()
    const { email } = person('ann')
    const [registered, unknown] = [
      await ask('POST', '/v1/auth/link', undefined, { email }),
      await ask('POST', '/v1/auth/link', undefined, { email: 'nobody@example.com' }),
    ]
    await services.signIn.settled()
    expect(registered.status).toBe(unknown.status)
    expect(registered.body).toEqual(unknown.body)
    expect([mailMessages(email).length, mailMessages('nobody@example.com').length]).toEqual([1, 0])
  })

  test('goes to one account three times in fifteen minutes at most', async () => {
    const { ask, person, services, mailMessages, clock } = people()
    const { email } = person('ann')
    for (let i = 0; i < 6; i += 1)
      expect((await ask('POST', '/v1/auth/link', undefined, { email })).status).toBe(202)
    await services.signIn.settled()
    expect(mailMessages(email)).toHaveLength(3)
    clock.advance(15 * minuteMs)
    await ask('POST', '/v1/auth/link', undefined, { email })
    await services.signIn.settled()
    expect(mailMessages(email)).toHaveLength(4)
  })

  test('a sign-in link token that this instance did not issue is refused, whatever its format', async () => {
    const { ask } = people()
    for (const link_token of ['', 'f'.repeat(64), 'a.b.c', "' OR 1=1 --", 'x'.repeat(900)]) {
      expect(
        (await ask('POST', '/v1/auth/session', undefined, { link_token })).status,
        link_token,
      ).toBe(401)
    }
  })
})

test('no token, link or password is at rest, in a log or in an answer that is not its own', async () => {
  const { ask, person, signedIn, services, mailMessages, log } = people()
  const ann = person('ann')
  await services.signIn.setPassword(ann.account, password)
  const link = services.signIn.makeLink(ann.account)
  const token = await signedIn(ann)
  await ask('POST', '/v1/auth/link', undefined, { email: ann.email })
  await services.signIn.settled()
  const mailed = tokenIn(mailMessages(ann.email)[0]!.text)
  await ask('POST', '/v1/auth/session', undefined, { email: ann.email, password })
  await ask('POST', '/v1/auth/session', undefined, {
    email: ann.email,
    password: 'wrong, but secret',
  })
  await ask('GET', `/v1/account?trace=${token}`, `Bearer ${token}`)
  const kept = `${Buffer.from(services.db.serialize()).toString('latin1')}${log.join('\n')}`
  for (const secret of [password, 'wrong, but secret', link, mailed, token, token.split('.')[2]!])
    expect(kept).not.toContain(secret)
})

test('sessions that are over are forgotten as new ones come', async () => {
  const { person, signedIn, services, clock } = people()
  const ann = person('ann')
  for (let i = 0; i < 5; i += 1) await signedIn(ann)
  clock.advance(13 * hourMs)
  await signedIn(ann)
  expect(services.db.query('SELECT count(*) AS n FROM sessions').get()).toEqual({ n: 1 })
})
