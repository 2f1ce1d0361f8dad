import { signal } from '@preact/signals'
import { callsPath } from '../../paths.ts'
import { ask, once } from '../requests/ask.ts'
import { match } from '../requests/codes.ts'

/** A call of the API, as lists and the search need it. */
export interface NamedCall {
  id: string
  method: string
  path: string
  tag?: string
  summary: string
}

/** Every documented call; empty until they are here. */
export const calls = signal<readonly NamedCall[]>([])

export const loadCalls = once(async () => {
  calls.value = (await ask<{ operations: NamedCall[] }>(callsPath)).operations
})

/** The calls that match a typed text, best first. */
export const matchingCalls = (typed: string, limit: number): NamedCall[] =>
  calls.value
    .map(call => ({ call, score: match(`${call.summary} ${call.path} ${call.id}`, typed) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ call }) => call)
