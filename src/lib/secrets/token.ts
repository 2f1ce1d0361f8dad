import { createHash, timingSafeEqual } from 'node:crypto'

/** The length of every token, in hexadecimal digits. */
export const tokenCharacters = 64

const tokenPattern = /^[0-9a-f]{64}$/

/** Whether a text has the form of a token, valid or not. */
export const isToken = (text: string): boolean => tokenPattern.test(text)

/**
 * SHA-256 of a token. Only the hash is stored and looked up, so neither the database nor the
 * duration of a look-up reveals a token.
 */
export const tokenHash = (token: string): Uint8Array => createHash('sha256').update(token).digest()

/** The hash in hexadecimal: the name of a token in memory. */
export const tokenName = (token: string): string => Bun.SHA256.hash(token, 'hex')

export const sameHash = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && timingSafeEqual(a, b)

/** First and last four characters, by which people recognise a token. */
export const tokenHint = (token: string): string => `${token.slice(0, 4)}…${token.slice(-4)}`
