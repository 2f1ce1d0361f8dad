import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { remove, start, temporaryDir } from '../support/instance/binary.ts'

const docs = resolve(import.meta.dir, '../../docs/operating')
const prometheus = Bun.which('prometheus')
const promtool = Bun.which('promtool')
if (!prometheus || !promtool) console.warn('prometheus is not here: its tests are skipped')

const root = temporaryDir()
afterAll(() => remove(root))

interface Dashboard {
  panels: { title: string; targets: { expr: string }[] }[]
}
interface Rules {
  data: { groups: { rules: { name: string; health: string; lastError?: string }[] }[] }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as { port: number }
  await new Promise(done => server.close(done))
  return port
}

async function until(isSo: () => Promise<boolean>) {
  while (!(await isSo())) await Bun.sleep(100)
}

describe.skipIf(!prometheus || !promtool)('a Prometheus', () => {
  test('takes the metrics and the alert rules, answers every query of the dashboard, and fires when the server goes', async () => {
    const server = await start('dev', join(root, 'copy'))
    for (let i = 0; i < 20; i += 1) await server.get('/v1/prices/latest?by_code=WTI_USD')
    await server.get('/v1/prices/latest?by_code=NO_SUCH_CODE')
    const text = await (
      await fetch(`${server.url}/metrics`, {
        headers: { authorization: `Bearer ${server.adminToken}` },
      })
    ).text()
    const checked = Bun.spawnSync([promtool!, 'check', 'metrics'], { stdin: Buffer.from(text) })
    expect(checked.stderr.toString() + checked.stdout.toString()).toBe('')
    expect(Bun.spawnSync([promtool!, 'check', 'rules', join(docs, 'alerts.yml')]).exitCode).toBe(0)

    const target = new URL(server.url).host
    // The rules as they are, but quick.
    const rules = readFileSync(join(docs, 'alerts.yml'), 'utf8').replace(/for: \d+[sm]/g, 'for: 0s')
    writeFileSync(join(root, 'alerts.yml'), rules)
    writeFileSync(
      join(root, 'prometheus.yml'),
      `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [alerts.yml]
scrape_configs:
  - job_name: wellhead
    authorization: { credentials: ${server.adminToken} }
    static_configs: [{ targets: ["${target}"] }]
`,
    )
    const port = await freePort()
    const child = Bun.spawn(
      [
        prometheus!,
        `--config.file=${join(root, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(root, 'tsdb')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdout: 'ignore', stderr: 'ignore' },
    )
    try {
      const ask = async (path: string) => {
        try {
          return await (await fetch(`http://127.0.0.1:${port}/api/v1${path}`)).json()
        } catch {
          return undefined
        }
      }
      const rows = async (query: string): Promise<unknown[]> =>
        ((await ask(`/query?query=${encodeURIComponent(query)}`)) as { data?: { result: [] } })
          ?.data?.result ?? []
      await until(async () => (await rows('count_over_time(up[1m]) >= 4')).length > 0)
      expect(await rows('up == 1')).toHaveLength(1)
      const { panels } = JSON.parse(readFileSync(join(docs, 'dashboard.json'), 'utf8')) as Dashboard
      for (const { title, targets } of panels) {
        for (const { expr } of targets) {
          const query = expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '1m')
          expect([title, query, (await rows(query)).length > 0]).toEqual([title, query, true])
        }
      }
      const ruleSet = ((await ask('/rules')) as Rules).data.groups.flatMap(group => group.rules)
      expect(ruleSet.length).toBeGreaterThan(10)
      for (const { name, health, lastError } of ruleSet)
        expect([name, health, lastError]).toEqual([name, 'ok', undefined])
      expect(await server.stop()).toBe(0)
      await until(
        async () => (await rows('ALERTS{alertname="WellheadDown",alertstate="firing"}')).length > 0,
      )
    } finally {
      child.kill('SIGKILL')
      await child.exited
      server.process.kill('SIGKILL')
    }
  }, 120_000)
})
