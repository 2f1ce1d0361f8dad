import {
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { bytesOf, requireSpace } from '../../lib/files/free-space.ts'
import { keepOwner } from '../../lib/files/owner.ts'
import { closeToOthers, privateMode } from '../../lib/files/private-file.ts'
import { syncToDisk } from '../../lib/files/side-file.ts'
import { dayMs } from '../../lib/time/instant.ts'
import { backupTimeOf } from '../../plans/backup-retention.ts'

export interface StoredBackup {
  name: string
  /** Unix ms. */
  at: number
  bytes: number
}

/** A destination of backups. */
export type BackupPlace = ReturnType<typeof bucketPlace>

const inOrder = (backups: StoredBackup[]) => backups.sort((a, b) => a.at - b.at)

/** A part that has not grown for this long belongs to a process that was killed. */
const leftAfterMs = dayMs

/** Removes parts that killed processes left: each is as big as a backup. `now` is by this disk. */
function removeLeftParts(directory: string, now: number): void {
  for (const name of readdirSync(directory)) {
    if (!name.endsWith(partEnding) || backupTimeOf(name.slice(0, -partEnding.length)) === undefined)
      continue
    const stats = statSync(join(directory, name), { throwIfNoEntry: false })
    if (stats && now - stats.mtimeMs > leftAfterMs) rmSync(join(directory, name), { force: true })
  }
}

const partEnding = '.part'

export const directoryPlace = (directory: string): BackupPlace => ({
  label: directory,
  async list() {
    if (!existsSync(directory)) return []
    return inOrder(
      readdirSync(directory).flatMap(name => {
        const at = backupTimeOf(name)
        return at === undefined ? [] : [{ name, at, bytes: statSync(join(directory, name)).size }]
      }),
    )
  },
  async put(path, name) {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const part = join(directory, name + partEnding)
    try {
      // A new file: its name may be a link to any file, and a command may be root's.
      rmSync(part, { force: true })
      writeFileSync(part, '', { mode: privateMode, flag: 'wx' })
      // Parts that killed processes left may be what fills the disk.
      removeLeftParts(directory, statSync(part).mtimeMs)
      requireSpace(directory, bytesOf(path), name)
      rmSync(part)
      copyFileSync(path, part, constants.COPYFILE_EXCL)
      closeToOthers(part)
      // A command of root may make it, and the server opens the newest one.
      keepOwner(directory, each => each === name + partEnding)
      syncToDisk(part)
      renameSync(part, join(directory, name))
      syncToDisk(directory)
    } finally {
      rmSync(part, { force: true })
    }
  },
  async fetch(name, path) {
    copyFileSync(join(directory, name), path)
    closeToOthers(path)
  },
  // Throws if that cannot be determined.
  has: async name => statSync(join(directory, name), { throwIfNoEntry: false }) !== undefined,
  async remove(name) {
    rmSync(join(directory, name), { force: true })
  },
})

export interface BucketSettings {
  bucket: string
  /** Before the names, with its slash; empty: none. */
  prefix: string
  endpoint: string
  region: string
  accessKey: string
  secretKey: string
}

/** The runtime gives no reason where the storage gave none. */
const explained = <T>(asked: Promise<T>): Promise<T> =>
  asked.catch((error: Error) => {
    if (!/unexpected error/i.test(error.message)) throw error
    throw new Error(
      'the storage cannot be reached or gives no reason; check backups.s3_endpoint, backups.s3_bucket and the network',
      { cause: error },
    )
  })

/** A bucket of any storage that speaks S3. */
export function bucketPlace(settings: BucketSettings) {
  const { bucket, prefix, endpoint, region, accessKey, secretKey } = settings
  const client = new Bun.S3Client({
    bucket,
    region,
    accessKeyId: accessKey,
    secretAccessKey: secretKey,
    ...(endpoint !== '' && { endpoint }),
  })
  return {
    /** As people know it. */
    label: `s3://${bucket}/${prefix}`,
    /** Oldest first. */
    async list() {
      const backups: StoredBackup[] = []
      let startAfter: string | undefined
      for (;;) {
        const page = await explained(client.list({ prefix, ...(startAfter && { startAfter }) }))
        const contents = page.contents ?? []
        for (const { key, size } of contents) {
          const name = key.slice(prefix.length)
          const at = backupTimeOf(name)
          if (at !== undefined) backups.push({ name, at, bytes: size ?? 0 })
        }
        const last = contents.at(-1)?.key
        if (!page.isTruncated || last === undefined) return inOrder(backups)
        startAfter = last
      }
    },
    /** Resolves when the complete file is stored. */
    async put(path: string, name: string) {
      const { size } = Bun.file(path)
      await explained(client.write(prefix + name, Bun.file(path)))
      const stored = await client.stat(prefix + name)
      if (stored.size !== size) {
        await client.delete(prefix + name)
        throw new Error(`s3://${bucket}/${prefix}${name} has ${stored.size} of ${size} bytes`)
      }
    },
    /** Downloads a backup to a local file. */
    async fetch(name: string, path: string) {
      await explained(Bun.write(path, client.file(prefix + name)))
      closeToOthers(path)
    },
    has: (name: string): Promise<boolean> => client.exists(prefix + name),
    async remove(name: string) {
      await client.delete(prefix + name)
    },
  }
}
