import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { Guide, Guides, GuideWords } from './guides/guide.ts'
import { readPages } from './guides/read.ts'
import { repository } from './guides/sources.ts'

export type Bundle = ReturnType<typeof build> & ReturnType<typeof documentation>

const here = import.meta.dir
const cache = join(repository, 'node_modules/.cache/console')

/**
 * Builds the console for browsers. It runs as a macro: while the program is bundled or, from
 * source, when its importer is first loaded. The binary holds the result and no builder.
 */
export function bundleConsole(): string {
  // From source every start would build: only what is shipped is worth the last percent.
  const isShipped = process.env.NODE_ENV === 'production'
  const pages = cached('docs', documentationHash(), isShipped, () => documentation(isShipped))
  const built = cached('console', sourceHash(), isShipped, () => build(isShipped))
  const bundle: Bundle = { ...built, ...pages, files: [...built.files, ...pages.files] }
  return JSON.stringify(bundle)
}

/** A part of the bundle, made once for each state of its sources. */
function cached<T>(part: string, hash: string, isShipped: boolean, make: () => T): T {
  const path = join(cache, `${part}-${hash}-${isShipped ? 'small' : 'quick'}.json`)
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')) as T
  const made = make()
  mkdirSync(cache, { recursive: true })
  // Under its own name first: several tests may build at once.
  const written = `${path}.${process.pid}`
  writeFileSync(written, JSON.stringify(made))
  renameSync(written, path)
  return made
}

/** A hash of the files below some directories that have one of some endings. */
function hashOf(directories: readonly string[], endings: RegExp): string {
  const hash = createHash('sha256')
  for (const directory of directories) {
    const entries = readdirSync(join(repository, directory), {
      recursive: true,
      withFileTypes: true,
    })
    const paths = entries
      .filter(entry => entry.isFile() && endings.test(entry.name))
      .map(entry => join(entry.parentPath, entry.name))
    for (const path of paths.sort()) hash.update(path).update(readFileSync(path))
  }
  for (const file of ['bun.lock', 'CHANGELOG.md', 'src/console/bundle.ts'])
    hash.update(readFileSync(join(repository, file)))
  return hash.digest('hex').slice(0, 24)
}

/** Everything that the files for browsers are made of. */
const sourceHash = (): string => hashOf(['src/console'], /\.(tsx?|css|json)$/)

/** Everything that the documentation is made of: its pages, and the definitions that fill them. */
const documentationHash = (): string =>
  hashOf(
    [
      'docs',
      'clients',
      'fixtures',
      'scripts/docs',
      'src/cli',
      'src/config',
      'src/console/guides',
      'src/http/problem',
      'src/plans',
      'src/topics/webhooks/operations',
    ],
    // Source files, and whatever a page may show.
    /\.\w+$|Caddyfile$/,
  )

/** The pages and the files that they link to. */
function documentation(isShipped: boolean) {
  // In a separate process: it loads the program, whose definitions it reads.
  const generated = Bun.spawnSync([process.execPath, join(repository, 'scripts/docs/generated.ts')])
  if (generated.exitCode !== 0)
    throw new Error(`The documentation is not generated: ${generated.stderr}`)
  const { pages, attached } = readPages(JSON.parse(generated.stdout.toString()))
  const files = attached.map(({ name, file }) =>
    packed(name, readFileSync(join(repository, file)), isShipped),
  )
  const add = (name: string, content: unknown): string => {
    const text = Buffer.from(JSON.stringify(content))
    const hashed = `${name}-${createHash('sha256').update(text).digest('hex').slice(0, 8)}.json`
    files.push(packed(hashed, text, isShipped))
    return hashed
  }
  const list = pages.map(
    ({ name, section, title, about, headings, parts }): Guide => ({
      name,
      section,
      title,
      about,
      headings: headings.map(({ id, text }) => ({ id, text })),
      body: `/console/${add(`page-${name}`, parts)}`,
    }),
  )
  const texts = Object.fromEntries(pages.map(({ name, markdown }) => [name, markdown]))
  const guideTexts = gzipSync(JSON.stringify(texts)).toString('base64')
  // The words are ten times as long as the list, and only a search needs them.
  const words = pages.map(({ name, words: first, headings }): [string, GuideWords] => [
    name,
    { first, headings: headings.map(heading => heading.words) },
  ])
  const guides: Guides = {
    pages: list,
    words: `/console/${add('words', Object.fromEntries(words))}`,
  }
  return { guides: add('guides', guides), guideTexts, files }
}

function build(isShipped: boolean) {
  const out = mkdtempSync(join(tmpdir(), 'console-'))
  try {
    // In a separate process: the bundler waits for its macros.
    const built = Bun.spawnSync(
      [
        process.execPath,
        'build',
        'main.tsx',
        'console.css',
        '--target=browser',
        '--splitting',
        '--minify',
        '--public-path=/console/',
        '--entry-naming=[name]-[hash].[ext]',
        '--chunk-naming=part-[hash].[ext]',
        '--define',
        'process.env.NODE_ENV="production"',
        `--outdir=${out}`,
        `--metafile=${out}.json`,
      ],
      { cwd: here, env: { ...process.env, NODE_ENV: 'production' } },
    )
    if (built.exitCode !== 0) throw new Error(`The console could not be built: ${built.stderr}`)
    const modules = modulesIn(JSON.parse(readFileSync(`${out}.json`, 'utf8')) as Metafile)
    const font = addTypeface(out)
    const files = readdirSync(out).map(name =>
      packed(name, readFileSync(join(out, name)), isShipped),
    )
    const entry = (pattern: RegExp): string => files.find(file => pattern.test(file.name))!.name
    return {
      script: entry(/^main-\w+\.js$/),
      style: entry(/^console-\w+\.css$/),
      font,
      modules,
      files,
    }
  } finally {
    rmSync(out, { recursive: true })
    rmSync(`${out}.json`, { force: true })
  }
}

interface Metafile {
  outputs: Record<string, { entryPoint?: string; imports: { path: string; kind: string }[] }>
}

/** For each source file that is loaded later, its file and those that it imports. */
function modulesIn({ outputs }: Metafile): Record<string, string[]> {
  const importedBy = (path: string): string[] =>
    outputs[path]!.imports.filter(({ kind }) => kind === 'import-statement').map(each => each.path)
  const modules: Record<string, string[]> = {}
  for (const [path, { entryPoint }] of Object.entries(outputs)) {
    if (entryPoint === undefined || !path.includes('part-')) continue
    const needed = new Set([path])
    for (const each of needed) for (const imported of importedBy(each)) needed.add(imported)
    modules[entryPoint] = [...needed]
      .map(name => name.replace(/^.*\//, ''))
      .filter(name => name.startsWith('part-'))
  }
  return modules
}

const typeface = 'node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'

/**
 * Adds the typeface as a separate file, and its rule to the style. The bundler would write it into
 * the style as a data address, which the policy of the pages refuses.
 */
function addTypeface(out: string): string {
  const bytes = readFileSync(join(repository, typeface))
  const name = `inter-${createHash('sha256').update(bytes).digest('hex').slice(0, 8)}.woff2`
  writeFileSync(join(out, name), bytes)
  const style = readdirSync(out).find(file => file.endsWith('.css'))!
  const rule = `@font-face{font-family:"Inter Variable";font-weight:100 900;font-display:swap;src:url(/console/${name}) format("woff2")}`
  writeFileSync(join(out, style), rule + readFileSync(join(out, style), 'utf8'))
  return name
}

const packed = (name: string, bytes: Buffer, isShipped: boolean) => ({
  /** With the hash of its content in it. */
  name,
  plain: bytes.toString('base64'),
  gzip: gzipSync(bytes, { level: isShipped ? 9 : 1 }).toString('base64'),
  brotli: brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: isShipped ? 11 : 1 },
  }).toString('base64'),
})
