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
import { guideNames, guidesDirectory, readGuides } from './guides/read.ts'

/** A file of the console as the binary holds it, in base64: a macro may answer texts only. */
export type BundledFile = ReturnType<typeof packed>

export type Bundle = ReturnType<typeof build>

const here = import.meta.dir
const cache = join(here, '../../../node_modules/.cache/console')

/**
 * Builds the console for browsers. It runs as a macro: while the program is bundled or, from
 * source, when its importer is first loaded. The binary holds the result and no builder.
 */
export function bundleConsole(): string {
  // From source every start would build: only what is shipped is worth the last percent.
  const isShipped = process.env.NODE_ENV === 'production'
  const kept = join(cache, `${sourceHash()}-${isShipped ? 'small' : 'quick'}.json`)
  if (existsSync(kept)) return readFileSync(kept, 'utf8')
  const text = JSON.stringify(build(isShipped))
  mkdirSync(cache, { recursive: true })
  // Under its own name first: several tests may build at once.
  const written = `${kept}.${process.pid}`
  writeFileSync(written, text)
  renameSync(written, kept)
  return text
}

/** Of everything that the bundle is made of. */
function sourceHash(): string {
  const hash = createHash('sha256')
  const sources = readdirSync(here, { recursive: true, encoding: 'utf8' }).filter(name =>
    /\.(tsx?|css|json)$/.test(name),
  )
  for (const name of sources.sort()) hash.update(name).update(readFileSync(join(here, name)))
  hash.update(readFileSync(join(here, './guides/read.ts')))
  for (const name of guideNames) hash.update(readFileSync(join(guidesDirectory, `${name}.md`)))
  return hash
    .update(readFileSync(join(here, '../../bun.lock')))
    .digest('hex')
    .slice(0, 24)
}

function build(isShipped: boolean) {
  const out = mkdtempSync(join(tmpdir(), 'console-'))
  try {
    // In a process of its own: the bundler waits for its macros.
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
      ],
      { cwd: here, env: { ...process.env, NODE_ENV: 'production' } },
    )
    if (built.exitCode !== 0) throw new Error(`The console could not be built: ${built.stderr}`)
    const files = readdirSync(out).map(name =>
      packed(name, readFileSync(join(out, name)), isShipped),
    )
    const entry = (pattern: RegExp): string => files.find(file => pattern.test(file.name))!.name
    const text = Buffer.from(JSON.stringify(readGuides()))
    /** The guides, as JSON. */
    const guides = `guides-${createHash('sha256').update(text).digest('hex').slice(0, 8)}.json`
    files.push(packed(guides, text, isShipped))
    return {
      /** The scripts and styles that a page names, by what they are. */
      script: entry(/^main-\w+\.js$/),
      style: entry(/^console-\w+\.css$/),
      guides,
      files,
    }
  } finally {
    rmSync(out, { recursive: true })
  }
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
