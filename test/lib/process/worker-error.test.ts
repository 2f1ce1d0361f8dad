import { expect, test } from 'bun:test'
import { workerErrorMessage } from '../../../src/lib/process/worker-error.ts'

test.each([
  [
    'of a binary: its source is one long line',
    `1 | ${'x();'.repeat(900)}\n          ^\nerror: mail.smtp_url is empty.\n      at inner (/$bunfs/root/reader.js:1:54)\n`,
    'mail.smtp_url is empty.',
  ],
  [
    'of a custom class',
    '3 | y\nTypeError: y is not a function\n at z',
    'TypeError: y is not a function',
  ],
  ['without a source', 'closed', 'closed'],
])('the error of a thread %s is its message alone', (_, text, message) => {
  expect(workerErrorMessage(text)).toBe(message)
})
