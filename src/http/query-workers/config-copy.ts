import type { Config } from '../../config/config.ts'
import { Secret } from '../../config/kinds.ts'

/** Stands for a secret where a configuration goes to a thread that needs none. */
const secretPlaceholder = '\u0000secret'

/**
 * The configuration of a thread or an instance that sends nothing and takes no payment: a provider
 * would need its secrets, and without them would refuse to open.
 */
export const withoutProviders = (config: Config): Config => ({
  ...config,
  mail: { ...config.mail, provider: 'none' },
  sms: { ...config.sms, provider: 'log' },
  billing: { ...config.billing, provider: 'manual' },
})

/** The configuration as plain values for a worker thread: without secrets and providers. */
export const workerConfig = (config: Config): unknown => dehydrated(withoutProviders(config))

/** The configuration that `workerConfig` made; every secret is empty. */
export const openedWorkerConfig = (values: unknown): Config => hydrated(values) as Config

function dehydrated(value: unknown): unknown {
  if (value instanceof Secret) return secretPlaceholder
  if (value instanceof RegExp || value instanceof Set || value instanceof Map) return value
  if (Array.isArray(value)) return value.map(dehydrated)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, dehydrated(item)]))
}

function hydrated(value: unknown): unknown {
  if (value === secretPlaceholder) return new Secret('')
  if (value instanceof RegExp || value instanceof Set || value instanceof Map) return value
  if (Array.isArray(value)) return value.map(hydrated)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, hydrated(item)]))
}
