/** A priority queue by number: the lowest first, equal ones in any order. */
export interface Heap<T> {
  readonly size: number
  push(at: number, value: T): void
  peek(): { at: number; value: T } | undefined
  pop(): { at: number; value: T } | undefined
  clear(): void
}

export function createHeap<T>(): Heap<T> {
  const entries: { at: number; value: T }[] = []
  const swap = (a: number, b: number) => {
    const moved = entries[a]!
    entries[a] = entries[b]!
    entries[b] = moved
  }
  const sink = () => {
    for (let i = 0; ; ) {
      const left = 2 * i + 1
      if (left >= entries.length) return
      const least =
        left + 1 < entries.length && entries[left + 1]!.at < entries[left]!.at ? left + 1 : left
      if (entries[i]!.at <= entries[least]!.at) return
      swap(i, least)
      i = least
    }
  }
  return {
    get size() {
      return entries.length
    },
    push(at, value) {
      entries.push({ at, value })
      for (let i = entries.length - 1; i > 0; ) {
        const parent = (i - 1) >> 1
        if (entries[parent]!.at <= entries[i]!.at) return
        swap(parent, i)
        i = parent
      }
    },
    peek: () => entries[0],
    pop() {
      const first = entries[0]
      const last = entries.pop()
      if (entries.length > 0 && last) {
        entries[0] = last
        sink()
      }
      return first
    },
    clear() {
      entries.length = 0
    },
  }
}
