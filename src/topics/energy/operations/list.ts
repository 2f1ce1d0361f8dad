import { type PageRequest, pageHeaders, pageMeta } from '../../../http/input/page.ts'
import { momentOf } from '../../../http/input/query.ts'
import { momentParameter } from '../../../http/input/typed.ts'
import type { Answering } from '../../../http/operations/answer.ts'
import { notFound, Problem } from '../../../http/problem/problem.ts'
import { energyMeta, energyPageOf } from './frame.ts'

export const rangeQuery = {
  start_date: momentParameter({
    description: 'First day, `YYYY-MM-DD`, inclusive.',
    examples: ['2026-01-01'],
  }),
  end_date: momentParameter({ description: 'Last day, inclusive.', examples: ['2026-11-20'] }),
}

/** The days of the query as half-open instants; all days where it names none. */
export function rangeOf(query: { start_date?: string; end_date?: string }): {
  from: number
  to: number
} {
  const from = momentOf('start_date', query.start_date, 'start') ?? Number.MIN_SAFE_INTEGER
  const to = momentOf('end_date', query.end_date, 'end') ?? Number.MAX_SAFE_INTEGER
  if (from < to) return { from, to }
  throw new Problem(
    'INVALID_DATE_RANGE',
    `start_date (${query.start_date}) is after end_date (${query.end_date}).`,
    {
      start_date: query.start_date ?? null,
      end_date: query.end_date ?? null,
    },
  )
}

/** Rows that a list has in all, and a stretch of them. */
export interface PagedRows<T> {
  total: number
  rows(limit: number, offset: number): readonly T[]
}

/** One page of a list, with the headers that lead to the others. */
export function energyPage<T, R>(
  query: { page?: string; per_page?: string },
  answer: { set: Answering; request: Request; tierRequired: string },
  list: PagedRows<T>,
  shape: (row: T) => R,
) {
  const page: PageRequest = energyPageOf(query)
  pageHeaders(answer.set.headers, answer.request.url, pageMeta(page, list.total))
  const data = list.rows(page.perPage, (page.page - 1) * page.perPage).map(shape)
  return { data, meta: energyMeta(answer.tierRequired, list.total, page) }
}

/** A list that is short by its nature, whole on one page. */
export function energyWholeList<R>(data: R[], tierRequired: string) {
  return {
    data,
    meta: energyMeta(tierRequired, data.length, { page: 1, perPage: Math.max(1, data.length) }),
  }
}

/** A single object. */
export const energyRecord = <R>(data: R, tierRequired: string) => ({
  data,
  meta: energyMeta(tierRequired),
})

/** Numbers of records are decimal, from 1. */
export function recordIdOf(text: string, subject: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw notFound(`${subject} ${text.slice(0, 100)}`)
  return Number(text)
}
