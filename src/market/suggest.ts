import { distance } from 'fastest-levenshtein'
import { benchmarkCodes, oneWaySynonyms, spelledOut, synonymGroups } from './suggest-words.ts'

export interface Candidate {
  code: string
  name: string
  aliases: readonly string[]
}

/** A code, alias or name of a candidate, as positions in the vocabulary and as one word. */
interface Form {
  words: readonly number[]
  /** Without separators and without the currency, where anything else is left. */
  joined: string
  currency: string | undefined
}

interface Entry<T> {
  candidate: T
  forms: readonly Form[]
  words: readonly number[]
  bonus: number
}

/** The catalogue as words, made once for each list of candidates. */
interface Index<T> {
  entries: readonly Entry<T>[]
  vocabulary: readonly string[]
  positions: ReadonlyMap<string, number>
  /** How much a word tells: the rarer, the more. */
  weights: readonly number[]
}

/** What was typed, word by word, with how alike each word of the vocabulary is to it. */
interface Asked {
  weights: number[]
  alike: Map<number, number>[]
}

const scoreMin = 0.5
/** What is much worse than the best guess is no help beside it. */
const ratioMin = 0.72
const unknownWeight = 2
const currencyWeight = 0.6
const benchmarkBonus = 0.04
const inputMax = 60

const currencies = new Set(Intl.supportedValuesOf('currency'))
const wordsOf = (text: string): string[] => text.toUpperCase().match(/[A-Z]+|\d+/g) ?? []

const synonyms = new Map<string, string[]>()
for (const group of synonymGroups) for (const word of group) synonyms.set(word, [...(synonyms.get(word) ?? []), ...group])
for (const [word, others] of oneWaySynonyms) synonyms.set(word, [...(synonyms.get(word) ?? []), ...others])

const indexes = new WeakMap<object, unknown>()

function indexOf<T extends Candidate>(candidates: readonly T[]): Index<T> {
  const held = indexes.get(candidates) as Index<T> | undefined
  if (held) return held
  const made = makeIndex(candidates)
  indexes.set(candidates, made)
  return made
}

function makeIndex<T extends Candidate>(candidates: readonly T[]): Index<T> {
  const positions = new Map<string, number>()
  const counts: number[] = []
  const positionOf = (word: string) => {
    const known = positions.get(word)
    if (known !== undefined) return known
    positions.set(word, counts.length)
    return counts.push(0) - 1
  }
  const entries = candidates.map(candidate => {
    const forms = [candidate.code, ...candidate.aliases, candidate.name].map(text => formOf(text, positionOf))
    const words = [...new Set(forms.flatMap(form => form.words))]
    for (const word of words) counts[word]! += 1
    return { candidate, forms, words, bonus: benchmarkCodes.has(candidate.code) ? benchmarkBonus : 0 }
  })
  const vocabulary = [...positions.keys()]
  const weights = vocabulary.map((word, i) => (currencies.has(word) ? currencyWeight : rarity(word, counts[i]!, candidates.length)))
  return { entries, vocabulary, positions, weights }
}

const rarity = (word: string, count: number, total: number): number =>
  Math.min(/^\d/.test(word) ? 1.5 : 5, Math.max(0.5, Math.log(total / count)))

function formOf(text: string, positionOf: (word: string) => number): Form {
  const words = wordsOf(text)
  return { words: words.map(positionOf), ...joinedOf(words) }
}

function joinedOf(words: readonly string[]): { joined: string; currency: string | undefined } {
  const last = words.at(-1)
  const currency = words.length > 1 && last !== undefined && currencies.has(last) && !words.every(word => currencies.has(word)) ? last : undefined
  return { joined: (currency ? words.slice(0, -1) : words).join(''), currency }
}

/** Edits between two words; neighbouring letters that changed places count as one. */
function edits(a: string, b: string): number {
  const found = distance(a, b)
  if (found !== 2 || a.length !== b.length) return found
  let at = 0
  while (a[at] === b[at]) at += 1
  return a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2) ? 1 : 2
}

/** How many slips of the finger a word of this length may hold. */
const editsMax = (length: number): number => (length < 4 ? 0 : length < 6 ? 1 : length < 12 ? 2 : 3)

/** 1 for the same word, 0 for another one. */
function typedAlike(typed: string, word: string): number {
  const [shorter, longer] = typed.length < word.length ? [typed, word] : [word, typed]
  if (/\d/.test(typed)) return 0
  if (shorter.length >= 3 && longer.startsWith(shorter)) return 0.8 + 0.15 * (shorter.length / longer.length)
  if (longer.length - shorter.length > 3) return 0
  // Three letters hold no slip but a swap: a changed letter is another code.
  const max = typed.length === 3 && word.length === 3 && [...typed].sort().join() === [...word].sort().join() ? 1 : editsMax(shorter.length)
  if (max === 0) return 0
  const found = edits(typed, word)
  if (found > max) return 0
  return Math.max(0, (typed[0] === word[0] || found === 1 && typed[0] === word[1] ? 1 : 0.75) - found / longer.length)
}

function alikeOf<T>(word: string, { vocabulary, positions }: Index<T>): Map<number, number> {
  const alike = new Map<number, number>()
  const exact = positions.get(word)
  for (const other of synonyms.get(word) ?? []) {
    const position = positions.get(other)
    if (position !== undefined) alike.set(position, 0.85)
  }
  if (exact !== undefined) alike.set(exact, 1)
  // A word that the catalogue knows was not mistyped.
  else if (alike.size === 0) {
    for (const [position, known] of vocabulary.entries()) {
      const likeness = typedAlike(word, known)
      if (likeness > 0.5) alike.set(position, likeness)
    }
  }
  return alike
}

/** Two known words that were written as one. */
function parted(word: string, positions: ReadonlyMap<string, number>): string[] | undefined {
  if (positions.has(word)) return undefined
  for (let at = word.length - 2; at >= 2; at--) {
    const [head, tail] = [word.slice(0, at), word.slice(at)]
    if ((positions.has(head) || currencies.has(head)) && (positions.has(tail) || currencies.has(tail))) return [head, tail]
  }
  return undefined
}

function askedOf<T>(words: readonly string[], index: Index<T>): Asked {
  const onlyCurrencies = words.every(word => currencies.has(word))
  const alike = words.map(word => alikeOf(word, index))
  const weights = words.map((word, i) => {
    if (currencies.has(word)) return onlyCurrencies ? 1 : currencyWeight
    const near = [...alike[i]!.keys()]
    return near.length === 0 ? unknownWeight : Math.max(...near.map(position => index.weights[position]!))
  })
  return { weights, alike }
}

/** How much of what was typed a candidate has, times how little else its closest form has. */
function wordScore<T>(asked: Asked, entry: Entry<T>, index: Index<T>): number {
  let covered = 0
  let total = 0
  const matched = new Map<number, number>()
  for (const [i, weight] of asked.weights.entries()) {
    let best = 0
    for (const word of entry.words) {
      const likeness = asked.alike[i]!.get(word) ?? 0
      if (likeness > 0) matched.set(word, Math.max(matched.get(word) ?? 0, likeness))
      if (likeness > best) best = likeness
    }
    covered += weight * best
    total += weight
  }
  if (covered < scoreMin * total) return 0
  let precision = 0
  for (const form of entry.forms) {
    let found = 0
    let all = 0
    for (const word of form.words) {
      const weight = index.weights[word]!
      // Dollars go without saying.
      all += index.vocabulary[word] === 'USD' && !matched.has(word) ? 0.1 : weight
      found += weight * (matched.get(word) ?? 0)
    }
    if (all > 0 && found / all > precision) precision = found / all
  }
  return (covered / total) * (0.7 + 0.3 * precision)
}

/** How alike the whole of it is, whatever the separators. */
function spellingScore<T>(typed: { joined: string; currency: string | undefined }, entry: Entry<T>): number {
  const max = editsMax(typed.joined.length)
  let best = 0
  for (const form of entry.forms) {
    if (Math.abs(form.joined.length - typed.joined.length) > max) continue
    const found = typed.joined === form.joined ? 0 : max === 0 || typed.joined[0] !== form.joined[0] ? Infinity : edits(typed.joined, form.joined)
    if (found > max) continue
    const score = 1 - (1.2 * found) / typed.joined.length - (typed.currency && typed.currency !== form.currency ? 0.06 : 0)
    if (score > best) best = score
  }
  return best
}

/** The codes a person most likely meant by `input`, closest first; none when nothing is near. */
export function suggestCodes<T extends Candidate>(input: string, candidates: readonly T[], max = 5): T[] {
  const words = wordsOf(input.slice(0, inputMax))
  if (words.length === 0) return []
  const index = indexOf(candidates)
  const spelled = words.flatMap(word => spelledOut.get(word) ?? parted(word, index.positions) ?? [word])
  const variants = spelled.length === words.length ? [words] : [words, spelled]
  const asked = variants.map(variant => askedOf(variant, index))
  const typed = joinedOf(words)
  const scored = index.entries.map(entry => ({
    candidate: entry.candidate,
    score: Math.max(spellingScore(typed, entry), ...asked.map(one => wordScore(one, entry, index))) + entry.bonus,
  }))
  const best = Math.max(...scored.map(one => one.score))
  return scored
    .filter(one => one.score >= scoreMin && one.score >= ratioMin * best)
    .sort((a, b) => b.score - a.score || a.candidate.code.length - b.candidate.code.length || (a.candidate.code < b.candidate.code ? -1 : 1))
    .slice(0, max)
    .map(one => one.candidate)
}
