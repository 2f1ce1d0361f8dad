import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

export interface Scrape {
  /** `host:port`. */
  target: string
  /** The bearer token that it sends. */
  token: string
  /** Alert rules; checked every second, as the target is. */
  rulesFile: string
}

export interface Prometheus {
  /** The body of a response of its HTTP interface; undefined when there is none. */
  ask(path: string): Promise<unknown>
  /** The value of a query at this moment. */
  rows(query: string): Promise<{ metric: Record<string, string> }[]>
  stop(): Promise<void>
}

/** A real Prometheus over one target, with its files in `directory`. */
export async function startPrometheus(directory: string, scrape: Scrape): Promise<Prometheus> {
  const config = join(directory, 'prometheus.yml')
  writeFileSync(
    config,
    `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [${scrape.rulesFile}]
scrape_configs:
  - job_name: wellhead
    authorization: { credentials: ${scrape.token} }
    static_configs: [{ targets: ["${scrape.target}"] }]
`,
  )
  const port = await freePort()
  const child = Bun.spawn(
    [
      'prometheus',
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(directory, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdout: 'ignore', stderr: 'ignore' },
  )
  const ask = async (path: string): Promise<unknown> => {
    try {
      return await (await fetch(`http://127.0.0.1:${port}/api/v1${path}`)).json()
    } catch {
      return undefined
    }
  }
  return {
    ask,
    async rows(query) {
      const answer = (await ask(`/query?query=${encodeURIComponent(query)}`)) as
        | { data?: { result: { metric: Record<string, string> }[] } }
        | undefined
      return answer?.data?.result ?? []
    },
    async stop() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as { port: number }
  await new Promise(done => server.close(done))
  return port
}

interface Dashboard {
  panels: { title: string; targets: { expr: string }[] }[]
}

/** Every query of a dashboard, as Grafana would send it. */
export const queriesOf = (dashboard: string): { title: string; query: string }[] =>
  (JSON.parse(dashboard) as Dashboard).panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }) => ({
      title,
      query: expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '1m'),
    })),
  )
