import { describe, expect, test } from 'bun:test'
import { TOTP } from 'otpauth'
import { minuteMs, secondMs } from '../../../../src/lib/time/instant.ts'
import {
  type Asked,
  codeOf,
  type People,
  type Person,
  people,
} from '../../../support/topics/people.ts'

const password = 'correct horse battery'
const path = '/v1/auth/second-factor'
const dataOf = <T>({ body }: Asked) => body.data as T

/** The code of an authenticator at a moment, from the address that it was given. */
const shown = (url: string, timestamp: number) => {
  const [, secret] = /[?&]secret=([A-Z2-7]+)/.exec(url)!
  return new TOTP({ secret: secret!, algorithm: 'SHA1', digits: 6, period: 30 }).generate({
    timestamp,
  })
}

/** Someone with a password who has turned the second factor on. */
async function withSecondFactor(all: People, name = 'ann') {
  const person = all.person(name)
  await all.services.signIn.setPassword(person.account, password)
  const bearer = `Bearer ${await all.signedIn(person)}`
  const setup = await all.ask('POST', path, bearer)
  const { otpauth_url: url } = dataOf<{ otpauth_url: string }>(setup)
  const code = (ahead = 0) => shown(url, all.clock.now() + ahead)
  const confirmed = await all.ask('POST', `${path}/confirm`, bearer, { code: code() })
  const { recovery_codes: recovery } = dataOf<{ recovery_codes: string[] }>(confirmed)
  // The code that confirmed it is used up.
  all.clock.advance(minuteMs)
  return { person, bearer, code, recovery, url }
}

const firstStep = async ({ ask }: People, { email }: Person) => {
  const answer = await ask('POST', '/v1/auth/session', undefined, { email, password })
  const { error } = answer.body as {
    error: { second_step?: string; details?: { second_step?: string } }
  }
  return { answer, step: String(error.second_step ?? error.details?.second_step) }
}
const give = ({ ask }: People, second_step: string, code: string) =>
  ask('POST', '/v1/auth/session', undefined, { second_step, code })

describe('setting up two-factor authentication', () => {
  test('changes nothing before its first code, shows recovery codes once, and ends other sign-ins', async () => {
    const all = people()
    const person = all.person('ann')
    const [bearer, other] = [
      `Bearer ${await all.signedIn(person)}`,
      `Bearer ${await all.signedIn(person)}`,
    ]
    expect(dataOf(await all.ask('GET', path, bearer))).toEqual({
      state: 'off',
      confirmed_at: null,
      recovery_codes_left: 0,
    })
    const setup = await all.ask('POST', path, bearer)
    expect({ status: setup.status, cacheControl: setup.headers.get('cache-control') }).toEqual({
      status: 201,
      cacheControl: 'no-store',
    })
    const { secret, otpauth_url } = dataOf<{ secret: string; otpauth_url: string }>(setup)
    expect(secret).toMatch(/^[A-Z2-7]{32}$/)
    expect(otpauth_url).toStartWith('otpauth://totp/')
    expect(dataOf(await all.ask('GET', path, bearer))).toMatchObject({ state: 'waiting' })
    expect(await all.signedIn(person)).toBeTruthy()
    const wrong = await all.ask('POST', `${path}/confirm`, bearer, { code: '000000' })
    expect({ status: wrong.status, code: codeOf(wrong) }).toEqual({
      status: 401,
      code: 'INVALID_CREDENTIALS',
    })
    const confirmed = await all.ask('POST', `${path}/confirm`, bearer, {
      code: shown(otpauth_url, all.clock.now()),
    })
    const { recovery_codes: codes } = dataOf<{ recovery_codes: string[] }>(confirmed)
    expect(new Set(codes).size).toBe(10)
    expect(codes[0]).toMatch(/^([a-z2-7]{4}-){3}[a-z2-7]{4}$/)
    expect((await all.ask('GET', path, other)).status).toBe(401)
    expect(dataOf(await all.ask('GET', path, bearer))).toMatchObject({
      state: 'on',
      recovery_codes_left: 10,
    })
    expect((await all.ask('POST', path, bearer)).status).toBe(422)
    expect((await all.ask('POST', `${path}/confirm`, bearer, { code: '123456' })).status).toBe(422)
    expect((await all.ask('GET', path, `Bearer ${person.key}`)).status).toBe(401)
  })

  test('leaves neither the secret nor a recovery code at rest', async () => {
    const all = people()
    const { url, recovery } = await withSecondFactor(all)
    const [, secret] = /[?&]secret=([A-Z2-7]+)/.exec(url)!
    const rest = Buffer.from(all.services.db.serialize()).toString('latin1')
    for (const text of [secret!, ...recovery, recovery[0]!.replaceAll('-', '')])
      expect(rest.includes(text)).toBe(false)
  })
})

describe('signing in', () => {
  test('two-factor sign-in requires a code after a password or a link and reveals nothing before it', async () => {
    const all = people()
    const { person, code } = await withSecondFactor(all)
    const wrong = await all.ask('POST', '/v1/auth/session', undefined, {
      email: person.email,
      password: 'not the password',
    })
    expect(codeOf(wrong)).toBe('INVALID_CREDENTIALS')
    const { answer, step } = await firstStep(all, person)
    expect({ status: answer.status, code: codeOf(answer) }).toEqual({
      status: 401,
      code: 'SECOND_FACTOR_REQUIRED',
    })
    expect(step).toMatch(/^[\w-]{43}$/)
    const done = await give(all, step, code())
    expect(done.status).toBe(200)
    const bearer = `Bearer ${dataOf<{ token: string }>(done).token}`
    expect((await all.ask('GET', '/v1/users/me', bearer)).status).toBe(200)
    // It has done its work.
    all.clock.advance(minuteMs)
    expect((await give(all, step, code())).status).toBe(401)

    const link_token = all.services.signIn.makeLink(person.account)
    const linked = await all.ask('POST', '/v1/auth/session', undefined, { link_token })
    expect(codeOf(linked)).toBe('SECOND_FACTOR_REQUIRED')
    const again = await all.ask('POST', '/v1/auth/session', undefined, { link_token })
    expect(codeOf(again)).toBe('INVALID_CREDENTIALS')
  })

  test('takes a code once, and one of a clock that is half a minute wrong', async () => {
    const all = people()
    const { person, code } = await withSecondFactor(all)
    const late = code(-30 * secondMs)
    const now = code()
    expect((await give(all, (await firstStep(all, person)).step, now)).status).toBe(200)
    // The same again, and one from before it.
    for (const used of [now, late])
      expect((await give(all, (await firstStep(all, person)).step, used)).status).toBe(401)
    expect((await give(all, (await firstStep(all, person)).step, code(30_000))).status).toBe(200)
    const { step } = await firstStep(all, person)
    expect((await give(all, step, code(90_000))).status).toBe(401)
  })

  test('takes each recovery code once, however it is spelled', async () => {
    const all = people()
    const { person, recovery, bearer } = await withSecondFactor(all)
    const spelled = recovery[3]!.toUpperCase().replaceAll('-', ' ')
    expect((await give(all, (await firstStep(all, person)).step, spelled)).status).toBe(200)
    expect((await give(all, (await firstStep(all, person)).step, recovery[3]!)).status).toBe(401)
    expect((await give(all, (await firstStep(all, person)).step, recovery[4]!)).status).toBe(200)
    expect(dataOf(await all.ask('GET', path, bearer))).toMatchObject({ recovery_codes_left: 8 })
  })

  test('is locked for the account after five wrong codes, from wherever they come, and then is not', async () => {
    const all = people()
    const { person, code } = await withSecondFactor(all)
    for (let n = 0; n < 5; n += 1) {
      const { step } = await firstStep(all, person)
      expect((await give(all, step, `00000${n}`)).status).toBe(401)
    }
    const { step } = await firstStep(all, person)
    const locked = await give(all, step, code())
    expect({ status: locked.status, code: codeOf(locked) }).toEqual({
      status: 429,
      code: 'LOGIN_LOCKED',
    })
    expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(800)
    all.clock.advance(15 * minuteMs)
    expect((await give(all, (await firstStep(all, person)).step, code())).status).toBe(200)
  })

  test('forgets the first step after five minutes, and knows no step that it did not give', async () => {
    const all = people()
    const { person, code } = await withSecondFactor(all)
    const { step } = await firstStep(all, person)
    all.clock.advance(5 * minuteMs)
    expect((await give(all, step, code())).status).toBe(401)
    expect((await give(all, 'f'.repeat(64), code())).status).toBe(401)
    const missing = await all.ask('POST', '/v1/auth/session', undefined, { second_step: step })
    expect(missing.status).toBe(422)
  })
})

describe('turning it off', () => {
  test('two-factor authentication is disabled only with a right code', async () => {
    const all = people()
    const { person, bearer, code } = await withSecondFactor(all)
    const wrong = await all.ask('POST', `${path}/disable`, bearer, { code: '000000' })
    expect(wrong.status).toBe(401)
    const done = await all.ask('POST', `${path}/disable`, bearer, { code: code() })
    expect(dataOf(done)).toEqual({ state: 'off', confirmed_at: null, recovery_codes_left: 0 })
    expect(await all.signedIn(person)).toBeTruthy()
    expect((await all.ask('POST', `${path}/disable`, bearer, { code: '000000' })).status).toBe(422)
  })

  test('is the operator’s to do for who has lost everything', async () => {
    const all = people()
    const { person, bearer } = await withSecondFactor(all)
    const admin = `Bearer ${all.services.adminTokens.rotate()}`
    const place = `/admin/v1/accounts/${person.account.account.id}/second-factor`
    expect((await all.ask('DELETE', place, admin)).status).toBe(200)
    expect((await all.ask('GET', path, bearer)).status).toBe(401)
    expect(await all.signedIn(person)).toBeTruthy()
    expect((await all.ask('DELETE', place, admin)).status).toBe(404)
  })
})

test('only people with two-factor authentication can manage keys where the operator requires it', async () => {
  const all = people({ 'sessions.second_factor': 'true' })
  const { bearer } = await withSecondFactor(all)
  const other = all.person('bob')
  const make = (authorization: string) => all.ask('POST', '/v1/api-keys', authorization, {})
  for (const authorization of [`Bearer ${other.key}`, `Bearer ${await all.signedIn(other)}`])
    expect(codeOf(await make(authorization))).toBe('SECOND_FACTOR_MISSING')
  expect((await make(bearer)).status).toBe(200)
  expect((await all.ask('GET', '/v1/account', `Bearer ${other.key}`)).status).toBe(200)
})

test('where the operator wants it, no key sets or reads a secret of webhooks and data sources', async () => {
  const all = people({ 'sessions.second_factor': 'true' })
  const { bearer } = await withSecondFactor(all)
  const other = all.person('bob')
  const target = { url: 'https://receiver.example.com/hook', events: ['price.updated'] }
  const source = {
    name: 'desk',
    source_type: 'api',
    scraper_config: { url: 'https://desk.example.com/prices.json' },
    credentials: { token: 'opens the desk' },
  }
  const id = '00000000-0000-4000-8000-000000000401'
  const operations: readonly [method: string, path: string, body?: unknown][] = [
    ['POST', '/v1/webhooks', target],
    ['PATCH', `/v1/webhooks/${id}`, { secret: 'a secret of my own choice' }],
    ['POST', `/v1/webhooks/${id}/rotate_secret`, {}],
    ['POST', '/v1/data-sources', source],
    ['PATCH', `/v1/data-sources/${id}`, { credentials: { token: 'another' } }],
    ['POST', `/v1/data-sources/${id}/rotate_credentials`, { credentials: { token: 'another' } }],
    ['GET', '/v1/account/webhook-secret'],
    ['POST', '/v1/account/webhook-secret/roll'],
  ]
  const key = `Bearer ${other.key}`
  const refusals = []
  for (const [method, path, body] of operations)
    refusals.push([method, path, codeOf(await all.ask(method, path, key, body))])
  expect(refusals).toEqual(
    operations.map(([method, path]) => [method, path, 'SECOND_FACTOR_MISSING']),
  )
  // With it a person is let in; what a key may always do stays.
  const created = await all.ask('POST', '/v1/webhooks', bearer, target)
  expect(codeOf(created)).not.toBe('SECOND_FACTOR_MISSING')
  expect((await all.ask('GET', '/v1/webhooks', key)).status).not.toBe(401)
})

test('a key can create a webhook where the operator does not require two-factor authentication', async () => {
  const all = people()
  const answer = await all.ask('POST', '/v1/webhooks', `Bearer ${all.person('bob').key}`, {
    url: 'https://receiver.example.com/hook',
    events: ['price.updated'],
  })
  expect(codeOf(answer)).not.toBe('SECOND_FACTOR_MISSING')
})
