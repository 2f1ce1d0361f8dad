import { describe, expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { doors } from './support/doors.ts'
import { files, floors, importsOf, placeOf, read } from './support/rooms.ts'

/** The code of a file without its comments, which may mention anything. */
const code = (text: string) =>
  text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`])\/\/.*$/gm, '$1')

/** Every import of `src/`, as [file, imported file]. */
const imports = (
  await Promise.all(
    files.map(async file => (await importsOf(file, true)).map(path => [file, path] as const)),
  )
).flat()

/** Imports from one room to another of the same floor. */
const crossings = imports.filter(([file, path]) => {
  const from = placeOf(file)
  const to = placeOf(path)
  return from && to && from.floor === to.floor && from.room !== to.room
})

/** The circles of a graph, each as the names along it. */
function circlesOf(edges: readonly (readonly [string, string])[]): string[] {
  const targets = new Map<string, Set<string>>()
  for (const [from, to] of edges) targets.set(from, (targets.get(from) ?? new Set()).add(to))
  const circles: string[] = []
  const finished = new Set<string>()
  const walk = (name: string, path: readonly string[]) => {
    if (path.includes(name)) {
      circles.push([...path.slice(path.indexOf(name)), name].join(' > '))
      return
    }
    if (finished.has(name)) return
    for (const next of targets.get(name) ?? []) walk(next, [...path, name])
    finished.add(name)
  }
  for (const name of targets.keys()) walk(name, [])
  return circles
}

describe('rooms', () => {
  test('every file of src has a room', () => {
    expect(files.filter(file => !placeOf(file))).toEqual([])
  })

  test('every room that is listed has files', () => {
    const used = new Set(files.map(file => placeOf(file)?.room))
    const listed = floors.flat().filter(room => !room.includes('*'))
    expect(listed.filter(room => !used.has(room))).toEqual([])
  })

  test('no file imports from a higher floor', () => {
    const upwards = imports.filter(([file, path]) => {
      const from = placeOf(file)
      const to = placeOf(path)
      return from && to && to.floor > from.floor
    })
    expect(upwards.map(([file, path]) => `${file} imports ${path}`)).toEqual([])
  })

  test('rooms of one floor are entered through their doors only', () => {
    const forced = crossings.filter(([, path]) => {
      const { room } = placeOf(path)!
      return !doors[room]?.includes(path.slice(room.length + 1))
    })
    expect(forced.map(([file, path]) => `${file} imports ${path}`)).toEqual([])
  })

  test('no module exposes an entry point that nothing uses', () => {
    const used = new Set(crossings.map(([, path]) => path))
    const listed = Object.entries(doors).flatMap(([room, names]) =>
      names.map(name => `${room}/${name}`),
    )
    expect(listed.filter(path => !used.has(path))).toEqual([])
  })

  test('no rooms of one floor import each other in a circle', () => {
    const between = crossings.map(
      ([file, path]) => [placeOf(file)!.room, placeOf(path)!.room] as const,
    )
    expect(circlesOf(between)).toEqual([])
  })

  test('no files import each other in a circle', async () => {
    const eager = await Promise.all(
      files.map(async file => (await importsOf(file, false)).map(path => [file, path] as const)),
    )
    expect(circlesOf(eager.flat())).toEqual([])
  })
})

describe('things that live in one room only', () => {
  const offenders = async (pattern: RegExp, allowed: (file: string) => boolean) => {
    const misplaced: string[] = []
    for (const file of files) {
      if (!file.endsWith('.ts') || allowed(file)) continue
      const match = pattern.exec(code(await read(file)))
      if (match) misplaced.push(`${file}: ${match[0]}`)
    }
    return misplaced
  }
  const inside =
    (...patterns: RegExp[]) =>
    (file: string) =>
      patterns.some(pattern => pattern.test(file))
  const math = /^topics\/[^/]+\/math\//

  test('time and chance come from lib', async () => {
    expect(
      await offenders(
        /Date\.now\(|new Date\(\)|Math\.random\(|randomUUID|setTimeout\(|setInterval\(/,
        inside(/^lib\//, /^console\//),
      ),
    ).toEqual([])
  })
  test('SQL is written in stores, in the database and in declarations of datasets only', async () => {
    expect(
      await offenders(
        /\.(query|prepare)\(|\b(SELECT|INSERT INTO|DELETE FROM)\s/,
        inside(/\/store\//, /^database\//, /^topics\/[^/]+\/dataset\//, /^datasets\//),
      ),
    ).toEqual([])
  })
  test('Elysia is known to http, operations, the console and the app only', async () => {
    expect(
      await offenders(
        /from 'elysia'/,
        inside(/^http\//, /\/operations\//, /^console\//, /^instance\/app\//),
      ),
    ).toEqual([])
  })
  test('math and plans import nothing that reads or writes', async () => {
    expect(
      await offenders(
        /from '(node:fs|bun:sqlite|node:net|node:http)/,
        file => !math.test(file) && !file.startsWith('plans/'),
      ),
    ).toEqual([])
  })
  test('no code outside the plans module compares plan names', async () => {
    expect(
      await offenders(
        /[=!]==? '(free|developer|starter|professional|scale|enterprise)'/,
        inside(/^plans\//),
      ),
    ).toEqual([])
  })
})

test('no folder of tests has more than 30 files', () => {
  const counts = new Map<string, number>()
  for (const file of new Bun.Glob('**/*.ts').scanSync(import.meta.dir)) {
    const folder = dirname(file)
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  expect([...counts].filter(([, files]) => files > 30)).toEqual([])
})
