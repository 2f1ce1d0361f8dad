import { join } from 'node:path'

/** The program that builds Python packages, where it is installed. */
const hasBuild = () =>
  Bun.spawnSync(['python3', '-m', 'build', '--version'], { stdout: 'ignore', stderr: 'ignore' })
    .exitCode === 0

function run(command: string[], cwd?: string): void {
  const child = Bun.spawnSync(command, { cwd, stdout: 'pipe', stderr: 'pipe' })
  if (child.exitCode !== 0)
    throw new Error(`${command.join(' ')}: ${child.stdout.toString()}${child.stderr.toString()}`)
}

/**
 * Packs the clients for their registries into a directory: npm packages, and a Python wheel with its
 * source distribution. Returns what could not be packed on this machine.
 */
export function packClients(sources: string, out: string): string[] {
  run([process.execPath, 'scripts/clients.ts', sources])
  for (const name of ['typescript', 'testkit'])
    run([process.execPath, 'pm', 'pack', '--destination', out, '--quiet'], join(sources, name))
  if (!hasBuild()) return ['the Python packages: python3 -m build is missing']
  run(['python3', '-m', 'build', '--outdir', out, join(sources, 'python')])
  return []
}
