import type { ProcessRuntime } from '../../config/runtime.ts'
import { keepDirectoryOwner, removeUnused } from '../../instance/services/directory.ts'
import { type Holder, type Lock, lockDataDir } from '../../lib/files/directory-lock.ts'
import { removeLeftFiles } from '../../lib/files/working-file.ts'
import { exitCodes } from '../exit-codes.ts'

interface LockedServer {
  role: string
  /** The directory was made by this start. */
  isNew: boolean
  /** Says who holds the directory; undefined: another process that has not said so yet. */
  inUse(heldBy: Holder | undefined): string
  /** Serves the directory; returns the exit code. */
  serve(lock: Lock): Promise<number>
}

/** Serves a data directory while this process has its lock. Returns the exit code. */
export async function whileLocked(
  env: { runtime: ProcessRuntime; dir: string; err(text: string): void },
  { role, isNew, inUse, serve }: LockedServer,
): Promise<number> {
  const { runtime, dir } = env
  const lock = lockDataDir(dir, { pid: process.pid, role, startedAt: runtime.clock.now() })
  if ('heldBy' in lock) {
    env.err(inUse(lock.heldBy))
    return exitCodes.temporary
  }
  try {
    removeLeftFiles(dir)
    return await serve(lock)
  } finally {
    // While the lock is held: afterwards the files may be those of the next process.
    keepDirectoryOwner(dir)
    if (isNew) removeUnused(dir)
    lock.release()
  }
}
