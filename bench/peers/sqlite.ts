import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { behindBareServer, type OpenPeer, run } from './peer.ts'

/** The `sqlite3` program loads; the bare server answers from Wellhead's own file, which has bars. */
export const openSqlite: OpenPeer = async ({ dir, settings }) => {
  if (!Bun.which('sqlite3')) return undefined
  const file = join(dir, 'bare.db')
  return {
    name: 'a bare server with SQLite',
    async load(csv) {
      rmSync(file, { force: true })
      await run([
        'sqlite3',
        file,
        'create table t(code text, at text, price real, primary key(code,at))',
        `.import --csv --skip 1 ${csv} t`,
      ])
    },
    serve: () => behindBareServer(settings),
    stop: () => Promise.resolve(),
    bytes: () => statSync(file).size,
  }
}
