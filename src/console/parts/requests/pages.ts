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

/** Every row of a paged list: a chart of a year needs all of its days. */
export async function allRows<A extends object, T>(
  path: string,
  rows: (answer: A) => readonly T[],
  { signal }: { signal: AbortSignal },
  get: Get = ask,
): Promise<T[]> {
  return (await pagesOf<A>(path, pagesMax, get, signal)).flatMap(answer => [...rows(answer)])
}

export interface Pages<A, T> extends Loaded<A[]> {
  rows: T[] | undefined
  /** How many rows there are on all pages. */
  total: number
  /** Shows the next page too; undefined: everything is shown. */
  more: (() => void) | undefined
}

/** Loads the first page of a list, and further pages on demand. */
export function usePages<A extends object, T>(
  path: string | undefined,
  rows: (answer: A) => readonly T[],
  get: Get = ask,
): Pages<A, T> {
  const wanted = useSignal({ path, count: 1 })
  const count = wanted.value.path === path ? wanted.value.count : 1
  const key = path && `${path} ${count}`
  const loaded = useLoaded(key, signal => pagesOf<A>(path!, count, get, signal))
  const last = loaded.data?.at(-1)
  const meta = last ? metaOf(last) : {}
  const all = loaded.data?.flatMap(answer => [...rows(answer)])
  return {
    ...loaded,
    rows: all,
    total: meta.total ?? meta.total_count ?? all?.length ?? 0,
    more: hasNext(meta)
      ? () => {
          wanted.value = { path, count: count + 1 }
        }
      : undefined,
  }
}

/** The props that a table needs to page through a list. */
export const pagedRows = <A, T>(pages: Pages<A, T>) => ({ of: pages, rows: pages.rows, pages })
