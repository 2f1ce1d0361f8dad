/** What comes next by a number: the least first, equal ones in any order. */
export interface Heap<T> {
  readonly size: number
  push(at: number, value: T): void
  peek(): { at: number; value: T } | undefined
  pop(): { at: number; value: T } | undefined
  clear(): void
}

export function createHeap<T>(): Heap<T> {
  const held: { at: number; value: T }[] = []
  const swap = (a: number, b: number) => {
    const moved = held[a]!
    held[a] = held[b]!
    held[b] = moved
  }
  const sink = () => {
    for (let i = 0; ; ) {
      const left = 2 * i + 1
      if (left >= held.length) return
      const least = left + 1 < held.length && held[left + 1]!.at < held[left]!.at ? left + 1 : left
      if (held[i]!.at <= held[least]!.at) return
      swap(i, least)
      i = least
    }
  }
  return {
    get size() {
      return held.length
    },
    push(at, value) {
      held.push({ at, value })
      for (let i = held.length - 1; i > 0; ) {
        const parent = (i - 1) >> 1
        if (held[parent]!.at <= held[i]!.at) return
        swap(parent, i)
        i = parent
      }
    },
    peek: () => held[0],
    pop() {
      const first = held[0]
      const last = held.pop()
      if (held.length > 0 && last) {
        held[0] = last
        sink()
      }
      return first
    },
    clear() {
      held.length = 0
    },
  }
}
