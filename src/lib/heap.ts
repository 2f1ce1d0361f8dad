/** A priority queue by number: the lowest first, equal ones in any order. */
export type Heap<T> = ReturnType<typeof createHeap<T>>

export function createHeap<T>() {
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
    push(at: number, value: T) {
      entries.push({ at, value })
      for (let i = entries.length - 1; i > 0; ) {
        const parent = (i - 1) >> 1
        if (entries[parent]!.at <= entries[i]!.at) return
        swap(parent, i)
        i = parent
      }
    },
    peek: (): { at: number; value: T } | undefined => entries[0],
    pop(): { at: number; value: T } | undefined {
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
