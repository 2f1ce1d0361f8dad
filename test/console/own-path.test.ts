import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ownPath } from '../../src/console/server/own-path.ts'
import { runs } from '../support/full.ts'

/** Where a browser on this site goes when it is sent to an address. */
const originOf = (location: string) =>
  new URL(location, 'https://prices.example.com/sign-in').origin

describe('ownPath', () => {
  test.each([
    '/series/WTI_USD?range=1y',
    '/',
    '/account#keys',
    '/a/../b',
    '/%2F%2Fexample.com',
    '/%5C%5Cexample.com',
  ])('leads to the page %p of this site', text => {
    const path = ownPath(text)
    expect(path).toStartWith('/')
    expect(originOf(path!)).toBe('https://prices.example.com')
  })

  test.each([
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/.//evil.example',
    '/./\\evil.example',
    '/a/..//evil.example',
    '/%2e//evil.example',
    '/%2E%2e//evil.example',
    '/.%2e/..//evil.example',
    '/\t/evil.example',
    '/\n\\evil.example',
    '/./\t/evil.example',
    '/a/../\r\\evil.example',
    'https://evil.example/',
    'javascript:alert(1)',
    'evil.example',
    '',
  ])('leads nowhere for %p', text => expect(ownPath(text)).toBeUndefined())

  test('never leads to another site, whatever was typed', () => {
    const parts = '/ \\ . .. %2e %2E%2e %2f %5c @ : ? # a evil.example https: javascript:'.split(
      ' ',
    )
    parts.push('\t', '\n', '\r', ' ', '\u3002', '\uff0f', '\u0000')
    const part = fc.constantFrom(...parts)
    const typed = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(part).map(all => all.join('')),
    )
    fc.assert(
      fc.property(typed, text => {
        for (const path of [ownPath(text), ownPath(`/${text}`)]) {
          if (path === undefined) continue
          expect(originOf(path)).toBe('https://prices.example.com')
          expect(path).not.toMatch(/^\/[/\\]|[\r\n\t]/)
        }
      }),
      { numRuns: runs(5000) },
    )
  })
})
