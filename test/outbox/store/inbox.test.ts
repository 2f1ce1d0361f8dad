import { expect, test } from 'bun:test'
import { type Captured, createInboxStore } from '../../../src/outbox/store/inbox.ts'
import { databaseInMemory } from '../../support/instance/database.ts'

const message = (n: number, channel: Captured['channel']): Captured => ({
  channel,
  eventId: `event ${n}`,
  to: 'person@example.com',
  subject: null,
  text: `text ${n}`,
  html: null,
  attachments: [],
  at: n,
})

test('the inbox keeps the newest thousand messages of each channel, and an event once', () => {
  const inbox = createInboxStore(databaseInMemory())
  for (let n = 0; n < 1005; n += 1) inbox.add(message(n, 'email'))
  inbox.add(message(0, 'sms'))
  inbox.add(message(1004, 'email'))
  const email = inbox.list('email')
  expect({ email: email.length, firstText: email[0]!.text, lastText: email.at(-1)!.text }).toEqual({
    email: 1000,
    firstText: 'text 5',
    lastText: 'text 1004',
  })
  const [text] = inbox.list('sms')
  expect(inbox.list('sms')).toEqual([{ ...message(0, 'sms'), number: expect.any(Number) }])
  expect(inbox.find(text!.number)).toEqual(text)
  expect(inbox.find(-1)).toBeUndefined()
  expect(inbox.list(undefined)).toHaveLength(1001)
})
