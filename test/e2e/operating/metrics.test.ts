import { afterAll, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createSystemClock } from '../../../src/lib/time/clock.ts'
import { isoInstant } from '../../../src/lib/time/instant.ts'
import { remove, start, temporaryDir } from '../../support/instance/binary.ts'
import { needs } from '../../support/needs.ts'
import { queriesOf, startPrometheus } from '../../support/servers/prometheus.ts'
import { until as waitUntil } from '../../support/until.ts'

const docs = resolve(import.meta.dir, '../../../docs/monitoring')

const root = temporaryDir()
afterAll(() => remove(root))

interface Rules {
  data: { groups: { rules: { name: string; health: string; lastError?: string }[] }[] }
}

const until = (isSo: () => Promise<boolean>) => waitUntil(String(isSo), isSo)

needs('prometheus').describe('a Prometheus', () => {
  test('takes the metrics and the alert rules, answers every query of the dashboard, and fires when the server goes', async () => {
    const server = await start('dev', join(root, 'copy'), '--world', 'small')
    for (let i = 0; i < 20; i += 1) await server.get('/v1/prices/latest?by_code=WTI_USD')
    await server.get('/v1/prices/latest?by_code=NO_SUCH_CODE')
    // On a weekend nothing else may be published.
    const pushed = await fetch(`${server.url}/admin/v1/observations`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${server.adminToken}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        observations: [
          { code: 'COAL_USD', observed_at: isoInstant(createSystemClock().now()), price: 104.5 },
        ],
      }),
    })
    expect(pushed.status).toBeLessThan(300)
    const text = await (
      await fetch(`${server.url}/metrics`, {
        headers: { authorization: `Bearer ${server.adminToken}` },
      })
    ).text()
    const checked = Bun.spawnSync(['promtool', 'check', 'metrics'], { stdin: Buffer.from(text) })
    expect(checked.stderr.toString() + checked.stdout.toString()).toBe('')
    expect(Bun.spawnSync(['promtool', 'check', 'rules', join(docs, 'alerts.yml')]).exitCode).toBe(0)

    const target = new URL(server.url).host
    // The rules as they are, but quick.
    const rules = readFileSync(join(docs, 'alerts.yml'), 'utf8').replace(/for: \d+[sm]/g, 'for: 0s')
    writeFileSync(join(root, 'alerts.yml'), rules)
    const { ask, rows, stop } = await startPrometheus(root, {
      target,
      token: server.adminToken,
      rulesFile: join(root, 'alerts.yml'),
    })
    try {
      await until(async () => (await rows('count_over_time(up[1m]) >= 4')).length > 0)
      expect(await rows('up == 1')).toHaveLength(1)
      for (const { title, query } of queriesOf(readFileSync(join(docs, 'dashboard.json'), 'utf8')))
        expect((await rows(query)).length, `${title} ${query}`).toBeGreaterThan(0)
      const ruleSet = ((await ask('/rules')) as Rules).data.groups.flatMap(group => group.rules)
      expect(ruleSet.length).toBeGreaterThan(10)
      for (const { name, health, lastError } of ruleSet)
        expect({ health, lastError }, name).toEqual({ health: 'ok', lastError: undefined })
      expect(await server.stop()).toBe(0)
      await until(
        async () => (await rows('ALERTS{alertname="WellheadDown",alertstate="firing"}')).length > 0,
      )
    } finally {
      await stop()
      server.process.kill('SIGKILL')
    }
  }, 120_000)
})
