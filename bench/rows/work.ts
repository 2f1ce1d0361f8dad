import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { filled } from '../database.ts'
import type { BenchOptions, Line } from '../row.ts'
import { built, serveWellhead, spawned } from '../server.ts'
import { type Connections, waitLine, waitsDuring } from '../waits.ts'
import { csv, rowCount } from './import.ts'

const points = 5_000_000
/** Work that is done sooner is done again: of a hundred prices the 99th percentile is the slowest. */
const atLeastMs = 10_000

/** A price fifty times a second while the operator works: imports, exports, keeps a backup. */
export async function work(options: BenchOptions): Promise<Line[]> {
  const copy = await filled('latest', { points, keys: 5 }, options)
  const dir = join(options.dir, 'work')
  const file = await csv(options.dir)
  const target = join(options.dir, 'work-out')
  const commands: readonly (readonly [name: string, args: readonly string[]])[] = [
    [`an export of ${points.toLocaleString('en-US')} rows`, ['export', '-o', target]],
    ['a backup', ['backup', target]],
    [`an import of ${rowCount.toLocaleString('en-US')} rows`, ['import', file, '--replace']],
  ]
  const lines: Line[] = []
  try {
    for (const connections of ['kept', 'new'] satisfies Connections[]) {
      // An import changes it: the second one would find its rows.
      rmSync(dir, { recursive: true, force: true })
      cpSync(copy.dir, dir, { recursive: true })
      const server = await serveWellhead(dir, 'serve', 'built')
      const asked = { port: server.port, apiKey: copy.tokens[0], codes: copy.codes }
      try {
        for (const [name, args] of commands) {
          options.say(`work: ${name}, connections ${connections}`)
          // Flushes earlier writes to disk before the measurement begins.
          Bun.spawnSync(['sync'])
          const waits = await waitsDuring(asked, connections, async () => {
            const startedAt = performance.now()
            do {
              rmSync(target, { force: true })
              await finished([...built(), ...args, '--data', dir])
            } while (performance.now() - startedAt < atLeastMs)
          })
          lines.push(waitLine(`latest under load of ${name}`, waits, connections))
        }
      } finally {
        await server.stop()
      }
    }
    return lines
  } finally {
    rmSync(dir, { recursive: true, force: true })
    rmSync(target, { force: true })
  }
}

async function finished(command: string[]): Promise<void> {
  const child = spawned(command)
  const [code, text] = await Promise.all([child.exited, new Response(child.stdout).text()])
  if (code !== 0) throw new Error(`${command.join(' ')} ended with exit code ${code}: ${text}`)
}
