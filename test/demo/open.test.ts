import { describe, expect, test } from 'bun:test'
import { files, importsOf, placeOf } from '../support/rooms.ts'

describe('the demo world', () => {
  test('is entered through demo/open.ts only, by what opens a demo instance', async () => {
    const entries: string[] = []
    for (const file of files) {
      if (placeOf(file)?.room === 'demo') continue
      for (const path of await importsOf(file, true))
        if (placeOf(path)?.room === 'demo') entries.push(`${file} imports ${path}`)
    }
    expect(entries).toEqual([
      'cli/server/first-image.ts imports demo/open.ts',
      'cli/server/first-start.ts imports demo/open.ts',
      'instance/instance.ts imports demo/open.ts',
    ])
  })
})
