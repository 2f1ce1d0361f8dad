import { expect, test } from 'bun:test'
import {
  createPasswordHashes,
  TooManyWaiting,
} from '../../../../src/topics/account/service/password-hashes.ts'

const hashes = createPasswordHashes()

test('a password is stored as argon2id at the recommended cost and can be verified', async () => {
  const hash = await hashes.hash('correct horse battery')
  expect(hash).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$')
  expect(await hashes.matches('correct horse battery', hash)).toBe(true)
  expect(await hashes.matches('correct horse battery.', hash)).toBe(false)
  expect(await hashes.matches('correct horse battery', undefined)).toBe(false)
})

test('a flood of checks is refused instead of filling the memory, and the next one after it is answered', async () => {
  const few = createPasswordHashes({ atOnce: 2, waitingMax: 3 })
  const flood = await Promise.allSettled(
    Array.from({ length: 9 }, () => few.matches('x', undefined)),
  )
  const refused = flood.filter(attempt => attempt.status === 'rejected')
  expect(refused).toHaveLength(4)
  expect(refused.every(attempt => attempt.reason instanceof TooManyWaiting)).toBe(true)
  expect(await few.matches('x', undefined)).toBe(false)
})
