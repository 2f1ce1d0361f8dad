import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import manifest from '../../package.json'

const hashOf = (content: Uint8Array | string) => createHash('sha256').update(content).digest('hex')

/** The control fields of a package. Throws what `dpkg-deb` prints. */
function controlOf(deb: string): string {
  const shown = Bun.spawnSync(['dpkg-deb', '--field', deb], { stderr: 'pipe' })
  if (shown.exitCode !== 0) throw new Error(`dpkg-deb: ${shown.stderr.toString().trim()}`)
  return shown.stdout.toString().trim()
}

/**
 * Writes the layout of an apt repository with some packages: `pool` has them, `dists/stable` the
 * indexes. A maintainer signs `Release`.
 */
export function writeAptRepository(root: string, debs: readonly string[], now: Date): void {
  const put = (path: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  const pool = `pool/main/${manifest.name[0]}/${manifest.name}`
  const indexes = new Map<string, string | Uint8Array>()
  const architectures: string[] = []
  for (const deb of debs) {
    const control = controlOf(deb)
    const architecture = /^Architecture: (\w+)$/m.exec(control)![1]!
    const content = readFileSync(deb)
    const path = `${pool}/${basename(deb)}`
    mkdirSync(join(root, pool), { recursive: true })
    copyFileSync(deb, join(root, path))
    const entry = `${control}\nFilename: ${path}\nSize: ${content.length}\nSHA256: ${hashOf(content)}\n`
    architectures.push(architecture)
    indexes.set(`main/binary-${architecture}/Packages`, entry)
    indexes.set(`main/binary-${architecture}/Packages.gz`, Bun.gzipSync(Buffer.from(entry)))
  }
  for (const [path, content] of indexes) put(`dists/stable/${path}`, content)
  const sums = [...indexes].map(
    ([path, content]) => ` ${hashOf(content)} ${Buffer.byteLength(content)} ${path}`,
  )
  put(
    'dists/stable/Release',
    `Origin: ${manifest.name}
Label: ${manifest.name}
Suite: stable
Codename: stable
Date: ${now.toUTCString()}
Architectures: ${architectures.join(' ')}
Components: main
SHA256:
${sums.join('\n')}
`,
  )
}
