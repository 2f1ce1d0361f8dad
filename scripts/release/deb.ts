import { chmodSync, copyFileSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import manifest from '../../package.json'
import type { Papers } from './papers.ts'

/** Architectures as Debian calls them. */
export const debArchitectures = { x64: 'amd64', arm64: 'arm64' } as const

export interface DebOptions {
  binary: string
  architecture: (typeof debArchitectures)[keyof typeof debArchitectures]
  papers: Papers
  /** `none` is quick. */
  compression: 'gzip' | 'none'
  /** The package that is written. */
  outfile: string
}

const programMode = 0o755
const scripts = ['postinst', 'prerm', 'postrm', 'conffiles'] as const

/**
 * Writes a Debian package: the program, its unit, its manual and completions, and a configuration
 * that the administrator's changes survive. Throws the error of `dpkg-deb`.
 */
export function writeDeb({ binary, architecture, papers, compression, outfile }: DebOptions): void {
  const root = `${outfile}.root`
  rmSync(root, { recursive: true, force: true })
  const put = (path: string, content: string | Uint8Array, mode = 0o644) => {
    const target = join(root, path)
    mkdirSync(dirname(target), { recursive: true, mode: programMode })
    writeFileSync(target, content)
    chmodSync(target, mode)
  }
  const name = manifest.name
  put(`usr/bin/${name}`, '', programMode)
  copyFileSync(binary, join(root, `usr/bin/${name}`))
  chmodSync(join(root, `usr/bin/${name}`), programMode)
  // The default paths at which the program finds the package's data and configuration.
  put(`usr/lib/${name}/installation.json`, papers.installation)
  put(`usr/lib/systemd/system/${name}.service`, papers.unit)
  put(`etc/${name}/${name}.toml`, papers.configuration)
  put(`usr/share/man/man1/${name}.1.gz`, Bun.gzipSync(Buffer.from(papers.manual), { level: 9 }))
  put(`usr/share/bash-completion/completions/${name}`, papers.completions.bash)
  put(`usr/share/zsh/vendor-completions/_${name}`, papers.completions.zsh)
  put(`usr/share/fish/vendor_completions.d/${name}.fish`, papers.completions.fish)
  put(`usr/share/doc/${name}/copyright`, papers.licence)
  put(
    `usr/share/doc/${name}/notices.txt.gz`,
    Bun.gzipSync(Buffer.from(papers.notices), { level: 9 }),
  )
  put(
    `usr/share/doc/${name}/${name}.cdx.json.gz`,
    Bun.gzipSync(Buffer.from(papers.sbom), { level: 9 }),
  )
  for (const { path, text } of papers.documentation) put(`usr/share/doc/${name}/docs/${path}`, text)
  for (const script of scripts)
    put(`DEBIAN/${script}`, papers.debian[script], script === 'conffiles' ? undefined : programMode)
  const kilobytes = Math.ceil(statSync(join(root, `usr/bin/${name}`)).size / 1024)
  put(
    'DEBIAN/control',
    `Package: ${name}
Version: ${manifest.version}
Architecture: ${architecture}
Maintainer: ${name} maintainers <security@wellhead.example>
Installed-Size: ${kilobytes}
Depends: libc6 (>= 2.28), passwd
Recommends: ca-certificates
Section: net
Priority: optional
Description: ${manifest.description}
 A server with its whole state in one directory, run as its own user.
`,
  )
  const packed = Bun.spawnSync(
    ['dpkg-deb', '--root-owner-group', `-Z${compression}`, '--build', root, outfile],
    {
      stderr: 'pipe',
    },
  )
  rmSync(root, { recursive: true, force: true })
  if (packed.exitCode !== 0) throw new Error(`dpkg-deb: ${packed.stderr.toString().trim()}`)
}
