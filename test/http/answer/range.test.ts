import { expect, test } from 'bun:test'
import { rangeHolds } from '../../../src/http/answer/range.ts'

const etag = '"abc"'
const modified = 'Fri, 13 Nov 2026 21:00:00 GMT'
const holds = (method: string, condition?: string) => {
  const headers = { range: 'bytes=0-9', ...(condition !== undefined && { 'if-range': condition }) }
  return rangeHolds(new Request('http://localhost/file', { method, headers }), etag, modified)
}

test('a range is honoured with the tag or the time of the file, and never for HEAD', () => {
  expect(['GET', 'HEAD'].map(method => holds(method))).toEqual([true, false])
  expect(holds('GET', etag)).toBe(true)
  expect(holds('GET', modified)).toBe(true)
  for (const other of ['"other"', 'W/"abc"', 'Fri, 13 Nov 2026 21:00:01 GMT'])
    expect(holds('GET', other), other).toBe(false)
})
