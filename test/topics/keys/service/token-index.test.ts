import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { tokenHash } from '../../../../src/lib/secrets/token.ts'
import { createTokenIndex } from '../../../../src/topics/keys/service/token-index.ts'
import { runs } from '../../../support/full.ts'

const tokenOf = (n: number) => n.toString(16).padStart(64, '0')

test('knows whose token it is, over any course of puts and removals', () => {
  const change = fc.record({ token: fc.nat(120), isPut: fc.boolean() })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 400 }), changes => {
      const index = createTokenIndex<string>()
      const holders = new Map<number, string>()
      for (const [i, { token, isPut }] of changes.entries()) {
        if (isPut) {
          index.put(tokenHash(tokenOf(token)), `holder ${i}`)
          holders.set(token, `holder ${i}`)
        } else {
          index.remove(tokenHash(tokenOf(token)))
          holders.delete(token)
        }
        // Asked between two changes, it must not remember what it found before.
        expect(index.find(tokenOf(token))).toBe(holders.get(token))
      }
      for (let token = 0; token <= 121; token += 1)
        expect(index.find(tokenOf(token))).toBe(holders.get(token))
    }),
    { numRuns: runs(300) },
  )
})

test('finds hashes that belong in the same place, whichever of them is taken out', () => {
  const hashOf = (last: number) => {
    const hash = new Uint8Array(32).fill(7)
    hash[31] = last
    return hash
  }
  const taken = [0, 1, 2, 3, 4]
  for (const gone of taken) {
    const index = createTokenIndex<number>()
    for (const n of taken) index.put(hashOf(n), n)
    index.remove(hashOf(gone))
    index.remove(hashOf(99))
    // Put again they must be found, not added: five more would fill other slots.
    for (const n of taken) if (n !== gone) index.put(hashOf(n), n + 10)
    for (const n of taken) index.remove(hashOf(n))
    expect(index.size).toBe(0)
  }
})

test('takes nothing for a token that has not its length, and forgets all when it is cleared', () => {
  const index = createTokenIndex<string>()
  const token = tokenOf(1)
  index.put(tokenHash(token), 'somebody')
  expect([index.find(''), index.find(`${token}0`), index.find(token.slice(1))]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect(index.find(token)).toBe('somebody')
  index.clear()
  expect(index.find(token)).toBeUndefined()
})
