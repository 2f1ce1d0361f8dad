import { expect, test } from 'bun:test'
import { tsvRows } from '../../../src/lib/text/tsv.ts'

test('a table with tabs becomes rows by the names of its header, in camel case', () => {
  const rows = tsvRows<'code' | 'shortCode'>('code\tshort_code\nSGSIN\tSIN\nNLRTM\t\nUSHOU\n')
  expect(rows).toEqual([
    { code: 'SGSIN', shortCode: 'SIN' },
    { code: 'NLRTM', shortCode: '' },
    { code: 'USHOU', shortCode: '' },
  ])
})
