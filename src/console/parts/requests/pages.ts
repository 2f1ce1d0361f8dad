import { useSignal } from '@preact/signals'
import { ask, type Loaded, useLoaded } from './ask.ts'

interface Meta {
  total?: number
  total_count?: number
  total_pages?: number
  has_next?: boolean
  page?: number
}

/** An answer that has its place among the pages in it, wherever the operation puts it. */
interface Paged {
  meta?: Meta
  data?: unknown
}

type Get = <T>(path: string, options?: { signal?: AbortSignal }) => Promise<T>

/** More pages than any list of the console has: a server that always names a next one is left. */
const pagesMax = 100

function metaOf(answer: object): Meta {
  const { meta, data } = answer as Paged
  return meta ?? (data as { meta?: Meta } | undefined)?.meta ?? {}
}

const hasNext = ({ has_next: next, page, total_pages: pages }: Meta): boolean =>
  next ?? (page !== undefined && pages !== undefined && page < pages)

const pathOf = (path: string, page: number): string =>
  page === 1 ? path : `${path}${path.includes('?') ? '&' : '?'}page=${page}`

/** The first pages of a list, in order, `count` of them or all that there are. */
async function pagesOf<A extends object>(
  path: string,
  count: number,
  get: Get,
  signal: AbortSignal,
): Promise<A[]> {
  const answers: A[] = []
  for (let page = 1; page <= count; page += 1) {
    const answer = await get<A>(pathOf(path, page), { signal })
    answers.push(answer)
    if (!hasNext(metaOf(answer))) break
  }
  return answers
}

/** The rows of a page: a field of the answer, or of its `data`. */
function rowsIn<T>(answer: object, field: string): readonly T[] {
  const { [field]: own, data } = answer as Record<string, unknown>
  return (own ?? (data as Record<string, unknown> | undefined)?.[field] ?? []) as T[]
}

/** Every row of a paged list: a chart of a year needs all of its days. */
export const allRows = async <T>(
  path: string,
  field: string,
  signal: AbortSignal,
  get: Get = ask,
): Promise<T[]> =>
  (await pagesOf(path, pagesMax, get, signal)).flatMap(answer => rowsIn<T>(answer, field))

export interface Pages<T, A = object> extends Loaded<A[]> {
  rows: T[] | undefined
  /** How many rows there are on all pages. */
  total: number
  /** Shows the next page too; undefined: everything is shown. */
  more: (() => void) | undefined
}

/** Loads the first page of a list, and further pages on demand. */
export function usePages<T, A extends object = object>(
  path: string | undefined,
  field: string,
  get: Get = ask,
): Pages<T, A> {
  const wanted = useSignal({ path, count: 1 })
  const count = wanted.value.path === path ? wanted.value.count : 1
  const key = path && `${path} ${count}`
  const loaded = useLoaded(key, signal => pagesOf<A>(path!, count, get, signal))
  const last = loaded.data?.at(-1)
  const meta = last ? metaOf(last) : {}
  const rows = loaded.data?.flatMap(answer => rowsIn<T>(answer, field))
  return {
    ...loaded,
    rows,
    total: meta.total ?? meta.total_count ?? rows?.length ?? 0,
    more: hasNext(meta)
      ? () => {
          wanted.value = { path, count: count + 1 }
        }
      : undefined,
  }
}

/** The props that a table needs to page through a list. */
export const pagedRows = <T, A>(pages: Pages<T, A>) => ({ of: pages, rows: pages.rows, pages })
