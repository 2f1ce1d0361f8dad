/**
 * Prints the words of the texts of the product that plain English does without: counts by area, or
 * with `bun scripts/language.ts AREA [RULE]` each place.
 */

import { findingsIn } from '../test/support/language/findings.ts'
import { allTexts, areas } from '../test/support/language/texts.ts'

const [area, rule] = process.argv.slice(2)
const findings = findingsIn(await allTexts())
if (area === undefined) {
  const rules = [...new Set(findings.map(finding => finding.rule.name))]
  console.log(['rule', ...areas].join('\t'))
  for (const name of rules)
    console.log(
      [
        name,
        ...areas.map(one => findings.filter(f => f.area === one && f.rule.name === name).length),
      ].join('\t'),
    )
  console.log(
    ['total', ...areas.map(one => findings.filter(f => f.area === one).length)].join('\t'),
  )
} else
  for (const {
    file,
    line,
    rule: { name },
    match,
    text,
  } of findings.filter(
    finding =>
      (area === 'all' || finding.area === area) &&
      (rule === undefined || finding.rule.name === rule),
  ))
    console.log(`${file}:${line}\t${name}\t${match}\t${text}`)
