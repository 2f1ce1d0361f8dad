import type { AccountState } from '../../topics/keys/service/keyring.ts'
import { createPhoneStore } from '../../topics/messages/store/phones.ts'
import { sampleId } from './id.ts'
import type { SampleServices } from './services.ts'

const notificationId = sampleId(701)

/**
 * The evaluation account's verified phone, which is opted in, and an unread notification. Existing
 * records are kept.
 */
export function sampleMessages(
  { db, notifications, clock }: SampleServices,
  { account }: AccountState,
): void {
  const accountId = account.id
  const at = clock.now()
  const phones = createPhoneStore(db)
  if (!phones.of(accountId)) {
    phones.put({
      accountId,
      number: '+15550100001',
      country: 'US',
      addedAt: at,
      verifiedAt: at,
      optedInAt: at,
      codeHash: null,
      codeSentAt: null,
      codeExpiresAt: null,
      wrongTries: 0,
    })
  }
  if (!notifications.has(notificationId)) {
    notifications.add({
      id: notificationId,
      accountId,
      type: 'welcome',
      data: null,
      createdAt: at,
      readAt: null,
      title: 'Welcome',
      message:
        'This is a demo instance: its prices are generated, and e-mails and text messages are captured in GET /_dev/inbox.',
    })
  }
}
