import type { Database } from 'bun:sqlite'
import type { Clock } from '../../lib/time/clock.ts'
import type { NotificationStore } from '../../topics/messages/store/notifications.ts'
import { createPhoneStore } from '../../topics/messages/store/phones.ts'
import { sampleId } from './id.ts'

export interface MessageSamplesDeps {
  db: Database
  notifications: NotificationStore
  clock: Clock
}

const notificationId = sampleId(701)

/**
 * The evaluation account's verified phone, which is opted in, and an unread notification. Existing
 * records are kept.
 */
export function sampleMessages(
  { db, notifications, clock }: MessageSamplesDeps,
  accountId: string,
): void {
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
