import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { walkChecklists } from '../scripts/contributing.ts'
import { floors } from './support/rooms.ts'

const root = resolve(import.meta.dir, '..')
const read = (path: string) => Bun.file(join(root, path)).text()
const documents = [
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  ...[...new Bun.Glob('docs/{contributing,decisions}/*.md').scanSync(root)].sort(),
]

/**
 * Code spans that are paths: with a folder or an ending, and without a placeholder. Files outside
 * the repository and build results need not exist.
 */
const pathsIn = (text: string) =>
  [...text.matchAll(/`([\w.*@-]+(?:\/[\w.*@-]+)*\/?)`/g)]
    .map(match => match[1]!)
    .filter(path => /\/|\.(ts|tsx|md|json|sql|toml)$/.test(path))
    .filter(path => !/^(\.\.|node_modules|dist)\//.test(path))
const linksIn = (text: string) =>
  [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(match => match[1]!)

/** Named from the root of the repository or from `src/`. */
const exists = (path: string) =>
  ['.', 'src'].some(folder => {
    const cwd = join(root, folder)
    if (!path.includes('*')) return existsSync(join(cwd, path))
    return [path, `${path}/**`].some(glob => !new Bun.Glob(glob).scanSync({ cwd }).next().done)
  })

describe('documents about the code', () => {
  test.each(documents)('every file that %s names exists', async document => {
    const text = await read(document)
    expect(pathsIn(text).filter(path => !exists(path))).toEqual([])
    const broken = linksIn(text).filter(link => !existsSync(join(root, document, '..', link)))
    expect(broken).toEqual([])
  })

  test('ARCHITECTURE.md has at most 130 lines', async () => {
    expect((await read('ARCHITECTURE.md')).trimEnd().split('\n').length).toBeLessThanOrEqual(130)
  })

  test('the floors of ARCHITECTURE.md are those that the floors test checks', async () => {
    const rows = (await read('ARCHITECTURE.md')).split('\n').flatMap(line => {
      const [, floor, rooms] = /^\| (\d+) \| ([^|]+) \|/.exec(line) ?? []
      return rooms === undefined
        ? []
        : [{ floor: Number(floor), rooms: [...rooms.matchAll(/`([^`]+)`/g)].map(([, at]) => at!) }]
    })
    expect(rows).toEqual(floors.map((rooms, floor) => ({ floor, rooms: [...rooms] })))
  })

  test('every decision is listed by the index, and numbered without a gap', async () => {
    const names = [...new Bun.Glob('[0-9]*.md').scanSync(join(root, 'docs/decisions'))].sort()
    expect(linksIn(await read('docs/decisions/README.md'))).toEqual(names)
    expect(names.map(name => Number(name.slice(0, 3)))).toEqual(names.map((_, at) => at + 1))
  })
})

test('the checklists for contributors name every file that their examples are in', async () => {
  const walked = await walkChecklists()
  expect(walked.length).toBe(8)
  expect(walked.flatMap(task => task.faults)).toEqual([])
})

test('the table of checklists states the files and the goal that each checklist has', async () => {
  const text = await read('docs/contributing/README.md')
  const rows = [...text.matchAll(/^\| .+ \| \[(.+\.md)\]\(.+\) \| (\d+) \| (\d+|-) \|$/gm)]
  const walked = (await walkChecklists()).filter(({ document }) => document !== 'README.md')
  const stated = ([, document, files, goal]: RegExpExecArray) => ({ document, files, goal })
  expect(
    rows.map(row => stated(row)).sort((a, b) => a.document!.localeCompare(b.document!)),
  ).toEqual(
    walked.map(({ document, counted, bar }) => ({
      document,
      files: String(counted),
      goal: bar === undefined ? '-' : String(bar),
    })),
  )
})
