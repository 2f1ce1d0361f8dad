import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { debArchitectures, writeDeb } from '../../../scripts/release/deb.ts'
import { papers } from '../../../scripts/release/papers.ts'
import { binary, remove, temporaryDir } from '../../support/instance/binary.ts'
import { needs } from '../../support/needs.ts'
import { until } from '../../support/until.ts'

const root = temporaryDir()
afterAll(() => remove(root))

const all = papers(join(root, 'notices.txt'))
const unit = resolve(import.meta.dir, '../../../packaging/wellhead.service')
const data = '/var/lib/wellhead'

/** The exit code and all that was printed. */
function sh(...command: string[]) {
  const child = Bun.spawnSync(command, { stderr: 'pipe', env: { ...process.env, LC_ALL: 'C' } })
  return { code: child.exitCode, text: child.stdout.toString() + child.stderr.toString() }
}

/** Without the triggers of other packages, which index every manual of the machine. */
const dpkg = (...args: string[]) => sh('dpkg', '--no-triggers', ...args)

describe('what is passed on', () => {
  test('names what the binary is made of, each with its licence and where it comes from', () => {
    const bom = JSON.parse(all.sbom) as {
      bomFormat: string
      specVersion: string
      metadata: { component: { name: string } }
      components: { name: string; version: string; purl: string; licenses: unknown[] }[]
    }
    expect({
      bomFormat: bom.bomFormat,
      specVersion: bom.specVersion,
      name: bom.metadata.component.name,
    }).toEqual({ bomFormat: 'CycloneDX', specVersion: '1.6', name: 'wellhead' })
    const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
      dependencies: Record<string, string>
    }
    for (const [name, version] of Object.entries(manifest.dependencies))
      expect(bom.components.map(component => component.purl)).toContain(
        `pkg:npm/${name.replace('@', '%40')}@${version}`,
      )
    for (const component of bom.components)
      expect(component.licenses, component.name).toHaveLength(1)
    expect(bom.components.length).toBeGreaterThan(Object.keys(manifest.dependencies).length)
  })
})

needs('systemd-analyze').describe('the unit', () => {
  test('systemd finds no mistake in the unit of the package', () => {
    // Neither the program nor its manual are here.
    const complaints = sh('systemd-analyze', 'verify', unit)
      .text.split('\n')
      .filter(
        line => line !== '' && !/not executable|man wellhead|Failed to (connect|open)/.test(line),
      )
    expect(complaints).toEqual([])
  })
  test('the systemd unit gets the systemd-analyze exposure level that its documentation states', () => {
    const page = readFileSync(
      resolve(import.meta.dir, '../../../docs/how-to/production.md'),
      'utf8',
    )
    const [, level, version] = /rates\s+it ([\d.]+) with systemd (\d+)/.exec(page)!
    if (!sh('systemd-analyze', '--version').text.startsWith(`systemd ${version} `)) return
    const { text } = sh('systemd-analyze', 'security', '--offline=true', '--no-pager', unit)
    expect(text).toContain(`exposure level for wellhead.service: ${level} OK`)
  })
  test('leaves the service little: at most 2.0 by systemd-analyze security', () => {
    const { text } = sh('systemd-analyze', 'security', '--offline=true', '--no-pager', unit)
    const level = /exposure level for wellhead\.service: ([\d.]+)/.exec(text)?.[1]
    expect(Number(level)).toBeLessThanOrEqual(2)
  })
})

// It makes a user and a directory of the machine, so it must not meet those of a real service.
needs('root', 'dpkg-deb', 'runuser', 'no installed Wellhead').describe('the Debian package', () => {
  test('is installed, runs as its own user, and leaves the data when it goes', async () => {
    const architecture = debArchitectures[process.arch === 'arm64' ? 'arm64' : 'x64']
    const deb = join(root, 'wellhead.deb')
    writeDeb({ binary: binary(), architecture, papers: all, compression: 'none', outfile: deb })
    try {
      const installed = dpkg('--install', deb)
      expect(installed.code, installed.text).toBe(0)
      expect(installed.text).toContain('runuser -u wellhead -- wellhead serve')
      const early = sh('wellhead', 'accounts', 'list')
      expect({ code: early.code, text: early.text }).toEqual({
        code: 1,
        text: expect.stringContaining(`${data} holds no`),
      })
      expect(statSync(data).mode & 0o777).toBe(0o700)
      expect(statSync('/etc/wellhead/wellhead.toml').mode & 0o777).toBe(0o640)
      // A container's dpkg may leave manuals and documentation out.
      const contents = sh('dpkg-deb', '--contents', deb).text
      for (const path of [
        'usr/bin/wellhead',
        'usr/lib/wellhead/installation.json',
        'usr/lib/systemd/system/wellhead.service',
        'usr/share/man/man1/wellhead.1.gz',
        'usr/share/bash-completion/completions/wellhead',
        'usr/share/doc/wellhead/copyright',
      ])
        expect(contents).toContain(` ./${path}\n`)

      const start = readFileSync(unit, 'utf8')
        .match(/^ExecStart=(.*)$/m)![1]!
        .split(' ')
      const server = Bun.spawn(['runuser', '-u', 'wellhead', '--', ...start, '--port', '0'], {
        stdout: 'pipe',
        stderr: 'pipe',
        cwd: '/',
      })
      const credentials = join(data, 'first-credentials')
      await until('the service is healthy', () => {
        expect(server.exitCode).toBeNull()
        return (
          existsSync(credentials) &&
          sh('runuser', '-u', 'wellhead', '--', 'wellhead', 'healthcheck').code === 0
        )
      })
      const owner = sh('stat', '-c', '%U %a', join(data, 'wellhead.db')).text.trim()
      expect(owner).toBe('wellhead 600')
      // Its commands know the directory and the configuration of the service.
      const explained = sh('wellhead', 'config', 'explain', '--json').text
      expect(JSON.parse(explained)).toContainEqual(
        expect.objectContaining({ key: 'data.dir', value: data, source: 'package' }),
      )
      writeFileSync('/etc/wellhead/wellhead.toml', 'plans = "unlimited"\n')
      expect(sh('wellhead', 'config', 'explain').text).toContain('/etc/wellhead/wellhead.toml:1')
      expect(sh('wellhead', 'accounts', 'list').text).toContain('operator@localhost')
      const stranger = sh('runuser', '-u', 'nobody', '--', 'wellhead', 'accounts', 'list')
      expect({ code: stranger.code, text: stranger.text }).toEqual({
        code: 1,
        text: expect.stringMatching(/belongs to (root|wellhead), and this is nobody/),
      })
      server.kill('SIGTERM')
      await server.exited

      // A rollback as root, as it is documented, and the service starts again.
      const instance = join(root, 'copy.db')
      expect(sh('wellhead', 'backup', instance).code).toBe(0)
      const restored = sh('wellhead', 'restore', instance)
      expect(restored.code, restored.text).toBe(0)
      expect(restored.text).toContain(`restored ${join(data, 'wellhead.db')} from ${instance}`)
      const rolledBack = Bun.spawn(['runuser', '-u', 'wellhead', '--', ...start, '--port', '0'], {
        stdout: 'pipe',
        stderr: 'pipe',
        cwd: '/',
      })
      await until('the service is healthy again', () => {
        expect(rolledBack.exitCode).toBeNull()
        return sh('wellhead', 'healthcheck').code === 0
      })
      rolledBack.kill('SIGTERM')
      await rolledBack.exited

      const removed = dpkg('--remove', 'wellhead')
      expect(removed.code, removed.text).toBe(0)
      expect(removed.text).toContain('a server that runs is not stopped')
      expect(removed.text).toContain(`stays in ${data}`)
      expect(existsSync('/usr/bin/wellhead')).toBe(false)
      expect(existsSync(join(data, 'wellhead.db'))).toBe(true)
      expect(existsSync(join(data, 'master.key'))).toBe(true)
      expect(existsSync('/etc/wellhead/wellhead.toml')).toBe(true)

      const again = dpkg('--install', deb)
      expect(again.code, again.text).toBe(0)
      expect(again.text).toContain('A server that still runs is of the previous version')
      expect(again.text).not.toContain('first-credentials')
      expect(sh('wellhead', 'verify', '--data', data).text).toContain('is valid')
      const purged = dpkg('--purge', 'wellhead')
      expect(purged.code, purged.text).toBe(0)
      expect(purged.text).toContain('/var/log/wellhead')
      expect(existsSync('/etc/wellhead/wellhead.toml')).toBe(false)
      expect(existsSync(join(data, 'wellhead.db'))).toBe(true)
    } finally {
      dpkg('--purge', 'wellhead')
      sh('userdel', 'wellhead')
      rmSync(data, { recursive: true, force: true })
    }
  }, 180_000)
})
