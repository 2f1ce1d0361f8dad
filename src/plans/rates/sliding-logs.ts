/**
 * A slot: fingerprint high, fingerprint low, node of the newest entry, number of entries, and in two
 * words the time of the oldest entry. Low 0 is an empty slot.
 */
const slotWords = 6
const slotBytes = 4 * slotWords
/** A node: a time, how many entries have it, and the next node. */
const nodeBytes = 12
const sizeMin = 16

/**
 * A store found full is believed to be full for this part of the window, so that a crowd cannot
 * have it searched for every request.
 */
const retryShare = 1 / 16
/** A rebuild that gains less than this is not worth its time. */
const gainMin = 17 / 16

/** Where the time of a slot's oldest entry lies. */
const oldestAt = (slot: number): number => slot / 2 + 2

/** Times of nodes are relative to a base; a time further from it than this needs a later base. */
const farthest = 2 ** 32 - 1

/**
 * Logs of admission times by 64-bit fingerprint, in typed arrays: an open-addressed table of slots,
 * and nodes that form one circular list per log; the newest node is known, and its successor is the
 * oldest. Times are whole milliseconds and must not decrease. A log of one admission takes 36
 * bytes, each further one 12, and none within the same millisecond: a log that is written without
 * pause has at most as many nodes as its window has milliseconds. A log without expired entries is
 * counted without reading its nodes, which are in slow memory when there are many logs. Nothing is
 * deleted one by one: when slots or nodes run short the live part is copied into arrays of twice
 * its size (at most `bytesMax`), which forgets idle logs. The first new key one window later has
 * the arrays copied again, so that memory is released after a crowd.
 */
export class SlidingLogs {
  keys = 0
  private slots: Uint32Array
  /** The same memory: the time at `oldestAt(slot)`. */
  private slotTimes: Float64Array
  /** Milliseconds since `base`. */
  private times: Uint32Array
  /** Entries with that time. */
  private counts: Uint32Array
  private next: Uint32Array
  private base: number
  /** Nodes from here on were never used; node 0 means none. */
  private fresh = 1
  private freed = 0
  private freedCount = 0
  private rebuildAfter = Number.NEGATIVE_INFINITY
  private shrinkAfter = Number.POSITIVE_INFINITY
  private readonly windowMs: number
  private readonly bytesMax: number

  constructor(windowMs: number, bytesMax: number, slotCount = sizeMin, nodeCount = sizeMin) {
    this.windowMs = windowMs
    this.bytesMax = bytesMax
    this.base = -windowMs
    this.slots = new Uint32Array(slotCount * slotWords)
    this.slotTimes = new Float64Array(this.slots.buffer)
    this.times = new Uint32Array(nodeCount)
    this.counts = new Uint32Array(nodeCount)
    this.next = new Uint32Array(nodeCount)
  }

  get bytes(): number {
    return this.slots.byteLength + this.times.length * nodeBytes
  }

  /** The slot of a fingerprint, or -1. Good until the next `add` or `push`. */
  find(high: number, low: number): number {
    const { slots } = this
    for (let at = this.home(low); ; at = at + slotWords === slots.length ? 0 : at + slotWords) {
      if (slots[at + 1] === 0) return -1
      if (slots[at + 1] === low && slots[at] === high) return at
    }
  }

  /** A slot for a fingerprint that has none, or -1 when the store is full of live logs. */
  add(high: number, low: number, now: number): number {
    const short = (this.keys + 1) * 5 > (this.slots.length / slotWords) * 4 || this.spare() === 0
    if ((short || now >= this.shrinkAfter) && !this.rebuild(now) && short) return -1
    return this.place(high, low)
  }

  /** Drops what is older than the window from a log and returns how many entries are left. */
  prune(at: number, now: number): number {
    const { slots, slotTimes, times, counts, next } = this
    let count = slots[at + 3]!
    if (count === 0 || now - slotTimes[oldestAt(at)]! < this.windowMs) return count
    const expired = now - this.windowMs - this.base
    const newest = slots[at + 2]!
    let oldest = next[newest]!
    while (count > 0 && times[oldest]! <= expired) {
      const after = next[oldest]!
      count -= counts[oldest]!
      next[oldest] = this.freed
      this.freed = oldest
      this.freedCount += 1
      oldest = after
    }
    if (count > 0) {
      next[newest] = oldest
      slotTimes[oldestAt(at)] = this.base + times[oldest]!
    }
    slots[at + 3] = count
    return count
  }

  /**
   * Adds `now` to a log and returns the slot it has afterwards; -1 when there is no memory for it.
   */
  push(at: number, now: number): number {
    if (this.countInNewest(at, now)) return at
    if (this.spare() > 0) {
      this.append(at, now, 1)
      return at
    }
    const [high, low] = [this.slots[at]!, this.slots[at + 1]!]
    if (!this.rebuild(now)) return -1
    const existing = this.find(high, low)
    const slot = existing < 0 ? this.place(high, low) : existing
    this.append(slot, now, 1)
    return slot
  }

  /** Entries of a log, expired ones that no one pruned included. */
  size(at: number): number {
    return this.slots[at + 3]!
  }

  /** The time of the entry that is `index` after the oldest. */
  time(at: number, index: number): number {
    let node = this.next[this.slots[at + 2]!]!
    for (let left = index - this.counts[node]!; left >= 0; left -= this.counts[node]!)
      node = this.next[node]!
    return this.base + this.times[node]!
  }

  newest(at: number): number {
    return this.base + this.times[this.slots[at + 2]!]!
  }

  /**
   * How many entries of a log are younger than the window, and so how many a `prune` would leave.
   * Changes nothing.
   */
  live(at: number, now: number): number {
    let count = this.slots[at + 3]!
    if (count === 0 || now - this.slotTimes[oldestAt(at)]! < this.windowMs) return count
    const expired = now - this.windowMs - this.base
    let node = this.next[this.slots[at + 2]!]!
    while (count > 0 && this.times[node]! <= expired) {
      count -= this.counts[node]!
      node = this.next[node]!
    }
    return count
  }

  /** Calls `visit` with every live log: fingerprint and times, oldest first. */
  each(now: number, visit: (high: number, low: number, times: number[]) => void): void {
    const { slots } = this
    for (let at = 0; at < slots.length; at += slotWords) {
      if (!this.isLive(at, now)) continue
      const times: number[] = []
      this.eachNode(at, now, (time, count) => {
        for (let i = 0; i < count; i += 1) times.push(time)
      })
      visit(slots[at]!, slots[at + 1]!, times)
    }
  }

  /** Whether there is a log in a slot, and anything in it younger than the window. */
  private isLive(at: number, now: number): boolean {
    const { slots } = this
    return slots[at + 1] !== 0 && slots[at + 3]! > 0 && now - this.newest(at) < this.windowMs
  }

  /** Calls `visit` with every live node of a log, oldest first. */
  private eachNode(at: number, now: number, visit: (time: number, count: number) => void): void {
    let node = this.next[this.slots[at + 2]!]!
    for (let left = this.slots[at + 3]!; left > 0; node = this.next[node]!) {
      const time = this.base + this.times[node]!
      if (now - time < this.windowMs) visit(time, this.counts[node]!)
      left -= this.counts[node]!
    }
  }

  private home(low: number): number {
    return Math.floor((low * (this.slots.length / slotWords)) / 2 ** 32) * slotWords
  }

  private spare(): number {
    return this.times.length - this.fresh + this.freedCount
  }

  private place(high: number, low: number): number {
    const { slots } = this
    let at = this.home(low)
    while (slots[at + 1] !== 0) at = at + slotWords === slots.length ? 0 : at + slotWords
    slots[at] = high
    slots[at + 1] = low
    this.keys += 1
    return at
  }

  /** Where the newest entry of a log has this very time, nothing but its number changes. */
  private countInNewest(at: number, now: number): boolean {
    if (this.slots[at + 3] === 0 || this.newest(at) !== now) return false
    this.counts[this.slots[at + 2]!]! += 1
    this.slots[at + 3]! += 1
    return true
  }

  /** Adds a node of `count` entries to a log. */
  private append(at: number, now: number, count: number): void {
    if (now - this.base > farthest) this.moveBase(now)
    const { slots, next } = this
    let node = this.freed
    if (node > 0) {
      this.freed = next[node]!
      this.freedCount -= 1
    } else {
      node = this.fresh
      this.fresh += 1
    }
    this.times[node] = now - this.base
    this.counts[node] = count
    if (slots[at + 3]! > 0) {
      const newest = slots[at + 2]!
      next[node] = next[newest]!
      next[newest] = node
    } else {
      next[node] = node
      this.slotTimes[oldestAt(at)] = now
    }
    slots[at + 2] = node
    slots[at + 3]! += count
  }

  /** Makes all times relative to the start of the current window; needed once in seven weeks. */
  private moveBase(now: number): void {
    const base = now - this.windowMs
    for (let at = 0; at < this.slots.length; at += slotWords) {
      if (this.slots[at + 1] === 0 || this.prune(at, now) === 0) continue
      const newest = this.slots[at + 2]!
      let node = newest
      do {
        this.times[node]! -= base - this.base
        node = this.next[node]!
      } while (node !== newest)
    }
    this.base = base
  }

  /**
   * False when the live logs leave no room worth having, which is then believed for a part of the
   * window.
   */
  private rebuild(now: number): boolean {
    if (now < this.rebuildAfter) return false
    let [keys, nodes] = [1, 2]
    for (let at = 0; at < this.slots.length; at += slotWords) {
      if (!this.isLive(at, now)) continue
      keys += 1
      this.eachNode(at, now, () => {
        nodes += 1
      })
    }
    // Nodes get the larger margin, so newcomers run out of slots before they have taken the nodes
    // of the logs that are here already.
    const slotCount = Math.ceil(keys / 0.8) + 1
    const nodeCount = Math.ceil((nodes * 8) / 7) + 2
    const gain = Math.min(2, this.bytesMax / (slotCount * slotBytes + nodeCount * nodeBytes))
    if (gain < gainMin) {
      this.rebuildAfter = now + this.windowMs * retryShare
      return false
    }
    this.shrinkAfter = now + this.windowMs
    this.copy(
      now,
      Math.max(sizeMin, Math.floor(slotCount * gain)),
      Math.max(sizeMin, Math.floor(nodeCount * gain)),
    )
    return true
  }

  private copy(now: number, slotCount: number, nodeCount: number): void {
    const fresh = new SlidingLogs(this.windowMs, this.bytesMax, slotCount, nodeCount)
    fresh.base = now - this.windowMs
    for (let at = 0; at < this.slots.length; at += slotWords) {
      if (!this.isLive(at, now)) continue
      const to = fresh.place(this.slots[at]!, this.slots[at + 1]!)
      this.eachNode(at, now, (time, count) => fresh.append(to, time, count))
    }
    this.slots = fresh.slots
    this.slotTimes = fresh.slotTimes
    this.times = fresh.times
    this.counts = fresh.counts
    this.next = fresh.next
    this.base = fresh.base
    this.keys = fresh.keys
    this.fresh = fresh.fresh
    this.freed = 0
    this.freedCount = 0
  }
}
