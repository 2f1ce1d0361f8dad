import { describe, expect, test } from 'bun:test'
import { dirname, join, relative, resolve } from 'node:path'
import { doors } from './support/doors.ts'

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
  'matters.ts': 4.6,
  'directory.ts': 4.7,
  'topics.ts': 5.8,
  'app.ts': 6,
  'rate-windows-file.ts': 6,
  'reader.ts': 6.2,
  'readers.ts': 6.3,
  'publisher.ts': 6.2,
  'flusher.ts': 6.2,
  'flushing.ts': 6.3,
  'folder.ts': 6.2,
  'folding.ts': 6.3,
  'publishing.ts': 6.3,
  'cluster.ts': 6.3,
  'replica.ts': 6.3,
  'instance-jobs.ts': 6.4,
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

/** The topic of a file, or the file itself where it stands in the root of its floor. */
const topicOf = (file: string) => file.split('/').slice(0, 2).join('/')

const importedFiles = async (file: string) =>
  importsOf(await read(file))
    .filter(name => name.startsWith('.'))
    .map(target => relative(src, resolve(src, dirname(file), target)))
    .filter(path => room(path) === room(file) && topicOf(path) !== topicOf(file))

/** Imports between the topics of a floor, as [file, imported file]. */
const crossings = (
  await Promise.all(
    files.map(async file => (await importedFiles(file)).map(path => [file, path] as const)),
  )
).flat()

describe('topics', () => {
  const betweenTopics = crossings.filter(([file, path]) =>
    [file, path].every(name => name.split('/').length > 2),
  )
  const doorOf = (path: string) => {
    const [floor, topic, ...rest] = path.split('/')
    return { floor: floor!, topic: topic!, name: rest.join('/') }
  }

  test('are entered through their doors only', () => {
    const forced = betweenTopics.filter(([, path]) => {
      const { floor, topic, name } = doorOf(path)
      return !(doors[floor]?.[topic] ?? []).includes(name)
    })
    expect(forced.map(([file, path]) => `${file} imports ${path}`)).toEqual([])
  })

  test('have no door that nobody uses', () => {
    const used = new Set(betweenTopics.map(([, path]) => path))
    const listed = Object.entries(doors).flatMap(([floor, topics]) =>
      Object.entries(topics).flatMap(([topic, names]) =>
        names.map(name => `${floor}/${topic}/${name}`),
      ),
    )
    expect(listed.filter(path => !used.has(path))).toEqual([])
  })

  test('stand in no circle', () => {
    const targets = new Map<string, Set<string>>()
    for (const [file, path] of crossings) {
      const targetsOf = targets.get(topicOf(file)) ?? new Set()
      targets.set(topicOf(file), targetsOf.add(topicOf(path)))
    }
    const circles: string[] = []
    const walked = new Set<string>()
    const walk = (topic: string, way: readonly string[]) => {
      if (way.includes(topic)) {
        circles.push([...way.slice(way.indexOf(topic)), topic].join(' > '))
        return
      }
      if (walked.has(topic)) return
      for (const next of targets.get(topic) ?? []) walk(next, [...way, topic])
      walked.add(topic)
    }
    for (const topic of targets.keys()) walk(topic, [])
    expect(circles).toEqual([])
  })
})

describe('things that live in one room only', () => {
  const offenders = async (pattern: RegExp, allowed: (file: string) => boolean) => {
    const misplaced: string[] = []
    for (const file of files) {
      if (allowed(file)) continue
      const match = pattern.exec(code(await read(file)))
      if (match) misplaced.push(`${file}: ${match[0]}`)
    }
    return misplaced
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
