import { expect, test } from 'bun:test'
import { preferredType } from '../../../src/http/input/accept.ts'

const offered = ['application/json', 'text/csv'] as const

test.each([
  [null, undefined],
  ['', undefined],
  ['image/png', undefined],
  ['text/csv', 'text/csv'],
  ['TEXT/CSV; charset=utf-8', 'text/csv'],
  ['*/*', 'application/json'],
  ['application/*', 'application/json'],
  ['text/*', 'text/csv'],
  ['text/csv;q=0, application/json', 'application/json'],
  ['text/csv;q=0, */*', 'application/json'],
  ['text/csv;q=0', undefined],
  ['application/json;q=0, text/csv', 'text/csv'],
  ['application/json;q=0.5, text/csv', 'text/csv'],
  ['text/csv;q=0.5, application/json', 'application/json'],
  ['text/csv ; q=0.5 , */* ; q=0.1', 'text/csv'],
  ['text/csv, */*', 'text/csv'],
  ['text/csv;q=0.5, */*', 'text/csv'],
  ['application/json, text/csv', 'application/json'],
  ['text/csv, application/json', 'text/csv'],
  ['text/csv;q=high', undefined],
] as const)('Accept: %p prefers %p of JSON and CSV', (header, expected) => {
  expect(preferredType(header, offered)).toBe(expected)
})
