import { existsSync } from 'node:fs'

/**
 * Installs the dependencies of the folder it runs in. The first run takes a minute and prints a
 * notice.
 */
if (!existsSync('node_modules'))
  console.log(
    'Downloading dependencies (400 MB on disk). This happens once and takes about a minute.',
  )
const command = [process.execPath, 'install', '--frozen-lockfile', '--no-summary']
const child = Bun.spawnSync(command, { stdio: ['ignore', 'pipe', 'inherit'] })
if (child.exitCode !== 0) console.error(child.stdout.toString())
process.exit(child.exitCode)
