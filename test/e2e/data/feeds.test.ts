import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isFull } from '../../support/full.ts'
import { binary, remove, run, start, temporaryDir } from '../../support/instance/binary.ts'
import { emptyDirectory } from '../../support/instance/command.ts'
import { needs } from '../../support/needs.ts'
import { standIn, standInKey } from '../../support/publishers/stand-in.ts'
import { until } from '../../support/until.ts'

const dir = temporaryDir()
const kills = process.env.WELLHEAD_TORTURE === '1' ? 20 : isFull ? 3 : 1
const publishers = await standIn()
afterAll(async () => {
  await publishers.stop()
  remove(dir)
})

/** A configuration that opens the way to the stand-in. */
function configured(name: string, text = ''): { config: string; data: string } {
  const data = emptyDirectory(join(dir, name, 'data'))
  const config = join(dir, name, 'feeds.toml')
  writeFileSync(config, `[egress]\nallow = ["127.0.0.1/32"]\n${text}`)
  return { config, data }
}

/** Values by code and day, and what replaced what. */
function dump(data: string): string {
  const db = new Database(join(data, 'wellhead.db'), { readonly: true })
  try {
    const values = db
      .query(
        'SELECT s.code, o.observed_at, o.value FROM observations o JOIN series s ON s.id = o.series_id ORDER BY 1, 2',
      )
      .values()
    const owners = db
      .query(`SELECT o.series_id, o.observed_at, s.name, s.period_kind FROM observations o
           JOIN value_sources s ON s.id = o.source_id ORDER BY 1, 2`)
      .values()
    const revisions = db.query('SELECT count(*) FROM observation_revisions').values()
    return JSON.stringify([values, owners, revisions])
  } finally {
    db.close()
  }
}

const runOf = (out: string) =>
  (JSON.parse(out) as { run: { result: string; inserted: number; requests: number } }).run

needs('../shared/data').describe('the binary reads public sources', () => {
  test('feeds are added to a running server, read, and served with their source', async () => {
    const { config, data } = configured('serving')
    const keyFile = join(dir, 'eia.key')
    writeFileSync(keyFile, `${standInKey}\n`)
    const server = await start('serve', join(dir, 'serving'), '--config', config)
    const errors = new Response(server.process.stderr as ReadableStream).text()
    const feeds = (...args: string[]) => run('feeds', ...args, '--data', data, '--config', config)
    const at = ['--base-url', publishers.url]
    const added = [
      await feeds('add', 'eia', '--key-file', keyFile, '--codes', 'WTI_USD,NATURAL_GAS_USD', ...at),
      await feeds('add', 'ecb', '--codes', 'EUR_USD,USD_NOK', ...at),
      await feeds('add', 'cftc', ...at),
      await feeds('add', 'lbma', '--codes', 'GOLD_AM_USD', ...at),
    ]
    // The last one is set up, and waits for a licence.
    expect(added.map(command => command.code)).toEqual([0, 0, 0, 2])
    const outcomes = []
    for (const name of ['eia', 'ecb', 'cftc', 'lbma']) {
      outcomes.push(await feeds('run', name, '--json'))
    }
    // The runs begun by the start may have finished earlier.
    const list = await feeds('list', '--json')
    const states = (JSON.parse(list.out) as { feeds: { name: string; state: string }[] }).feeds
    expect(states.find(feed => feed.name === 'lbma')!.state).toBe('needs_license')
    expect(outcomes.at(-1)!.code).toBe(1)
    for (const code of ['WTI_USD', 'EUR_USD', 'USD_NOK', 'NATURAL_GAS_USD']) {
      const authorization = `Token ${server.apiKey}`
      const answer = async () =>
        await (await server.get(`/v1/prices/latest?by_code=${code}`, { authorization })).text()
      const isCredited = async () => (await answer()).includes('"source_description":"Source:')
      await until(`the price of ${code} names its source`, isCredited, 45_000, answer)
    }
    const sources = await (await server.get('/v1/sources')).text()
    expect(sources).toContain('European Central Bank')
    const shown = [list.out, ...added.map(command => command.out + command.err), sources]
    shown.push(...outcomes.map(outcome => outcome.out + outcome.err))
    shown.push((await feeds('show', 'eia', '--json')).out)
    await server.stop()
    shown.push(await errors)
    for (const text of shown) expect(text).not.toContain('CANARY')
    expect((await run('verify', '--data', data, '--config', config)).code).toBe(0)
  }, 180_000)

  test('kills at any moment of a run leave what no kill leaves', async () => {
    const text = `[feeds.ecb]\nbase_url = "${publishers.url}"\n[feeds.world_bank]\nbase_url = "${publishers.url}"\n`
    const clean = configured('clean', text)
    const killed = configured('killed', text)
    const reading = ({ config, data }: { config: string; data: string }, name: string) => [
      'feeds',
      'run',
      name,
      '--json',
      '--data',
      data,
      '--config',
      config,
    ]
    const startedAt = performance.now()
    const first = await run(...reading(clean, 'ecb'))
    const wholeMs = performance.now() - startedAt
    expect(runOf(first.out).result).toBe('new')
    await run(...reading(clean, 'world_bank'))
    for (let kill = 1; kill <= kills; kill++) {
      const child = Bun.spawn([binary(), ...reading(killed, 'ecb')], {
        env: { PATH: process.env.PATH },
        stdout: 'ignore',
        stderr: 'ignore',
        cwd: tmpdir(),
      })
      await Bun.sleep((wholeMs * kill) / (kills + 1))
      child.kill('SIGKILL')
      await child.exited
    }
    expect((await run(...reading(killed, 'ecb'))).code).toBe(0)
    await run(...reading(killed, 'world_bank'))
    expect(dump(killed.data)).toBe(dump(clean.data))
    expect((await run('verify', '--data', killed.data, '--config', killed.config)).code).toBe(0)
  }, 400_000)
})
