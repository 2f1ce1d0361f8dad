import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { binary } from '../support/instance/binary.ts'
import { root, runProgram } from '../support/interface/packages.ts'

const read = (name: string): unknown =>
  Bun.YAML.parse(readFileSync(join(root, 'docs/testing', name), 'utf8'))

let directory = ''
let started = 0
afterEach(() => {
  if (started > 0) process.kill(started)
  rmSync(directory, { recursive: true, force: true })
})

test('the GitHub action starts an instance and passes its address and key to later steps', async () => {
  directory = mkdtempSync(join(tmpdir(), 'wellhead-action-'))
  const action = read('action.yml') as { runs: { steps: { run: string }[] } }
  const [step] = action.runs.steps
  const [script, output, environment] = ['step.sh', 'output', 'environment'].map(name =>
    join(directory, name),
  ) as [string, string, string]
  writeFileSync(script, `${step!.run}\necho "process=$process"\n`)
  const { code, text } = await runProgram(['bash', script], directory, {
    BINARY: binary(),
    CLOCK: '2026-11-20T15:00:00Z',
    SEED: '7',
    GITHUB_OUTPUT: output,
    GITHUB_ENV: environment,
    TMPDIR: directory,
  })
  started = Number(/process=(\d+)/.exec(text)?.[1] ?? 0)
  expect(code, text).toBe(0)
  expect(started, text).toBeGreaterThan(0)
  const variables = Object.fromEntries(
    readFileSync(environment, 'utf8')
      .trim()
      .split('\n')
      .map(line => line.split('=', 2)),
  ) as Record<string, string>
  expect(readFileSync(output, 'utf8')).toBe(`url=${variables.WELLHEAD_URL}\n`)
  const price = await fetch(`${variables.WELLHEAD_URL}/v1/prices/latest?by_code=WTI_USD`, {
    headers: { authorization: `Token ${variables.WELLHEAD_API_KEY}` },
  })
  expect(price.status).toBe(200)
  const clock = await fetch(`${variables.WELLHEAD_URL}/_dev/clock`, {
    headers: { authorization: `Bearer ${variables.WELLHEAD_ADMIN_TOKEN}` },
  })
  expect(await clock.json()).toEqual({ now: '2026-11-20T15:00:00Z', frozen: true })
  for (const secret of [variables.WELLHEAD_API_KEY, variables.WELLHEAD_ADMIN_TOKEN])
    expect(text).toContain(`::add-mask::${secret}`)
}, 120_000)

test('the GitHub action fails with the error output of a program that does not start', async () => {
  directory = mkdtempSync(join(tmpdir(), 'wellhead-action-'))
  started = 0
  const action = read('action.yml') as { runs: { steps: { run: string }[] } }
  writeFileSync(join(directory, 'step.sh'), action.runs.steps[0]!.run)
  const { code, text } = await runProgram(['bash', 'step.sh'], directory, {
    BINARY: binary(),
    CLOCK: 'soon',
    SEED: '7',
    GITHUB_OUTPUT: join(directory, 'output'),
    GITHUB_ENV: join(directory, 'environment'),
    TMPDIR: directory,
  })
  expect(code, text).toBe(1)
  expect(text).toContain('dev.clock')
})

test('the compose file shares the network of the instance, which listens only on localhost', () => {
  const { services } = read('compose.yaml') as {
    services: Record<string, Record<string, unknown>>
  }
  expect(services.wellhead!.command).toStartWith('dev ')
  expect(services.wellhead!.environment).toEqual({ WELLHEAD_SERVER_HOST: '127.0.0.1' })
  expect(services.tests!.network_mode).toBe('service:wellhead')
  expect(services.tests!.depends_on).toEqual({ wellhead: { condition: 'service_healthy' } })
})
