import { createHash } from 'node:crypto'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import manifest from '../package.json'
import { writeAssets } from './assets.ts'
import { compile } from './compile.ts'
import { writeAptRepository } from './release/apt.ts'
import { packClients } from './release/clients.ts'
import { debArchitectures, writeDeb } from './release/deb.ts'
import { papers } from './release/papers.ts'

/**
 * Makes everything that is published into `dist/release`: a binary for each target, Debian packages
 * with an apt repository, documentation, manual, completions, licences, the bill of materials, the
 * packages of the clients, and the checksums of all of them. docs/releasing.md has the steps around it.
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
  console.error(`The target must be one of ${targets.join(', ')}; got ${unknown}.`)
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

for (const name of ['install.sh', 'compose.yaml', 'allowed_signers'])
  copyFileSync(join('packaging', name), at(name))

/**
 * Packs a directory; its files have a fixed date, so that the same sources give the same archive.
 */
const pack = (archive: string, from: string, name: string) => {
  const flags = ['--sort=name', '--owner=0', '--group=0', '--mtime=@0', '-czf', resolve(archive)]
  const packed = Bun.spawnSync(['tar', ...flags, '-C', from, name], { stderr: 'inherit' })
  if (packed.exitCode !== 0) process.exit(1)
}
pack(at(`${base}.tgz`), 'packaging/helm', manifest.name)
const work = mkdtempSync(join(tmpdir(), 'wellhead-release-'))
for (const { path, text } of all.documentation) {
  const target = join(work, 'docs', path)
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, text)
}
pack(at(`${base}-docs.tar.gz`), work, 'docs')
mkdirSync(at('clients'))
for (const missing of packClients(join(work, 'clients'), resolve(at('clients'))))
  console.warn(`Not packed: ${missing}`)
rmSync(work, { recursive: true })

const debs: string[] = []
const assets = await writeAssets('dist')
for (const target of targets) {
  if (requestedTargets.length > 0 && !requestedTargets.includes(target)) continue
  const binary = at(`${base}-${target}${target.startsWith('windows') ? '.exe' : ''}`)
  if (compile(binary, assets, `bun-${target}`) !== 0) process.exit(1)
  const architecture =
    target === 'linux-x64' ? 'x64' : target === 'linux-arm64' ? 'arm64' : undefined
  if (!architecture) continue
  if (!Bun.which('dpkg-deb')) {
    console.warn(`dpkg-deb is missing: no Debian package for ${architecture}`)
    continue
  }
  const debArchitecture = debArchitectures[architecture]
  const outfile = at(`${manifest.name}_${manifest.version}_${debArchitecture}.deb`)
  writeDeb({ binary, architecture: debArchitecture, papers: all, compression: 'gzip', outfile })
  debs.push(outfile)
}
if (debs.length > 0) writeAptRepository(at('apt'), debs, new Date())

const sums = readdirSync(dir, { recursive: true, encoding: 'utf8' })
  .filter(name => statSync(at(name)).isFile())
  .sort()
  .map(
    name =>
      `${createHash('sha256')
        .update(readFileSync(at(name)))
        .digest('hex')}  ${name}`,
  )
writeFileSync(at('SHA256SUMS'), `${sums.join('\n')}\n`)
console.info(`${dir} has ${sums.length} files and their checksums; now sign SHA256SUMS`)
