import { tokenHash } from '../../lib/secrets/token.ts'
import { dayMs } from '../../lib/time/instant.ts'
import type { Role } from '../../plans/roles/roles.ts'
import type { AccountState } from '../../topics/keys/service/keyring.ts'
import type { Account } from '../../topics/keys/store/accounts.ts'
import { sampleId } from './id.ts'
import type { SampleServices } from './services.ts'

const host = 'evaluation.example'
const secondAddress = `second@${host}`

/**
 * The evaluation account's organization: itself as admin, a member, a read-only member, and an open
 * invitation to its second address.
 */
export function sampleOrganization(
  { keys, organizationStore: store, clock, ids }: SampleServices,
  { account: owner }: AccountState,
): void {
  const accountId = owner.id
  if (store.memberByAccount(accountId)) return
  const now = clock.now()
  const organizationId = sampleId(600)
  store.put({ id: organizationId, name: 'Evaluation', accountId, createdAt: now })
  const join = (n: number, account: Account, role: Role) =>
    store.putMember({
      id: sampleId(n),
      organizationId,
      accountId: account.id,
      email: account.email,
      role,
      joinedAt: now + n - 600,
    })
  const personOf = (name: string): Account => {
    const email = `${name}@${host}`
    const blank = { addOns: [], trialStartedAt: null, trialEndsAt: null, suspendedAt: null }
    const account = {
      ...blank,
      id: ids.uuid(),
      email,
      plan: owner.plan,
      emailConfirmedAt: now,
      createdAt: now,
    }
    return (keys.accountByEmail(email) ?? keys.putAccount(account)).account
  }
  const [member, reader] = [personOf('member'), personOf('reader')]
  join(600, owner, 'admin')
  join(601, member, 'member')
  join(602, reader, 'read_only')
  for (const account of [owner, member, reader]) keys.place(account.id)
  store.addAddress(secondAddress, accountId, now)
  store.putInvitation({
    id: sampleId(603),
    organizationId,
    email: secondAddress,
    role: 'member',
    message: null,
    memberId: null,
    tokenHash: tokenHash(ids.token()),
    invitedBy: owner.email,
    createdAt: now,
    expiresAt: now + 14 * dayMs,
    acceptedAt: null,
  })
}
