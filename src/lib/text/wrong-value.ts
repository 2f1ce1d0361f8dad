import { distance } from 'fastest-levenshtein'

const shownCharactersMax = 80
const listedWordsMax = 12
/** Characters that must match where a word is the only one with the same start. */
const startLettersMin = 3

/** A value as a message repeats it: enough to recognise it. */
export function shownValue(value: unknown): string {
  if (typeof value === 'string') {
    const text = value.toWellFormed()
    return JSON.stringify(
      text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}…` : text,
    )
  }
  if (value === undefined) return 'nothing'
  if (Array.isArray(value))
    return value.length === 0 ? 'an empty list' : `a list of length ${value.length}`
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

/**
 * The word that was probably meant: at most a third of its characters differ, or one more where the
 * first is right, so that two of them may be transposed; else the only word with the same start.
 */
export function nearestWord(value: unknown, words: readonly string[]): string | undefined {
  if (typeof value !== 'string' || value.length > shownCharactersMax) return undefined
  const typed = value.trim().toLowerCase()
  const [near] = words
    .map(word => {
      const edits = distance(typed, word.toLowerCase())
      return { word, edits, excess: edits - (typed[0] === word[0]?.toLowerCase() ? 1 : 0) }
    })
    .sort((a, b) => a.excess - b.excess || a.edits - b.edits)
  const editsMax = Math.floor(typed.length / 3)
  if (near && near.excess <= editsMax && near.edits < Math.min(typed.length, near.word.length))
    return near.word
  return (
    onlyOne(words, typed) ??
    (typed.length > startLettersMin ? onlyOne(words, typed.slice(0, -1)) : undefined)
  )
}

/** The only word that begins like this. */
function onlyOne(words: readonly string[], start: string): string | undefined {
  const [word, ...others] = words.filter(word => word.toLowerCase().startsWith(start))
  return start !== '' && others.length === 0 ? word : undefined
}

/** `json, csv or ndjson`; of many words the first. */
export function oneOf(words: readonly string[]): string {
  if (words.length > listedWordsMax)
    return `one of ${words.slice(0, listedWordsMax).join(', ')} or ${words.length - listedWordsMax} more`
  const [last = '', ...others] = words.toReversed()
  return others.length === 0 ? last : `${others.toReversed().join(', ')} or ${last}`
}

/** The sentence about a name that nothing has, with the nearest of the names or all of them. */
export function unknownName(noun: string, name: unknown, names: readonly string[] = []): string {
  const near = nearestWord(name, names)
  const right = near === undefined ? `Use ${oneOf(names)}.` : `Did you mean ${near}?`
  return `Unknown ${noun} ${shownValue(name)}.${names.length > 0 ? ` ${right}` : ''}`
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
