import { describe, expect, test } from 'bun:test'
import { dayMs, isoInstant } from '../../../../src/lib/time/instant.ts'
import type { Role } from '../../../../src/plans/roles/roles.ts'
import { startAt } from '../../../support/instance/instance.ts'
import {
  enlist,
  guestId,
  membersOf,
  type Office,
  office,
  type Row,
  stateOf,
  token,
} from '../../../support/topics/operations/organizations.ts'
import { type Asked, codeOf, type Person, people, tokenIn } from '../../../support/topics/people.ts'

const keyOf = (office: Office, person: Person): string =>
  office.services.keys.find(person.key)!.key.id

describe('GET /v1/api-keys in an organization', () => {
  test('an organization key acts on the organization account with the plan of its owner, whichever member uses it', async () => {
    const { ask, ann, staff } = await office()
    const account = await ask('GET', '/v1/account', token(staff.member))
    expect(account.body.account).toMatchObject({ email: staff.member.email, tier: 'scale' })
    expect((account.body.api_keys as { held_by: string }[]).map(key => key.held_by).sort()).toEqual(
      [ann, staff.admin, staff.member, staff.read_only].map(person => person.email).sort(),
    )
    const me = await ask('GET', '/v1/users/me', token(staff.member))
    expect(me.body).toMatchObject({
      id: staff.member.account.account.id,
      email: staff.member.email,
      tier: 'scale',
    })
  })

  test('that a member makes are the member’s: they have that role and leave with them', async () => {
    const { ask, ann, staff, memberId } = await office()
    const created = await ask('POST', '/v1/api-keys', token(staff.member), { name: 'mine' })
    const plain = (created.body.data as { api_key: { plain_token: string } }).api_key.plain_token
    expect(
      codeOf(
        await ask('POST', '/organizations/members', `Token ${plain}`, {
          email: 'x@example.com',
          role: 'admin',
        }),
      ),
    ).toBe('FORBIDDEN_ROLE')
    await ask('DELETE', `/organizations/members/${await memberId(staff.member)}`, token(ann))
    const after = await ask('GET', '/v1/account', `Token ${plain}`)
    expect(after.body.account).toMatchObject({ email: staff.member.email, tier: 'free' })
    expect((after.body.api_keys as { held_by: string }[]).map(key => key.held_by)).toEqual([
      staff.member.email,
      staff.member.email,
    ])
    const anns = await ask('GET', '/v1/api-keys', token(ann))
    expect(JSON.stringify(anns.body)).not.toContain(staff.member.email)
  })

  test('may be as many for each person as the plan allows', async () => {
    const { ask, staff } = await office()
    for (const person of [staff.admin, staff.member]) {
      for (let i = 0; i < 4; i += 1)
        expect((await ask('POST', '/v1/api-keys', token(person), {})).status).toBe(200)
      expect(codeOf(await ask('POST', '/v1/api-keys', token(person), {}))).toBe(
        'api_key_limit_reached',
      )
    }
  })

  test('are counted together, sessions too', async () => {
    const { ask, staff, signedIn, dashboard, ann } = await office()
    const bearer = `Bearer ${await signedIn(staff.read_only)}`
    for (const authorization of [token(ann), token(staff.member), token(staff.member), bearer])
      await ask('GET', '/v1/commodities', authorization)
    expect((await dashboard()).body.organization).toMatchObject({
      api_calls_this_month: 4,
      member_count: 4,
      plan: 'scale',
      your_role: 'admin',
    })
  })

  test('of a member are refused while the operator holds the owner’s account back', async () => {
    const { ask, ann, staff, services } = await office()
    services.keys.putAccount({ ...ann.account.account, suspendedAt: startAt })
    expect(codeOf(await ask('GET', '/v1/commodities', token(staff.member)))).toBe('KEY_SUSPENDED')
  })
})

describe('/organizations/members', () => {
  test('an account without an organization gets 404 for the organization dashboard', async () => {
    const all = people()
    const answer = await all.ask('GET', '/organizations/dashboard', token(all.person('ann')))
    expect({ status: answer.status, code: codeOf(answer) }).toEqual({
      status: 404,
      code: 'NOT_FOUND',
    })
  })

  test('changes in steps that always leave an admin', async () => {
    const { ask, ann, staff, memberId } = await office()
    const [annId, doraId] = [await memberId(ann), await memberId(staff.admin)]
    const owned = await ask('GET', '/organizations/dashboard', token(staff.admin))
    expect(owned.body.organization).toMatchObject({ plan: 'scale', owner: ann.email })
    expect(
      (await ask('PATCH', `/organizations/members/${doraId}`, token(ann), { role: 'read-only' }))
        .body.member,
    ).toMatchObject({
      role: 'read_only',
    })
    for (const refused of [
      await ask('PATCH', `/organizations/members/${annId}`, token(ann), { role: 'member' }),
      await ask('DELETE', `/organizations/members/${annId}`, token(ann)),
    ]) {
      expect({ status: refused.status, code: codeOf(refused) }).toEqual({
        status: 422,
        code: 'last_admin',
      })
    }
    await ask('PATCH', `/organizations/members/${doraId}`, token(ann), { role: 'admin' })
    const left = await ask('DELETE', `/organizations/members/${annId}`, token(ann))
    expect([left.status, left.body]).toEqual([200, { id: annId, deleted: true }] as never)
    const dashboard = await ask('GET', '/organizations/dashboard', token(staff.admin))
    expect(dashboard.body.organization).toMatchObject({
      your_role: 'admin',
      plan: 'free',
      owner: staff.admin.email,
    })
    expect((await ask('GET', '/organizations/dashboard', token(ann))).status).toBe(404)
  })

  test('is listed at once and acts after it was accepted', async () => {
    const { ask, person, mailMessages, ...all } = people()
    const [ann, bob] = [person('ann', 'scale'), person('bob', 'free')]
    const added = await ask('POST', '/organizations/members', token(ann), {
      email: 'BOB@example.com',
      role: 'member',
    })
    expect(added.status).toBe(201)
    expect(added.body.member).toEqual({
      id: expect.any(String),
      email: bob.email,
      role: 'member',
      status: 'invited',
      joined_at: isoInstant(startAt),
    } as never)
    const before = await ask('GET', '/organizations/dashboard', token(ann))
    expect(before.body.organization).toMatchObject({ member_count: 1 })
    expect((before.body.members as Row[]).map(({ status }) => status).sort()).toEqual([
      'active',
      'invited',
    ])
    expect(
      codeOf(
        await ask('POST', '/organizations/members', token(ann), {
          email: bob.email,
          role: 'admin',
        }),
      ),
    ).toBe('already_member')
    expect(
      codeOf(
        await ask('POST', '/organizations/invitations', token(ann), {
          email: bob.email,
          role: 'admin',
        }),
      ),
    ).toBe('already_member')
    expect(bob.account.actsOn).toBe(bob.account)
    const { invitation } = all.services.organizations.invitationByToken(
      tokenIn(mailMessages(bob.email)[0]!.text),
    )!
    const accepted = await ask(
      'POST',
      `/organizations/invitations/${invitation.id}/confirm_accept`,
      token(bob),
    )
    expect(accepted.body.member).toEqual({
      ...(added.body.member as Row),
      status: 'active',
    } as never)
    expect(bob.account.actsOn).toBe(ann.account)
    const { body } = await ask('GET', '/organizations/dashboard', token(bob))
    expect([(body.members as Row[]).length, body.invitations]).toEqual([2, []] as never)
  })

  test('is invited again after the first invitation has expired, and is listed once', async () => {
    const { ask, person, mailMessages, clock, ...all } = people()
    const [ann, bob] = [person('ann', 'scale'), person('bob', 'free')]
    const add = (role: string) =>
      ask('POST', '/organizations/members', token(ann), { email: bob.email, role })
    const { id } = (await add('member')).body.member as Row
    clock.advance(15 * 86_400_000)
    const again = await add('read_only')
    expect({ status: again.status, member: again.body.member }).toMatchObject({
      status: 201,
      member: { id, role: 'read_only', status: 'invited' },
    })
    const { invitation } = all.services.organizations.invitationByToken(
      tokenIn(mailMessages(bob.email)[1]!.text),
    )!
    const path = `/organizations/invitations/${invitation.id}/confirm_accept`
    expect((await ask('POST', path, token(bob))).status).toBe(200)
    const { body } = await ask('GET', '/organizations/dashboard', token(bob))
    expect(body.organization).toMatchObject({ member_count: 2, your_role: 'read_only' })
  })

  test.each([
    ['nothing', undefined, ['email', 'role']],
    ['a role that is none', { email: 'x@example.com', role: 'owner' }, ['role']],
    ['a role that is not text', { email: 'x@example.com', role: 1 }, ['role']],
    ['no address', { email: 'nowhere', role: 'member' }, ['email']],
    [
      'an address with a line break',
      { email: 'x@example.com\nbcc: y@example.com', role: 'member' },
      ['email'],
    ],
    [
      'a message that is too long',
      { email: 'x@example.com', role: 'member', message: 'x'.repeat(501) },
      ['message'],
    ],
  ])('is not asked for with %s', async (_, body, fields) => {
    const { ask, person, services } = people()
    const answer = await ask('POST', '/organizations/invitations', token(person('ann')), body)
    expect({ status: answer.status, code: codeOf(answer) }).toEqual({
      status: 422,
      code: 'validation_failed',
    })
    expect((answer.body.errors as { field: string }[]).map(error => error.field)).toEqual(fields)
    expect(services.db.query('SELECT count(*) AS n FROM organizations').get()).toEqual({ n: 0 })
  })

  test('an organization member is created as requested, and extra fields in the body are ignored', async () => {
    const { ask, person, ...all } = people()
    const [ann, eve] = [person('ann'), person('eve')]
    const extra = {
      id: 'mine',
      account_id: eve.account.account.id,
      status: 'accepted',
      organization_id: 'another',
      invited_by: 'the boss',
    }
    const invited = await ask('POST', '/organizations/invitations', token(ann), {
      email: eve.email,
      role: 'member',
      ...extra,
    })
    expect(invited.body.invitation).toMatchObject({ status: 'pending', invited_by: ann.email })
    expect((invited.body.invitation as Row).id).not.toBe('mine')
    const listed = await ask('POST', '/organizations/members', token(ann), {
      email: 'x@example.com',
      role: 'member',
      ...extra,
      joined_at: '2000-01-01T00:00:00Z',
    })
    expect(listed.body.member).toMatchObject({ joined_at: isoInstant(startAt) })
    expect(all.services.organizations.of(eve.account)).toBeUndefined()
  })

  test('a repeated request with the same idempotency key sends an organization invitation once', async () => {
    const { ask, person, mailMessages } = people()
    const ann = token(person('ann'))
    const send = () =>
      ask(
        'POST',
        '/organizations/invitations',
        ann,
        { email: 'g@example.com', role: 'member' },
        { 'idempotency-key': 'once' },
      )
    const [first, second] = [await send(), await send()]
    expect(second.status).toBe(201)
    expect(second.body).toEqual(first.body)
    expect(mailMessages('g@example.com')).toHaveLength(1)
  })
})

describe('/organizations/invitations', () => {
  async function invited(role: Role = 'member') {
    const all = people()
    const [ann, guest] = [all.person('ann', 'scale'), all.person('guest', 'free')]
    const answer = await all.ask('POST', '/organizations/invitations', token(ann), {
      email: guest.email,
      role,
      message: 'Welcome',
    })
    const { id } = answer.body.invitation as { id: string }
    const mailMessage = all.mailMessages(guest.email).at(-1)!
    return {
      ...all,
      ann,
      guest,
      id,
      invitation: answer,
      mailMessage,
      secret: tokenIn(mailMessage.text),
      base: `/organizations/invitations/${id}`,
    }
  }

  test('is shown without changing anything, is accepted, and is good once', async () => {
    const { ask, ann, guest, id, base, invitation, mailMessage } = await invited()
    expect(invitation.body.invitation).toEqual({
      id,
      email: guest.email,
      role: 'member',
      status: 'pending',
      message: 'Welcome',
      invited_by: ann.email,
      created_at: isoInstant(startAt),
      expires_at: isoInstant(startAt + 14 * dayMs),
    } as never)
    // Unverified recipients get no text of an account: the message is on the page of the
    // invitation.
    expect(mailMessage.text).not.toContain('Welcome')
    expect(mailMessage.text).toContain(`${ann.email} wrote you a message: it is on the page`)
    expect(JSON.stringify(invitation.body)).not.toContain(tokenIn(mailMessage.text))
    for (let i = 0; i < 2; i += 1) {
      const view = await ask('GET', `${base}/accept`, token(guest))
      expect(view.body).toMatchObject({
        can_accept: true,
        next: { method: 'POST', path: `${base}/confirm_accept` },
        organization: { name: 'example.com' },
      })
      expect(guest.account.actsOn).toBe(guest.account)
    }
    const accepted = await ask('POST', `${base}/confirm_accept`, token(guest))
    expect(accepted.status).toBe(200)
    expect(accepted.body).toMatchObject({
      invitation: { id, status: 'accepted' },
      member: { email: guest.email, role: 'member' },
    })
    const again = await ask('POST', `${base}/confirm_accept`, token(guest))
    expect({ status: again.status, code: codeOf(again) }).toEqual({
      status: 422,
      code: 'invitation_used',
    })
  })

  test('is over after fourteen days', async () => {
    const { ask, guest, base, clock } = await invited()
    clock.advance(14 * dayMs - 1)
    expect((await ask('GET', `${base}/accept`, token(guest))).body.can_accept).toBe(true)
    clock.advance(1)
    expect((await ask('GET', `${base}/accept`, token(guest))).body).toMatchObject({
      can_accept: false,
      invitation: { status: 'expired' },
    })
    const late = await ask('POST', `${base}/confirm_accept`, token(guest))
    expect({ status: late.status, code: codeOf(late) }).toEqual({
      status: 422,
      code: 'invitation_expired',
    })
    expect(guest.account.actsOn).toBe(guest.account)
  })

  test('an organization invitation does not exist for another account unless it has the token from the e-mail', async () => {
    const { ask, person, base, secret, ann } = await invited()
    const eve = person('eve')
    const unknown = await ask(
      'GET',
      '/organizations/invitations/00000000-0000-4000-8000-000000000999/accept',
      token(eve),
    )
    const foreign = await ask('GET', `${base}/accept`, token(eve))
    expect([foreign.status, foreign.body.error]).toEqual([
      404,
      {
        ...(unknown.body.error as object),
        message: `No invitation has the id "${base.split('/').at(-1)}".`,
        request_id: (foreign.body.error as Row & { request_id: string }).request_id,
      },
    ] as never)
    expect((await ask('GET', `${base}/accept?token=${'f'.repeat(64)}`, token(eve))).status).toBe(
      404,
    )
    expect((await ask('POST', `${base}/confirm_accept`, token(eve), {})).status).toBe(404)
    expect((await ask('POST', `${base}/confirm_accept`, token(ann), {})).status).toBe(404)
    expect((await ask('GET', `${base}/accept?token=${secret}`, token(eve))).body.can_accept).toBe(
      true,
    )
    const accepted = await ask('POST', `${base}/confirm_accept`, token(eve), { token: secret })
    expect(accepted.status).toBe(200)
  })

  test('replaces an older one to the same address', async () => {
    const { ask, ann, guest, base, secret } = await invited()
    await ask('POST', '/organizations/invitations', token(ann), {
      email: guest.email,
      role: 'read_only',
    })
    const refused = await ask('POST', `${base}/confirm_accept`, token(guest), { token: secret })
    expect(codeOf(refused)).toBe('invitation_expired')
    expect(refused.body).toMatchObject({
      message: `A newer invitation was sent to ${guest.email}. Use the link in that e-mail.`,
    } as never)
  })

  test('that is withdrawn is over', async () => {
    const { ask, ann, guest, id, base } = await invited()
    expect((await ask('DELETE', `/organizations/members/${id}`, token(ann))).body).toEqual({
      id,
      deleted: true,
    } as never)
    const refused = await ask('POST', `${base}/confirm_accept`, token(guest))
    expect(codeOf(refused)).toBe('invitation_expired')
    expect(refused.body).toMatchObject({
      message: 'The invitation was withdrawn. Ask for a new one.',
    } as never)
    expect((await ask('DELETE', `/organizations/members/${id}`, token(ann))).status).toBe(404)
  })

  test('waits until a subscription that the account would still pay for is cancelled', async () => {
    const { ask, guest, base, secret, app, signedIn } = await invited()
    const bought = await ask('POST', '/billing/subscriptions', token(guest), { plan_id: 'starter' })
    expect(bought.status).toBe(201)
    expect((await ask('GET', `${base}/accept`, token(guest))).body.can_accept).toBe(false)
    const refused = await ask('POST', `${base}/confirm_accept`, token(guest))
    expect({ status: refused.status, code: codeOf(refused) }).toEqual({
      status: 422,
      code: 'own_subscription',
    })
    const page = await app.handle(
      new Request('http://localhost/invitation', {
        method: 'POST',
        headers: { origin: 'http://localhost', cookie: `session=${await signedIn(guest)}` },
        body: new URLSearchParams({ token: secret }),
      }),
    )
    expect({ status: page.status, text: await page.text() }).toEqual({
      status: 422,
      text: expect.stringContaining('Your account has its own subscription'),
    })
    await ask('POST', '/billing/subscriptions/cancel', token(guest), {})
    expect((await ask('POST', `${base}/confirm_accept`, token(guest))).status).toBe(200)
  })

  test('waits for who is in another organization with others', async () => {
    const all = await invited()
    const { ask, guest, person, base } = all
    await enlist(all, guest, person('colleague'), 'member')
    expect((await ask('GET', `${base}/accept`, token(guest))).body.can_accept).toBe(false)
    const refused = await ask('POST', `${base}/confirm_accept`, token(guest))
    expect({ status: refused.status, code: codeOf(refused) }).toEqual({
      status: 422,
      code: 'already_member',
    })
  })

  test('an invitation to a verified address of a member adds no second member and can only raise the role', async () => {
    const all = await invited('read_only')
    const { ask, ann, guest, mailMessages, secret, base } = all
    await ask('POST', `${base}/confirm_accept`, token(guest), { token: secret })
    for (const [role, then] of [
      ['member', 'member'],
      ['read_only', 'member'],
    ] as const) {
      const email = 'second@example.com'
      const invitation = await ask('POST', '/organizations/invitations', token(ann), {
        email,
        role,
      })
      const path = `/organizations/invitations/${(invitation.body.invitation as Row).id}/confirm_accept`
      const proof = role === 'member' ? { token: tokenIn(mailMessages(email).at(-1)!.text) } : {}
      expect((await ask('POST', path, token(guest), proof)).body.member).toMatchObject({
        email: guest.email,
        role: then,
      })
    }
    expect(membersOf(await ask('GET', '/organizations/dashboard', token(ann)))).toHaveLength(2)
  })
})

describe('/organizations with the credentials of another organization', () => {
  test('the ids of another organization return the same 404 as unknown ids, and nothing is written', async () => {
    const office_ = await office()
    const { ask, ann, staff, person, memberId, signedIn } = office_
    const eve = person('eve', 'scale')
    await enlist(office_, eve, person('mallory', 'free'), 'admin')
    const [member, invitation, key] = [
      await memberId(staff.member),
      await guestId(office_),
      keyOf(office_, ann),
    ]
    const before = await stateOf(office_)
    const unknown = '00000000-0000-4000-8000-000000000999'
    const attacks: [method: string, path: (id: string) => string, id: string, body?: unknown][] = [
      ['PATCH', id => `/organizations/members/${id}`, member, { role: 'admin' }],
      ['DELETE', id => `/organizations/members/${id}`, member],
      ['DELETE', id => `/organizations/members/${id}`, invitation],
      ['GET', id => `/organizations/invitations/${id}/accept`, invitation],
      ['POST', id => `/organizations/invitations/${id}/confirm_accept`, invitation, {}],
      ['PATCH', id => `/v1/api-keys/${id}`, key, { name: 'taken' }],
      ['POST', id => `/v1/api-keys/${id}/roll`, key, {}],
      ['DELETE', id => `/v1/api-keys/${id}`, key],
    ]
    for (const credentials of [token(eve), `Bearer ${await signedIn(eve)}`]) {
      for (const [method, path, id, body] of attacks) {
        const [foreign, nobody] = [
          await ask(method, path(id), credentials, body),
          await ask(method, path(unknown), credentials, body),
        ]
        expect({ status: foreign.status, code: codeOf(foreign) }, `${method} ${path('…')}`).toEqual(
          { status: 404, code: 'NOT_FOUND' },
        )
        const message = ({ body: { error } }: Asked) => (error as { message: string }).message
        expect(message(foreign)).toBe(message(nobody).replace(unknown, id))
      }
    }
    expect(await stateOf(office_)).toEqual(before)
  })
})

describe('without a mail provider', () => {
  const unsent = 'No e-mail was sent'
  const closed = () => people({ 'mail.provider': 'none', 'accounts.signup': 'open' })

  test('an invitation says that no e-mail was sent, and its address lets only the invited person accept', async () => {
    const { ask, person } = closed()
    const [ann, bob, eve] = [person('ann', 'scale'), person('bob', 'free'), person('eve', 'free')]
    const invited = await ask('POST', '/organizations/invitations', token(ann), {
      email: bob.email,
      role: 'member',
    })
    const message = String(invited.body.message)
    expect(message).toStartWith(`${unsent} to ${bob.email}`)
    const [, id] = /\/account\/members\?invitation=([\w-]+)/.exec(message)!
    const path = `/organizations/invitations/${id}`
    expect(tokenIn(message)).toBe('')
    expect((await ask('GET', `${path}/accept`, token(eve))).status).toBe(404)
    expect((await ask('POST', `${path}/confirm_accept`, token(eve), {})).status).toBe(404)
    expect((await ask('GET', `${path}/accept`, token(bob))).body.can_accept).toBe(true)
    expect((await ask('POST', `${path}/confirm_accept`, token(bob), {})).status).toBe(200)
  })

  test('an added member, a sign-in link and a sign-up report that no e-mail was sent', async () => {
    const { ask, person } = closed()
    const ann = person('ann', 'scale')
    const answers = [
      await ask('POST', '/organizations/members', token(ann), {
        email: 'new@example.com',
        role: 'member',
      }),
      await ask('POST', '/v1/auth/link', undefined, { email: ann.email }),
      await ask('POST', '/v1/auth/signup', undefined, { email: 'other@example.com' }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([201, 202, 202])
    for (const { body } of answers) expect(body.message).toContain(unsent)
    expect(answers[0]!.body.message).toContain('/account/members?invitation=')
  })
})
