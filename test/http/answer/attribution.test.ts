import { expect, test } from 'bun:test'
import { sourceOf, toolOf } from '../../../src/http/answer/attribution.ts'

const from = (headers: Record<string, string>) => new Request('http://localhost/', { headers })

test.each([
  [undefined, 'api'],
  ['mcp', 'mcp'],
  ['Dashboard', 'dashboard'],
  ['sdk-python', 'sdk-python'],
  ['', 'api'],
  ['nobody', 'api'],
  ['sdk python', 'api'],
  ['sdk-<script>', 'api'],
  [`sdk-${'x'.repeat(31)}`, 'api'],
])('the channel %p is answered as %p', (channel, answered) => {
  expect(sourceOf(from(channel === undefined ? {} : { 'X-Desk-Source': channel }), 'X-Desk-')).toBe(
    answered,
  )
  expect(
    sourceOf(from(channel === undefined ? {} : { 'X-Other-Source': channel }), 'X-Desk-'),
  ).toBe('api')
})

test('a tool is named by a line of at most a hundred printable characters', () => {
  expect(toolOf(from({ 'X-Desk-Tool': ' price desk 2 ' }), 'X-Desk-')).toBe('price desk 2')
  expect(toolOf(from({ 'X-Desk-Tool': 'x'.repeat(200) }), 'X-Desk-')).toHaveLength(100)
  expect(toolOf(from({ 'X-Desk-Tool': ' ' }), 'X-Desk-')).toBeNull()
  expect(toolOf(from({}), 'X-Desk-')).toBeNull()
})
