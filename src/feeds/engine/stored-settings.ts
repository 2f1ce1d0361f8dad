import type { FeedStore } from '../store/feeds.ts'
import type { FeedsDeps } from './deps.ts'
import { type FeedSetting, settingsOf } from './settings.ts'

type SettingsRow = NonNullable<ReturnType<FeedStore['settings']>>

/** The settings of feeds: those of the configuration under those that were stored since. */
export type FeedSettingsBook = ReturnType<typeof createFeedSettings>

export function createFeedSettings(
  deps: Pick<FeedsDeps, 'store' | 'configured' | 'clock' | 'seal' | 'open'>,
) {
  const { store, clock } = deps
  const save = (name: string, change: (row: SettingsRow) => SettingsRow) => {
    const row = store.settings(name) ?? { name, settings: null, secret: null, pausedAt: null }
    store.putSettings(change(row), clock.now())
  }
  return {
    /** The settings of a feed that are in force: configured, or changed at run time. */
    of(name: string) {
      const row = store.settings(name)
      return settingsOf(deps.configured, name, {
        values: row && storedValues(row, deps),
        pausedAt: row?.pausedAt ?? undefined,
      })
    },
    /** Settings that are undefined in `values` stay as they are. */
    change(name: string, values: FeedSetting) {
      save(name, row => {
        const { key, ...rest } = { ...storedValues(row, deps), ...values }
        return {
          ...row,
          settings: JSON.stringify(rest),
          secret: key === undefined ? row.secret : deps.seal(name, key),
        }
      })
    },
    pause: (name: string) => save(name, row => ({ ...row, pausedAt: clock.now() })),
    resume: (name: string) => save(name, row => ({ ...row, pausedAt: null })),
  }
}

function storedValues(
  row: { name: string; settings: string | null; secret: Uint8Array | null },
  { open }: Pick<FeedsDeps, 'open'>,
): FeedSetting | undefined {
  if (row.settings === null) return undefined
  const values = JSON.parse(row.settings) as FeedSetting
  return row.secret ? { ...values, key: open(row.name, row.secret) } : values
}
