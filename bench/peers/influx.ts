import { join } from 'node:path'
import {
  type Asked,
  bytesBelow,
  freePort,
  inBackground,
  type OpenPeer,
  withChildren,
} from './peer.ts'

const linesPerRequest = 50_000

/** InfluxDB with few settings. */
export const openInflux: OpenPeer = async ({ dir }) => {
  if (!Bun.which('influxd')) return undefined
  const [port, backupPort] = [freePort(), freePort()]
  const url = `http://127.0.0.1:${port}`
  const config = join(dir, 'influxdb.conf')
  await Bun.write(
    config,
    [
      'reporting-enabled = false',
      `bind-address = "127.0.0.1:${backupPort}"`,
      `[meta]\ndir = "${join(dir, 'meta')}"`,
      `[data]\ndir = "${join(dir, 'data')}"\nwal-dir = "${join(dir, 'wal')}"`,
      'index-version = "tsi1"\nquery-log-enabled = false',
      `[http]\nbind-address = "127.0.0.1:${port}"\nlog-enabled = false`,
      '[monitor]\nstore-enabled = false',
    ].join('\n'),
  )
  const server = await inBackground(
    ['influxd', 'run', '-config', config],
    async () => (await fetch(`${url}/ping`)).ok,
  )
  // A name that was dropped is not at once a database again.
  let loads = 0
  const database = () => `bench${loads}`
  const order = (q: string) => fetch(`${url}/query?q=${encodeURIComponent(q)}`, { method: 'POST' })
  const pathOf = ({ code, question, from, to }: Asked): string => {
    const range = `code = '${code}' AND time >= ${from}ms AND time < ${to}ms`
    const q = {
      raw: `SELECT value FROM price WHERE ${range}`,
      days: `SELECT first(value), max(value), min(value), last(value) FROM price WHERE ${range} GROUP BY time(1d)`,
      latest: `SELECT last(value) FROM price WHERE code = '${code}'`,
    }[question]
    return `/query?db=${database()}&epoch=ms&q=${encodeURIComponent(q)}`
  }
  return {
    name: 'InfluxDB',
    async load(csv) {
      if (loads > 0) await order(`DROP DATABASE ${database()}`)
      loads += 1
      await order(`CREATE DATABASE ${database()} WITH SHARD DURATION 520w`)
      const rows = (await Bun.file(csv).text()).trimEnd().split('\n')
      for (let at = 1; at < rows.length; at += linesPerRequest) {
        const lines = rows.slice(at, at + linesPerRequest).map(row => {
          const [code, time, price] = row.split(',') as [string, string, string]
          return `price,code=${code} value=${price} ${Date.parse(time)}`
        })
        const answer = await fetch(`${url}/write?db=${database()}&precision=ms`, {
          method: 'POST',
          body: lines.join('\n'),
        })
        if (!answer.ok) throw new Error(await answer.text())
      }
    },
    serve: () =>
      Promise.resolve({
        port,
        pathOf,
        rowsIn(body: string) {
          const { results } = JSON.parse(body) as { results: { series: { values: unknown[] }[] }[] }
          return results[0]!.series[0]!.values.length
        },
        pids: () => withChildren(server.pid),
        stop: () => Promise.resolve(),
      }),
    stop: server.stop,
    bytes: () => bytesBelow(join(dir, 'data')) + bytesBelow(join(dir, 'wal')),
  }
}
