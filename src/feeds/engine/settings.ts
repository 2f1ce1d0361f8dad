import type { Feed } from '../publishers/publishers.ts'

export interface FeedSetting {
  key?: string
  baseUrl?: string
  codes?: readonly string[]
  /** The first day to import; undefined: all days. */
  since?: string
  rereadDays?: number
  license?: string
}

/** The settings of one feed in force, and whence each is. */
export interface FeedSettings {
  /** Whether the feed is turned on. */
  isOn: boolean
  pausedAt: number | undefined
  values: FeedSetting
  /** `file` (also a variable) before `command`. */
  origins: Readonly<Partial<Record<keyof FeedSetting, 'file' | 'command'>>>
}

/** The feed section of the configuration. */
export interface ConfiguredFeeds {
  /** False: nothing leaves the machine. */
  enabled: boolean
  contact: string
  /** By code, the feeds that win, the first one most. */
  prefer: Readonly<Record<string, readonly string[]>>
  /** The settings of a feed; undefined where the configuration has no table for it. */
  of(name: string): FeedSetting | undefined
}

export type FeedState = 'ready' | 'off' | 'paused' | 'needs_key' | 'needs_license'

/** Why a feed may not be read now, or that it may. */
export function feedStateOf(
  { publisher }: Feed,
  { isOn, pausedAt, values }: FeedSettings,
): FeedState {
  if (!isOn) return 'off'
  if (publisher.key === 'needed' && !values.key) return 'needs_key'
  if (publisher.licenseClass === 'view' && values.license !== 'accept') return 'needs_license'
  return pausedAt === undefined ? 'ready' : 'paused'
}

/** The file's settings over those of commands. */
export function settingsOf(
  configured: ConfiguredFeeds,
  name: string,
  stored: { values: FeedSetting | undefined; pausedAt: number | undefined },
): FeedSettings {
  const file = configured.of(name)
  const isOn = configured.enabled && (file !== undefined || stored.values !== undefined)
  const origins: Partial<Record<keyof FeedSetting, 'file' | 'command'>> = {}
  for (const key of Object.keys(stored.values ?? {})) origins[key as keyof FeedSetting] = 'command'
  for (const key of Object.keys(file ?? {})) origins[key as keyof FeedSetting] = 'file'
  return { isOn, pausedAt: stored.pausedAt, values: { ...stored.values, ...file }, origins }
}

/**
 * Whether the first of two feeds has precedence for a code. `order` lists all feeds, preferred ones
 * first.
 */
export function isPreferred(
  first: string,
  second: string,
  order: readonly string[],
  named: readonly string[] = [],
): boolean {
  const rank = (name: string) => {
    const place = named.indexOf(name)
    return place >= 0 ? place : named.length + order.indexOf(name)
  }
  return rank(first) < rank(second)
}

/** Why a feed is not read, and the remedy. */
export const refusalOf = (
  feedState: FeedState,
  feed: Feed,
  { enabled }: Pick<ConfiguredFeeds, 'enabled'>,
): string =>
  enabled
    ? feedStateSentences[feedState](feed)
    : 'feeds.enabled is false: no feed runs, regardless of its settings'

const feedStateSentences = {
  off: ({ publisher }: Feed) =>
    `${publisher.name} is off: add it with feeds add ${publisher.name}, or with a table [feeds.${publisher.name}]`,
  paused: ({ publisher }: Feed) => `${publisher.name} is paused: feeds resume ${publisher.name}`,
  needs_key: ({ publisher }: Feed) =>
    `${publisher.name} is read with a key: set feeds.${publisher.name}.key`,
  needs_license: ({ publisher }: Feed) =>
    `the terms of ${publisher.name} do not allow passing its data on: set feeds.${publisher.name}.license = "accept" if you may use it`,
  ready: () => '',
} as const
