import { expect } from 'bun:test'
import { type Role, roles } from '../../../../src/plans/roles/roles.ts'
import { type Asked, type People, type Person, people } from '../people.ts'

export interface Row {
  id: string
  email: string
  role: Role
  status?: string
}

export const membersOf = ({ body }: Asked) => body.members as Row[]

export const token = ({ key }: Person) => `Token ${key}`

/** An organization with one person of each role, and a second admin. */
export async function office() {
  const all = people()
  const ann = all.person('ann', 'scale')
  const staff = {
    admin: all.person('dora', 'free'),
    member: all.person('bob', 'free'),
    read_only: all.person('cid', 'free'),
  }
  for (const role of roles) await enlist(all, ann, staff[role], role)
  const dashboard = () => all.ask('GET', '/organizations/dashboard', token(ann))
  const memberId = async ({ email }: Person) =>
    membersOf(await dashboard()).find(row => row.email === email)!.id
  return { ...all, ann, staff, dashboard, memberId }
}

export type Office = Awaited<ReturnType<typeof office>>

export async function enlist(
  { ask, mailMessages }: People,
  admin: Person,
  person: Person,
  role: Role,
): Promise<Asked> {
  const answer = await ask('POST', '/organizations/invitations', token(admin), {
    email: person.email,
    role,
  })
  const { id } = answer.body.invitation as { id: string }
  expect(mailMessages(person.email)).not.toEqual([])
  return ask('POST', `/organizations/invitations/${id}/confirm_accept`, token(person))
}

export async function guestId(office: Office): Promise<string> {
  const email = `guest${office.services.ids.uuid().slice(0, 8)}@example.com`
  const answer = await office.ask('POST', '/organizations/invitations', token(office.ann), {
    email,
    role: 'member',
  })
  return (answer.body.invitation as { id: string }).id
}

/** The rows that an operation could have changed. */
export async function stateOf({ services, dashboard }: Office) {
  const keys = services.keys
    .accounts()
    .flatMap(account =>
      account.keys.map(({ key }) => [
        key.id,
        key.name,
        key.revokedAt,
        Buffer.from(key.tokenHash).toString('hex'),
      ]),
    )
  const { members, invitations } = (await dashboard()).body
  return { keys, members, invitations }
}
