import { describe, test } from 'bun:test'
import { isHere, type Need } from './requirements.ts'

/**
 * Tests that need more than Bun. Where a requirement is missing they are skipped with a note in
 * their names, which the summary of `bun run test` counts.
 */
export function needs(...names: Need[]) {
  const missing = names.filter(name => !isHere(name))
  const isMet = missing.length === 0
  const why = isMet ? '' : ` (skipped: needs ${missing.join(' and ')})`
  return {
    isMet,
    why,
    describe(name: string, body: () => void) {
      describe.skipIf(!isMet)(`${name}${why}`, body)
    },
    test(name: string, body: () => undefined | Promise<unknown>, timeoutMs?: number) {
      test.skipIf(!isMet)(`${name}${why}`, body, timeoutMs)
    },
  }
}
