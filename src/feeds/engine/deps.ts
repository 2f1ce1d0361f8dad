import type { Runtime } from '../../config/runtime.ts'
import type { PublisherFetch } from '../../send/feeds/fetch.ts'
import type { DeliveryTerms, ResolutionFrom } from '../../topics/delivery/math/terms.ts'
import type { NewAuditEntry } from '../../topics/operator/store/audit.ts'
import type { Feed } from '../publishers/publishers.ts'
import type { FeedStore } from '../store/feeds.ts'
import type { ConfiguredFeeds } from './settings.ts'
import type { FeedWriter, RunningBatch } from './writer.ts'

/** The batch of a run, for values of one kind of period after the other. */
export interface FeedBatch {
  of(source: { name: string; periodKind: number }): RunningBatch
  count(counts: { unchanged: number; rejected: number; kept: number }): void
  end(): unknown
}

export interface FeedBatches {
  begin(start: { kind: 'feed'; actor: string; feedRunId: string }): FeedBatch
}

/** The lengths of delivery periods, which a publisher may change. */
export interface DeliveryPeriods {
  /** The terms of a code in force; undefined: its values are of moments. */
  termsOf(code: string): DeliveryTerms | undefined
  /** Values of a code come in shorter periods from a market day on. */
  shorten(code: string, from: ResolutionFrom): void
}

/** The dependencies of the feed engine. */
export interface FeedsDeps extends Pick<Runtime, 'ids' | 'log' | 'clock'> {
  batches: FeedBatches
  /** The audit trail. */
  audit: { note(entry: NewAuditEntry): void }
  feeds: () => readonly Feed[]
  configured: ConfiguredFeeds
  store: FeedStore
  writer: FeedWriter
  periods: DeliveryPeriods
  fetch: PublisherFetch
  /** Waits the given milliseconds before a publisher is polled again; absent: in real time. */
  wait?: ((ms: number) => Promise<void>) | undefined
  userAgent: string
  chance: () => number
  /** The slot in which an instance catches up after a start. */
  firstRunSlot: number
  seal(name: string, text: string): Uint8Array
  open(name: string, sealed: Uint8Array): string
}
