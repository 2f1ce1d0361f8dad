/** One reading of a source. */
export interface Run {
  started_at: string
  finished_at: string | null
  result: string | null
  inserted: number
  revised: number
  problem: { message: string } | null
}

/** A public feed of this instance, as `GET /admin/v1/feeds` returns it. */
export interface Feed {
  name: string
  title: string
  homepage: string
  attribution: string
  license_class: 'open' | 'view'
  state: string
  codes: number
  last_new_at: string | null
  next_run_at: string | null
  last_run: Run | null
}
