import { expect, test } from 'bun:test'
import { createMessagesJob } from '../../../src/instance/jobs/messages.ts'
import { dayMs, hourMs, minuteMs } from '../../../src/lib/time/instant.ts'
import { openMessageInstance } from '../../support/topics/messages.ts'

test('notifications are retained for exactly 90 days, regardless of their number', async () => {
  const instance = openMessageInstance()
  const { notices, notifications, db } = instance.services
  const { id } = instance.account()
  const job = createMessagesJob({ ...instance.services, clock: instance.clock })
  const at = instance.clock.now()
  db.transaction(() => {
    for (let n = 0; n < 1200; n += 1)
      notices.post({ accountId: id, type: 'usage', title: 'Old', message: '' }, at)
    notices.post({ accountId: id, type: 'usage', title: 'New', message: '' }, at + 1)
  })()
  instance.clock.advance(90 * dayMs)
  await job.pass()
  expect(notifications.count(id)).toBe(1201)
  instance.clock.advance(1)
  // Within the hour there is nothing to do.
  await job.pass()
  expect(notifications.count(id)).toBe(1201)
  instance.clock.advance(hourMs)
  await job.pass()
  expect(notifications.count(id)).toBe(0)
})

test('records of text messages outlast the month that they are counted in', async () => {
  const instance = openMessageInstance()
  const { id } = await instance.reachable()
  const job = createMessagesJob({ ...instance.services, clock: instance.clock })
  instance.clock.set(Date.parse('2026-12-01T00:00:00Z'))
  instance.services.textMessages.post({
    to: '+15550100001',
    text: 'One.',
    accountId: id,
    dedupe: 'one',
    purpose: 'alert',
  })
  instance.clock.set(Date.parse('2026-12-31T23:59:59Z'))
  await job.pass()
  expect(instance.services.textMessages.allowance(id).usedThisMonth).toBe(1)
  instance.clock.advance(63 * dayMs)
  await job.pass()
  expect(instance.services.sms.countSince(id, 0)).toBe(0)
})

test('a clock that was set back does not stop it', async () => {
  const instance = openMessageInstance()
  const { id } = instance.account()
  const job = createMessagesJob({ ...instance.services, clock: instance.clock })
  instance.clock.advance(100 * dayMs)
  await job.pass()
  instance.clock.set(instance.clock.now() - 5 * dayMs)
  instance.services.notices.post(
    { accountId: id, type: 'usage', title: 'Old', message: '' },
    instance.clock.now() - 91 * dayMs,
  )
  instance.clock.advance(minuteMs)
  await job.pass()
  expect(instance.services.notifications.count(id)).toBe(0)
})

test('a clock that is a year ahead deletes no notifications, and its return deletes those that are old', async () => {
  const instance = openMessageInstance({ mode: 'serve' })
  const { id } = instance.account()
  const { notices, notifications } = instance.services
  const job = createMessagesJob({ ...instance.services, clock: instance.clock })
  const at = instance.clock.now()
  const post = (days: number) =>
    notices.post({ accountId: id, type: 'usage', title: 'A', message: '' }, at - days * dayMs)
  post(80)
  await job.pass()
  instance.clock.set(at + 365 * dayMs)
  await job.pass()
  post(100)
  instance.clock.set(at + 3 * hourMs)
  await job.pass()
  expect(notifications.count(id)).toBe(1)
})
