import { t } from '../answer/schema.ts'
import { integerOf } from './query.ts'
import { integerParameter } from './typed.ts'

export type PageRequest = ReturnType<typeof pageOf>

export interface Page extends PageRequest {
  /**
   * The meta object of the page among all rows; the headers of the response have the same values.
   */
  meta(total: number): PageMeta
}

export interface PageMeta {
  page: number
  per_page: number
  total: number
  total_pages: number
  has_next: boolean
  has_prev: boolean
}

export const PageMetaShape = t.Object(
  {
    page: t.integer({ examples: [1] }),
    per_page: t.integer({ examples: [100] }),
    total: t.integer({ examples: [250] }),
    total_pages: t.integer({ examples: [3] }),
    has_next: t.Boolean(),
    has_prev: t.Boolean(),
  },
  { title: 'Page', description: 'Position of the page among all pages.' },
)

export const pageQuery = (
  perPageMax: number,
  perPageDefault = perPageMax,
  limits = `1 to ${perPageMax}, default: ${perPageDefault}; more is served as ${perPageMax}.`,
) => ({
  page: integerParameter('Page, from 1. A page past the end is an empty list.', 1, {
    default: 1,
    minimum: 1,
  }),
  per_page: integerParameter(`Rows a page, ${limits}`, Math.min(100, perPageMax), {
    default: perPageDefault,
    minimum: 1,
    maximum: perPageMax,
  }),
})

/**
 * Page and page size of a query: below 1 or not an integer is refused, above the limit is cut to
 * it.
 */
export function pageOf(
  query: { page?: string; per_page?: string },
  perPageMax: number,
  perPageDefault = perPageMax,
) {
  const page = integerOf('page', query.page, 1, 1, 1e9)
  const perPage = Math.min(
    perPageMax,
    integerOf('per_page', query.per_page, perPageDefault, 1, 1e9),
  )
  return { page, perPage /** Rows before the page. */, offset: (page - 1) * perPage }
}

/** A page whose answer has these headers. */
export const answeredPage = (
  page: PageRequest,
  { request, headers }: { request: Request; headers: Record<string, string | number> },
): Page => ({
  ...page,
  meta(total) {
    const meta = pageMeta(page, total)
    pageHeaders(headers, request.url, meta)
    return meta
  },
})

function pageMeta({ page, perPage }: PageRequest, total: number): PageMeta {
  const pages = Math.ceil(total / perPage)
  return {
    page,
    per_page: perPage,
    total,
    total_pages: pages,
    has_next: page < pages,
    has_prev: page > 1 && pages > 0,
  }
}

/** Pagination headers, and `Link` with the pages that there are. */
function pageHeaders(headers: Record<string, string | number>, url: string, meta: PageMeta): void {
  headers['x-total'] = String(meta.total)
  headers['x-total-pages'] = String(meta.total_pages)
  headers['x-page'] = String(meta.page)
  headers['x-per-page'] = String(meta.per_page)
  headers['x-has-next'] = String(meta.has_next)
  const [before, after] = aroundPage(url)
  const link = (page: number, rel: string) => `<${before}${page}${after}>; rel="${rel}"`
  const last = Math.max(1, meta.total_pages)
  const links = [link(1, 'first')]
  if (headers.link !== undefined) links.unshift(String(headers.link))
  if (meta.has_prev) links.push(link(Math.min(meta.page - 1, last), 'prev'))
  if (meta.has_next) links.push(link(meta.page + 1, 'next'))
  headers.link = [...links, link(last, 'last')].join(', ')
}

/** Parameters that are written as they stand, but for colons and commas; none of them is a page. */
const plainAddress = /^[^?#]+\?(?:(?!page=|api_key=)[\w.*-]+=[\w.*:,-]*(?:&(?!$)|$))+$/

/** The address of a page before and after its page number. */
function aroundPage(url: string): [before: string, after: string] {
  if (plainAddress.test(url)) {
    const queryAt = url.indexOf('?')
    const query = url.slice(queryAt).replaceAll(':', '%3A').replaceAll(',', '%2C')
    return [`${url.slice(0, queryAt)}${query}&page=`, '']
  }
  const address = new URL(url)
  // A key in the address must not travel on in a header that ends up in logs.
  address.searchParams.delete('api_key')
  // The address is parsed and written once, because no parameter can contain the placeholder of the
  // page.
  address.searchParams.set('page', '-')
  return address.href.split(/(?<=[?&]page=)-/) as [string, string]
}
