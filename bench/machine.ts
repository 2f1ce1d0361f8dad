import { Database } from 'bun:sqlite'
import { cpus, totalmem } from 'node:os'

/** The machine on which the numbers were measured. */
export function machineLine(): string {
  const { sqlite } = new Database(':memory:').query('SELECT sqlite_version() AS sqlite').get() as {
    sqlite: string
  }
  const shell = Bun.which('sqlite3')
  const shellVersion = shell
    ? Bun.spawnSync([shell, '--version']).stdout.toString().split(' ')[0]
    : 'absent'
  const cores = cpus()
  return [
    `${cores[0]?.model.trim() ?? 'unknown CPU'}, ${cores.length} cores`,
    `${Math.round(totalmem() / 2 ** 30)} GB`,
    `Bun ${Bun.version}`,
    `SQLite ${sqlite} (ours), ${shellVersion} (sqlite3)`,
  ].join('; ')
}
