import { expect, test } from 'bun:test'
import { join } from 'node:path'

const root = join(import.meta.dir, '..')

/** Every event that the program logs, by the literal that names it. */
async function loggedEvents(): Promise<Set<string>> {
  const events = new Set<string>()
  const call =
    /\b(?:log\??\.(?:info|warn|error|debug)|notify|perform)\(\s*(?:\[[^\]]*\],\s*)?'([^']*)'/g
  for (const file of new Bun.Glob('src/**/*.ts').scanSync({ cwd: root })) {
    const text = await Bun.file(join(root, file)).text()
    const isLogging = /\blog\??\.(?:info|warn|error|debug)\(/.test(text)
    if (isLogging) for (const [, event] of text.matchAll(call)) events.add(event!)
  }
  return events
}

const logged = [...(await loggedEvents())].sort()

test('every event of the log has a name in snake_case', () => {
  expect(logged.length).toBeGreaterThan(90)
  expect(logged.filter(event => !/^[a-z]+(?:_[a-z]+)*$/.test(event))).toEqual([])
})

test('the page of log events lists every event, and no other', async () => {
  const page = await Bun.file(join(root, 'docs/reference/log-events.md')).text()
  const listed = [...page.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, event]) => event!)
  expect(listed.sort()).toEqual(logged)
})
