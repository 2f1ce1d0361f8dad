import { signal } from '@preact/signals'
import { once } from '../../../lib/once.ts'
import { ask } from './ask.ts'
import { boot } from './boot.ts'

/** A code of the catalogue, as lists and searches need it. */
export interface Code {
  code: string
  name: string
  category: string
  aliases: readonly string[]
  /** Its prices are of delivery periods: hours or quarters of power, days of gas. */
  isDelivery?: boolean
}

interface Commodity extends Code {
  aliases: string[]
  time?: string
}

const kept = 'codes.2'

/** Every code that has data; empty until they are here. */
export const codes = signal<readonly Code[]>([])

/** Whether `codes` are what the service has, be it none. */
export const areCodesHere = signal(false)

/** Why the codes are not here. */
export const codesRefusal = signal<Error | undefined>(undefined)

/** Asks for the codes once in a tab, and again after a refusal: they change with releases. */
export const loadCodes = once(async () => {
  try {
    await load()
    codesRefusal.value = undefined
  } catch (error) {
    codesRefusal.value = error as Error
    throw error
  }
})

/**
 * The same for fields that only suggest codes: `codesRefusal` has the reason when there are none.
 */
export const wantCodes = (): void => void loadCodes().catch(() => undefined)

async function load(): Promise<void> {
  const stored = sessionStorage.getItem(kept)
  if (stored) {
    codes.value = JSON.parse(stored) as Code[]
    areCodesHere.value = true
    return
  }
  const all = boot.isSignedIn
    ? (await ask<{ data: Commodity[] }>('/v1/commodities')).data
    : Object.values(
        (await ask<{ data: { commodities: Record<string, Commodity[]> } }>('/v1/demo/commodities'))
          .data.commodities,
      ).flat()
  codes.value = all.map(({ code, name, category, aliases, time }) => ({
    code,
    name,
    category,
    aliases,
    ...(time === 'delivery' && { isDelivery: true }),
  }))
  areCodesHere.value = true
  // The first import brings codes: none are not kept.
  if (codes.value.length === 0) return
  try {
    sessionStorage.setItem(kept, JSON.stringify(codes.value))
  } catch {
    // A full store costs one more call.
  }
}

const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, ' ')

/**
 * Edit distance, where a transposition counts once; above `most` the exact number does not matter.
 */
function distance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  const rows = [Array.from({ length: b.length + 1 }, (_, i) => i)]
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    rows.push(row)
    for (let j = 1; j <= b.length; j += 1) {
      const changed = rows[i - 1]![j - 1]! + Number(a[i - 1] !== b[j - 1])
      row[j] = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, changed)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j]!, rows[i - 2]![j - 2]! + 1)
    }
  }
  return rows[a.length]![b.length]!
}

/** What matches a typed text, best first; the score of what does not match is 0. */
export const best = <T>(all: readonly T[], scoreOf: (each: T) => number, limit?: number): T[] =>
  all
    .map(each => ({ each, score: scoreOf(each) }))
    .filter(({ score }) => score !== 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ each }) => each)

/**
 * The score of a text for a typed one; 0 means that it does not match. Every word must match,
 * exactly or, where the text `forgives`, nearly.
 */
export function match(text: string, typed: string, forgives = true): number {
  const words = plain(typed).trim().split(' ').filter(Boolean)
  if (words.length === 0) return 0
  const target = plain(text)
  const parts = target.split(' ')
  let score = 0
  for (const word of words) {
    if (parts.includes(word)) score += 4
    else if (parts.some(part => part.startsWith(word))) score += 3
    else if (target.includes(word)) score += 2
    else if (
      forgives &&
      word.length > 3 &&
      parts.some(part => distance(part, word, 2) <= (word.length > 5 ? 2 : 1))
    )
      score += 1
    else return 0
  }
  return score / words.length - target.length / 1000
}

const currencies = /_(usd|eur|gbp|jpy|cny|inr)$/

/** Whether what was typed is a name of the code, whole: those come before names that contain it. */
export function isNameOf({ code, name, aliases }: Code, typed: string): boolean {
  const wanted = plain(typed).trim()
  const short = code.toLowerCase().replace(currencies, '')
  return [code, short, name, ...aliases].some(own => plain(own).trim() === wanted)
}

/** The codes that match a typed text, best first. */
export function matchingCodes(typed: string, limit: number): Code[] {
  const scoreOf = (code: Code) => {
    const score = match(`${code.code} ${code.name} ${code.aliases.join(' ')}`, typed)
    return score > 0 && isNameOf(code, typed) ? score + 10 : score
  }
  return best(codes.value, scoreOf, limit)
}

/** The codes nearest to a typed text that matches none. */
export function nearCodes(typed: string, limit: number): Code[] {
  const words = plain(typed).trim().split(' ').filter(Boolean)
  if (words.length === 0) return []
  return codes.value
    .map(code => {
      const parts = plain(`${code.code} ${code.name} ${code.aliases.join(' ')}`).split(' ')
      const misses = words.map(word => {
        const most = Math.max(1, Math.ceil(word.length / 2))
        return parts.reduce((least, part) => Math.min(least, distance(part, word, most)), most + 1)
      })
      const met = words.filter((word, i) => misses[i]! <= Math.ceil(word.length / 2)).length
      return { code, met, misses: misses.reduce((sum, count) => sum + count, 0) }
    })
    .filter(({ met }) => met > 0)
    .sort((a, b) => b.met - a.met || a.misses - b.misses)
    .slice(0, limit)
    .map(({ code }) => code)
}
