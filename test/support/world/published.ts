import type { DemoData } from '../../../src/demo/demo-data.ts'

/** Demo data as an instance writes it: its history first, then what is published. */
export interface PublishedData {
  /** Writes everything published up to a moment, that millisecond included. */
  advance(to: number): number
}

export function published(...data: readonly DemoData[]): PublishedData {
  let publishedTo: number | undefined
  return {
    advance(to) {
      if (publishedTo === undefined) {
        for (const { generate } of data) for (const _ of generate(to));
        publishedTo = to
      }
      const from = publishedTo
      if (from > to) return 0
      publishedTo = to + 1
      return data.reduce((count, { publish }) => count + publish(from, to + 1), 0)
    },
  }
}
