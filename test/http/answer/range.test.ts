import { expect, test } from 'bun:test'
import { rangeHolds, rangeOf } from '../../../src/http/answer/range.ts'

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

test.each([
  ['bytes=0-9', { first: 0, last: 9 }],
  ['BYTES=0-9', { first: 0, last: 9 }],
  ['bytes=90-', { first: 90, last: 99 }],
  ['bytes=-10', { first: 90, last: 99 }],
  ['bytes=-1000', { first: 0, last: 99 }],
  ['bytes=0-1000', { first: 0, last: 99 }],
  ['bytes=100-', 'none'],
  ['bytes=-0', 'none'],
  ['bytes=9-0', undefined],
  ['bytes=0-1,5-6', undefined],
  ['items=0-9', undefined],
  [null, undefined],
] as const)('Range: %p of 100 bytes is %p', (header, expected) => {
  expect(rangeOf(header, 100)).toEqual(expected)
})
