import { Secret } from '../../config-keys.ts'

/** Stands for a secret where a configuration goes to a thread that needs none. */
const secretMark = '\u0000secret'

/** A configuration as plain values that can be handed to a thread, without its secrets. */
export function dehydrated(value: unknown): unknown {
  if (value instanceof Secret) return secretMark
  if (value instanceof RegExp || value instanceof Set || value instanceof Map) return value
  if (Array.isArray(value)) return value.map(dehydrated)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, dehydrated(item)]))
}

/** The configuration of such values; every secret is empty. */
export function hydrated(value: unknown): unknown {
  if (value === secretMark) return new Secret('')
  if (value instanceof RegExp || value instanceof Set || value instanceof Map) return value
  if (Array.isArray(value)) return value.map(hydrated)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, hydrated(item)]))
}
