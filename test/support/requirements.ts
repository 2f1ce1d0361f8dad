import { existsSync, mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** The folder of public price files next to the checkout. The repository does not contain it. */
export const realDataFolder = resolve(import.meta.dir, '../../../shared/data')
/** The browser that the tests start. */
export const chromiumPath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'
/** The Python that computes with pandas, such as that of a virtual environment. */
export const pandasPython = process.env.WELLHEAD_PANDAS_PYTHON ?? 'python3'
export const faketimeLibrary = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'

const isRoot = process.getuid?.() === 0
const onPath = (program: string) => () => Bun.which(program) !== null
const runs =
  (...command: string[]) =>
  () =>
    Bun.which(command[0]!) !== null &&
    Bun.spawnSync(command, { stdout: 'ignore', stderr: 'ignore' }).exitCode === 0
const fromDebian = (name: string) => `apt-get install ${name}`
/** A program of a Debian package with its name. */
const program = (name: string, install = fromDebian(name)) => ({ isHere: onPath(name), install })

/** Where npm keeps packages that are installed with `--global`, and other folders by NODE_PATH. */
const moduleFolders = [
  ...(process.env.NODE_PATH?.split(':') ?? []),
  '/usr/local/lib/node_modules',
  '/usr/lib/node_modules',
]
/** The folder of a package that is installed for the whole machine. */
export const moduleFolder = (name: string): string | undefined =>
  moduleFolders.map(folder => join(folder, name)).find(folder => existsSync(folder))
/** A package of npm that tests load. */
const moduleOf = (name: string, version: string) => ({
  isHere: () => moduleFolder(name) !== undefined,
  install: `npm install --global ${name}@${version}`,
})

interface Requirement {
  isHere: () => boolean
  /** How to get it, for the table at the end of a test run. */
  install: string
}

/** Requirements of some tests that not every machine meets. */
export const requirements = {
  '../shared/data': {
    isHere: () => existsSync(realDataFolder),
    install: 'public price files of agencies, kept next to the checkout by the maintainers',
  },
  'apt-get': program('apt-get', 'run the tests on Debian'),
  bash: program('bash'),
  caddy: program('caddy'),
  chromium: { isHere: () => existsSync(chromiumPath), install: fromDebian('chromium') },
  curl: program('curl'),
  deno: program('deno', 'npm install --global deno'),
  'dpkg-deb': program('dpkg-deb', fromDebian('dpkg')),
  duckdb: {
    isHere: () => Bun.which('duckdb') !== null || runs('python3', '-c', 'import duckdb')(),
    install: 'the command-line client of DuckDB, or pip install duckdb',
  },
  fish: program('fish'),
  go: { isHere: runs('go', 'version'), install: fromDebian('golang-go') },
  haproxy: program('haproxy'),
  jq: program('jq'),
  libfaketime: { isHere: () => existsSync(faketimeLibrary), install: fromDebian('libfaketime') },
  linux: { isHere: () => process.platform === 'linux', install: 'run the tests on Linux' },
  man: program('man', fromDebian('man-db')),
  'mcp-inspector': {
    isHere: runs('mcp-inspector', '--cli', '--help'),
    install: 'npm install --global @modelcontextprotocol/inspector',
  },
  mount: { isHere: canMount, install: 'run the tests as root, with the right to mount' },
  mypy: { isHere: runs('mypy', '--version'), install: fromDebian('mypy') },
  'nats-py': { isHere: runs('python3', '-c', 'import nats'), install: 'pip install nats-py' },
  'nats-server': program('nats-server'),
  nginx: program('nginx'),
  '@modelcontextprotocol/conformance': moduleOf('@modelcontextprotocol/conformance', '0.1.16'),
  '@redocly/cli': moduleOf('@redocly/cli', '2.77.0'),
  '@stoplight/prism-cli': moduleOf('@stoplight/prism-cli', '5.16.0'),
  '@stoplight/spectral-cli': moduleOf('@stoplight/spectral-cli', '6.16.3'),
  newman: moduleOf('newman', '6.2.2'),
  'openapi-to-postmanv2': moduleOf('openapi-to-postmanv2', '6.3.3'),
  'oauth2-mock-server': moduleOf('oauth2-mock-server', '9.3.0'),
  'oidc-provider': moduleOf('oidc-provider', '9.13.3'),
  'no installed Wellhead': {
    isHere: () =>
      !existsSync('/var/lib/wellhead') &&
      !existsSync('/usr/bin/wellhead') &&
      !existsSync('/run/systemd/system'),
    install: 'run the tests on a machine without Wellhead and systemd, such as a container',
  },
  helm: program('helm', 'the binary of Helm, from https://helm.sh'),
  'node 20.3': {
    isHere: runs(
      'node',
      '-e',
      'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 3) ? 0 : 1)',
    ),
    install: 'Node.js 20.3 or later, from https://nodejs.org',
  },
  pandas: {
    isHere: runs('python3', '-c', 'import pandas, pyarrow'),
    install: 'pip install pandas pyarrow',
  },
  'pandas alone': {
    isHere: runs(pandasPython, '-c', 'import pandas'),
    install: 'pip install pandas, or name a Python that has it in WELLHEAD_PANDAS_PYTHON',
  },
  php: { isHere: runs('php', '--version'), install: fromDebian('php-cli php-curl') },
  prometheus: {
    isHere: () => Bun.which('prometheus') !== null && Bun.which('promtool') !== null,
    install: fromDebian('prometheus'),
  },
  'python build': {
    isHere: runs('python3', '-m', 'build', '--version'),
    install: 'pip install build',
  },
  pytest: {
    isHere: runs('python3', '-m', 'pytest', '--version'),
    install: fromDebian('python3-pytest'),
  },
  'python 3.10': {
    isHere: runs('python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 10))'),
    install: fromDebian('python3'),
  },
  'npm registry': {
    isHere: runs(process.execPath, 'pm', 'view', 'typescript', 'version'),
    install: 'a connection to the npm registry',
  },
  sqlite3: program('sqlite3'),
  setsid: program('setsid', fromDebian('util-linux')),
  requests: {
    isHere: runs('python3', '-c', 'import requests'),
    install: fromDebian('python3-requests'),
  },
  root: { isHere: () => isRoot, install: 'run the tests as root' },
  runuser: program('runuser', fromDebian('util-linux')),
  setpriv: program('setpriv', fromDebian('util-linux')),
  'ssh-keygen': program('ssh-keygen', fromDebian('openssh-client')),
  'systemd-analyze': program('systemd-analyze', fromDebian('systemd')),
  terminal: {
    isHere: runs('script', '-qec', 'true', '/dev/null'),
    install: 'util-linux and /dev/pts, which a plain chroot does not have',
  },
  'test:full': {
    isHere: () => process.env.TEST_SCOPE === 'full',
    install: 'bun run test:full',
  },
  'torture R33': {
    isHere: () => process.env.WELLHEAD_TORTURE === '1',
    install: 'bun run torture R33',
  },
  unshare: {
    isHere: () => isRoot && runs('unshare', '-m', 'true')(),
    install: 'run the tests as root, outside a chroot and with the right to mount',
  },
  zsh: program('zsh'),
} satisfies Record<string, Requirement>

export type Need = keyof typeof requirements

/** Whether this process may mount a file system: root in a container often may not. */
function canMount(): boolean {
  if (!isRoot || process.platform !== 'linux') return false
  const place = mkdtempSync(join(tmpdir(), 'wellhead-mount-'))
  const mounted = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=1m', 'none', place])
  if (mounted.exitCode === 0) Bun.spawnSync(['umount', '-l', place])
  rmdirSync(place)
  return mounted.exitCode === 0
}

const checked = new Map<Need, boolean>()
export const isHere = (name: Need): boolean => {
  const known = checked.get(name) ?? requirements[name].isHere()
  checked.set(name, known)
  return known
}

export const installOf = (name: string): string =>
  (requirements as Record<string, Requirement>)[name]?.install ?? ''

/** The names that a skipped test gives in its own name. */
export const missingIn = (testName: string): string[] =>
  [...testName.matchAll(/\(skipped: needs ([^)]+)\)/g)].flatMap(([, names]) =>
    names!.split(' and '),
  )
