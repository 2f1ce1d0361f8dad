import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Server } from 'bun'
import { timestampedSignature } from '../../../src/lib/secrets/signature.ts'
import { blocksOf, pages } from '../../support/docs.ts'
import { type DemoInstance, demoInstance } from '../../support/instance/demo-instance.ts'
import { needs } from '../../support/needs.ts'
import type { Need } from '../../support/requirements.ts'
import { freePort } from '../../support/servers/nats.ts'
import { until } from '../../support/until.ts'

const blocks = blocksOf(pages.find(({ name }) => name === 'webhooks')!)

/** The command that runs a program of a language, and its requirements. */
const runners: Record<string, { file: string; command: string[]; needed: Need[] }> = {
  python: { file: 'sample.py', command: ['python3', 'sample.py'], needed: ['python 3.10'] },
  ts: { file: 'sample.ts', command: [process.execPath, 'sample.ts'], needed: [] },
  go: { file: 'sample.go', command: ['go', 'run', 'sample.go'], needed: ['go'] },
  php: {
    file: 'sample.php',
    command: ['php', '-S', '127.0.0.1:9000', 'sample.php'],
    needed: ['php'],
  },
}

interface Outcome {
  code: number
  out: string
  err: string
}

async function run(command: string[], cwd: string, env: Record<string, string> = {}) {
  const child = Bun.spawn(command, {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, out, err } satisfies Outcome
}

/** Serves a copy on its own port. */
function served(now?: number): { instance: DemoInstance; server: Server<unknown>; origin: string } {
  const instance = demoInstance(now, { 'limits.unauthenticated_per_minute': '100000' })
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: request => instance.running.app.handle(request),
  })
  return { instance, server, origin: `http://127.0.0.1:${server.port}` }
}

describe('the receivers of the guide on webhooks accept our events and reject forged ones', () => {
  let stage: ReturnType<typeof served>
  beforeAll(() => {
    // By the clock of now: the receivers refuse what was signed at another time.
    stage = served(Date.now())
  }, 60_000)
  afterAll(async () => {
    await stage.server.stop(true)
    stage.instance.remove()
  })

  const withSecret = blocks.filter(({ text }) => text.includes('WEBHOOK_SECRET'))
  const receivers = withSecret.filter(({ language }) => language !== 'sh')

  test('the guide sets WEBHOOK_SECRET before the first receiver, and each of them reads it', () => {
    expect(withSecret[0]!.language).toBe('sh')
    expect(withSecret[0]!.text).toMatch(/^export WEBHOOK_SECRET=whsec_\w+$/m)
  })

  test('the guide on webhooks has a receiver in each of four languages', () => {
    expect(receivers.map(({ language }) => language)).toEqual(['python', 'ts', 'go', 'php'])
  })

  for (const { language, text } of receivers) {
    const { file, command, needed } = runners[language]!
    needs(...needed).test(
      language,
      async () => {
        const port = await freePort()
        const url = `http://127.0.0.1:${port}/hook`
        const made = await stage.instance.ask('POST', '/v1/webhooks', {
          body: { url, events: ['price.updated'] },
        })
        const { data: endpoint } = (await made.json()) as { data: { id: string; secret: string } }
        const cwd = mkdtempSync(join(tmpdir(), 'wellhead-receiver-'))
        writeFileSync(join(cwd, file), text.replaceAll('9000', String(port)))
        const own = command.map(word => word.replace('9000', String(port)))
        const isCompiled = language === 'go'
        const env = {
          PATH: process.env.PATH!,
          HOME: cwd,
          WEBHOOK_SECRET: endpoint.secret,
        }
        if (isCompiled) {
          const built = await run(['go', 'build', '-o', 'receiver', file], cwd, {
            GOFLAGS: '-modcacherw',
            // Its own cache is kept between runs: the standard library is compiled once.
            GOCACHE: join(tmpdir(), 'wellhead-guides-go'),
          })
          expect(built.code, built.err).toBe(0)
        }
        const child = Bun.spawn(isCompiled ? ['./receiver'] : own, {
          cwd,
          env,
          stdout: 'ignore',
          stderr: 'ignore',
        })
        try {
          const post = async (body: string, timestamp: string, signature: string) => {
            const answer = await fetch(url, {
              method: 'POST',
              body,
              headers: {
                'x-service-signature-timestamp': timestamp,
                'x-service-signature': signature,
              },
            })
            return answer.status
          }
          // It listens as soon as it refuses what no one has signed.
          const isListening = async () => {
            try {
              return (await post('{}', '0', '')) === 401
            } catch {
              return false
            }
          }
          await until(`the receiver in ${language} listens`, () => {
            expect(child.exitCode, `${language} ended before it listened`).toBeNull()
            return isListening()
          })
          const tested = await stage.instance.ask('POST', `/v1/webhooks/${endpoint.id}/test`, {
            body: {},
          })
          const { data } = (await tested.json()) as { data: Record<string, unknown> }
          expect(data).toMatchObject({ status: 'delivered', status_code: 204 })

          const seconds = Math.floor(Date.now() / 1000)
          const signed = (secret: string, at: number, body = '{}') =>
            timestampedSignature(secret, body, at)
          expect(await post('{}', String(seconds), signed(endpoint.secret, seconds))).toBe(204)
          expect(await post('{ }', String(seconds), signed(endpoint.secret, seconds))).toBe(401)
          expect(await post('{}', String(seconds), signed('whsec_another', seconds))).toBe(401)
          const old = seconds - 301
          expect(await post('{}', String(old), signed(endpoint.secret, old))).toBe(401)
          expect(await post('{}', String(seconds), signed(endpoint.secret, old))).toBe(401)
          expect(await post('{}', 'now', signed(endpoint.secret, seconds))).toBe(401)
        } finally {
          child.kill()
          await child.exited
          rmSync(cwd, { recursive: true, force: true })
        }
      },
      240_000,
    )
  }
})
