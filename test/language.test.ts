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
  ['test/e2e/storage/data-directory.test.ts', 'nobody'],
  ['test/support/interface/hostile.ts', 'percent with a space'],
  ['test/topics/analytics/math/brief.test.ts', 'stands in'],
  ['test/topics/analytics/operations/market-brief.test.ts', 'stands in'],
  ['test/topics/changes/operations/reading.test.ts', 'lineage'],
]

describe('the language of the product', async () => {
  const findings = findingsIn(await allTexts()).filter(
    ({ file, rule }) => !allowed.some(([place, name]) => place === file && name === rule.name),
  )

  test.each([...areas])('%s: has no private words', area => {
    const places = findings
      .filter(finding => finding.area === area)
      .map(({ file, line, rule, match }) => `${file}:${line} ${rule.name}: ${match}`)
    expect(places).toEqual([])
  })

  test('at most forty places are allowed', () => {
    expect(allowed.length).toBeLessThanOrEqual(40)
  })
})
