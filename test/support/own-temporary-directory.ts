import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Runs work whose temporary files are in its own directory, where no other test comes and goes. */
export async function inOwnTemporaryDirectory(work: () => Promise<void>): Promise<void> {
  const before = process.env.TMPDIR
  const own = mkdtempSync(join(tmpdir(), 'wellhead-temporary-'))
  process.env.TMPDIR = own
  try {
    await work()
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
    rmSync(own, { recursive: true, force: true })
  }
}
