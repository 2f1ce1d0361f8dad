/** A public source that the copy reads, as `GET /admin/v1/feeds` answers it. */
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
  last_run: { result: string | null; problem: { message: string } | null } | null
}
