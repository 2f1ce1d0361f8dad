import type { Calendar } from './calendar.ts'
import type { MapEntry } from './map.ts'

/** Whether what a publisher sends may be passed on (`open`) or only be checked (`view`). */
export type LicenseClass = 'open' | 'view'

/** A GET of a publisher. The publisher's own address is in it also where a mirror is configured. */
export interface PublisherRequest {
  url: string
  headers?: Readonly<Record<string, string>>
  /** A parameter that is added to the address when the request is sent, and is never stored. */
  secret?: { name: string; value: string }
  /** Only returns a response if it has changed since the last finished run; otherwise undefined. */
  ifChanged?: boolean
}

export interface PublisherAnswer {
  /** Where it came from in the end. */
  url: string
  headers: Readonly<Record<string, string>>
  bytes: Uint8Array
}

/** Gets what a publisher publishes, within its rate limit. Throws `FeedFault`. */
export interface PublisherClient {
  get(request: PublisherRequest & { ifChanged: true }): Promise<PublisherAnswer | undefined>
  get(request: PublisherRequest): Promise<PublisherAnswer>
  /** The body in pieces, for responses too large for memory. */
  stream(request: PublisherRequest): Promise<AsyncIterable<Uint8Array>>
  /**
   * A value that the last finished run stored under a name; undefined where everything must be read
   * again.
   */
  stored(name: string): string | undefined
  /** Stores a value for the next run, once this one is finished. */
  store(name: string, value: string): void
}

/** The request of a run. */
export interface Reading {
  entries: readonly MapEntry[]
  /** The first day that is wanted of an entry; undefined: all there is. */
  since(entry: MapEntry): string | undefined
  now: number
  key: string | undefined
}

/** One value as it was sent. */
export interface SentRow {
  /** As `periods.ts` stores it, of the kind in the map. */
  period: string
  /** Exact decimal text in the publisher's unit. */
  text: string
  /** The time of publication according to the publisher, Unix ms. */
  publishedAt?: number
}

/** The data of one entry of the map. Every requested entry has one, also without rows. */
export interface SentSeries {
  entry: MapEntry
  /** The unit as it was written; undefined where the publisher names none. */
  unit: string | undefined
  rows: readonly SentRow[]
  /** Periods without a value. */
  blanks: number
  /** Values that are not numbers. */
  faults: readonly { period: string; written: string }[]
  /** The first day from which the answer has everything; undefined: from the beginning. */
  covers: string | undefined
}

/** What the documentation says about a feed, in Markdown. */
export interface PublisherGuide {
  content: string
  /** The licence, and the kind of its key. */
  terms: string
  /** What the parser needs of the publisher's format, and the remedy when that changes. */
  format: string
}

/** One agency, exchange or bank, and how to read it. */
export interface Publisher {
  /** As in `[feeds.<name>]`. */
  name: string
  title: string
  publisher: string
  homepage: string
  licenseClass: LicenseClass
  /** The sentence that answers carry. */
  attribution: string
  /** Whether nothing is read without a key; `optional`: more is read with one. */
  key: 'needed' | 'optional' | 'none'
  /** Its rows on the page Publishers. */
  guide: PublisherGuide
  /** The hosts that it may be read from, the first one for `base_url`. */
  hosts: readonly string[]
  requestsPerSecond: number
  /** How far back a later run reads again, in days; 0 where every answer is the whole. */
  rereadDays: number
  calendar: Calendar
  read(client: PublisherClient, reading: Reading): AsyncIterable<SentSeries>
}
