import { afterAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { writeAptRepository } from '../scripts/release/apt.ts'
import { version } from '../src/version.ts'
import { renderTemplate } from './support/helm.ts'
import { needs } from './support/needs.ts'

const root = resolve(import.meta.dir, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const work = mkdtempSync(join(tmpdir(), 'wellhead-packaging-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

interface Outcome {
  code: number
  text: string
}

async function run(command: string[], env: Record<string, string> = {}): Promise<Outcome> {
  const child = Bun.spawn(command, {
    cwd: work,
    env: { PATH: process.env.PATH, HOME: work, LC_ALL: 'C', ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, text: out + err }
}

const onLinux = needs('linux', 'curl')
onLinux.describe('the install script', () => {
  const program = '#!/bin/sh\necho "wellhead is installed"\n'
  const arm = process.arch === 'arm64' ? 'arm64' : 'x64'
  const name = `wellhead-${version}-linux-${arm}`
  const digest = createHash('sha256').update(program).digest('hex')
  /** Serves a release with some checksums, and runs the script against it. */
  async function installed(sums: string, directory: string): Promise<Outcome> {
    const files: Record<string, string> = {
      [name]: program,
      [`${name}-musl`]: program,
      SHA256SUMS: sums,
    }
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: request => {
        const [, at, file = ''] = new URL(request.url).pathname.split('/')
        const text = at === version ? files[file] : undefined
        return text === undefined ? new Response('', { status: 404 }) : new Response(text)
      },
    })
    try {
      return await run(['sh', join(root, 'packaging/install.sh')], {
        WELLHEAD_RELEASES: `http://127.0.0.1:${server.port}`,
        WELLHEAD_BIN: join(work, directory),
      })
    } finally {
      await server.stop(true)
    }
  }

  test('installs the binary of this system when its checksum is right', async () => {
    const sums = `${digest}  ${name}\n${digest}  ${name}-musl\n`
    const { code, text } = await installed(sums, 'right')
    expect({ code, text }).toEqual({
      code: 0,
      text: expect.stringContaining(`wellhead ${version}`),
    })
    expect((await run([join(work, 'right/wellhead')])).text).toBe('wellhead is installed\n')
    expect(readdirSync(join(work, 'right'))).toEqual(['wellhead'])
  })

  test('installs nothing when the checksum is that of another file', async () => {
    const other = createHash('sha256').update('another').digest('hex')
    const { code, text } = await installed(`${other}  ${name}\n${other}  ${name}-musl\n`, 'wrong')
    expect({ code, text }).toEqual({
      code: 1,
      text: expect.stringContaining(`must be ${other}; got ${digest}`),
    })
    expect(existsSync(join(work, 'wrong/wellhead'))).toBe(false)
  })

  test('installs nothing when the checksums do not name the binary', async () => {
    const { code, text } = await installed(`${digest}  ${name}.exe\n`, 'none')
    expect({ code, text }).toEqual({ code: 1, text: expect.stringContaining('has no checksum of') })
    expect(existsSync(join(work, 'none/wellhead'))).toBe(false)
  })
})

needs('ssh-keygen').test(
  'checksums that are signed as the page of releases says are verified as the page of installing says',
  async () => {
    const page = read('docs/releasing.md')
    expect(page).toContain('ssh-keygen -Y sign -f ~/.ssh/wellhead-release -n wellhead')
    expect(read('docs/how-to/install.md')).toContain(
      'ssh-keygen -Y verify -f allowed_signers -I releases@wellhead.example -n wellhead',
    )
    const key = join(work, 'key')
    const sums = join(work, 'SHA256SUMS')
    writeFileSync(sums, 'a list of checksums\n')
    await run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', key])
    const [type = '', body = ''] = readFileSync(`${key}.pub`, 'utf8').split(' ')
    const line = `releases@wellhead.example namespaces="wellhead" ${type} ${body}\n`
    writeFileSync(join(work, 'signers'), read('packaging/allowed_signers') + line)
    expect((await run(['ssh-keygen', '-Y', 'sign', '-f', key, '-n', 'wellhead', sums])).code).toBe(
      0,
    )
    const verify = `ssh-keygen -Y verify -f signers -I releases@wellhead.example -n wellhead -s ${sums}.sig < ${sums}`
    expect((await run(['sh', '-c', verify])).code).toBe(0)
    writeFileSync(sums, 'another list\n')
    expect((await run(['sh', '-c', verify])).code).not.toBe(0)
  },
)

needs('dpkg-deb', 'apt-get').test(
  'apt finds and reads a package in the repository of a release',
  async () => {
    const tree = join(work, 'tree')
    mkdirSync(join(tree, 'DEBIAN'), { recursive: true })
    writeFileSync(
      join(tree, 'DEBIAN/control'),
      `Package: wellhead\nVersion: ${version}\nArchitecture: amd64\nMaintainer: Tests <tests@example.com>\nDescription: package of a test\n`,
    )
    const deb = join(work, `wellhead_${version}_amd64.deb`)
    await run(['dpkg-deb', '--root-owner-group', '--build', tree, deb])
    const repository = join(work, 'apt')
    writeAptRepository(repository, [deb], new Date())
    const state = join(work, 'state')
    mkdirSync(join(state, 'lists/partial'), { recursive: true })
    writeFileSync(join(work, 'sources.list'), `deb [trusted=yes] file:${repository} stable main\n`)
    const options = Object.entries({
      'APT::Architecture': 'amd64',
      'APT::Sandbox::User': 'root',
      'Dir::Etc::sourcelist': join(work, 'sources.list'),
      'Dir::Etc::sourceparts': '-',
      'Dir::State': state,
      'Dir::State::lists': join(state, 'lists'),
      'Dir::State::status': '/dev/null',
      'Dir::Cache': join(work, 'cache'),
    }).flatMap(([name, value]) => ['-o', `${name}=${value}`])
    const updated = await run(['apt-get', ...options, 'update'])
    expect({ code: updated.code, text: updated.text }).toEqual({
      code: 0,
      text: expect.not.stringMatching(/^(W|E):/m),
    })
    const found = await run(['apt-cache', ...options, 'policy', 'wellhead'])
    expect(found.text).toContain(`Candidate: ${version}`)
    const fetched = await run(['apt-get', ...options, 'download', 'wellhead'])
    expect({ code: fetched.code, text: fetched.text }).toEqual({
      code: 0,
      text: expect.any(String),
    })
  },
)

describe('the Compose file', () => {
  interface Compose {
    services: { wellhead: Record<string, unknown> }
    secrets: Record<string, unknown>
  }
  const compose = Bun.YAML.parse(read('packaging/compose.yaml')) as Compose

  test('runs the image of this version with little right, and reads its secrets from files', () => {
    expect(compose.services.wellhead).toMatchObject({
      image: `wellhead:${version}`,
      read_only: true,
      cap_drop: ['ALL'],
      ports: ['127.0.0.1:8470:8470'],
      secrets: Object.keys(compose.secrets),
    })
  })
})

describe('the image', () => {
  const dockerfile = read('Dockerfile')
  test('runs as its own user, checks its health, and contains what the documentation is made of', () => {
    expect(dockerfile).toMatch(/^USER wellhead$/m)
    expect(dockerfile).toMatch(/^HEALTHCHECK .*CMD \["wellhead", "healthcheck"\]$/m)
    for (const folder of ['docs', 'clients', 'packaging', 'fixtures', 'scripts', 'src'])
      expect(dockerfile).toContain(`COPY ${folder} ${folder}\n`)
    const ignored = read('.dockerignore').split('\n')
    for (const folder of ['docs', 'clients', 'packaging']) expect(ignored).not.toContain(folder)
  })
})

/** The output of `helm template prices packaging/helm/wellhead`, as far as these tests need it. */
describe('the Helm chart, rendered by a stand-in of Helm', () => {
  const directory = join(root, 'packaging/helm/wellhead')
  const chart = Bun.YAML.parse(readFileSync(join(directory, 'Chart.yaml'), 'utf8')) as Record<
    string,
    string
  >
  const values = Bun.YAML.parse(readFileSync(join(directory, 'values.yaml'), 'utf8')) as Record<
    string,
    object
  >
  const rendered = (changes: Record<string, object | string> = {}) =>
    readdirSync(join(directory, 'templates'))
      .map(name => readFileSync(join(directory, 'templates', name), 'utf8'))
      .map(text =>
        renderTemplate(text, {
          Values: { ...values, ...changes },
          Release: { Name: 'prices' },
          Chart: { AppVersion: chart.appVersion },
        }),
      )
      .filter(text => text.trim() !== '')
      .map(text => Bun.YAML.parse(text) as Manifest)
  interface Manifest {
    kind: string
    data?: Record<string, string>
    spec: {
      replicas?: number
      rules?: { host: string }[]
      volumeClaimTemplates?: { spec: object }[]
      template?: { spec: { securityContext: object; containers: Record<string, unknown>[] } }
    }
  }
  const of = (manifests: Manifest[], kind: string) => manifests.find(other => other.kind === kind)!

  test('has the version of the program', () => {
    expect({ version: chart.version, appVersion: chart.appVersion }).toEqual({
      version,
      appVersion: version,
    })
  })

  test('is one replica with a volume claim, probes, and no more rights than it needs', () => {
    const { spec } = of(rendered(), 'StatefulSet')
    expect(spec.replicas).toBe(1)
    expect(spec.volumeClaimTemplates![0]!.spec).toEqual({
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '20Gi' } },
    })
    const pod = spec.template!.spec
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10_001 })
    expect(pod.containers[0]).toMatchObject({
      image: `wellhead:${version}`,
      args: ['serve', '--data', '/data/wellhead', '--config', '/config/wellhead.toml'],
      securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
      startupProbe: { httpGet: { path: '/health' } },
      livenessProbe: { exec: { command: ['wellhead', 'healthcheck'] } },
      readinessProbe: { httpGet: { path: '/health' } },
      resources: { limits: { memory: '2Gi' } },
    })
    expect(pod.containers[0]).not.toHaveProperty('envFrom')
  })

  test('takes secrets from a Secret, a host for its ingress, and settings for its configuration', () => {
    const manifests = rendered({
      existingSecret: 'wellhead-secrets',
      ingress: { host: 'prices.example.com', className: '', tlsSecret: 'tls' },
      config: { server: { base_url: 'https://prices.example.com' }, backups: { every: '1h' } },
    })
    expect(of(manifests, 'StatefulSet').spec.template!.spec.containers[0]).toMatchObject({
      envFrom: [{ secretRef: { name: 'wellhead-secrets' } }],
    })
    expect(of(manifests, 'Ingress').spec.rules![0]!.host).toBe('prices.example.com')
    expect(Bun.TOML.parse(of(manifests, 'ConfigMap').data!['wellhead.toml']!)).toEqual({
      server: { base_url: 'https://prices.example.com' },
      backups: { every: '1h' },
    })
    expect(of(rendered(), 'Ingress')).toBeUndefined()
  })

  const withEverything = {
    existingSecret: 'wellhead-secrets',
    storage: { size: '50Gi', className: 'fast' },
    ingress: { host: 'prices.example.com', className: 'nginx', tlsSecret: 'tls' },
    config: { server: { base_url: 'https://prices.example.com' }, backups: { every: '1h' } },
  }
  for (const [values, changes] of Object.entries({ 'its own': {}, 'all its': withEverything }))
    needs('helm').test(`is what Helm itself renders with ${values} values`, async () => {
      const file = join(work, 'values.yaml')
      writeFileSync(file, JSON.stringify(changes))
      const { code, text } = await run(['helm', 'template', 'prices', directory, '-f', file])
      expect({ code, text }).toEqual({ code: 0, text: expect.any(String) })
      const byKind = (manifests: Manifest[]) =>
        manifests.toSorted((a, b) => a.kind.localeCompare(b.kind))
      const documents = text.split(/^---$/m).filter(part => part.trim() !== '')
      const manifests = documents.map(part => Bun.YAML.parse(part) as Manifest)
      // Helm orders the fields of the configuration before it takes their checksum.
      const plain = (all: Manifest[]) =>
        JSON.stringify(byKind(all)).replace(/(?<="checksum\/config":)"[0-9a-f]{64}"/, '""')
      const toml = (all: Manifest[]) => Bun.TOML.parse(of(all, 'ConfigMap').data!['wellhead.toml']!)
      expect(toml(manifests)).toEqual(toml(rendered({ ...changes, config: toml(manifests) })))
      expect(JSON.parse(plain(manifests))).toEqual(
        JSON.parse(plain(rendered({ ...changes, config: toml(manifests) }))),
      )
      expect((await run(['helm', 'lint', '--strict', directory, '-f', file])).code).toBe(0)
    })
})

describe('the workflows', () => {
  test('run scripts of this repository with the pinned Bun', () => {
    const { scripts, packageManager } = JSON.parse(read('package.json')) as {
      scripts: Record<string, string>
      packageManager: string
    }
    for (const name of ['check.yml', 'release.yml']) {
      const text = read(`packaging/ci/${name}`)
      const workflow = Bun.YAML.parse(text) as { jobs: Record<string, { steps: unknown[] }> }
      for (const { steps } of Object.values(workflow.jobs)) expect(steps.length).toBeGreaterThan(2)
      const commands = [...text.matchAll(/npx -y (bun@[\d.]+) run (\S+)/g)]
      expect(commands.length).toBeGreaterThan(1)
      for (const [, bun, script = ''] of commands) {
        expect(bun).toBe(packageManager)
        expect(Object.keys(scripts)).toContain(script)
      }
    }
  })
})

needs('linux').describe('a start by the unit', () => {
  /** Runs what the unit runs after the program is started; `program` stands for the program. */
  async function waited(program: string, mainPid: number) {
    const path = join(work, 'wellhead-stub')
    writeFileSync(path, `#!/bin/sh\n${program}\n`, { mode: 0o755 })
    const [, script] = /^ExecStartPost=-.* -c '(.*)'$/m.exec(read('packaging/wellhead.service'))!
    return await run(
      ['/bin/sh', '-c', script!.replaceAll('$$', '$').replaceAll('/usr/bin/wellhead', path)],
      { MAINPID: String(mainPid) },
    )
  }
  test('lasts until the server answers', async () => {
    const count = join(work, 'checks')
    const program = `echo "$1" >> ${count}; [ "$(wc -l < ${count})" = 3 ]`
    expect(await waited(program, process.pid)).toEqual({ code: 0, text: '' })
    expect(readFileSync(count, 'utf8')).toBe('healthcheck\n'.repeat(3))
  })
  test('ends with a server that does not start', async () => {
    const child = Bun.spawn(['true'])
    await child.exited
    // systemd takes the end of the server itself as the failure.
    expect((await waited('false', child.pid)).text).toBe('')
  })
})
