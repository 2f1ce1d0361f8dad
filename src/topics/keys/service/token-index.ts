import { tokenCharacters, writeTokenHash } from '../../../lib/secrets/token.ts'

const hashBytes = 32
const hashWords = hashBytes / 4
const capacityMin = 64
/** Fuller tables have long runs of hashes to look through. */
const fullest = 3 / 4

/**
 * An open-addressed table of hashes in one array and their holders in another. With many keys each
 * is rarely used, so every object on the way to it comes from slow memory. Here one hash is
 * compared; a Map by name would read the name, its text and the objects before them.
 */
export function createTokenIndex<Holder>() {
  let hashes = new Uint32Array(capacityMin * hashWords)
  let holders = new Array<Holder | undefined>(capacityMin).fill(undefined)
  let size = 0
  const sought = new Uint32Array(hashWords)
  const soughtBytes = new Uint8Array(sought.buffer)
  /**
   * The hash of the last token: a replica looks it up twice per request, before forwarding and at
   * the gate.
   */
  let newest: string | undefined

  const isAt = (slot: number): boolean => {
    for (let i = 0; i < hashWords; i += 1)
      if (hashes[slot * hashWords + i] !== sought[i]) return false
    return true
  }
  /** The slot of the current hash, or the empty slot where it belongs. */
  const slotOf = (): number => {
    // SHA-256 spreads them evenly already.
    let slot = sought[0]! & (holders.length - 1)
    while (holders[slot] !== undefined && !isAt(slot)) slot = (slot + 1) & (holders.length - 1)
    return slot
  }
  const seek = (hash: Uint8Array) => {
    newest = undefined
    soughtBytes.set(hash)
  }
  const putSought = (holder: Holder) => {
    const slot = slotOf()
    if (holders[slot] === undefined) size += 1
    hashes.set(sought, slot * hashWords)
    holders[slot] = holder
  }
  /** Puts what stood in a slot of `from` where it belongs now. */
  const putAgain = (from: Uint32Array, slot: number, holder: Holder) => {
    sought.set(from.subarray(slot * hashWords, (slot + 1) * hashWords))
    putSought(holder)
  }
  const empty = (capacity: number) => {
    hashes = new Uint32Array(capacity * hashWords)
    holders = new Array<Holder | undefined>(capacity).fill(undefined)
    size = 0
  }
  const grow = () => {
    const before = { hashes, holders }
    empty(holders.length * 2)
    for (const [slot, holder] of before.holders.entries())
      if (holder !== undefined) putAgain(before.hashes, slot, holder)
  }

  return {
    /** How many hashes it has. */
    get size() {
      return size
    },
    put(hash: Uint8Array, holder: Holder) {
      if (size >= holders.length * fullest) grow()
      seek(hash)
      putSought(holder)
    },
    remove(hash: Uint8Array) {
      seek(hash)
      let slot = slotOf()
      if (holders[slot] === undefined) return
      holders[slot] = undefined
      size -= 1
      // Whatever was put behind it is put again: a look-up ends at the first empty slot.
      for (;;) {
        slot = (slot + 1) & (holders.length - 1)
        const holder = holders[slot]
        if (holder === undefined) return
        holders[slot] = undefined
        size -= 1
        putAgain(hashes, slot, holder)
      }
    },
    clear() {
      newest = undefined
      empty(capacityMin)
    },
    /** The holder of a token; undefined: unknown. */
    find(token: string): Holder | undefined {
      if (token !== newest) {
        if (token.length !== tokenCharacters) return undefined
        writeTokenHash(token, soughtBytes)
        newest = token
      }
      return holders[slotOf()]
    },
  }
}
