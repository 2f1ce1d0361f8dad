/**
 * Which files of another topic a topic may use, floor by floor. What is not listed is nobody else's:
 * a topic is changed without looking elsewhere. A new entry is a decision; `floors.test.ts` holds the
 * imports to this table, and the table to having no circle.
 */
export const topicUses: Readonly<
  Record<string, Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>>
> = {
  market: {
    alerts: {
      analytics: ['indicators', 'statistics'],
      prices: ['change', 'window'],
    },
    analytics: {
      calendars: ['calendar', 'weeks'],
      prices: ['window'],
      units: ['identities'],
    },
    calendars: {
      catalogue: ['catalogue'],
    },
    condition: {
      calendars: ['calendar', 'freshness', 'schedule'],
      catalogue: ['catalogue'],
    },
    drilling: {
      calendars: ['calendar', 'freshness', 'schedule', 'weeks'],
      fundamentals: ['period'],
      geography: ['us-states'],
      prices: ['change', 'format', 'window'],
    },
    fuels: {
      catalogue: ['catalogue'],
      geography: ['us-states'],
      prices: ['change', 'format', 'window'],
    },
    fundamentals: {
      analytics: ['forecast'],
      calendars: ['calendar', 'weeks'],
      prices: ['format', 'window'],
    },
    futures: {
      calendars: ['calendar', 'holidays'],
      prices: ['window'],
    },
    watches: {
      prices: ['change', 'format'],
    },
  },
  store: {
    analytics: {
      prices: ['observations'],
    },
    drilling: {
      prices: ['observations'],
    },
    fuels: {
      prices: ['observations'],
    },
    fundamentals: {
      prices: ['observations'],
    },
  },
  send: {
    feeds: {
      egress: ['egress', 'request'],
    },
    sources: {
      egress: ['egress', 'request'],
    },
    webhooks: {
      egress: ['egress', 'request'],
    },
  },
  service: {
    account: {
      keys: ['keyring'],
      messages: ['mail'],
    },
    alerts: {
      catalogue: ['catalogue'],
      keys: ['keyring'],
      messages: ['mail', 'notices', 'sms'],
      prices: ['board', 'closes', 'ingest', 'quarantine'],
      webhooks: ['events'],
    },
    billing: {
      keys: ['credits', 'key-changes', 'keyring'],
      messages: ['mail', 'notices'],
      webhooks: ['events'],
    },
    catalogue: {
      futures: ['contracts'],
    },
    condition: {
      catalogue: ['catalogue'],
      prices: ['board', 'open', 'quarantine'],
    },
    deliveries: {
      catalogue: ['catalogue'],
      keys: ['keyring'],
      messages: ['mail'],
      outbox: ['outbox'],
      prices: ['board', 'quarantine', 'series-rows'],
    },
    drilling: {
      catalogue: ['catalogue'],
      prices: ['ingest'],
      webhooks: ['events'],
    },
    fuels: {
      catalogue: ['catalogue'],
      prices: ['closes'],
    },
    fundamentals: {
      catalogue: ['catalogue'],
      prices: ['board', 'closes', 'ingest', 'open'],
    },
    futures: {
      catalogue: ['catalogue'],
      prices: ['ingest', 'open', 'quarantine'],
    },
    messages: {
      keys: ['keyring', 'vault'],
      outbox: ['outbox'],
    },
    operator: {
      keys: ['vault'],
      sources: ['sources'],
      webhooks: ['account-secrets', 'endpoint-secrets'],
    },
    outbox: {
      condition: ['condition'],
    },
    prices: {
      catalogue: ['catalogue'],
    },
    sources: {
      keys: ['keyring', 'vault'],
    },
    streams: {
      catalogue: ['catalogue'],
      keys: ['keyring'],
      prices: ['board', 'fx', 'ingest', 'open'],
    },
    watches: {
      catalogue: ['catalogue'],
      keys: ['keyring'],
      prices: ['board'],
      webhooks: ['event-ids', 'events'],
    },
    webhooks: {
      catalogue: ['catalogue'],
      keys: ['keyring', 'meter', 'vault'],
      messages: ['mail', 'notices'],
      outbox: ['outbox'],
      prices: ['ingest', 'quarantine', 'series-rows'],
    },
  },
  feed: {
    analytics: {
      files: ['dataset', 'fields', 'past-day'],
      prices: ['rows'],
    },
    drilling: {
      files: ['dataset', 'fields', 'month', 'past-day'],
    },
    engine: {
      files: ['dataset'],
      prices: ['rows'],
      publishers: [
        'calendar',
        'decimal',
        'eia',
        'fault',
        'map',
        'periods',
        'publisher',
        'publishers',
        'suspicion',
      ],
    },
    files: {
      prices: ['file', 'import', 'rows'],
    },
    fuels: {
      files: ['dataset', 'fields'],
      prices: ['rows'],
    },
    fundamentals: {
      files: ['dataset', 'fields', 'month', 'past-day'],
      prices: ['rows'],
    },
    futures: {
      files: ['dataset', 'fields'],
      prices: ['rows'],
    },
    prices: {
      files: ['columns', 'csv', 'records', 'rejected', 'repeats', 'source'],
    },
    publishers: {
      files: ['csv'],
    },
    sources: {
      files: ['csv'],
      prices: ['rows'],
    },
  },
  world: {
    analytics: {
      futures: ['curves'],
      prices: ['path'],
    },
    drilling: {
      futures: ['curves'],
      prices: ['feed', 'noise', 'path', 'regions', 'world'],
    },
    fuels: {
      futures: ['curves'],
      prices: ['noise', 'world'],
    },
    fundamentals: {
      futures: ['curves'],
      prices: ['path', 'world'],
    },
    futures: {
      prices: ['feed', 'noise', 'path', 'world'],
    },
  },
  http: {
    gate: {
      answer: ['rate-headers'],
      input: ['body'],
      openapi: ['openapi'],
      problem: ['problem', 'refusals', 'shape'],
      readers: ['desk'],
    },
    input: {
      answer: ['integer'],
      problem: ['problem', 'refusals'],
    },
    openapi: {
      problem: ['problem'],
    },
    problem: {
      answer: ['integer', 'rate-headers'],
    },
    profiles: {
      answer: ['etag'],
    },
    readers: {
      gate: ['gate'],
      problem: ['refusals'],
      profiles: ['profiles'],
    },
  },
  api: {
    account: {
      keys: ['form', 'limit-rows', 'row', 'tier-shape'],
    },
    analytics: {
      fundamentals: ['storage-row'],
      prices: ['row'],
    },
    billing: {
      keys: ['row', 'tier-shape'],
    },
    catalogue: {
      keys: ['limit-rows', 'tier-shape'],
      prices: ['row', 'texts'],
    },
    condition: {
      catalogue: ['commodity-row'],
    },
    deliveries: {
      account: ['account-form'],
      keys: ['row'],
    },
    drilling: {
      energy: ['answer', 'frame', 'list'],
    },
    fuels: {
      prices: ['row', 'window-query'],
    },
    fundamentals: {
      energy: ['answer', 'frame', 'list'],
    },
    futures: {
      prices: ['window-query'],
    },
    messages: {
      keys: ['row'],
    },
    operator: {
      account: ['account-form', 'session-row'],
      billing: ['form', 'row'],
      keys: ['form', 'row', 'tier-shape'],
      sources: ['row'],
    },
    spreadsheet: {
      prices: ['row'],
    },
    watches: {
      keys: ['row'],
    },
    webhooks: {
      keys: ['row'],
    },
  },
}
