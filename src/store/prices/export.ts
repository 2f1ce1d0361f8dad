import type { ObservationStore } from './observations.ts'
import type { OfSource, Withheld } from './withheld.ts'

const pageRows = 5_000

export interface ExportedRow {
  code: string
  observedAt: number
  value: number
  currency: string | null
}

/**
 * The current values of series, by code and time, page by page, without those that are withheld,
 * and with `ofSource` only those of one source: no statement stays open between two pages.
 */
export function* observationPages(
  observations: ObservationStore,
  series: readonly { id: number; code: string; currency: string | null }[],
  withheld: Withheld,
  ofSource?: OfSource,
): Generator<ExportedRow[]> {
  for (const { id, code, currency } of [...series].sort((a, b) => (a.code < b.code ? -1 : 1))) {
    let after = Number.MIN_SAFE_INTEGER
    const left = withheld(id)
    const only = ofSource?.(id)
    if (only?.size === 0) continue
    for (;;) {
      const page = observations.after(id, after, pageRows)
      const kept =
        left || only
          ? page.filter(row => !left?.has(row.observedAt) && only?.has(row.observedAt) !== false)
          : page
      if (kept.length > 0)
        yield kept.map(({ observedAt, value }) => ({ code, observedAt, value, currency }))
      if (page.length < pageRows) break
      after = page.at(-1)!.observedAt
    }
  }
}
