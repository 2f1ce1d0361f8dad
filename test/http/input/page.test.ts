import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { answeredPage, pageOf } from '../../../src/http/input/page.ts'
import { runs } from '../../support/full.ts'

/** The address of page 3 as the first of the links names it. */
function linked(url: string): string {
  const headers: Record<string, string> = {}
  const page = pageOf({ page: '2', per_page: '10' }, 100)
  answeredPage(page, { request: new Request(url), headers }).meta(100)
  return /<([^>]*)>; rel="next"/.exec(headers.link!)![1]!
}

/** The same by the parser of addresses alone. */
function parsed(url: string): string {
  const address = new URL(url)
  address.searchParams.delete('api_key')
  address.searchParams.set('page', '3')
  return address.href
}

test('the address of another page is that of the request with its page and without its key', () => {
  const texts = fc.string({ unit: fc.constantFrom(...'aZ9_.*-:,%+ /?é&=') })
  const names = fc.constantFrom('by_code', 'start_date', 'page', 'api_key', 'my.page', '', 'a b')
  const parameters = fc.array(fc.tuple(names, fc.constantFrom('=', ''), texts), { maxLength: 5 })
  fc.assert(
    fc.property(parameters, fc.boolean(), (all, isEncoded) => {
      const query = all.map(
        ([name, equals, text]) => name + equals + (isEncoded ? encodeURIComponent(text) : text),
      )
      const url = new URL(`http://localhost/v1/prices/historical?${query.join('&')}`).href
      expect(linked(url)).toBe(parsed(url))
    }),
    { numRuns: runs(3_000) },
  )
  expect(linked('http://localhost/v1/x?by_code=A,B&start_date=2026-11-01T00:00:00Z')).toBe(
    'http://localhost/v1/x?by_code=A%2CB&start_date=2026-11-01T00%3A00%3A00Z&page=3',
  )
})
