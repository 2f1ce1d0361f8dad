import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { debArchitectures, writeDeb } from '../release/deb.ts'
import { papers } from '../release/papers.ts'

/**
 * The Debian package on a clean machine: a root of nothing but Debian, made by debootstrap and
 * booted by systemd-nspawn with its own systemd. Installed by apt, the service must run as its own
 * user and respond, `systemd-analyze security` must report at most 2.0, and a removal must keep the
 * data and print their path. Prints one line of JSON. Needs root, dist/wellhead, debootstrap,
 * systemd-nspawn and a mirror of Debian.
 *
 * bun scripts/torture/clean-machine.ts [release of Debian, else bookworm]
 */

const [release = 'bookworm'] = process.argv.slice(2)
const root = resolve(import.meta.dir, '../..')
const work = mkdtempSync(join(tmpdir(), 'wellhead-clean-'))
const machine = join(work, 'machine')
const data = '/var/lib/wellhead'
const exposureMax = 2
const bootMs = 120_000

function must(...command: string[]): string {
  const child = Bun.spawnSync(command, { stdout: 'pipe', stderr: 'pipe' })
  const text = child.stdout.toString() + child.stderr.toString()
  if (child.exitCode !== 0) throw new Error(`${command.join(' ')}: ${text.slice(-500)}`)
  return text
}

must(
  'debootstrap',
  '--variant=minbase',
  '--include=systemd,dbus,ca-certificates,procps',
  release,
  machine,
)
mkdirSync(join(work, 'package'))
const deb = join(work, 'package/wellhead.deb')
writeDeb({
  binary: join(root, 'dist/wellhead'),
  architecture: debArchitectures[process.arch === 'arm64' ? 'arm64' : 'x64'],
  papers: papers(join(work, 'package/notices.txt')),
  compression: 'none',
  outfile: deb,
})
copyFileSync(deb, join(machine, 'root/wellhead.deb'))

const boot = Bun.spawn(
  ['systemd-nspawn', '-D', machine, '--register=no', '--keep-unit', '--console=pipe', '-b'],
  { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' },
)
const leader = () =>
  Bun.spawnSync(['pgrep', '-P', String(boot.pid)])
    .stdout.toString()
    .trim()
    .split('\n')[0]

/** A command on that machine; its exit code and all that it printed. */
function there(command: string): { code: number; text: string } {
  const path = 'PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C'
  const child = Bun.spawnSync(
    [
      'nsenter',
      '-t',
      leader() ?? '',
      '-m',
      '-u',
      '-i',
      '-n',
      '-p',
      'env',
      ...path.split(' '),
      'sh',
      '-c',
      command,
    ],
    { stdout: 'pipe', stderr: 'pipe' },
  )
  return { code: child.exitCode, text: child.stdout.toString() + child.stderr.toString() }
}

async function until(what: string, isSo: () => boolean) {
  const began = performance.now()
  while (!isSo()) {
    if (performance.now() - began > bootMs) throw new Error(`${what}: not within two minutes`)
    await Bun.sleep(200)
  }
}

const failed: string[] = []
let checks = 0
const check = (what: string, isSo: boolean, found: string) => {
  checks += 1
  if (!isSo) failed.push(`${what}: ${found.slice(-300)}`)
}
let exposure: number | undefined
try {
  await until('its systemd', () =>
    /running|degraded/.test(there('systemctl is-system-running').text),
  )
  const installed = there('apt-get install -y /root/wellhead.deb')
  check('apt installs it', installed.code === 0, installed.text)
  await until('the service answers', () => there(`wellhead healthcheck --data ${data}`).code === 0)
  const active = there('systemctl is-active wellhead').text.trim()
  check('the service is active', active === 'active', active)
  const user = there('ps -o user= -C wellhead').text.trim()
  check('it runs as its own user', user === 'wellhead', user)
  const { text } = there('systemd-analyze security --no-pager wellhead')
  exposure = Number(/exposure level for wellhead\.service: ([\d.]+)/.exec(text)?.[1])
  check('its exposure', exposure <= exposureMax, text)
  const removed = there('apt-get remove -y wellhead')
  check('apt removes it', removed.code === 0, removed.text)
  check('it says where the data is', removed.text.includes(`stays in ${data}`), removed.text)
  const ended = there('systemctl is-active wellhead').text.trim()
  check('the service has ended', ended === 'inactive', ended)
  for (const file of ['wellhead.db', 'master.key'])
    check(`${file} is left`, existsSync(join(machine, data, file)), '')
} catch (error) {
  failed.push(String(error))
} finally {
  there('systemctl poweroff')
  await Promise.race([boot.exited, Bun.sleep(20_000)])
  boot.kill('SIGKILL')
  await boot.exited
  rmSync(work, { recursive: true, force: true })
}
console.log(
  JSON.stringify({
    id: 'R34',
    n: checks,
    failures: failed.length,
    release,
    exposure,
    ...(failed.length > 0 && { failed }),
  }),
)
process.exit(failed.length > 0 ? 1 : 0)
