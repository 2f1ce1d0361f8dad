import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { seal, unseal } from '../../../src/lib/secrets/seal.ts'

const secret = 'a1'.repeat(32)

test('a sealed text is read with its secret and context, whatever it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), (text, context) => {
      expect(unseal(secret, context, seal(secret, context, text))).toBe(text)
    }),
  )
})

test('no other secret or context opens it', () => {
  const sealed = seal(secret, 'a', 'text')
  expect(unseal('a2'.repeat(32), 'a', sealed)).toBeUndefined()
  expect(unseal(secret, 'b', sealed)).toBeUndefined()
  expect(unseal('', 'a', sealed)).toBeUndefined()
})

test('a changed or shortened one is not read', () => {
  const sealed = seal(secret, 'a', 'text')
  for (let i = 0; i < sealed.length; i += 1) {
    const changed = Uint8Array.from(sealed)
    changed[i]! ^= 1
    expect(unseal(secret, 'a', changed), String(i)).toBeUndefined()
    expect(unseal(secret, 'a', sealed.subarray(0, i)), String(i)).toBeUndefined()
  }
})

test('the same text is never sealed to the same bytes', () => {
  const texts = new Set(
    Array.from({ length: 100 }, () => Buffer.from(seal(secret, 'a', 'text')).toString('hex')),
  )
  expect(texts.size).toBe(100)
})
