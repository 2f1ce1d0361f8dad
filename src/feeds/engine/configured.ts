import { readFileSync } from 'node:fs'
import type { Config } from '../../config/config.ts'
import { Secret } from '../../config/kinds.ts'
import { dayMs } from '../../lib/time/instant.ts'
import type { ConfiguredFeeds, FeedSetting } from './settings.ts'

const settings = [
  'enabled',
  'key',
  'key_file',
  'base_url',
  'codes',
  'since',
  'reread',
  'license',
] as const

/**
 * The feed settings of the configuration. A key's file is read each time, because it may change.
 */
export function configuredFeeds(config: Config): ConfiguredFeeds {
  const { enabled, contact, prefer } = config.feeds
  return { enabled, contact, prefer, of: name => settingOf(name, config) }
}

function settingOf(name: string, config: Config): FeedSetting | undefined {
  const written = settings.filter(
    setting => (config.provenance.get(`feeds.${name}.${setting}`) ?? 'default') !== 'default',
  )
  const section: Readonly<Record<string, unknown>> = { ...config.feeds }
  const camel = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
  const settingOf = (property: string) => section[`${camel}.${property}`]
  if (written.length === 0) return undefined
  if (written.includes('enabled') && settingOf('enabled') === false) return undefined
  const setting: FeedSetting = {}
  if (written.includes('key_file')) {
    const key = keyIn(String(settingOf('keyFile')))
    if (key !== undefined) setting.key = key
  }
  const secret = settingOf('key')
  if (written.includes('key') && secret instanceof Secret) setting.key = secret.reveal()
  if (written.includes('base_url')) setting.baseUrl = String(settingOf('baseUrl'))
  if (written.includes('codes')) setting.codes = settingOf('codes') as readonly string[]
  if (written.includes('since')) setting.since = String(settingOf('since'))
  if (written.includes('reread')) setting.rereadDays = Number(settingOf('rereadMs')) / dayMs
  if (written.includes('license')) setting.license = String(settingOf('license'))
  return setting
}

/** The key in a file; undefined where there is none, which the state of the feed shows. */
function keyIn(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}
