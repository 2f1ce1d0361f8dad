import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import { distance } from 'fastest-levenshtein'
import { databasePath, isDataDirectory, lostDatabase } from '../instance/services/directory.ts'
import { accessFault, fileFault } from '../lib/files/file-faults.ts'

/**
 * How a command uses its data directory. Only a few commands create one: an empty directory made
 * for a mistyped name would look like success.
 */
export type DirectoryUse =
  /** The directory must exist and contain a database. */
  | 'needed'
  /** The command creates it, or reports itself why it does not. */
  | 'made'
  /**
   * The command reads the configuration alone: a directory that is named has to be there, and needs
   * no database.
   */
  | 'named'

const uses = new WeakMap<Command, (command: Command) => DirectoryUse>()

export const setDirectoryUse = (command: Command, use: (command: Command) => DirectoryUse): void =>
  void uses.set(command, use)

/** Undefined for a command that takes no data directory. */
export const directoryUse = (command: Command): DirectoryUse | undefined =>
  uses.get(command)?.(command)

interface Surroundings {
  /** The working directory. */
  directory: string
  /** The data directory of the package. */
  installed?: string | undefined
}

/** A suggestion of another directory; empty where none is near. */
function meantInstead(place: string, { directory, installed }: Surroundings): string {
  const near = nearest(place, [join(directory, 'wellhead-data'), ...(installed ? [installed] : [])])
  return near === undefined ? '' : ` Did you mean ${near}?`
}

/**
 * Why a backup is not restored into a directory; undefined where it may be. An empty one may be a
 * new disk or volume instead of the lost one.
 */
export function restoreFault(dir: string, surroundings: Surroundings): string | undefined {
  const place = resolve(surroundings.directory, dir)
  const stats = statSync(place, { throwIfNoEntry: false })
  const meant = meantInstead(place, surroundings)
  const advice = `Name the data directory of the server with --data; --create restores into a new one.`
  if (!stats) return `There is no data directory ${dir}.${meant} ${advice}`
  if (!stats.isDirectory()) return `${dir} must be a data directory; got a file.${meant}`
  const isFitting = isDataDirectory(place) || readdirSync(place).length === 0
  return isFitting
    ? undefined
    : `${dir} holds other files and is not a data directory.${meant} ${advice}`
}

/** Why a directory cannot be used by a command that makes none; undefined where it can. */
export function directoryFault(
  dir: string,
  surroundings: Surroundings & { needsDatabase: boolean },
): string | undefined {
  const place = resolve(surroundings.directory, dir)
  const meant = meantInstead(place, surroundings)
  try {
    const stats = statSync(place, { throwIfNoEntry: false })
    if (!stats)
      return `There is no data directory ${dir}.${meant} Name one with --data or WELLHEAD_DATA_DIR; "wellhead serve" creates a new one.`
    if (!stats.isDirectory()) return `${dir} must be a data directory; got a file.${meant}`
    accessSync(place, constants.R_OK | constants.X_OK)
  } catch (error) {
    return fileFault(error, place) ?? accessFault(place)
  }
  if (!surroundings.needsDatabase) return undefined
  const lost = lostDatabase(place)
  if (lost !== undefined || existsSync(databasePath(place))) return lost
  return `${dir} holds no database (wellhead.db).${meant} Name a data directory with --data or WELLHEAD_DATA_DIR; "wellhead serve" creates a new one.`
}

/** At most this share of a name may be mistyped. */
const mistypedShare = 0.4

/** A data directory that was probably meant: the default, the one above, or one of a similar name. */
function nearest(place: string, defaults: readonly string[]): string | undefined {
  const isData = (path: string) => path !== place && existsSync(databasePath(path))
  const parent = dirname(place)
  const below = existsSync(place) && statSync(place).isDirectory() ? [join(place, 'data')] : []
  const similar = siblings(parent)
    .map(name => ({ name, steps: distance(name, basename(place)) }))
    .filter(({ steps }) => steps <= Math.ceil(basename(place).length * mistypedShare))
    .sort((a, b) => a.steps - b.steps)
    .map(({ name }) => join(parent, name))
  return [...similar, parent, ...below, ...defaults].find(isData)
}

function siblings(parent: string): string[] {
  try {
    return readdirSync(parent)
  } catch {
    return []
  }
}
