import { existsSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'

const root = resolve(import.meta.dir, '..')
const folder = join(root, 'docs/contributing')

/** Where a checklist has to name every file that speaks of its example. */
const product = [
  'src/**/*.{ts,tsx,sql}',
  'fixtures/feeds/*',
  'docs/**/*.md',
  'schema.sql',
  'README.md',
]
/** Documents about the code, which name it without being part of it. */
const aboutCode = /^docs\/(contributing|decisions)\//

/** A checklist of `docs/contributing`, walked over the repository as it is now. */
export interface Walked {
  name: string
  /** The file of the checklist. */
  document: string
  /** The number of files to open according to the checklist. */
  claimed: number
  /** Files that its steps name. */
  counted: number
  /** The goal; undefined where none was set. */
  bar: number | undefined
  /** The faults of the checklist, in sentences. */
  faults: string[]
}

/** A section of a checklist: its example, how files name it, its steps and the files to leave. */
interface Task {
  name: string
  /** Matches the files that mention the example. */
  pattern: RegExp | undefined
  claimed: number
  bar: number | undefined
  steps: string[]
  others: string[]
}

const links = (line: string) => [...line.matchAll(/\]\(([^)#]+)\)/g)].map(match => match[1]!)

/**
 * Each task begins with a comment: `<!-- task: name; names: pattern; files: 4; bar: 2 -->`. With a
 * pattern every product file that it matches has to be listed.
 */
function tasksOf(text: string): Task[] {
  const [, ...parts] = text.split('<!-- task: ')
  return parts.map(part => {
    const head = /^(.+?);(?: names: (.+?);)? files: (\d+); bar: (\d+|none) -->/.exec(part)
    if (!head) throw new Error(`must begin with name, files and bar; got ${part.slice(0, 60)}`)
    const [, name, names, files, bar] = head
    const paths = (begin: string) =>
      part
        .split('\n')
        .filter(line => line.startsWith(begin))
        .flatMap(line => links(line).slice(0, 1))
        .map(link => relative(root, resolve(folder, link)))
    const steps = paths('- [ ] ')
    return {
      name: name!,
      pattern: names === undefined ? undefined : new RegExp(names),
      claimed: Number(files),
      bar: bar === 'none' ? undefined : Number(bar),
      steps,
      others: paths('- ').filter(path => !steps.includes(path)),
    }
  })
}

async function walk(document: string, task: Task, files: ReadonlyMap<string, string>) {
  const { name, pattern, claimed, bar, steps, others } = task
  const faults: string[] = []
  const textOf = async (path: string) =>
    files.get(path) ?? (await Bun.file(join(root, path)).text())
  for (const path of [...steps, ...others])
    if (!existsSync(join(root, path)))
      faults.push(`${document} names ${path}, which does not exist`)
    else if (pattern && !pattern.test(await textOf(path)) && !pattern.test(path))
      faults.push(`${path} does not name the example of "${name}" any more: ${pattern}`)
  for (const [path, text] of files)
    if (pattern?.test(text) && !steps.includes(path) && !others.includes(path))
      faults.push(
        `${path} names the example of "${name}": add it to ${document}, as a step or below "Leave as they are"`,
      )
  const counted = new Set(steps).size
  if (counted !== claimed) faults.push(`"${name}" has ${counted} files, and says ${claimed}`)
  return { name, document: basename(document), claimed, counted, bar, faults }
}

/** Walks every checklist of `docs/contributing`. */
export async function walkChecklists(): Promise<Walked[]> {
  const files = new Map<string, string>()
  for (const pattern of product)
    for (const path of new Bun.Glob(pattern).scanSync(root))
      if (!aboutCode.test(path)) files.set(path, await Bun.file(join(root, path)).text())
  const walked: Walked[] = []
  for (const path of [...new Bun.Glob('*.md').scanSync(folder)].sort()) {
    const document = join(basename(dirname(folder)), basename(folder), path)
    for (const task of tasksOf(await Bun.file(join(folder, path)).text()))
      walked.push(await walk(document, task, files))
  }
  return walked
}

if (import.meta.main) {
  const walked = await walkChecklists()
  for (const { name, counted, bar } of walked)
    console.log(`${name.padEnd(36)} ${counted} files, bar ${bar ?? 'none'}`)
  const faults = walked.flatMap(task => task.faults)
  for (const fault of faults) console.error(fault)
  process.exit(faults.length === 0 ? 0 : 1)
}
