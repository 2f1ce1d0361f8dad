import { Fingerprint } from './fingerprint.ts'
import { SlidingLogs } from './sliding-logs.ts'

export interface RateOptions {
  /** Admissions in any window, unless a call overrides it. */
  limit: number
  windowMs: number
  /** A secret integer from 0 to 2^53 - 1; places keys where no one outside can foresee it. */
  seed: number
  /**
   * The memory the table may take, at least 1 MiB. 54 MiB hold a million clients of one request
   * each.
   */
  bytesMax?: number
}

/** One object per table, overwritten by the table's next call: read it at once. */
export interface RateDecision {
  admitted: boolean
  /** The limit this call was held to. */
  limit: number
  /** Admissions in the window, this one included. */
  used: number
  remaining: number
  /** Until the window is empty and the whole limit is free again; 0 when it is. */
  resetMs: number
  /** Until a request would be admitted at this limit; 0 when this one was, or would be. */
  retryAfterMs: number
}

/**
 * The state that a clean stop saves: seed, number of buckets, number of shared windows, then for
 * each live window, the shared ones first, its fingerprint (two numbers), length and the ages of
 * its admissions in ms, oldest first.
 */
export type RateSave = Float64Array

export interface RateTable {
  /**
   * Takes a slot if there is one. `nowMs` is monotonic time, of which whole milliseconds count; a
   * time before the last one seen counts as that one.
   */
  take(key: string, nowMs: number, limit?: number): RateDecision
  /**
   * The result that `take` would have, without taking a slot. `used` and `remaining` exclude this
   * call.
   */
  peek(key: string, nowMs: number, limit?: number): RateDecision
  /** Forgets everything. */
  clear(): void
  save(nowMs: number): RateSave
  /**
   * Brings what `save` kept `downMs` ago into a table without traffic yet. False, and nothing done,
   * if seed, limit or memory differ.
   */
  load(saved: RateSave, nowMs: number, downMs: number): boolean
  /** Keys with a log, idle ones not yet dropped included. */
  readonly keys: number
  /** Bytes held by the table's arrays; at most `bytesMax`. */
  readonly bytes: number
  /** Keys are sharing windows because the memory is used up. */
  readonly crowded: boolean
}

const shardBits = 6
const shardCount = 1 << shardBits
const bytesMaxDefault = 54 * 2 ** 20
const bytesMaxLeast = 2 ** 20
const bucketsMax = 65_536
const slotBytesPerBucket = 30
const nodeBytes = (12 * 8) / 7

/**
 * Exact sliding windows by key: a request is admitted if and only if fewer than the limit were
 * admitted in the `windowMs` before it, by a clock of whole milliseconds; one admitted at t no
 * longer counts at t + windowMs, and a refused one never counts. Calls for one key share its log
 * whatever limit they give.
 *
 * Keys are spread over 64 stores, so that no single growth or cleaning takes long. There are no
 * timers: the calls that need room do the cleaning.
 *
 * When live windows fill the memory, the table must limit something. Dropping the oldest window
 * would let a crowd of addresses gain fresh windows unnoticed. So no live window is ever dropped;
 * instead new keys share windows, one for each of up to 65,536 buckets by fingerprint. No key is
 * ever admitted more often than its limit, and keys that had a window keep it: an eighth of the
 * memory for admissions is reserved for them, and beyond it such a key is refused until its own
 * admission expires. New keys may be refused because of another one in the same bucket, until the
 * crowd has been gone for one window: a bucket stays in use until it is empty, because the keys in
 * it are not recorded. Otherwise two keys share a window only if their 64-bit keyed fingerprints
 * are equal, a chance of three in a hundred million for a million keys.
 */
export function createRateTable(options: RateOptions): RateTable {
  return new Table(options)
}

class Table implements RateTable {
  private readonly limit: number
  private readonly windowMs: number
  private readonly seed: number
  /** The nodes of one full log: admissions of one millisecond share a node. */
  private readonly nodesMax: number
  private readonly shardBytes: number
  private readonly buckets: number
  private readonly fingerprint: Fingerprint
  private readonly decision: RateDecision = {
    admitted: false,
    limit: 0,
    used: 0,
    remaining: 0,
    resetMs: 0,
    retryAfterMs: 0,
  }
  /** Each is made when a key of it first comes: a server has many tables, and most of them rest. */
  private readonly shards: (SlidingLogs | undefined)[] = Array.from({ length: shardCount })
  private shared: SlidingLogs | undefined
  /** When the youngest admission of any bucket expires. */
  private sharedUntil = Number.NEGATIVE_INFINITY
  private latest = Number.NEGATIVE_INFINITY

  constructor({ limit, windowMs, seed, bytesMax = bytesMaxDefault }: RateOptions) {
    if (!Number.isSafeInteger(seed) || seed < 0)
      throw new Error(`seed: ${seed} is not an integer from 0 to 2^53 - 1`)
    if (!(limit >= 0 && windowMs > 0))
      throw new Error(`limit, windowMs: ${limit}, ${windowMs} are not 0 or more and above 0`)
    if (!(bytesMax >= bytesMaxLeast))
      throw new Error(`bytesMax: ${bytesMax} is not ${bytesMaxLeast} or more`)
    this.limit = limit
    this.windowMs = windowMs
    this.seed = seed
    this.nodesMax = Math.min(limit, windowMs)
    this.fingerprint = new Fingerprint(seed)
    this.buckets = Math.min(
      bucketsMax,
      Math.floor(bytesMax / 8 / (slotBytesPerBucket + this.nodesMax * nodeBytes)),
    )
    if (this.buckets < 1)
      throw new Error(`bytesMax: ${bytesMax} is too little for a limit of ${limit}`)
    this.shardBytes = Math.floor((bytesMax * 13) / 16 / shardCount)
  }

  get keys(): number {
    return this.shards.reduce((sum, logs) => sum + (logs?.keys ?? 0), 0)
  }

  get bytes(): number {
    return this.shards.reduce((sum, logs) => sum + (logs?.bytes ?? 0), this.shared?.bytes ?? 0)
  }

  get crowded(): boolean {
    return this.latest < this.sharedUntil
  }

  take(key: string, nowMs: number, limit = this.limit): RateDecision {
    const { high, low } = this.fingerprintOf(key)
    const now = this.advance(nowMs)
    const logs = this.shardOf(high)
    let slot = logs.find(high, low)
    if (slot < 0) {
      if (this.usedBucket(high, now) >= 0) return this.takeShared(high, now, limit)
      slot = logs.add(high, low, now)
      if (slot < 0) return this.takeShared(high, now, limit)
    }
    return this.admit(logs, slot, now, limit)
  }

  peek(key: string, nowMs: number, limit = this.limit): RateDecision {
    const { high, low } = this.fingerprintOf(key)
    const now = this.advance(nowMs)
    const logs = this.shardOf(high)
    const slot = logs.find(high, low)
    if (slot >= 0) return this.describe(logs, slot, logs.live(slot, now), now, limit)
    const bucket = this.usedBucket(high, now)
    if (bucket < 0) return this.describe(logs, -1, 0, now, limit)
    return this.describe(
      this.shared!,
      bucket,
      this.shared!.live(bucket, now),
      now,
      Math.min(limit, this.limit),
    )
  }

  clear(): void {
    this.shards.fill(undefined)
    this.shared = undefined
    this.sharedUntil = Number.NEGATIVE_INFINITY
  }

  save(nowMs: number): RateSave {
    const now = this.advance(nowMs)
    const values = [this.seed, this.buckets, 0]
    const put = (high: number, low: number, times: readonly number[]) => {
      values.push(high, low, times.length)
      for (const time of times) values.push(now - time)
    }
    this.shared?.each(now, (high, low, times) => {
      values[2]! += 1
      put(high, low, times)
    })
    for (const logs of this.shards) logs?.each(now, put)
    return Float64Array.from(values)
  }

  load(saved: RateSave, nowMs: number, downMs: number): boolean {
    if (saved[0] !== this.seed || saved[1] !== this.buckets) return false
    const now = this.advance(nowMs)
    const start = now - Math.max(0, Math.floor(downMs))
    let sharedLeft = saved[2]!
    for (let i = 3; i < saved.length; i += 3 + saved[i + 2]!) {
      const [high, low] = [saved[i]!, saved[i + 1]!]
      const ages = saved.subarray(i + 3, i + 3 + saved[i + 2]!)
      if (sharedLeft > 0) this.restore(this.sharedLogs(), high, low, ages, start, now)
      else this.restore(this.shardOf(high), high, low, ages, start, now)
      sharedLeft -= 1
    }
    if (this.shared) this.sharedUntil = now + this.windowMs
    return true
  }

  private restore(
    logs: SlidingLogs,
    high: number,
    low: number,
    ages: Float64Array,
    start: number,
    now: number,
  ): void {
    // An earlier version kept parts of milliseconds.
    const times = ages
      .map(age => start - Math.floor(age))
      .filter(time => now - time < this.windowMs)
    if (times.length === 0) return
    let slot = logs.add(high, low, now)
    for (const time of times) {
      if (slot >= 0) slot = logs.push(slot, time)
      // A full store that is filled again packs a little worse; the rest is shared, as late as can
      // be.
      if (slot < 0) this.takeShared(high, now, this.limit)
    }
  }

  private fingerprintOf(key: string): Fingerprint {
    this.fingerprint.of(key)
    return this.fingerprint
  }

  private shardOf(high: number): SlidingLogs {
    const shard = high >>> (32 - shardBits)
    this.shards[shard] ??= new SlidingLogs(this.windowMs, this.shardBytes)
    return this.shards[shard]
  }

  /**
   * The clock never runs back, so that every log stays in order, and goes by whole milliseconds, so
   * that a busy log is short.
   */
  private advance(nowMs: number): number {
    if (nowMs >= this.latest + 1) this.latest = Math.floor(nowMs)
    return this.latest
  }

  private admit(logs: SlidingLogs, slot: number, now: number, limit: number): RateDecision {
    const count = logs.prune(slot, now)
    if (count >= limit) return this.describe(logs, slot, count, now, limit)
    const pushed = logs.push(slot, now)
    if (pushed >= 0) {
      const decision = this.describe(logs, pushed, count + 1, now, limit)
      decision.admitted = true
      decision.retryAfterMs = 0
      return decision
    }
    const decision = this.describe(logs, slot, count, now, limit)
    decision.admitted = false
    decision.remaining = 0
    decision.retryAfterMs = count > 0 ? logs.time(slot, 0) + this.windowMs - now : this.windowMs
    return decision
  }

  /**
   * A call may hold a key to less than its log already has: then more than one admission must
   * expire first.
   */
  private describe(
    logs: SlidingLogs,
    slot: number,
    count: number,
    now: number,
    limit: number,
  ): RateDecision {
    const { decision, windowMs } = this
    decision.admitted = count < limit
    decision.limit = limit
    decision.used = count
    decision.remaining = Math.max(0, limit - count)
    decision.resetMs = count > 0 ? logs.newest(slot) + windowMs - now : 0
    decision.retryAfterMs = 0
    if (count >= limit)
      decision.retryAfterMs =
        limit > 0 ? logs.time(slot, logs.size(slot) - limit) + windowMs - now : windowMs
    return decision
  }

  private takeShared(high: number, now: number, limit: number): RateDecision {
    const logs = this.sharedLogs()
    const low = this.bucketOf(high)
    const slot = logs.find(0, low)
    const decision = this.admit(
      logs,
      slot < 0 ? logs.add(0, low, now) : slot,
      now,
      Math.min(limit, this.limit),
    )
    if (decision.admitted) this.sharedUntil = now + this.windowMs
    return decision
  }

  /** The slot of the key's bucket while admissions in it count, else -1. */
  private usedBucket(high: number, now: number): number {
    if (!this.shared) return -1
    if (now >= this.sharedUntil) {
      this.shared = undefined
      return -1
    }
    const slot = this.shared.find(0, this.bucketOf(high))
    return slot >= 0 && this.shared.live(slot, now) > 0 ? slot : -1
  }

  /** Large enough from the start for every bucket to be full, so it never has to refuse or grow. */
  private sharedLogs(): SlidingLogs {
    const slots = Math.ceil((this.buckets + 1) * 1.25) + 1
    const nodes = Math.ceil((this.buckets * this.nodesMax * 8) / 7) + 16
    this.shared ??= new SlidingLogs(this.windowMs, 0, slots, nodes)
    return this.shared
  }

  /** The low fingerprint of the bucket; the bits that chose the shard have no part in it. */
  private bucketOf(high: number): number {
    const bucket = Math.floor(((high << shardBits) >>> 0) * (this.buckets / 2 ** 32))
    return Math.imul(bucket + 1, 0x9e3779b1) >>> 0
  }
}
