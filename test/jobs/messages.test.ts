import { expect, test } from 'bun:test'
import { messagesJob } from '../../src/jobs/messages.ts'
import { dayMs, hourMs, minuteMs } from '../../src/lib/instant.ts'
import { messageHouse } from '../support/messages.ts'

test('notifications are kept 90 days and no longer, however many there are', async () => {
  const house = messageHouse()
  const { notices, notifications, db } = house.services
  const { id } = house.account()
  const job = messagesJob({ ...house.services, clock: house.clock })
  const at = house.clock.now()
  db.transaction(() => {
    for (let n = 0; n < 1200; n += 1)
      notices.post({ accountId: id, type: 'usage', title: 'Old', message: '' }, at)
    notices.post({ accountId: id, type: 'usage', title: 'New', message: '' }, at + 1)
  })()
  house.clock.advance(90 * dayMs)
  await job.pass()
  expect(notifications.count(id)).toBe(1201)
  house.clock.advance(1)
  // Within the hour there is nothing to do.
  await job.pass()
  expect(notifications.count(id)).toBe(1201)
  house.clock.advance(hourMs)
  await job.pass()
  expect(notifications.count(id)).toBe(0)
})

test('records of text messages outlast the month that they are counted in', async () => {
  const house = messageHouse()
  const { id } = await house.reachable()
  const job = messagesJob({ ...house.services, clock: house.clock })
  house.clock.set(Date.parse('2026-12-01T00:00:00Z'))
  house.services.texts.post({
    to: '+15550100001',
    text: 'One.',
    accountId: id,
    dedupe: 'one',
    purpose: 'alert',
  })
  house.clock.set(Date.parse('2026-12-31T23:59:59Z'))
  await job.pass()
  expect(house.services.texts.allowance(id).usedThisMonth).toBe(1)
  house.clock.advance(63 * dayMs)
  await job.pass()
  expect(house.services.sms.countSince(id, 0)).toBe(0)
})

test('a clock that was set back does not stop it', async () => {
  const house = messageHouse()
  const { id } = house.account()
  const job = messagesJob({ ...house.services, clock: house.clock })
  house.clock.advance(100 * dayMs)
  await job.pass()
  house.clock.set(house.clock.now() - 5 * dayMs)
  house.services.notices.post(
    { accountId: id, type: 'usage', title: 'Old', message: '' },
    house.clock.now() - 91 * dayMs,
  )
  house.clock.advance(minuteMs)
  await job.pass()
  expect(house.services.notifications.count(id)).toBe(0)
})
