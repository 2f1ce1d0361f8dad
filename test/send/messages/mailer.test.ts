import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  headerLine,
  messageId,
  plainAddress,
  plainFilename,
} from '../../../src/send/messages/mailer.ts'

describe('a line of a header', () => {
  test.each([
    ['Brent above 90', 'Brent above 90'],
    ['a\r\nBcc: victim@example.com', 'a Bcc: victim@example.com'],
    ['a\nb', 'a b'],
    ['a\rb', 'a b'],
    ['a\0b', 'a b'],
    ['a\tb', 'a b'],
    ['a\u0085b', 'a b'],
    ['a\u2028b\u2029c', 'a b c'],
    ['a\u202egnp.exe', 'a gnp.exe'],
    ['\ufeff  a \r\n\r\n b  ', 'a b'],
    ['\ud800a', '\ufffda'],
    ['Größe 🛢 €', 'Größe 🛢 €'],
  ])('%j is written as %j', (address, line) => {
    expect(headerLine(address)).toBe(line)
  })

  test('is one line of at most 200 characters, whatever it is made of', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), text => {
        const line = headerLine(text)
        expect(line).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u)
        expect(line.isWellFormed()).toBe(true)
        expect([...line].length).toBeLessThanOrEqual(200)
        expect(headerLine(line)).toBe(line)
      }),
    )
  })
})

describe('an address', () => {
  test.each([
    ['person@example.com'],
    ['first.last+tag@sub.example.co.uk'],
    ["o'brien@example.com"],
    ['operator@localhost'],
    ['größe@exämple.de'],
  ])('%s is one', address => {
    expect(plainAddress(address)).toBe(address)
  })

  test.each([
    ['person@example.com\r\nBcc: victim@example.com'],
    ['person@example.com, victim@example.com'],
    ['person@example.com;victim@example.com'],
    ['Person <person@example.com>'],
    ['person@example.com> NOTIFY=NEVER'],
    ['"person"@example.com'],
    ['(comment)person@example.com'],
    ['person @example.com'],
    ['person@'],
    ['@example.com'],
    ['a@b@c'],
    ['group:person@example.com;'],
    ['person@[127.0.0.1]'],
    ['per\u202eson@example.com'],
    [`${'a'.repeat(65)}@example.com`],
    [''],
  ])('%j is not accepted as an e-mail address', text => {
    expect(plainAddress(text)).toBeUndefined()
  })

  test('loses line breaks that stand around it', () => {
    expect(plainAddress(' person@example.com\r\n')).toBe('person@example.com')
  })
})

test.each([
  ['prices-2026-11-20.csv', 'prices-2026-11-20.csv'],
  ['a"; filename="b.exe', 'a-; filename=-b.exe'],
  ['../../etc/passwd', '..-..-etc-passwd'],
  ['a\r\nContent-Type: text/html', 'a Content-Type: text-html'],
  ['\0', 'attachment'],
])('a file called %j is attached as %j', (original, name) => {
  expect(plainFilename(original)).toBe(name)
})

test('an e-mail has one message id for its key and sender, which no other e-mail shares', () => {
  expect(messageId('run-1', 'Wellhead <prices@example.com>')).toMatch(
    /^<[0-9a-f]{40}@example\.com>$/,
  )
  expect(messageId('run-1', 'Wellhead <prices@example.com>')).toBe(
    messageId('run-1', 'prices@example.com'),
  )
  expect(messageId('run-1', 'prices@example.com')).not.toBe(
    messageId('run-2', 'prices@example.com'),
  )
})
