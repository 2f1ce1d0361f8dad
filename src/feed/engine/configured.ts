import { readFileSync } from 'node:fs'
import type { Config } from '../../config.ts'
import { Secret } from '../../config-keys.ts'
import { dayMs } from '../../lib/instant.ts'
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

/** What the file and the variables say of feeds. A key's file is read each time: it may be changed. */
export function configuredFeeds(config: Config): ConfiguredFeeds {
  const { enabled, contact, prefer } = config.feeds
  return { enabled, contact, prefer, of: name => settingOf(name, config) }
}

function settingOf(name: string, config: Config): FeedSetting | undefined {
  const written = settings.filter(
    setting => (config.provenance.get(`feeds.${name}.${setting}`) ?? 'default') !== 'default',
  )
  const section = config.feeds as unknown as Readonly<Record<string, unknown>>
  const camel = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
  const given = (property: string) => section[`${camel}.${property}`]
  if (written.length === 0) return undefined
  if (written.includes('enabled') && given('enabled') === false) return undefined
  const setting: FeedSetting = {}
  if (written.includes('key_file')) {
    const key = keyIn(String(given('keyFile')))
    if (key !== undefined) setting.key = key
  }
  const secret = given('key')
  if (written.includes('key') && secret instanceof Secret) setting.key = secret.reveal()
  if (written.includes('base_url')) setting.baseUrl = String(given('baseUrl'))
  if (written.includes('codes')) setting.codes = given('codes') as readonly string[]
  if (written.includes('since')) setting.since = String(given('since'))
  if (written.includes('reread')) setting.rereadDays = Number(given('rereadMs')) / dayMs
  if (written.includes('license')) setting.license = String(given('license'))
  return setting
}

/** The key in a file; undefined where there is none, which the feed then says. */
function keyIn(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}
