import { describe, expect, test } from 'bun:test'
import { dirname, join, relative, resolve } from 'node:path'

const src = resolve(import.meta.dir, '../src')
/**
 * A file imports from lower floors or from its own room; the files at the root stand on top of
 * everything but what they open.
 */
const floors: Record<string, number> = {
  lib: 0,
  market: 1,
  plan: 1,
  store: 2,
  send: 2,
  service: 3,
  feed: 3,
  world: 3.5,
  jobs: 4,
  http: 4,
  api: 5,
  web: 5.5,
  cli: 7,
}
/**
 * Files of the root by their floor: configuration is read by everyone above lib and plan, the
 * composition stands above the rooms.
 */
const rootFloors: Record<string, number> = {
  'config-keys.ts': 1.5,
  'config.ts': 1.6,
  'version.ts': 1.5,
  'assets.d.ts': 0,
  'runtime.ts': 1.7,
  'services.ts': 4.5,
  'app.ts': 6,
  'rate-windows-file.ts': 6,
  'reader.ts': 6.2,
  'readers.ts': 6.3,
  'instance.ts': 6.5,
  'main.ts': 8,
}

const files = [...new Bun.Glob('**/*.ts').scanSync(src)].sort()
const room = (file: string) => (file.includes('/') ? file.split('/')[0]! : file)
const floorOf = (file: string) => (file.includes('/') ? floors[room(file)] : rootFloors[file])

const read = async (file: string) => await Bun.file(join(src, file)).text()
const importsOf = (text: string) =>
  [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(match => match[1]!)
/** What a program runs, without what it says: comments may name anything. */
const code = (text: string) =>
  text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`])\/\/.*$/gm, '$1')

describe('every file', () => {
  for (const file of files) {
    test(`${file} keeps to its floor`, async () => {
      const text = await read(file)
      expect(floorOf(file), `${file} stands on no floor`).toBeDefined()
      for (const target of importsOf(text).filter(name => name.startsWith('.'))) {
        const path = relative(src, resolve(src, dirname(file), target))
        if (path.startsWith('..') || path.startsWith('fixtures')) continue
        const allowed = room(path) === room(file) || floorOf(path)! < floorOf(file)!
        expect(allowed, `${file} imports ${path}`).toBe(true)
      }
    })
  }
})

describe('things that live in one room only', () => {
  const offenders = async (pattern: RegExp, allowed: (file: string) => boolean) => {
    const found: string[] = []
    for (const file of files) {
      if (allowed(file)) continue
      const match = pattern.exec(code(await read(file)))
      if (match) found.push(`${file}: ${match[0]}`)
    }
    return found
  }
  const inRoom =
    (...rooms: string[]) =>
    (file: string) =>
      rooms.includes(room(file))

  test('time and chance come from lib', async () => {
    expect(
      await offenders(
        /Date\.now\(|new Date\(\)|Math\.random\(|randomUUID|setTimeout\(|setInterval\(/,
        inRoom('lib', 'web'),
      ),
    ).toEqual([])
  })
  test('SQL stands in store', async () => {
    expect(
      await offenders(/\.(query|prepare)\(|\b(SELECT|INSERT INTO|DELETE FROM)\s/, inRoom('store')),
    ).toEqual([])
  })
  test('Elysia stands in http, api, web and app.ts', async () => {
    expect(await offenders(/from 'elysia'/, inRoom('http', 'api', 'web', 'app.ts'))).toEqual([])
  })
  test('market and plan import nothing that reads or writes', async () => {
    expect(
      await offenders(
        /from '(node:fs|bun:sqlite|node:net|node:http)/,
        file => room(file) !== 'market' && room(file) !== 'plan',
      ),
    ).toEqual([])
  })
  test('nobody outside plan compares the names of plans', async () => {
    expect(
      await offenders(
        /[=!]==? '(free|developer|starter|professional|scale|enterprise)'/,
        inRoom('plan'),
      ),
    ).toEqual([])
  })
})
