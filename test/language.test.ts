import { describe, expect, test } from 'bun:test'
import { findingsIn } from './support/language/findings.ts'
import { allTexts, areas } from './support/language/texts.ts'

/**
 * Places that a pattern matches although the text is plain: a file, the rule, and why. At most 40.
 */
const allowed: readonly [file: string, rule: string][] = [
  ['src/console/pages/desk/deliveries.tsx', 'tell'],
  ['src/console/pages/desk/requests.tsx', 'tell'],
  ['src/console/pages/webhooks/endpoint-form.tsx', 'tell'],
  ['src/topics/operator/operations/evaluation/dev-log.ts', 'letter for e-mail'],
  ['scripts/notices.ts', 'in place of'],
]

/** How many places each area still has: none in an area that is clean, and elsewhere no more than there were. */
const most: Readonly<Record<(typeof areas)[number], number>> = {
  docs: 0,
  bench: 131,
  console: 0,
  mail: 0,
  cli: 0,
  api: 0,
  messages: 0,
  comments: 0,
  tests: 22,
}

describe('the language of the product', async () => {
  const findings = findingsIn(await allTexts()).filter(
    ({ file, rule }) => !allowed.some(([place, name]) => place === file && name === rule.name),
  )

  test.each([...areas])('%s: no more private words than are known', area => {
    const places = findings
      .filter(finding => finding.area === area)
      .map(({ file, line, rule, match }) => `${file}:${line} ${rule.name}: ${match}`)
    expect(places.length > most[area] ? places : []).toEqual([])
  })

  test('at most forty places are allowed', () => {
    expect(allowed.length).toBeLessThanOrEqual(40)
  })
})
