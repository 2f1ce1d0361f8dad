import { distance } from 'fastest-levenshtein'

const isSwap = (a: string, b: string, at: number): boolean =>
  a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2)

/** Edits between two words; two transposed neighbouring characters count as one. */
export function edits(a: string, b: string): number {
  const distanceInEdits = distance(a, b)
  if (distanceInEdits !== 2 || a.length !== b.length) return distanceInEdits
  let at = 0
  while (a[at] === b[at]) at += 1
  return isSwap(a, b, at) ? 1 : 2
}

/** How many slips of the finger a word of this length may hold. */
export const slipsMax = (length: number): number =>
  length < 4 ? 0 : length < 7 ? 1 : length < 12 ? 2 : 3

/** `typed` for `word`: cut off after its beginning, or with an ending such as the plural's. */
const isInflected = (typed: string, word: string): boolean =>
  typed.length < word.length
    ? word.startsWith(typed) && typed.length >= (word.length > 6 ? 4 : 3)
    : typed.startsWith(word) &&
      word.length >= 3 &&
      typed.length - word.length <= (word.length < 5 ? 1 : 3)

/** The likelihood from 0 to 1 that `typed` is `word` mistyped, cut short or inflected. */
export function wordLikeness(typed: string, word: string): number {
  const [shorter, longer] = typed.length < word.length ? [typed, word] : [word, typed]
  if (isInflected(typed, word)) return 0.75 + 0.2 * (shorter.length / longer.length)
  if (longer.length - shorter.length > 3) return 0
  // A word of three characters allows only a transposition or the wrong one of its characters
  // twice: with another character it is another code.
  if (typed.length === 3)
    return word.length === 3 &&
      edits(typed, word) === 1 &&
      new Set(typed + word).size === new Set(word).size &&
      new Set(typed).size === new Set(word).size
      ? 0.75
      : 0
  const slips = shorter.length < 4 ? Number.POSITIVE_INFINITY : edits(typed, word)
  if (slips > slipsMax(shorter.length)) return 0
  // People rarely mistype the first character.
  const start = typed[0] === word[0] || isSwap(typed, word, 0) ? 1 : 0.75
  return start - slips / longer.length
}
