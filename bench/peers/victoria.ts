import {
  type Asked,
  bytesBelow,
  freePort,
  inBackground,
  type OpenPeer,
  withChildren,
} from './peer.ts'

const dayS = 86_400

/** VictoriaMetrics: values as its export writes them, days as its candlesticks. */
export const openVictoria: OpenPeer = async ({ dir, lastAt }) => {
  const program = ['victoria-metrics', 'victoria-metrics-prod'].find(name => Bun.which(name))
  if (program === undefined) return undefined
  const port = freePort()
  const url = `http://127.0.0.1:${port}`
  const server = await inBackground(
    [
      program,
      `-storageDataPath=${dir}`,
      `-httpListenAddr=127.0.0.1:${port}`,
      '-retentionPeriod=100y',
      '-loggerLevel=ERROR',
    ],
    async () => (await fetch(`${url}/health`)).ok,
  )
  const format = encodeURIComponent('1:label:code,2:time:rfc3339,3:metric:price')
  const pathOf = ({ code, question, from, to }: Asked): string => {
    const series = `price{code="${code}"}`
    if (question === 'raw')
      return `/api/v1/export?match[]=${encodeURIComponent(series)}&start=${from / 1000}&end=${(to - 1000) / 1000}`
    if (question === 'latest')
      return `/api/v1/query?query=${encodeURIComponent(series)}&time=${lastAt / 1000}`
    // VictoriaMetrics returns the candle of a day at the end of the day.
    const query = encodeURIComponent(`rollup_candlestick(${series}[1d])`)
    return `/api/v1/query_range?query=${query}&start=${from / 1000 + dayS}&end=${to / 1000}&step=1d`
  }
  return {
    name: 'VictoriaMetrics',
    async load(csv) {
      const everything = encodeURIComponent('{__name__!=""}')
      await fetch(`${url}/api/v1/admin/tsdb/delete_series?match[]=${everything}`)
      const lines = (await Bun.file(csv).text()).split('\n').slice(1).join('\n')
      const answer = await fetch(`${url}/api/v1/import/csv?format=${format}`, {
        method: 'POST',
        body: lines,
      })
      if (!answer.ok) throw new Error(await answer.text())
      await fetch(`${url}/internal/force_flush`)
    },
    serve: () =>
      Promise.resolve({
        port,
        pathOf,
        rowsIn(body: string) {
          const answer = JSON.parse(body) as {
            values?: unknown[]
            data?: { result: { values?: unknown[] }[] }
          }
          return answer.values?.length ?? answer.data?.result[0]?.values?.length ?? 1
        },
        pids: () => withChildren(server.pid),
        stop: () => Promise.resolve(),
      }),
    stop: server.stop,
    bytes: () => bytesBelow(dir),
  }
}
