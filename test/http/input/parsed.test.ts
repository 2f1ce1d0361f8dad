import { expect, test } from 'bun:test'
import { parsed, queryParser, textParameter } from '../../../src/http/input/typed.ts'

const parse = queryParser({
  limit: parsed.integer('Rows', [1, 50], 10),
  order: parsed.word(['newest', 'oldest'], 'Order of the rows.', 'oldest', { default: 'newest' }),
  kind: parsed.word(['file', 'push'], 'Only this kind.', 'file'),
  all: parsed.flag('Whether all rows are returned.', true, { default: false }),
  search: textParameter('Text.', 'wti'),
})!

test('parsed parameters that are absent or empty have their defaults, or are undefined', () => {
  const values = { limit: 10, order: 'newest', kind: undefined, all: false }
  expect({ ...parse({}) }).toEqual(values)
  expect({ ...parse({ limit: '', order: '', kind: '', all: '' }) }).toEqual(values)
})

test('parsed parameters are numbers, words in any case, and flags; others stay texts', () => {
  expect({
    ...parse({ limit: '50', order: 'OLDEST', kind: 'push', all: 'yes', search: '7' }),
  }).toEqual({ limit: 50, order: 'oldest', kind: 'push', all: true, search: '7' })
})

test('a value outside of what a parameter describes is refused when the handler reads it', () => {
  const values = parse({ limit: '51', order: 'sideways' })
  expect(() => values.order).toThrow('order must be newest or oldest; got "sideways".')
  expect(() => values.limit).toThrow('limit must be a whole number from 1 to 50; got "51".')
  expect(values.all).toBe(false)
})

test('a query without parsed parameters is passed on as it is', () => {
  expect(queryParser({ search: textParameter('Text.', 'wti') })).toBeUndefined()
})
