import { expect, test } from 'bun:test'
import { files, importsOf, placeOf, read } from '../support/rooms.ts'

const isDemo = (file: string) => placeOf(file)?.room === 'demo'

test('the demo world is entered only by what makes, opens and signs in to a demo instance', async () => {
  const entries: string[] = []
  for (const file of files) {
    if (isDemo(file)) continue
    for (const path of await importsOf(file, true))
      if (isDemo(path)) entries.push(`${file} imports ${path}`)
  }
  expect(entries).toEqual([
    'cli/server/demo-world.ts imports demo/file.ts',
    'cli/server/first-start.ts imports demo/open.ts',
    'instance/instance.ts imports demo/open.ts',
  ])
})

/** The demo itself, what opens an instance, and the controls of a demo instance with their settings. */
const mayKnow = [
  /^instance\//,
  /^cli\/server\//,
  /^cli\/(options|manual\/examples)\.ts$/,
  /^config\/keys\.ts$/,
  /^http\/dev-controls\.ts$/,
  /^topics\/operator\/operations\/evaluation\//,
]

/** How code would know of it: its names, its settings, its state, or data that is still to come. */
const knowledge =
  /demo[ -]?(world|feed|data)|(fixture|invented) world|config\.dev\b|\bdev\.(seed|world|clock)|'fixture\.|\b(supplyFrom|isUnwritten|isAwaited|LateData|layImage|fillOn)\b|not generated yet/i

test('no other file knows of the demo world', async () => {
  const knowing: string[] = []
  for (const file of files) {
    if (isDemo(file) || mayKnow.some(pattern => pattern.test(file))) continue
    for (const line of (await read(file)).split('\n'))
      if (knowledge.test(line)) knowing.push(`${file}: ${line.trim()}`)
  }
  expect(knowing).toEqual([])
})
