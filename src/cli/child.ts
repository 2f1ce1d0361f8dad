import { constants, setPriority } from 'node:os'
import type { CommandOutcome } from '../topics/operator/service/backup-record.ts'

/**
 * Whether this is the compiled binary, which starts itself; from source the runtime is started with
 * the file as an argument.
 */
export const isCompiled = () => /^(\/\$bunfs\/|[A-Z]:[\\/]~BUN)/i.test(Bun.main)
const program = () => (isCompiled() ? [process.execPath] : [process.execPath, Bun.main])

/**
 * Runs commands of this program on a data directory, each in a separate process with a lower
 * priority.
 */
export const commandOf =
  (dir: string, configFile: string | undefined) =>
  async (...args: string[]): Promise<CommandOutcome> => {
    const where = ['--data', dir, ...(configFile === undefined ? [] : ['--config', configFile])]
    const child = Bun.spawn([...program(), ...args, ...where], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    try {
      setPriority(child.pid, constants.priority.PRIORITY_LOW)
    } catch {
      // It has ended already, or this system does not support priorities.
    }
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    return { code: await child.exited, out, err }
  }
