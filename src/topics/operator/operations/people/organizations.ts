import { answerRow } from '../../../../http/answer/row.ts'
import { t } from '../../../../http/answer/schema.ts'
import { PageMetaShape } from '../../../../http/input/page.ts'
import { envelopeOf, success } from '../../../../http/operations/answer.ts'
import { operation } from '../../../../http/operations/operation.ts'

const moment = t.String({ format: 'date-time' })

const MemberRow = t.Object({
  email: t.String({ examples: ['ann@example.com'] }),
  role: t.oneOf(['admin', 'member', 'read_only'] as const),
  account_id: t.orNull(t.String(), 'Null until the person accepts.'),
  joined_at: moment,
})

export const OrganizationShape = t.object('OperatedOrganization', {
  id: t.String({ examples: ['00000000-0000-4000-8000-000000000301'] }),
  name: t.String({ examples: ['Example Trading'] }),
  account_id: t.string('The account that all members share.'),
  email: t.orNull(t.String(), 'Its address.'),
  plan: t.stringOrNull('Its plan, which applies to all members.', 'professional'),
  created_at: moment,
  members: t.Array(MemberRow),
})
export type OrganizationShape = (typeof OrganizationShape)['static']
const Listed = envelopeOf({ organizations: t.Array(OrganizationShape), meta: PageMetaShape })

/** The organizations of this instance, for the operator. */
export const organizationAdminOperations = [
  operation('GET /admin/v1/organizations', {
    operationId: 'listOrganizations',
    summary: 'List organizations',
    description: 'Returns every organization with its members and roles, by name.',
    access: { operator: 'people' },
    page: { max: 100 },
    answers: Listed,
    handle: ({ at, page }) => {
      const { organizationStore: store, keys } = at
      const organizations = store.page(page.perPage, page.offset).map(organization => {
        const account = keys.account(organization.accountId)
        const members = store.members(organization.id)
        return answerRow(OrganizationShape, organization, {
          email: account?.account.email ?? null,
          plan: account ? keys.entitlements(account).planId : null,
          members: members.map(member => answerRow(MemberRow, member, {})),
        })
      })
      return success({ organizations, meta: page.meta(store.count()) })
    },
  }),
]
