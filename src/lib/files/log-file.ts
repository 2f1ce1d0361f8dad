import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Clock } from '../time/clock.ts'
import { errorText } from './error-text.ts'
import { closeToOthers, privateMode } from './private-file.ts'
import { writeWhole } from './write-whole.ts'

export interface LogFileOptions {
  path: string
  /** A file that would grow beyond it is put aside. */
  bytesMax: number
  /** How long after its last line a rotated file is removed. */
  keepMs: number
  clock: Pick<Clock, 'now' | 'monotonic'>
  /** Gets the lines that cannot be written. */
  instead(line: string): void
  /** Gets why lines cannot be written, once until one can. It may log: its line goes elsewhere. */
  onFault(reason: string): void
}

export type LogFile = ReturnType<typeof openLogFile>

/**
 * A file of lines that is put aside by size, as `wellhead.log.2026-11-22T18-04-05Z`, and kept for an
 * age. The libraries that rotate files keep a number of them, or name the current one by its day.
 * Throws where the file cannot be opened; a disk that is full later stops nothing.
 */
export function openLogFile(options: LogFileOptions) {
  const { path, bytesMax, keepMs, clock, instead, onFault } = options
  const lastLineAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? clock.now()
  const openedAt = clock.monotonic()
  /** A clock that is far ahead of the last line and of the time that has passed since may be wrong. */
  const forgetOld = () => {
    const now = Math.min(clock.now(), lastLineAt + clock.monotonic() - openedAt)
    forget(path, now - keepMs)
  }
  let file = open(path)
  let isNotified = false
  /** The file ends within a line: the disk took only a part of it. */
  let isCut = false

  const rotate = () => {
    // An earlier attempt may have moved the file without being able to create the next one.
    if (existsSync(path)) renameSync(path, asideName(path, clock.now()))
    const next = open(path)
    closeSync(file.fd)
    file = next
    isCut = false
    forgetOld()
  }
  /** Another program, such as logrotate, may have moved the file or emptied it. */
  const follow = () => {
    const there = statSync(path, { throwIfNoEntry: false })
    if (there?.ino === file.inode) {
      file.bytes = there.size
      return
    }
    const next = open(path)
    closeSync(file.fd)
    file = next
    isCut = false
  }
  forgetOld()
  return {
    write(line: string) {
      try {
        if (file.isRegular) follow()
        const isFull = file.bytes > 0 && file.bytes + Buffer.byteLength(line) > bytesMax
        // A pipe or a device, such as /dev/null, is not put aside: others use it too.
        if (isFull && file.isRegular) rotate()
        const bytes = Buffer.from(isCut ? `\n${line}` : line)
        writeWhole(file.fd, bytes)
        isCut = false
        file.bytes += bytes.length
        isNotified = false
      } catch (error) {
        const { size } = fstatSync(file.fd)
        isCut ||= size > file.bytes
        file.bytes = size
        const wasNotified = isNotified
        isNotified = true
        if (!wasNotified) onFault(errorText(error))
        instead(line)
      }
    },
    close: () => void closeSync(file.fd),
  }
}

function open(path: string) {
  closeToOthers(path)
  const fd = openSync(path, 'a', privateMode)
  const stats = fstatSync(fd)
  return { fd, inode: stats.ino, bytes: stats.size, isRegular: stats.isFile() }
}

const asidePattern = /^\.\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ(\.\d+)?$/

/** Colons are not for names of files everywhere. */
function asideName(path: string, now: number): string {
  const name = `${path}.${new Date(now).toISOString().slice(0, 19).replaceAll(':', '-')}Z`
  if (!existsSync(name)) return name
  let again = 1
  while (existsSync(`${name}.${again}`)) again += 1
  return `${name}.${again}`
}

function forget(path: string, before: number) {
  const [dir, own] = [dirname(path), basename(path)]
  for (const name of readdirSync(dir)) {
    if (!name.startsWith(own) || !asidePattern.test(name.slice(own.length))) continue
    const stats = statSync(join(dir, name), { throwIfNoEntry: false })
    if (stats && stats.mtimeMs < before) rmSync(join(dir, name), { force: true })
  }
}
