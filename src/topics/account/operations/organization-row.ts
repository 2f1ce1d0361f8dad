import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import { invitationState } from '../service/memberships.ts'
import type { Invitation, Member } from '../store/organizations.ts'

export const RoleName = t.oneOf(
  ['admin', 'member', 'read_only'],
  'Admins can do everything, members manage API keys, and read-only members view prices and usage.',
)
export const MemberShape = t.object('Member', {
  id: t.String({ examples: ['00000000-0000-4000-8000-000000000601'] }),
  email: t.String({ examples: ['member@example.com'] }),
  role: RoleName,
  status: t.oneOf(
    ['active', 'invited'],
    '`invited`: the invitation is not accepted yet, and the person has no access.',
  ),
  joined_at: t.instant('When the person accepted; while `invited`, when they were added.'),
})
export const InvitationShape = t.object('Invitation', {
  id: t.String({ examples: ['00000000-0000-4000-8000-000000000603'] }),
  email: t.String({ examples: ['guest@example.com'] }),
  role: RoleName,
  status: t.oneOf(['pending', 'accepted', 'expired']),
  message: t.orNull(t.String()),
  invited_by: t.string('E-mail address of the person who invited.', 'eval@example.com'),
  created_at: t.String({ format: 'date-time' }),
  expires_at: t.instant('14 days after creation.'),
})
export const Named = t.Object({ id: t.String(), name: t.String({ examples: ['example.com'] }) })
export const Dashboard = t.Object({
  organization: t.Object({
    id: t.String(),
    name: t.String({ examples: ['example.com'] }),
    created_at: t.String({ format: 'date-time' }),
    owner: t.string(
      'E-mail address of the admin whose account the organization acts on: its plan, keys, alerts and webhooks.',
      'eval@example.com',
    ),
    plan: t.string("Of the organization's account.", 'enterprise'),
    member_count: t.integer({ examples: [3] }),
    api_calls_this_month: t.integer(
      'Charged requests of all members since the 1st of the month.',
      1234,
    ),
    your_role: RoleName,
  }),
  members: t.Array(MemberShape),
  invitations: t.Array(InvitationShape),
})
export type Dashboard = (typeof Dashboard)['static']

export const memberRow = (member: Member) =>
  answerRow(MemberShape, member, { status: member.accountId === null ? 'invited' : 'active' })

export const invitationRow = (invitation: Invitation, now: number) =>
  answerRow(InvitationShape, invitation, { status: invitationState(invitation, now) })
