import type { ObservationStore } from './observations.ts'

const pageRows = 5_000

export interface ExportedRow {
  code: string
  observedAt: number
  value: number
  currency: string | null
}

/**
 * The current values of series, by code and time, page by page: no statement stays open between two
 * pages.
 */
export function* observationPages(
  observations: ObservationStore,
  series: readonly { id: number; code: string; currency: string | null }[],
): Generator<ExportedRow[]> {
  for (const { id, code, currency } of [...series].sort((a, b) => (a.code < b.code ? -1 : 1))) {
    let after = Number.MIN_SAFE_INTEGER
    for (;;) {
      const page = observations.after(id, after, pageRows)
      if (page.length > 0)
        yield page.map(({ observedAt, value }) => ({ code, observedAt, value, currency }))
      if (page.length < pageRows) break
      after = page.at(-1)!.observedAt
    }
  }
}
