import { edits, slipsMax, wordLikeness } from './spelling.ts'
import {
  benchmarkCodes,
  fillers,
  oneWaySynonyms,
  rewritten,
  spelledOut,
  synonymGroups,
} from './suggest-words.ts'

export interface Candidate {
  code: string
  name: string
  aliases: readonly string[]
}

/**
 * A code, alias or name: its words as positions in the vocabulary, and all of it as one word,
 * without the currency.
 */
interface Form {
  words: readonly number[]
  joined: string
}

interface Entry<T> {
  candidate: T
  forms: readonly Form[]
  /** Those of all forms, each once. */
  words: readonly number[]
  /** The one that the code ends in. */
  currency: string | undefined
  isPair: boolean
  /**
   * The commodity: the first word of the code that is not a region. Other words give its location
   * and variety.
   */
  head: number
  bonus: number
}

/** The catalogue as words, made once for each list of candidates. */
interface Index<T> {
  entries: readonly Entry<T>[]
  vocabulary: readonly string[]
  positions: ReadonlyMap<string, number>
  /** The information content of each word: the rarer, the higher. */
  weights: readonly number[]
  /** By word, the entries that have it. */
  holders: readonly (readonly Entry<T>[])[]
}

/** The typed words, with the similarity of the vocabulary to each. */
interface TypedWords {
  words: readonly string[]
  weights: readonly number[]
  likenesses: readonly ReadonlyMap<number, number>[]
  onlyCurrencies: boolean
}

const inputMax = 60
const scoreMin = 0.33
/** Candidates with a lower score, relative to the best one, are left out. */
const ratioMin = 0.75
/**
 * The share of the typed words that a candidate must cover: less when both name the same product,
 * more than half for a pair.
 */
const coverMin = { sameHead: 0.42, otherHead: 0.75, pair: 0.55 }
/** `crude` and `gas` are traded too, but are too general to identify a series alone. */
const headWeightMin = 3.68
const unknownWeight = 2
const currencyWeight = 0.6
const fillerWeight = 0.2
const benchmarkBonus = 0.03
const headBonus = 0.01

const regions = new Set(['US', 'EU', 'UK'])
const currencies = new Set(Intl.supportedValuesOf('currency'))

/** Letters and digits apart, because `IFO380` and `IFO_380` are the same to a person. */
const wordsOf = (text: string): string[] => text.toUpperCase().match(/[A-Z]+|\d+/g) ?? []

const synonyms = new Map<string, Set<string>>()
for (const [word, others] of [
  ...synonymGroups.flatMap(group => group.map(word => [word, group] as const)),
  ...oneWaySynonyms,
]) {
  synonyms.set(word, new Set([...(synonyms.get(word) ?? []), ...others]))
}

const indexes = new WeakMap<object, Index<Candidate>>()

/** The currency at the end of the words, unless all words are currencies. */
const endingOf = (words: readonly string[]): string | undefined => {
  const last = words.at(-1)!
  return currencies.has(last) && !words.every(word => currencies.has(word)) ? last : undefined
}

const joinedOf = (words: readonly string[]): string =>
  (endingOf(words) ? words.slice(0, -1) : words).join('')

function makeIndex<T extends Candidate>(candidates: readonly T[]): Index<T> {
  const positions = new Map<string, number>()
  const positionOf = (word: string): number => {
    const position = positions.get(word)
    if (position === undefined) positions.set(word, positions.size)
    return position ?? positions.size - 1
  }
  const entries = candidates.map(candidate => {
    const texts = [candidate.code, ...candidate.aliases, candidate.name]
      .map(wordsOf)
      .filter(words => words.length > 0)
    const forms = texts.map(words => ({ words: words.map(positionOf), joined: joinedOf(words) }))
    const words = [...new Set(forms.flatMap(form => form.words))]
    const codeWords = wordsOf(candidate.code)
    return {
      candidate,
      forms,
      words,
      currency: codeWords.length > 0 ? endingOf(codeWords) : undefined,
      head: positionOf(codeWords.find(word => !regions.has(word)) ?? ''),
      isPair: codeWords.every(word => currencies.has(word)),
      bonus: benchmarkCodes.has(candidate.code) ? benchmarkBonus : 0,
    }
  })
  const vocabulary = [...positions.keys()]
  const holders: Entry<T>[][] = vocabulary.map(() => [])
  for (const entry of entries) for (const word of entry.words) holders[word]!.push(entry)
  // The constant keeps a weight for a word that all codes of a small catalogue share.
  const weights = vocabulary.map((word, i) =>
    weightOf(word, (entries.length + 30) / holders[i]!.length),
  )
  return { entries, vocabulary, positions, weights, holders }
}

function weightOf(word: string, rarity: number): number {
  if (currencies.has(word)) return currencyWeight
  if (fillers.has(word)) return fillerWeight
  return Math.min(/^\d|^.$/.test(word) ? 1 : 5, Math.max(0.5, Math.log(rarity)))
}

function indexOf<T extends Candidate>(candidates: readonly T[]): Index<T> {
  return indexes.getOrInsertComputed(candidates, () => makeIndex(candidates)) as Index<T>
}

const alternatives = (word: string): string[] => [
  word.endsWith('S') ? word.slice(0, -1) : `${word}S`,
  ...(synonyms.get(word) ?? []),
]

function likenessesOf<T>(
  word: string,
  { vocabulary, positions }: Index<T>,
  trusted: boolean,
): Map<number, number> {
  const likenesses = new Map<number, number>()
  for (const other of alternatives(word)) {
    const position = positions.get(other)
    if (position !== undefined) likenesses.set(position, 0.85)
  }
  const exact = positions.get(word)
  if (exact !== undefined) likenesses.set(exact, 1)
  if ((trusted && likenesses.size > 0) || /^\d/.test(word)) return likenesses
  for (const [position, other] of vocabulary.entries()) {
    if (likenesses.has(position) || (currencies.has(other) && word.length !== 3)) continue
    const likeness = wordLikeness(word, other)
    if (likeness > 0.55) likenesses.set(position, likeness)
  }
  return likenesses
}

/** Two known words that were written as one. */
function parted(word: string, positions: ReadonlyMap<string, number>): string[] | undefined {
  if (positions.has(word)) return undefined
  for (let at = word.length - 3; at >= 2; at--) {
    const [head, tail] = [word.slice(0, at), word.slice(at)]
    if ((at > 2 || regions.has(head)) && positions.has(head) && positions.has(tail))
      return [head, tail]
  }
  return undefined
}

/** A typed word, with a part of its weight where one word was spelled as several. */
interface Spelled {
  word: string
  share: number
}

function typedWordsOf<T>(
  spelled: readonly Spelled[],
  index: Index<T>,
  trusted: boolean,
): TypedWords {
  const likenesses = spelled.map(({ word }) => likenessesOf(word, index, trusted))
  const weights = spelled.map(({ word, share }, i) => {
    if (currencies.has(word)) return currencyWeight
    return (
      share *
      (likenesses[i]!.size === 0
        ? unknownWeight
        : Math.max(...[...likenesses[i]!.keys()].map(position => index.weights[position]!)))
    )
  })
  const words = spelled.map(({ word }) => word)
  return { words, weights, likenesses, onlyCurrencies: words.every(word => currencies.has(word)) }
}

/** The entries that have any word that was typed; a currency alone does not count. */
function entriesWithAnyWord<T>(typed: TypedWords, { holders }: Index<T>): Set<Entry<T>> {
  const used = typed.likenesses.filter(
    (_, i) => typed.onlyCurrencies || !currencies.has(typed.words[i]!),
  )
  return new Set(used.flatMap(alike => [...alike.keys()].flatMap(position => holders[position]!)))
}

/**
 * The share of the typed words that a candidate covers, plus a little for the fit of its best form.
 */
function wordScore<T>(typed: TypedWords, entry: Entry<T>, index: Index<T>): number {
  if (typed.onlyCurrencies && !entry.isPair) return 0
  const sameHead = typed.likenesses.some(likenesses => likenesses.has(entry.head))
  const bound = typed.onlyCurrencies
    ? 'pair'
    : sameHead && index.weights[entry.head]! >= headWeightMin
      ? 'sameHead'
      : 'otherHead'
  const covered = coverOf(typed, entry.words)
  if (covered < coverMin[bound]) return 0
  let fit = 0
  for (const form of entry.forms) {
    const cover = coverOf(typed, form.words)
    if (cover > fit) fit = Math.max(fit, cover * precisionOf(typed, form, index))
  }
  return covered * (0.7 + 0.3 * fit) + (sameHead && entry.words[0] === entry.head ? headBonus : 0)
}

/** The part of the typed words, by weight, that some words have. */
function coverOf(typed: TypedWords, words: readonly number[]): number {
  let covered = 0
  let total = 0
  for (const [i, weight] of typed.weights.entries()) {
    let best = 0
    for (const word of words) best = Math.max(best, typed.likenesses[i]!.get(word) ?? 0)
    covered += weight * best
    total += weight
  }
  return covered / total
}

/** The part of a form, by weight, that was typed. */
function precisionOf<T>(typed: TypedWords, form: Form, { vocabulary, weights }: Index<T>): number {
  let typedWeight = 0
  let totalWeight = 0
  for (const word of form.words) {
    const likeness = Math.max(...typed.likenesses.map(likenesses => likenesses.get(word) ?? 0))
    // A USD that was not typed hardly counts: dollars are the usual currency.
    totalWeight += likeness === 0 && vocabulary[word] === 'USD' ? 0.1 : weights[word]!
    typedWeight += weights[word]! * likeness
  }
  return typedWeight / totalWeight
}

/** The similarity of the whole text, whatever the separators. */
function spellingScore<T>(words: readonly string[], entry: Entry<T>): number {
  const typed = joinedOf(words)
  const currency = endingOf(words)
  // Several words are compared one by one.
  const max = words.length > (currency ? 2 : 1) ? 0 : slipsMax(typed.length)
  let fewest = Number.POSITIVE_INFINITY
  for (const { joined } of entry.forms) {
    if (joined === typed) fewest = 0
    else if (joined[0] === typed[0] && Math.abs(joined.length - typed.length) <= max)
      fewest = Math.min(fewest, edits(typed, joined))
  }
  if (fewest > max) return 0
  return (
    (fewest === 0 ? 1.02 : 1 - (1.2 * fewest) / typed.length) -
    (currency && currency !== entry.currency ? 0.15 : 0)
  )
}

/** The words without common fillers, unless there are no others. */
function withoutFillers(words: readonly string[]): readonly string[] {
  const meaningful = words.filter(word => !fillers.has(word))
  return meaningful.length > 0 ? meaningful : words
}

/**
 * The words as typed; and, where that makes a difference, with short words spelled out and joined
 * ones parted.
 */
function variantsOf<T>(words: readonly string[], { positions }: Index<T>): Spelled[][] {
  const plain = words.map(word => ({ word, share: 1 }))
  const spelled = words.flatMap(word => {
    const full = spelledOut.get(word)
    if (full) return full.map(part => ({ word: part, share: 1 / full.length }))
    return (parted(word, positions) ?? [word]).map(part => ({ word: part, share: 1 }))
  })
  return spelled.every((part, i) => part.word === words[i]) ? [plain] : [plain, spelled]
}

/**
 * The entries near to the typed text. `trusted`: a word that the catalogue knows was not mistyped.
 */
function entriesNear<T>(
  words: readonly string[],
  index: Index<T>,
  trusted: boolean,
): { candidate: T; score: number }[] {
  const scores = new Map<Entry<T>, number>()
  const raise = (entry: Entry<T>, score: number) => {
    if (score > 0) scores.set(entry, Math.max(scores.get(entry) ?? 0, score + entry.bonus))
  }
  for (const entry of index.entries) raise(entry, spellingScore(words, entry))
  for (const variant of variantsOf(withoutFillers(words), index)) {
    const typed = typedWordsOf(variant, index, trusted)
    for (const entry of entriesWithAnyWord(typed, index))
      raise(entry, wordScore(typed, entry, index))
  }
  const least = Math.max(scoreMin, ratioMin * Math.max(...scores.values()))
  return [...scores]
    .filter(([, score]) => score >= least)
    .map(([{ candidate }, score]) => ({ candidate, score }))
}

/** The codes a person most likely meant by `input`, closest first; none when nothing is near. */
export function suggestCodes<T extends Candidate>(
  input: string,
  candidates: readonly T[],
  max = 5,
): T[] {
  const words = wordsOf(
    rewritten.reduce(
      (text, [from, to]) => text.replaceAll(from, to),
      input.slice(0, inputMax).toUpperCase(),
    ),
  )
  if (words.join('').length < 2) return []
  const index = indexOf(candidates)
  const matches = entriesNear(words, index, true)
  return (matches.length > 0 ? matches : entriesNear(words, index, false))
    .sort(
      (a, b) =>
        b.score - a.score ||
        a.candidate.code.length - b.candidate.code.length ||
        (a.candidate.code < b.candidate.code ? -1 : 1),
    )
    .slice(0, max)
    .map(match => match.candidate)
}
