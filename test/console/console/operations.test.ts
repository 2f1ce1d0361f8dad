import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { parts } from '../../../src/console/pages/commodities/parts.ts'
import { openTestInstance } from '../../support/instance/instance.ts'

const ofTheApi =
  /['"`](\/(?:v1|admin|billing|organizations|status|product-facts|limits|metrics|openapi|health|users)[^'"`\s?]*)/g

/** Every API path that the pages request, with `x` for values filled in at run time. */
function askedPaths(): Set<string> {
  const paths = new Set<string>()
  for (const file of new Bun.Glob('**/*.{ts,tsx}').scanSync('src/console')) {
    if (file.startsWith('server/') || file === 'pages/commodities/parts.ts') continue
    const text = readFileSync(`src/console/${file}`, 'utf8')
    for (const [, path] of text.matchAll(ofTheApi)) paths.add(path!.replaceAll(/\$\{[^}]*\}/g, 'x'))
  }
  for (const { reports } of parts)
    for (const { path, choices } of reports)
      for (const value of choices?.values ?? ['x'])
        paths.add(path.replace(/\?.*/, '').replace('{choice}', value))
  return paths
}

/** A parameter of the description matches any segment. */
const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(/[.]/g, '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`)

interface Document {
  paths: Record<string, { get?: { operationId: string; deprecated?: boolean } }>
}

describe('the pages of the console', () => {
  test('ask at least 220 of the readable operations', async () => {
    const { app } = openTestInstance()
    const answer = await app.handle(new Request('http://localhost/openapi.json'))
    const { paths } = (await answer.json()) as Document
    const readable = Object.entries(paths).flatMap(([path, { get }]) =>
      get && !get.deprecated ? [path] : [],
    )
    const known = [...askedPaths()]
    const asked = readable.filter(path => {
      const pattern = patternOf(path)
      // A literal segment has precedence over a parameter: /latest does not match /{id}.
      return known.some(each => pattern.test(each) && (each === path || !readable.includes(each)))
    })
    console.info(`console: ${asked.length} of ${readable.length} readable operations are on screen`)
    expect(asked.length).toBeGreaterThanOrEqual(220)
  })
})
