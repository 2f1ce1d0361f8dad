import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../package.json'
import { writeAssets } from './assets.ts'
import { compile } from './compile.ts'
import { debArchitectures, writeDeb } from './release/deb.ts'
import { papers } from './release/papers.ts'

/**
 * Makes everything that is passed on into `dist/release`: a binary for each target, Debian packages,
 * the manual, completions, licences, what the binary is made of, and the checksums of all of them.
 * With names of targets only those: `bun run release linux-x64`.
 */
const targets = [
  'linux-x64',
  'linux-arm64',
  'linux-x64-musl',
  'linux-arm64-musl',
  'darwin-x64',
  'darwin-arm64',
  'windows-x64',
] as const

const requestedTargets = process.argv.slice(2)
const unknown = requestedTargets.find(name => !targets.some(target => target === name))
if (unknown !== undefined) {
  console.error(`${unknown}: is none of the targets ${targets.join(', ')}`)
  process.exit(1)
}

const dir = join('dist', 'release')
const base = `${manifest.name}-${manifest.version}`
const at = (name: string) => join(dir, name)
rmSync(dir, { recursive: true, force: true })
mkdirSync(dir, { recursive: true })

const all = papers(at(`${base}.notices.txt`))
writeFileSync(at('LICENSE'), all.licence)
writeFileSync(at(`${base}.cdx.json`), all.sbom)
writeFileSync(at(`${manifest.name}.1`), all.manual)
for (const [shell, text] of Object.entries(all.completions))
  writeFileSync(at(`${manifest.name}.${shell}`), text)

const assets = await writeAssets('dist')
for (const target of targets) {
  if (requestedTargets.length > 0 && !requestedTargets.includes(target)) continue
  const binary = at(`${base}-${target}${target.startsWith('windows') ? '.exe' : ''}`)
  if (compile(binary, assets, `bun-${target}`) !== 0) process.exit(1)
  const architecture =
    target === 'linux-x64' ? 'x64' : target === 'linux-arm64' ? 'arm64' : undefined
  if (!architecture) continue
  if (Bun.which('dpkg-deb'))
    writeDeb({
      binary,
      architecture: debArchitectures[architecture],
      papers: all,
      compression: 'gzip',
      outfile: at(`${manifest.name}_${manifest.version}_${debArchitectures[architecture]}.deb`),
    })
  else console.warn(`dpkg-deb is not here: no Debian package for ${architecture}`)
}

const sums = readdirSync(dir)
  .sort()
  .map(
    name =>
      `${createHash('sha256')
        .update(readFileSync(at(name)))
        .digest('hex')}  ${name}`,
  )
writeFileSync(at('SHA256SUMS'), `${sums.join('\n')}\n`)
console.info(`${dir} holds ${sums.length} files and their checksums`)
