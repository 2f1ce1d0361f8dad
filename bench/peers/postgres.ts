import { chownSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  behindBareServer,
  bytesBelow,
  freePort,
  inBackground,
  type OpenPeer,
  run,
  withChildren,
} from './peer.ts'

/** PostgreSQL with default settings, behind the bare server. */
export const openPostgres: OpenPeer = async ({ dir, settings }) => {
  if (!['initdb', 'postgres', 'psql'].every(name => Bun.which(name))) return undefined
  const port = freePort()
  const data = join(dir, 'data')
  mkdirSync(data)
  // It refuses to run as root.
  const isRoot = process.getuid?.() === 0
  const user = isRoot ? 'postgres' : (process.env.USER ?? '')
  const asUser = isRoot ? ['setpriv', `--reuid=${user}`, '--clear-groups', '--'] : []
  if (isRoot) chownSync(data, Number(await run(['id', '-u', user])), 0)
  const url = `postgres://${user}@127.0.0.1:${port}/postgres`
  const sql = (...commands: string[]) =>
    run([
      'psql',
      '-qAtX',
      '-v',
      'ON_ERROR_STOP=1',
      ...commands.flatMap(command => ['-c', command]),
      url,
    ])
  await run([...asUser, 'initdb', '-D', data, '-A', 'trust', '-U', user, '--no-locale'])
  const server = await inBackground(
    [...asUser, 'postgres', '-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', ''],
    async () => (await sql('SELECT 1')).trim() === '1',
  )
  return {
    name: 'PostgreSQL behind a bare server',
    async load(csv) {
      await sql(
        'DROP TABLE IF EXISTS t',
        'CREATE TABLE t (code text, at timestamptz, price double precision, PRIMARY KEY (code, at))',
        `\\copy t FROM '${csv}' WITH (FORMAT csv, HEADER)`,
      )
    },
    async serve() {
      await sql(
        `CREATE TABLE prices AS SELECT code, (extract(epoch FROM at) * 1000)::bigint AS at,
           price AS value, 1763000000000::bigint AS recorded_at FROM t`,
        'DROP TABLE t',
        'ALTER TABLE prices ADD PRIMARY KEY (code, at)',
        'VACUUM ANALYZE prices',
      )
      return behindBareServer({ ...settings, postgres: url }, () => withChildren(server.pid))
    },
    stop: server.stop,
    bytes: () => bytesBelow(join(data, 'base')),
  }
}
