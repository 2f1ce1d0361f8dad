import { signal } from '@preact/signals'
import { ask } from '../requests/ask.ts'
import { match } from '../requests/codes.ts'

/** A call of the API, as the search needs it. */
export interface NamedCall {
  id: string
  summary: string
  path: string
}

interface Document {
  paths: Record<string, Record<string, { operationId: string; summary: string }>>
}

const storageName = 'calls.1'

/** Every documented call; empty until they are here. */
export const calls = signal<readonly NamedCall[]>([])

let loading: Promise<void> | undefined

/** Asks for the documentation once in a tab, and again after a refusal. */
export function loadCalls(): Promise<void> {
  loading ??= load().catch(error => {
    loading = undefined
    throw error
  })
  return loading
}

async function load(): Promise<void> {
  const stored = sessionStorage.getItem(storageName)
  if (stored) {
    calls.value = JSON.parse(stored) as NamedCall[]
    return
  }
  const { paths } = await ask<Document>('/openapi.json')
  calls.value = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).map(({ operationId, summary }) => ({ id: operationId, summary, path })),
  )
  try {
    sessionStorage.setItem(storageName, JSON.stringify(calls.value))
  } catch {
    // A full store costs one more call.
  }
}

/** The calls that match a typed text, best first. */
export const matchingCalls = (typed: string, limit: number): NamedCall[] =>
  calls.value
    .map(call => ({ call, score: match(`${call.summary} ${call.path} ${call.id}`, typed) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ call }) => call)
