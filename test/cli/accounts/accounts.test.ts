import { describe, expect, test } from 'bun:test'
import {
  changeAccount,
  createAccount,
  listAccounts,
  showAccount,
} from '../../../src/cli/accounts/accounts.ts'
import { rotateAdminToken } from '../../../src/cli/accounts/admin-tokens.ts'
import { agreeSubscription } from '../../../src/cli/accounts/billing.ts'
import {
  createKey,
  listKeys,
  revokeKey,
  rollKey,
  suspendKey,
} from '../../../src/cli/accounts/keys.ts'
import { commandEnvironment } from '../../../src/cli/command.ts'
import { ran } from '../../support/instance/command.ts'
import { openFrontDoor } from '../../support/instance/front-door.ts'

/** A command line over a front door; `lines` and `faults` are what it printed. */
function terminal(json = false) {
  const door = openFrontDoor()
  const lines: string[] = []
  const faults: string[] = []
  const env = commandEnvironment({
    operator: { call: door.local },
    out: line => void lines.push(line),
    err: line => void faults.push(line),
    json,
  })
  const taken = () => lines.splice(0).join('\n')
  return { door, env, faults, taken, data: () => JSON.parse(taken()) }
}

const token = /^API key: ([0-9a-f]{64})$/m

describe('accounts list, create and change', () => {
  test('are made, shown by id or address, changed and listed', async () => {
    const { door, env, faults, taken } = terminal()
    expect(
      await ran(env, 'accounts create', createAccount, {
        email: 'a@example.com',
        plan: 'starter',
        addOns: ['sms'],
        keyName: 'first',
      }),
    ).toBe(0)
    const output = taken()
    const [, plain] = token.exec(output)!
    expect(output).toContain('It is shown only once; only a hash is stored.')
    expect((await door.get('/probe/counted', plain)).status).toBe(200)
    const { id } = door.services.keys.accountByEmail('a@example.com')!.account

    expect(await ran(env, 'accounts list', listAccounts)).toBe(0)
    const [head, row] = taken().split('\n')
    expect(head).toMatch(/^ID +EMAIL +PLAN +ADD-ONS +STATE +KEYS +CREATED$/)
    expect(row).toMatch(
      new RegExp(`^${id}  a@example.com  starter  sms +active  1 +2026-11-20T15:00:00Z$`),
    )

    expect(await ran(env, 'accounts show', showAccount, 'A@example.com')).toBe(0)
    const byAddress = taken()
    expect(await ran(env, 'accounts show', showAccount, id)).toBe(0)
    expect(taken()).toBe(byAddress)
    expect(byAddress).toContain('1 charged requests this month')
    expect(byAddress).toMatch(/first +active +1\/50000/)
    expect(byAddress).not.toContain(plain)

    expect(
      await ran(env, 'accounts set', changeAccount, 'a@example.com', {
        plan: 'free',
        trial: true,
        suspended: true,
        emailConfirmed: false,
        addOns: [],
      }),
    ).toBe(0)
    expect(taken()).toContain('suspended, unconfirmed, trial to 2026-11-27T15:00:00Z')
    expect(faults).toEqual([])
  })

  test('a plan that is set during a subscription says what continues to be billed and how to change both', async () => {
    const { door, env, faults, taken } = terminal()
    const { email } = door.open('free').account.account
    expect(
      await ran(env, 'subscriptions agree', agreeSubscription, email, {
        plan: 'scale',
        price: '390',
      }),
    ).toBe(0)
    const set = (plan: string) => ran(env, 'accounts set', changeAccount, email, { plan })
    expect(await set('professional')).toBe(0)
    expect(taken()).toContain('professional')
    const continues =
      'Billing has not changed: the subscription to scale continues at USD 390.00 a month. To change the plan and its billing together, run'
    expect(faults.splice(0)).toEqual([
      `${continues} wellhead subscriptions agree ${email} --plan professional --price PRICE.`,
    ])
    expect(await set('free')).toBe(0)
    expect(faults.splice(0)).toEqual([`${continues} wellhead subscriptions cancel ${email}.`])
    expect(await set('scale')).toBe(0)
    expect(faults).toEqual([])
  })

  test('are listed over all pages', async () => {
    const { door, env, data } = terminal(true)
    for (let i = 0; i < 205; i += 1) door.open(i < 3 ? 'scale' : 'free')
    expect(await ran(env, 'accounts list', listAccounts)).toBe(0)
    expect(new Set(data().map((account: { id: string }) => account.id)).size).toBe(205)
    await ran(env, 'accounts list', listAccounts, { plan: 'scale' })
    expect(data()).toHaveLength(3)
    await ran(env, 'accounts list', listAccounts, { search: 'person20' })
    expect(data()).toHaveLength(7)
  })

  test('an account that cannot be created or found is refused with the reason and exit code 1', async () => {
    const { env, faults, taken } = terminal()
    expect(
      await ran(env, 'accounts create', createAccount, {
        email: 'unknown',
        plan: 'gold',
        addOns: ['x'],
      }),
    ).toBe(1)
    expect(faults.splice(0)).toEqual([
      'accounts create: email must be an e-mail address; got "unknown".',
      'accounts create: plan must be free, developer, starter, professional, scale or enterprise; got "gold".',
      'accounts create: add_ons.0 must be futures_data, well_permits, well_production or sms; got "x".',
    ])
    expect(await ran(env, 'accounts show', showAccount, 'a@example.com')).toBe(1)
    expect(await ran(env, 'accounts show', showAccount, '../../v1/account')).toBe(1)
    expect(await ran(env, 'accounts set', changeAccount, 'unknown', { plan: 'free' })).toBe(1)
    expect(faults.splice(0)).toEqual([
      'accounts show: No account has the address "a@example.com". Run wellhead accounts list.',
      'accounts show: No account has the id "../../v1/account".',
      'accounts set: No account has the id "unknown".',
    ])
    expect(
      await ran(
        commandEnvironment({
          ...env,
          operator: { call: () => Promise.reject(new Error('the socket is closed')) },
        }),
        'accounts list',
        listAccounts,
      ),
    ).toBe(1)
    expect(faults).toEqual(['accounts list: the socket is closed'])
    expect(taken()).toBe('')
  })
})

describe('keys list, create, roll and revoke', () => {
  test('are made, listed, suspended, rolled and revoked', async () => {
    const { door, env, faults, taken } = terminal()
    const { account } = door.open('free')
    const who = account.account.email
    const options = {
      name: 'desk\u001b[31m',
      readOnly: true,
      allowIp: ['203.0.113.0/24'],
      allowDomain: [],
      expires: '2027-01-01T00:00:00Z',
    }
    expect(await ran(env, 'keys create', createKey, who, options)).toBe(0)
    const output = taken()
    const [, plain] = token.exec(output)!
    expect(output).toContain('read-only 203.0.113.0/24 until 2027-01-01T00:00:00Z')
    expect(output).toContain('desk\\u001b[31m')
    const { id } = account.keys[1]!.key

    expect(await ran(env, 'keys suspend', suspendKey, id)).toBe(0)
    expect(taken()).toContain('suspended')
    expect(await ran(env, 'keys suspend', suspendKey, id, false)).toBe(0)
    taken()
    expect(await ran(env, 'keys roll', rollKey, id, { overlap: 60 })).toBe(0)
    const [, next] = token.exec(taken())!
    expect(next).not.toBe(plain)
    const statuses = await Promise.all(
      [plain, next].map(async token => (await door.get('/probe/free', token)).status),
    )
    expect(statuses).toEqual([200, 200])
    expect(await ran(env, 'keys revoke', revokeKey, id)).toBe(0)
    expect(taken()).toContain('revoked')
    expect(await ran(env, 'keys list', listKeys, who)).toBe(0)
    const listed = taken()
    expect(listed.split('\n')).toHaveLength(3)
    expect(listed).not.toMatch(/[0-9a-f]{64}/)

    expect(await ran(env, 'keys revoke', revokeKey, id)).toBe(1)
    expect(await ran(env, 'keys roll', rollKey, id)).toBe(1)
    expect(await ran(env, 'keys create', createKey, who, { expires: 'soon' })).toBe(1)
    expect(faults).toEqual([
      'keys revoke: This API key has been revoked and cannot be reinstated.',
      'keys roll: This API key has been revoked and cannot be reinstated.',
      'keys create: expires_at must be an ISO 8601 time with a zone, such as 2027-01-31T00:00:00Z; got "soon".',
    ])
  })

  test('keys commands print JSON when it is requested', async () => {
    const { door, env, data } = terminal(true)
    const { account, key } = door.open('starter')
    await ran(env, 'keys list', listKeys, account.account.id)
    expect(data()).toMatchObject([
      { id: key.key.id, account_id: account.account.id, usage: { request_limit: 50_000 } },
    ])
    await ran(env, 'keys create', createKey, account.account.id)
    expect(data().plain_token).toMatch(/^[0-9a-f]{64}$/)
    await ran(env, 'accounts show', showAccount, account.account.id)
    expect(data()).toMatchObject({ plan: 'starter', total_keys: 2 })
  })
})

test('the admin token is rotated and shown once', async () => {
  const { door, env, taken } = terminal()
  const old = door.adminToken
  expect(await ran(env, 'token rotate', rotateAdminToken)).toBe(0)
  const [, next] = /^Admin token: ([0-9a-f]{64})$/m.exec(taken())!
  const statusOf = async (token: string) =>
    (await door.get('/admin/v1/accounts', undefined, { authorization: `Bearer ${token}` })).status
  expect({ old: await statusOf(old), next: await statusOf(next!) }).toEqual({ old: 401, next: 200 })
})
