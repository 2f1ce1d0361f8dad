import { useLocation } from 'preact-iso'
import type { Dashboard as Organization } from '../../../topics/account/operations/organization-row.ts'
import { Parted, Result, Shown, Tag } from '../../parts/bits.tsx'
import { Button, Confirmed } from '../../parts/buttons.tsx'
import { Input, Options, Select, Submit } from '../../parts/fields.tsx'
import {
  ask,
  useAnswer,
  useAttempt,
  useChange,
  useLoaded,
  whereThere,
} from '../../parts/requests/ask.ts'
import { boot } from '../../parts/requests/boot.ts'
import { actions } from '../../parts/tables/columns.tsx'
import { Table } from '../../parts/tables/table.tsx'
import { fieldsOf, submits } from '../../parts/text/form.ts'
import { day, words } from '../../parts/text/format.ts'

interface Person {
  id: string
  email: string
  role: string
  /** The status of an invitation; undefined for a member. */
  invited: string | undefined
  at: string
}

const roles = [
  { value: 'member', text: 'Member' },
  { value: 'admin', text: 'Admin' },
  { value: 'read_only', text: 'Read-only' },
] as const

const peopleOf = ({ members, invitations }: Organization): Person[] => [
  ...members.map(({ status, joined_at: at, ...member }) => ({
    ...member,
    invited: status === 'invited' ? 'added' : undefined,
    at,
  })),
  ...invitations
    .filter(({ status }) => status !== 'accepted')
    .map(({ status, expires_at: at, ...invitation }) => ({ ...invitation, invited: status, at })),
]

interface Offer {
  invitation: { email: string; status: string }
  organization: { name: string }
  can_accept: boolean
}

/** An invitation that its recipient opens without an e-mail; to its sender, its link. */
function Offered({ id }: { id: string }) {
  const path = `/organizations/invitations/${encodeURIComponent(id)}`
  const answer = useAnswer<Offer>(`${path}/accept`)
  const { attempt, ...outcome } = useAttempt()
  const accept = () =>
    attempt(async () => {
      await ask(`${path}/confirm_accept`, { method: 'POST', body: {} })
      location.assign('/account/members')
    })
  return (
    <section class="card" aria-labelledby="offered">
      <h2 id="offered">Invitation</h2>
      <Result {...outcome} />
      <Shown of={answer} what="invitation">
        {({ invitation, organization, can_accept: isOpen }) => (
          <>
            <p>
              {organization.name} invites {invitation.email}.{' '}
              {!isOpen && 'Only this person can accept, signed in with this address.'}
            </p>
            {isOpen && <Button className="main" label="Accept" onClick={accept} />}
          </>
        )}
      </Shown>
    </section>
  )
}

/** Users who share the account: members, their roles, and invitations. */
export function Members() {
  // An account becomes an organization with its first invitation.
  const answer = useLoaded('organization', signal =>
    whereThere(ask<Organization>('/organizations/dashboard', { signal })),
  )
  const { query } = useLocation()
  const { change: send, ...outcome } = useChange(answer)
  const isAlone = !answer.isLoading && !answer.data && !answer.refusal
  const owner = answer.data?.organization.owner
  const isAdmin = isAlone || answer.data?.organization.your_role === 'admin'
  const change = (path: string, method: 'POST' | 'PATCH' | 'DELETE', body?: object) =>
    send(
      `/organizations/${path}`,
      method,
      body,
      (answered: { message?: string }) => answered.message,
    )
  const invite = async (form: HTMLFormElement) => {
    const field = fieldsOf(form)
    const body = { email: field('email'), role: field('role') }
    if (await change('invitations', 'POST', body)) form.reset()
  }
  return (
    <>
      {query.invitation && <Offered id={query.invitation} />}
      <Table
        outcome={outcome}
        caption={answer.data?.organization.name ?? 'Members'}
        file="members"
        of={answer}
        rows={answer.data ? peopleOf(answer.data) : isAlone ? [] : undefined}
        empty="You are the only member. Invite someone to turn the account into an organization."
        note="Admins can do everything, members manage API keys, and read-only members view prices and usage. The organization uses the plan, alerts and webhooks of its owner."
        actions={
          isAdmin && (
            <form class="row end" aria-label="Invite" onSubmit={submits(invite)}>
              <Input label="E-mail address" name="email" type="email" required />
              <Select label="Role" name="role" of={roles} />
              <Submit>Invite</Submit>
            </form>
          )
        }
        columns={({ column }) => [
          column('E-mail address', 'email', person => <Parted text={person.email} />),
          column('Role', 'role', ({ id, email, role, invited }) =>
            isAdmin && invited === undefined && email !== owner ? (
              <select
                aria-label={`Role of ${email}`}
                value={role}
                onChange={async event => {
                  const select = event.currentTarget
                  const isDone = await change(`members/${id}`, 'PATCH', { role: select.value })
                  if (!isDone) select.value = role
                }}
              >
                <Options of={roles} />
              </select>
            ) : (
              `${words(role)}${email === owner ? ', owner' : ''}`
            ),
          ),
          column('State', ({ invited }) => invited ?? 'member', {
            isWide: true,
            className: 'quiet',
            show: ({ id, invited, at }) =>
              invited === undefined ? (
                `since ${day(at)}`
              ) : (
                <>
                  <Tag mood="warn">{invited === 'expired' ? 'Expired' : 'Invited'}</Tag>{' '}
                  {invited === 'added' ? 'on' : 'until'} {day(at)}
                  {invited === 'pending' && !boot.reaches.email && (
                    <div class="small">
                      Not sent: no mail provider is configured. Hand over{' '}
                      <a href={`/account/members?invitation=${id}`}>this link</a>.
                    </div>
                  )}
                </>
              ),
          }),
          ...(isAdmin
            ? [
                {
                  ...actions,
                  show: ({ id, email, invited }: Person) =>
                    invited !== 'expired' && (
                      <Confirmed
                        label={invited === undefined ? 'Remove' : 'Withdraw'}
                        question={
                          email === owner
                            ? `Remove ${email}? The plan, alerts and webhooks belong to this account. The organization continues under its longest-serving admin, without them.`
                            : invited === undefined
                              ? `Remove ${email}? Their keys and sessions then use their own account.`
                              : `Withdraw the invitation to ${email}? Its link stops working.`
                        }
                        onConfirm={() => change(`members/${id}`, 'DELETE')}
                      />
                    ),
                },
              ]
            : []),
        ]}
      />
    </>
  )
}
