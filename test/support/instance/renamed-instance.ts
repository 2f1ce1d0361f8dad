import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { loadConfig } from '../../../src/config/config.ts'
import { createApp } from '../../../src/instance/app/app.ts'
import type { Services } from '../../../src/instance/services/services.ts'
import { type DemoInstance, demoInstance } from './demo-instance.ts'

/** Every name that is a setting, as another instance would have it. */
export const otherNames = {
  'brand.service_name': 'Kestrel Prices',
  'brand.header_prefix': 'X-Kestrel-',
  'brand.exchange_words': 'merc,bourse',
  'brand.xml_root': 'kestrel',
  'brand.webhook_user_agent': 'Kestrel-Hooks/9.1',
  'brand.sender': 'Kestrel <post@kestrel.example>',
  'brand.stream_channels': 'KestrelChannel,KestrelFeed',
} as const

/** A sample path or body of the API, written with the other exchange word. */
export const inOtherNames = <T extends string | undefined>(text: T): T =>
  text?.replaceAll('exch-', 'merc-').replaceAll('EXCH_', 'MERC_') as T

const shared = globalThis as { clientsInstance?: DemoInstance }

/**
 * One demo instance under other names for all tests of clients, because filling it takes seconds.
 * It is never closed: its files are removed while they are open, and the system takes them back
 * when the process ends.
 */
export function clientsInstance(): DemoInstance {
  if (shared.clientsInstance) return shared.clientsInstance
  const instance = demoInstance(undefined, {
    ...otherNames,
    'limits.unauthenticated_per_minute': '100000',
    'limits.marine_per_minute': '100000',
    'limits.marine_historical_per_minute': '100000',
    'demo.limit_per_hour': '100000',
  })
  rmSync(dirname(instance.running.services.db.filename), { recursive: true })
  shared.clientsInstance = instance
  return instance
}

/** The API over the same services with client profiles, as TOML. */
export function withProfiles(services: Services, toml: string) {
  const { clientProfiles } = loadConfig({
    flags: {},
    env: {},
    files: { directory: '/' },
    readFile: () => toml,
  })
  return createApp({ ...services, config: { ...services.config, clientProfiles } })
}
