import { type Clock, sleep } from '../../lib/time/clock.ts'
import { dayMs, hourMs } from '../../lib/time/instant.ts'
import type { NotificationStore } from '../../topics/messages/store/notifications.ts'
import type { SmsStore } from '../../topics/messages/store/sms.ts'
import type { RetentionGuard } from '../../topics/operator/service/retention-guard.ts'
import { intervalJob, type Job } from './job.ts'

const notificationRetentionMs = 90 * dayMs
/** Longer than a month, because text messages are counted by the month. */
const textRetentionMs = 62 * dayMs
/** Deleting so many rows takes a few milliseconds. */
const sliceRows = 500
const slicesMax = 200

/**
 * Forgets notifications and records of text messages that are past their time; once an hour is
 * often enough.
 */
export function createMessagesJob({
  notifications,
  sms,
  retention,
  clock,
}: {
  notifications: NotificationStore
  sms: SmsStore
  retention: RetentionGuard
  clock: Clock
}): Job {
  const forgetInSlices = async (forget: () => number) => {
    for (let slices = 0; slices < slicesMax && forget() === sliceRows; slices += 1) await sleep(0)
  }
  return intervalJob('messages', hourMs, clock, async () => {
    if (!retention.mayForget()) return
    const now = clock.now()
    await forgetInSlices(() => notifications.forget(now - notificationRetentionMs, sliceRows))
    await forgetInSlices(() => sms.forget(now - textRetentionMs, sliceRows))
  })
}
