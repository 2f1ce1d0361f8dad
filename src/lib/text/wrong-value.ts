import { distance } from 'fastest-levenshtein'

const shownCharactersMax = 80
const listedWordsMax = 12

/** A value as a message repeats it: enough to recognise it. */
export function shownValue(value: unknown): string {
  if (typeof value === 'string') {
    const text = value.toWellFormed()
    return JSON.stringify(
      text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}…` : text,
    )
  }
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return `a list of ${value.length}`
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

/** The word that was probably meant: at most a third of its letters differ. */
export function nearestWord(value: unknown, words: readonly string[]): string | undefined {
  if (typeof value !== 'string' || value.length > shownCharactersMax) return undefined
  const typed = value.trim().toLowerCase()
  const [near] = words
    .map(word => ({ word, edits: distance(typed, word.toLowerCase()) }))
    .sort((a, b) => a.edits - b.edits)
  const editsMax = Math.max(1, Math.floor(typed.length / 3))
  return near && near.edits <= Math.min(editsMax, near.word.length - 1) ? near.word : undefined
}

/** `json, csv or ndjson`; of many words the first. */
export function oneOf(words: readonly string[]): string {
  if (words.length > listedWordsMax)
    return `one of ${words.slice(0, listedWordsMax).join(', ')} or ${words.length - listedWordsMax} more`
  const [last = '', ...others] = words.toReversed()
  return others.length === 0 ? last : `${others.toReversed().join(', ')} or ${last}`
}

/**
 * The sentence about a wrong value, for the API, files and commands alike: `{name} must be {right};
 * got {value}.`, followed by the nearest of the accepted words.
 */
export function wrongValue(
  name: string,
  right: string,
  value: unknown,
  words: readonly string[] = [],
): string {
  const near = nearestWord(value, words)
  const meant = near === undefined ? '' : ` Did you mean ${near}?`
  return `${name} must be ${right}; got ${shownValue(value)}.${meant}`
}
