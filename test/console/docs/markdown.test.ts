import { expect, test } from 'bun:test'
import { markdownWith } from '../../../src/console/guides/markdown.ts'

const markdown = markdownWith(href => (href.startsWith('/') ? href : undefined))

test('a text is rendered the same every time, and its tables are named by their headings', () => {
  const table = '| a |\n|---|\n| 1 |'
  const text = `${table}\n\n## Errors\n\n${table}\n\n${table}`
  const html = markdown.parse(text)
  expect(markdown.parse(text)).toBe(html)
  const labels = [...String(html).matchAll(/<section[^>]* aria-label="([^"]*)"/g)]
  expect(labels.map(([, label]) => label)).toEqual([
    'Table',
    'Table of “Errors”',
    'Table 2 of “Errors”',
  ])
})

test('no script of a text is left, in HTML, in links and in the names of places', () => {
  const html = markdown.parse(
    [
      '<script>alert(1)</script>',
      'Text <img src=x onerror=alert(2)> and <a id="x" onclick="alert(3)">a place</a>',
      '[a link](javascript:alert(4)) <a href="javascript:alert(5)">another</a>',
      '![" onerror="alert(6)](/a"b.png)',
      '## "><svg onload=alert(7)>',
      '`<b>` is code, and <a id="WTI"></a> a place.',
    ].join('\n\n'),
  )
  expect(html).not.toMatch(/<(?:script|svg|b)\b|javascript:|<[^>]*\son\w+="/)
  expect(html).toContain('<code>&lt;b&gt;</code>')
  expect(html).toContain('<a id="WTI"></a>')
})
