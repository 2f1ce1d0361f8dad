import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { InstalledPaths } from '../config/config.ts'

/** A package puts it alongside its program: `/usr/lib/wellhead` for `/usr/bin/wellhead`. */
const markerPath = '../lib/wellhead/installation.json'

/**
 * The default paths of the package that a program comes from. A file next to it marks them, and not
 * the program's path, because users copy binaries to `/usr/bin` without the package's directories.
 */
export function installationOf(program: string): InstalledPaths | undefined {
  const path = resolve(dirname(program), markerPath)
  if (!existsSync(path)) return undefined
  const { data_dir: dataDirectory, config: configFile } = JSON.parse(
    readFileSync(path, 'utf8'),
  ) as Record<string, string | undefined>
  if (dataDirectory === undefined || configFile === undefined)
    throw new Error(`${path} must name data_dir and config; install the package again`)
  return { dataDirectory, configFile }
}
