import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { loadConfig } from '../../../../src/config/config.ts'
import { openServices } from '../../../../src/instance/services/services.ts'
import { createSeededIds } from '../../../../src/lib/ids.ts'
import { createLog } from '../../../../src/lib/log/log.ts'
import { createManualClock } from '../../../../src/lib/time/clock.ts'
import { dayMs } from '../../../../src/lib/time/instant.ts'
import { type Role, roles } from '../../../../src/plans/roles/roles.ts'
import { createOrganizations } from '../../../../src/topics/account/service/organizations.ts'
import type { AccountState } from '../../../../src/topics/keys/service/keyring.ts'
import type { MailMessage } from '../../../../src/topics/messages/service/mail.ts'
import { runs } from '../../../support/full.ts'
import { databaseInMemory } from '../../../support/instance/database.ts'

const baseUrl = 'https://prices.example.com'

function world(names: readonly string[]) {
  const clock = createManualClock(Date.parse('2026-11-20T15:00:00Z'))
  const ids = createSeededIds(1)
  const db = databaseInMemory()
  const config = loadConfig({
    flags: {},
    env: {},
    files: { directory: '/' },
    readFile: () => undefined,
  })
  const log = createLog({ level: 'error', format: 'json', write: () => {}, clock })
  const services = openServices({
    db,
    config,
    clock,
    ids,
    masterKey: 'a master key for tests',
    log,
  })
  const { keys, organizationStore: store } = services
  const mailMessages: MailMessage[] = []
  const mail = { post: (mailMessage: MailMessage) => String(mailMessages.push(mailMessage)) }
  const people = names.map(name => {
    const at = clock.now()
    const account = keys.putAccount({
      id: ids.uuid(),
      email: `${name}@example.com`,
      plan: 'starter',
      addOns: [],
      trialStartedAt: null,
      trialEndsAt: null,
      emailConfirmedAt: at,
      suspendedAt: null,
      createdAt: at,
    })
    keys.addKey(account, { name })
    keys.sessionKey(account)
    return account
  })
  return {
    db,
    clock,
    keys,
    store,
    mailMessages,
    people,
    organizations: createOrganizations({
      db,
      keys,
      store,
      mail,
      clock,
      ids,
      serviceName: 'Prices',
      isSubscribed: () => false,
    }),
  }
}

const tokenOf = (mailMessage: MailMessage | undefined) =>
  /token=([0-9a-f]{64})/.exec(mailMessage?.text ?? '')?.[1] ?? ''

/** An operation: who does it, what, to whom, with which role. */
const operation = fc.record({
  who: fc.nat(4),
  does: fc.constantFrom(
    'add',
    'invite',
    'accept',
    'accept',
    'accept',
    'role',
    'role',
    'remove',
    'leave',
    'later',
  ),
  whom: fc.nat(4),
  role: fc.constantFrom<Role>(...roles),
})

describe('createOrganizations: any sequence of operations', () => {
  test('leaves every organization an admin who has accepted, an owner among them, and every key where it belongs', () => {
    let changes = 0
    fc.assert(
      fc.property(fc.array(operation, { minLength: 20, maxLength: 40 }), operations => {
        const {
          db,
          clock,
          keys,
          store,
          mailMessages,
          people,
          organizations: all,
        } = world(['a', 'b', 'c', 'd', 'e'])
        for (const { who, does, whom, role } of operations) {
          const [actor, other] = [people[who]!, people[whom]!]
          const { email } = other.account
          const members = all.of(actor)?.members ?? []
          const target = members.find(member => member.email === email)?.id ?? ''
          const done =
            does === 'add'
              ? all.addMember(actor, { email, role, baseUrl })
              : does === 'invite'
                ? all.invite(actor, { email, role, baseUrl })
                : does === 'role'
                  ? all.changeRole(actor, target, role)
                  : does === 'remove'
                    ? all.remove(actor, target)
                    : does === 'leave'
                      ? all.remove(actor, all.of(actor)?.me.id ?? '')
                      : does === 'accept'
                        ? acceptLatest(all, store, mailMessages, actor)
                        : void clock.advance(5 * dayMs)
          if (done !== undefined && (done === true || !('refused' in done))) changes += 1
          holds(store, keys, people)
        }
        keys.reload()
        holds(
          store,
          keys,
          people.map(person => keys.account(person.account.id)!),
        )
        db.close()
      }),
      { numRuns: runs(60) },
    )
    expect(changes).toBeGreaterThan(3 * runs(60))
  }, 30_000)
})

type World = ReturnType<typeof world>

function acceptLatest(
  all: World['organizations'],
  store: World['store'],
  mailMessages: readonly MailMessage[],
  actor: AccountState,
) {
  const mailMessage = mailMessages.findLast(mailMessage => mailMessage.to === actor.account.email)
  const invitation = mailMessage && all.invitationByToken(tokenOf(mailMessage))?.invitation
  return invitation && store.invitation(invitation.id)
    ? all.accept(invitation.id, actor)
    : undefined
}

function holds(store: World['store'], keys: World['keys'], people: readonly AccountState[]) {
  const belonging = people.map(person => store.memberByAccount(person.account.id))
  for (const id of new Set(belonging.flatMap(member => (member ? [member.organizationId] : [])))) {
    const inCharge = store
      .members(id)
      .filter(member => member.role === 'admin' && member.accountId !== null)
    expect(inCharge.length).toBeGreaterThan(0)
    expect(inCharge.map(member => member.accountId)).toContain(store.byId(id)!.accountId)
  }
  for (const [i, person] of people.entries()) {
    const member = belonging[i]
    const owner = member ? store.byId(member.organizationId)!.accountId : person.account.id
    expect(person.actsOn.account.id).toBe(owner)
    expect(person.role).toBe(member?.role ?? 'admin')
    for (const list of ['keys', 'sessions'] as const) {
      const places = keys
        .accounts()
        .filter(account => account[list].some(key => key.holder === person))
      expect(places).toEqual([person.actsOn])
      for (const key of person.actsOn[list]) expect(key.account).toBe(person.actsOn)
    }
  }
}

describe('createOrganizations', () => {
  test('an organization passes to its longest-standing admin when the owner leaves with the old account', () => {
    const { organizations: all, people, mailMessages, clock } = world(['ann', 'bob', 'cid'])
    const [ann, bob, cid] = people as [AccountState, AccountState, AccountState]
    for (const [person, role] of [
      [bob, 'admin'],
      [cid, 'admin'],
    ] as const) {
      clock.advance(1000)
      all.invite(ann, { email: person.account.email, role, baseUrl })
      all.accept(all.invitationByToken(tokenOf(mailMessages.at(-1)))!.invitation.id, person)
    }
    expect([ann, bob, cid].map(account => account.actsOn)).toEqual([ann, ann, ann])
    expect(ann.keys.map(key => key.key.name)).toEqual(['ann', 'bob', 'cid'])
    expect(all.remove(ann, all.of(ann)!.me.id)).toBe(true)
    expect([ann, bob, cid].map(account => account.actsOn)).toEqual([ann, bob, bob])
    expect([ann.keys, bob.keys].map(keys => keys.map(key => key.key.name))).toEqual([
      ['ann'],
      ['bob', 'cid'],
    ])
    expect(all.of(ann)).toBeUndefined()
    expect(all.of(bob)!.organization.accountId).toBe(bob.account.id)
  })

  test('the keys of an invited member do not move to the organization before the member accepts', () => {
    const { organizations: all, people, mailMessages } = world(['ann', 'bob'])
    const [ann, bob] = people as [AccountState, AccountState]
    all.addMember(ann, { email: bob.account.email, role: 'admin', baseUrl })
    expect(bob.actsOn).toBe(bob)
    expect(all.of(bob)).toBeUndefined()
    expect(all.remove(ann, all.of(ann)!.me.id)).toEqual({ refused: 'last_admin' })
    const { invitation } = all.invitationByToken(tokenOf(mailMessages.at(-1)))!
    const accepted = all.accept(invitation.id, bob)
    expect(accepted).toMatchObject({
      member: { email: bob.account.email, role: 'admin', accountId: bob.account.id },
    })
    expect(bob.actsOn).toBe(ann)
    expect(all.of(ann)!.members).toHaveLength(2)
    expect(all.of(ann)!.invitations).toEqual([])
  })

  test('of one person makes way for an invitation to another', () => {
    const { organizations: all, people, mailMessages, store } = world(['ann', 'bob'])
    const [ann, bob] = people as [AccountState, AccountState]
    all.invite(bob, { email: 'somebody@example.com', role: 'member', baseUrl })
    const alone = all.of(bob)!.organization.id
    all.invite(ann, { email: bob.account.email, role: 'member', baseUrl })
    const { invitation } = all.invitationByToken(tokenOf(mailMessages.at(-1)))!
    expect(all.accept(invitation.id, bob)).toHaveProperty('member')
    expect(store.byId(alone)).toBeUndefined()
    expect(all.of(bob)!.organization.accountId).toBe(ann.account.id)
  })

  test('has at most fifty open invitations', () => {
    const { organizations: all, people, clock } = world(['ann'])
    const [ann] = people as [AccountState]
    const invite = (n: number) =>
      all.invite(ann, { email: `guest${n}@example.com`, role: 'member', baseUrl })
    for (let n = 0; n < 50; n += 1) expect(invite(n)).toHaveProperty('id')
    expect(invite(50)).toEqual({ refused: 'limit', limit: 50 })
    clock.advance(14 * dayMs)
    expect(invite(50)).toHaveProperty('id')
  })
})
