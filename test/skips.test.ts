import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { missingIn, requirements } from './support/requirements.ts'

const files = [...new Bun.Glob('**/*.test.ts').scanSync(import.meta.dir)]
  .filter(file => file !== 'skips.test.ts')
  .map(file => ({ file, text: readFileSync(resolve(import.meta.dir, file), 'utf8') }))

describe('a test that this machine cannot run', () => {
  test('a test that this machine cannot run is skipped only by needs(), which names what is missing', () => {
    const silent = files.flatMap(({ file, text }) => {
      const skips = [...text.matchAll(/\b(?:skipIf|todoIf|test\.if|describe\.if|test\.skip)\(/g)]
      return skips
        .map(({ index }) => text.slice(index, index + 300))
        .filter(skip => !/^skipIf\(!(\w+)\.isMet\)\.each\([\s\S]*\$\{\1\.why\}`/.test(skip))
        .map(skip => `${file}: ${skip.slice(0, 40)}`)
    })
    expect(silent).toEqual([])
  })

  test('a skipped test prints no separate warning, because the summary of the run counts it', () => {
    const loud = files.filter(({ text }) =>
      /console\.warn\(.*(?:skipped|not run|not tried)/.test(text),
    )
    expect(loud.map(({ file }) => file)).toEqual([])
  })

  test('has a name from which the summary reads every missing requirement', () => {
    const name = 'a replica (skipped: needs nats-server and ../shared/data) > follows'
    expect(missingIn(name)).toEqual(['nats-server', '../shared/data'])
    expect(missingIn('a replica (of a primary) > follows')).toEqual([])
    const names = Object.keys(requirements)
    expect(missingIn(`x (skipped: needs ${names.join(' and ')})`)).toEqual(names)
  })

  test('every test requirement states how to install it', () => {
    for (const [name, { install }] of Object.entries(requirements))
      expect(install.length, name).toBeGreaterThan(10)
  })
})
