import { signal } from '@preact/signals'
import { once } from '../../../lib/once.ts'
import { callsPath } from '../../paths.ts'
import { ask } from '../requests/ask.ts'
import { best, match } from '../requests/codes.ts'

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
  best(calls.value, ({ summary, path, id }) => match(`${summary} ${path} ${id}`, typed), limit)
