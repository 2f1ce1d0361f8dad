import { distance } from 'fastest-levenshtein'

export interface Candidate {
  code: string
  name: string
  aliases: readonly string[]
}

const currencySuffix = /_(USD|EUR|GBP|[A-Z]{3})$/

/** Words of a code or name: `WTI_CRUDE_USD` and `WTI Crude` both give WTI and CRUDE. */
const wordsOf = (text: string): string[] =>
  text
    .toUpperCase()
    .replace(currencySuffix, '')
    .split(/[^A-Z0-9]+/)
    .filter(word => word.length > 0)

/** 0 for the same spelling, 1 for nothing in common: edits against the longer of the two. */
const spellingCost = (a: string, b: string): number => distance(a, b) / Math.max(a.length, b.length, 1)

/** How badly the words asked for are covered by the words of a candidate, with a little for each word it has beyond them. */
function wordCost(asked: readonly string[], offered: readonly string[]): number {
  if (asked.length === 0 || offered.length === 0) return 1
  const missed = asked.map(word =>
    Math.min(...offered.map(other => (other.startsWith(word) && word.length > 2 ? 0 : spellingCost(word, other)))),
  )
  return missed.reduce((sum, cost) => sum + cost, 0) / asked.length + 0.04 * Math.max(0, offered.length - asked.length)
}

/** The codes a person most likely meant by `input`, closest first: by typing distance to code and aliases, and by words of the name. */
export function suggestCodes<T extends Candidate>(input: string, candidates: readonly T[], max = 5): T[] {
  const asked = input.toUpperCase().trim()
  const bare = asked.replace(currencySuffix, '')
  const askedWords = wordsOf(asked)
  const scored = candidates.map(candidate => {
    const spelled = [candidate.code, ...candidate.aliases].map(name =>
      Math.min(spellingCost(asked, name), spellingCost(bare, name.replace(currencySuffix, '')) + 0.02),
    )
    const worded = [candidate.code, ...candidate.aliases, candidate.name].map(name => wordCost(askedWords, wordsOf(name)) + 0.05)
    return { candidate, cost: Math.min(...spelled, ...worded) }
  })
  return scored
    .filter(one => one.cost < 0.5)
    .sort((a, b) => a.cost - b.cost || a.candidate.code.length - b.candidate.code.length || (a.candidate.code < b.candidate.code ? -1 : 1))
    .slice(0, max)
    .map(one => one.candidate)
}
