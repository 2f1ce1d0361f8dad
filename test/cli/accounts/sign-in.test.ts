import { describe, expect, test } from 'bun:test'
import { TOTP } from 'otpauth'
import {
  endSessions,
  firstLine,
  makeLink,
  removeTwoFactor,
  setPassword,
} from '../../../src/cli/accounts/sign-in.ts'
import { commandEnvironment } from '../../../src/cli/command.ts'
import { ran } from '../../support/instance/command.ts'
import { people, tokenIn } from '../../support/topics/people.ts'

/** A command line over an instance; `lines` and `faults` are what it printed. */
function terminal() {
  const all = people()
  const admin = `Bearer ${all.services.adminTokens.rotate()}`
  const [lines, faults]: [string[], string[]] = [[], []]
  const env = commandEnvironment({
    operator: { call: async (method, path, body) => all.ask(method, path, admin, body) },
    out: line => void lines.push(line),
    err: line => void faults.push(line),
  })
  return { ...all, env, lines, faults }
}

async function* chunks(...texts: string[]) {
  for (const text of texts) yield new TextEncoder().encode(text)
}

describe('accounts password, link and sign-out', () => {
  test('makes a link that signs in once, within an hour', async () => {
    const { env, lines, faults, person, ask } = terminal()
    const { email } = person('ann')
    expect(await ran(env, 'accounts link', makeLink, email)).toBe(0)
    expect(lines[0]).toMatch(/^http:\/\/127\.0\.0\.1:8470\/sign-in\?token=[0-9a-f]{64}$/)
    expect(lines[1]).toBe('Valid once, until 2026-11-20T16:00:00Z.')
    const answer = await ask('POST', '/v1/auth/session', undefined, {
      link_token: tokenIn(lines[0]!),
    })
    expect({ status: answer.status, faults }).toEqual({ status: 200, faults: [] })
  })

  test('accounts password sets a password without printing it and ends existing sessions', async () => {
    const { env, lines, faults, person, ask, signedIn } = terminal()
    const ann = person('ann')
    const token = await signedIn(ann)
    expect(
      await ran(
        env,
        'accounts password',
        setPassword,
        ann.email,
        async () => 'correct horse battery',
      ),
    ).toBe(0)
    expect((await ask('GET', '/v1/account', `Bearer ${token}`)).status).toBe(401)
    expect(
      (
        await ask('POST', '/v1/auth/session', undefined, {
          email: ann.email,
          password: 'correct horse battery',
        })
      ).status,
    ).toBe(200)
    const again = await signedIn(ann)
    expect(await ran(env, 'accounts sign-out', endSessions, ann.email)).toBe(0)
    expect((await ask('GET', '/v1/account', `Bearer ${again}`)).status).toBe(401)
    expect(lines.join('\n')).not.toContain('correct horse')
    expect(faults).toEqual([])
  })

  test('the operator can remove two-factor authentication, and an account without it is reported', async () => {
    const { env, lines, faults, person, services, clock, signedIn, ask } = terminal()
    const ann = person('ann')
    const { secret } = services.secondFactor.enrol(ann.account.account.id, ann.email)!
    const code = new TOTP({ secret }).generate({ timestamp: clock.now() })
    services.secondFactor.confirm(ann.account.account.id, code)
    expect(services.secondFactor.isOn(ann.account.account.id)).toBe(true)
    expect(await ran(env, 'accounts second-step-off', removeTwoFactor, ann.email)).toBe(0)
    expect(services.secondFactor.isOn(ann.account.account.id)).toBe(false)
    const token = await signedIn(ann)
    expect((await ask('GET', '/v1/account', `Bearer ${token}`)).status).toBe(200)
    expect(lines[0]).toContain(`Signing in to ${ann.email} asks for no code any more`)
    expect(faults).toEqual([])
    expect(await ran(env, 'accounts second-step-off', removeTwoFactor, ann.email)).toBe(1)
    expect(faults[0]).toStartWith('accounts second-step-off: ')
  })

  test('accounts commands say why a password is refused and that an address has no account', async () => {
    const { env, faults, person } = terminal()
    expect(
      await ran(env, 'accounts password', setPassword, person('ann').email, async () => 'short'),
    ).toBe(1)
    expect(await ran(env, 'accounts link', makeLink, 'unknown@example.com')).toBe(1)
    expect(faults).toEqual([
      'accounts password: password: must be at least 10 characters long.',
      'accounts link: No account has the address "unknown@example.com". Run wellhead accounts list.',
    ])
  })
})

test.each([
  [['one line\n'], 'one line'],
  [['in two ', 'parts\r\nand more'], 'in two parts'],
  [['without an end'], 'without an end'],
  [[], ''],
])('the first line of %j is %p', async (texts, line) => {
  expect(await firstLine(chunks(...texts))).toBe(line)
})
