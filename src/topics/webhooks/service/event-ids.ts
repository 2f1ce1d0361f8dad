/** The time of an event and its number within a burst, equal however often the event is created. */
export interface Rank {
  at: number
  number: number
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const idCharacters = 26
const atCharacters = 10
const numberCharacters = 8

/** Two characters of base 32 by their number. */
const pairs = Array.from({ length: 1024 }, (_, n) => alphabet[n >> 5]! + alphabet[n & 31]!)

const inBase32 = (value: number, characters: number): string => {
  let text = ''
  for (let rest = value; text.length < characters; rest = Math.floor(rest / 1024))
    text = pairs[rest % 1024] + text
  return text
}

function hashed(text: string, characters: number): string {
  const hash = Bun.SHA256.hash(text) as Uint8Array
  let drawn = ''
  for (let i = 0; i < characters; i += 1) drawn += alphabet[hash[i]! & 31]
  return drawn
}

/**
 * Neighbours of a burst share their text, those of one account at least, and all of them their
 * moment.
 */
let lastHash: { text: string | undefined; drawn: string } = { text: undefined, drawn: '' }
let lastAt = { at: Number.NaN, drawn: '' }

/**
 * `evt_` and 26 characters drawn from a text: the same event has the same id, however often it is
 * made. With a rank the ids sort by it, so that the index over them grows at one place while a
 * burst is written.
 */
export function eventIdOf(text: string, rank?: Rank): string {
  if (!rank) return `evt_${hashed(text, idCharacters)}`
  if (lastAt.at !== rank.at) lastAt = { at: rank.at, drawn: inBase32(rank.at, atCharacters) }
  if (lastHash.text !== text)
    lastHash = { text, drawn: hashed(text, idCharacters - atCharacters - numberCharacters) }
  return `evt_${lastAt.drawn}${inBase32(rank.number, numberCharacters)}${lastHash.drawn}`
}
