import { describe, expect, test } from 'bun:test'
import { dirname, join, relative, resolve } from 'node:path'

const src = resolve(import.meta.dir, '../../src')

describe('the invented world', () => {
  test('is entered through world/open.ts only, by what opens an evaluation copy', async () => {
    const entries: string[] = []
    for (const file of new Bun.Glob('**/*.ts').scanSync(src)) {
      if (file.startsWith('world/')) continue
      const text = await Bun.file(join(src, file)).text()
      for (const [, target] of text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
        const path = relative(src, resolve(src, dirname(file), target!))
        if (path.startsWith('world/')) entries.push(`${file} imports ${path}`)
      }
    }
    expect(entries.sort()).toEqual([
      'cli/server/first-image.ts imports world/open.ts',
      'cli/server/first-start.ts imports world/open.ts',
      'instance.ts imports world/open.ts',
    ])
  })
})
