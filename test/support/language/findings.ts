import type { Text } from './texts.ts'
import { type BannedPattern, bannedPatterns, commentStarts } from './words.ts'

export interface Finding extends Text {
  rule: BannedPattern
  match: string
}

export const findingsIn = (texts: readonly Text[]): Finding[] =>
  texts.flatMap(text => {
    const rules = text.kind === 'comment' ? [...bannedPatterns, ...commentStarts] : bannedPatterns
    const plain = text.text.replace(/`[^`]*`/g, span => '·'.repeat(span.length))
    return rules.flatMap(rule =>
      [...plain.matchAll(rule.pattern)].map(([match]) => ({ ...text, rule, match })),
    )
  })
