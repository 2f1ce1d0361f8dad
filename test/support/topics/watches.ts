import type { WatchEvent } from '../../../src/topics/watches/service/feed.ts'
import type { Watch, WatchSettings } from '../../../src/topics/watches/service/watches.ts'
import { openTestInstance, startAt, type TestInstance } from '../instance/instance.ts'

export { startAt }

/** An instance with one account, and what a test of watches needs of it. */
export interface WatchInstance extends TestInstance {
  accountId: string
  token: string
  watch(settings?: Partial<WatchSettings>, accountId?: string): Watch
  /** Records a price as observed now, or at its own time. */
  price(code: string, value: number, observedAt?: number): void
  /** The whole feed. */
  events(accountId?: string): WatchEvent[]
  /** Bodies of the webhook messages, oldest first. */
  messages(): { id: string; type: string; data: WatchEvent }[]
}

export function openWatchInstance(
  flags: Record<string, string> = {},
  plan = 'enterprise',
): WatchInstance {
  const whole = openTestInstance({ 'limits.per_minute': '100000', ...flags })
  const { services, clock } = whole
  const token = whole.key(plan)
  const accountId = services.keys.find(token)!.account.account.id
  const usual: WatchSettings = {
    name: null,
    codes: ['WTI_USD'],
    intervalSeconds: 60,
    active: true,
    deliverWebhook: false,
    thresholdPercent: null,
  }
  return {
    ...whole,
    accountId,
    token,
    watch(settings = {}, owner = accountId) {
      const watch = services.watches.create(
        services.keys.account(owner)!,
        { ...usual, ...settings },
        { source: 'api', toolName: null },
      )
      if ('refused' in watch) throw new Error(`refused: ${watch.refused}`)
      return watch
    },
    price(code, value, observedAt = clock.now()) {
      const { id } = services.catalogue.resolve(code, clock.now())!.series
      services.ingest.write([{ seriesId: id, observedAt, value }])
    },
    events: (owner = accountId) => services.watchFeed.after(owner, 0, 1_000_000),
    messages: () =>
      services.db
        .query<{ body: string }, []>(
          'SELECT b.body FROM outbox o JOIN outbox_bodies b ON b.id = o.body_id ORDER BY o.number',
        )
        .all()
        .map(row => JSON.parse(row.body)),
  }
}
